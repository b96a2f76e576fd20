package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Gem is the output of gem install and gem fetch, and of bundle install. The
// words "Successfully installed x-1" are pip's too: behind them the count of
// gems says whose they are, before them what was fetched.
// https://guides.rubygems.org/command-reference/#gem-install
// https://bundler.io/man/bundle-install.1.html
var Gem = evidence.Format{
	Name:   "gem",
	Shape:  evidence.ToolShape,
	Title:  "gem and bundle output",
	Proves: "gems fetched, installed and in use, with versions and platform",
	Cannot: "gems that bundle --quiet installed",
	Doc:    "https://guides.rubygems.org/command-reference/#gem-install",
	Sample: "written by hand after the documentation",
	Starts: []string{
		"Fetching", "Downloaded ", "Successfully installed ", "Successfully uninstalled ", "Parsing documentation ", "Installing ", "Building native ",
		"Done installing ", "Using ", "Bundle ", "1 gem", "2 gem", "3 gem", "4 gem", "5 gem", "6 gem", "7 gem", "8 gem", "9 gem",
		"0 gem", "10 gem", "11 gem", "12 gem", "13 gem", "14 gem", "15 gem", "16 gem", "17 gem", "18 gem", "19 gem",
	},
	Tool: func() evidence.Parser { return &gem{} },
}

type gem struct {
	op      *evidence.Op
	fetched map[string]bool // "rake-13.0.6" of gem install
	held    []gemRow        // installed, if a count of gems follows
}

type gemRow struct {
	mark evidence.Mark
	item timeline.Item
}

// maxGems bounds the gems of one invocation that are remembered.
const maxGems = 4096

// Line reads one line.
//
//	Fetching rake-13.0.6.gem
//	Fetching: dpl-1.10.14.gem (100%)
//	Downloaded rake-13.0.6
//	Successfully installed rake-13.0.6
//	Successfully uninstalled rake-13.0.5
//	Fetching rake 13.0.6
//	Installing nokogiri 1.16.5 (x86_64-linux)
//	Using bundler 2.4.10
//	Bundle complete! 3 Gemfile dependencies, 12 gems now installed.
func (g *gem) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(bytes.TrimSpace(l.Text))
	if l.Echo {
		return evidence.Miss
	}
	word, rest, _ := strings.Cut(text, " ")
	if g.held != nil && !g.between(text) {
		g.held = nil
	}
	switch word {
	case "Fetching", "Fetching:":
		return g.fetching(rest, o)
	case "Downloaded":
		if g.fetched[rest] { // what Fetching said
			return evidence.Done
		}
	case "Successfully":
		return g.successfully(rest, o)
	case "Installing":
		if it, ok := gemWords(rest); ok && g.begin("bundle", o) {
			o.Emit(timeline.Install, g.op, it)
			return evidence.Done
		}
	case "Using":
		// uv says "Using CPython 3.11.9": no gem is called so.
		if it, ok := gemWords(rest); ok && !strings.HasPrefix(rest, "CPython ") && !strings.HasPrefix(rest, "PyPy ") && g.begin("bundle", o) {
			o.Emit(timeline.Present, g.op, it)
			return evidence.Done
		}
	case "Bundle":
		if g.op != nil && (strings.HasPrefix(rest, "complete!") || strings.HasPrefix(rest, "updated!")) {
			g.close(timeline.OpDone, o)
			return evidence.Done
		}
	}
	if strings.HasSuffix(text, " gem installed") || strings.HasSuffix(text, " gems installed") {
		for _, row := range g.held {
			g.installed(row.mark, row.item, o)
		}
		g.held = nil
		g.close(timeline.OpDone, o)
		return evidence.Done
	}
	return evidence.Miss
}

// between reports whether a line stands between an installed gem and the count.
func (g *gem) between(text string) bool {
	if strings.HasSuffix(text, " installed") || strings.HasPrefix(text, "Successfully installed ") {
		return true
	}
	for _, w := range afterGem {
		if strings.HasPrefix(text, w) {
			return true
		}
	}
	return false
}

// fetching reads what comes over; what is printed is begun.
func (g *gem) fetching(rest string, o *evidence.Out) evidence.Result {
	if file, _, _ := strings.Cut(rest, " "); strings.HasSuffix(file, ".gem") {
		name := strings.TrimSuffix(file, ".gem")
		it, ok := gemFile(name)
		if !ok {
			return evidence.Miss
		}
		g.begin("gem", o)
		if g.fetched == nil {
			g.fetched = map[string]bool{}
		}
		if len(g.fetched) < maxGems {
			g.fetched[name] = true
		}
		o.Emit(timeline.Download, g.op, it)
		return evidence.Done
	}
	if it, ok := gemWords(rest); ok && g.begin("bundle", o) {
		o.Emit(timeline.Download, g.op, it)
		return evidence.Done
	}
	return evidence.Miss
}

func (g *gem) successfully(rest string, o *evidence.Out) evidence.Result {
	verb, name, _ := strings.Cut(rest, " ")
	it, ok := gemFile(name)
	switch {
	case !ok:
	case verb == "installed" && g.fetched[name]:
		g.installed(o.Mark(), it, o)
		return evidence.Done
	case verb == "installed" && len(g.held) < maxGems:
		g.held = append(g.held, gemRow{o.Mark(), it})
		return evidence.More
	}
	return evidence.Miss
}

func (g *gem) installed(mark evidence.Mark, it timeline.Item, o *evidence.Out) {
	g.begin("gem", o)
	g.op.Answer()
	o.At(mark, timeline.Event{Action: timeline.Install, Op: g.op.Number, Items: []timeline.Item{it}})
}

// begin opens the invocation; it is always true.
func (g *gem) begin(tool string, o *evidence.Out) bool {
	if g.op != nil && o.Overtaken(g.op) {
		g.close(timeline.OpDone, o)
	}
	if g.op == nil {
		g.op = o.Invocation(tool)
	}
	if tool == "bundle" {
		g.op.Answer()
	}
	o.Seen("gem")
	return true
}

func (g *gem) close(how timeline.OpState, o *evidence.Out) {
	o.Close(g.op, how)
	g.op, g.fetched = nil, nil
}

// End closes what is open.
func (g *gem) End(how timeline.OpState, o *evidence.Out) {
	g.held = nil
	g.close(how, o)
}

// gemWords reads bundler's "rake 13.0.6", "nokogiri 1.16.5 (x86_64-linux)" and
// "rake 13.0.6 (was 13.0.1)"; it prints "with native extensions" behind them.
// A gem of a repository has no version of the registry.
func gemWords(text string) (timeline.Item, bool) {
	text, _, _ = strings.Cut(text, " with native extensions")
	name, rest, _ := strings.Cut(text, " ")
	version, note, noted := strings.Cut(rest, " (")
	note, closed := strings.CutSuffix(note, ")")
	if noted && (!closed || !gemPlatform(note) && !strings.HasPrefix(note, "was ")) {
		return timeline.Item{}, false
	}
	platform := ""
	if gemPlatform(note) {
		platform = note
	}
	return gemItem(name, version, platform)
}

// gemFile reads the name of a file without its end:
//
//	nokogiri-1.16.5-x86_64-linux
func gemFile(text string) (timeline.Item, bool) {
	for i := 1; i+1 < len(text); i++ {
		if text[i] != '-' || !isDecimal(text[i+1]) {
			continue
		}
		version, platform, cut := strings.Cut(text[i+1:], "-")
		if cut && !gemPlatform(platform) {
			continue
		}
		if it, ok := gemItem(text[:i], version, platform); ok {
			return it, true
		}
	}
	return timeline.Item{}, false
}

// gemPlatform knows x86_64-linux, x86_64-linux-gnu, arm64-darwin, java.
func gemPlatform(text string) bool {
	return text == "java" || strings.Contains(text, "-linux") || strings.Contains(text, "-darwin") || strings.Contains(text, "-mingw") || strings.Contains(text, "-mswin")
}

func isDecimal(c byte) bool { return c >= '0' && c <= '9' }

// gemItem is a gem of a log, where a version has more than one number: "rails 7"
// may be anything.
func gemItem(name, version, platform string) (timeline.Item, bool) {
	if !strings.Contains(version, ".") {
		return timeline.Item{}, false
	}
	return evidence.GemItem(name, version, platform)
}
