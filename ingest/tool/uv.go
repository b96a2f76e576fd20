package tool

import (
	"bytes"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// UV is the output of uv pip, uv add, uv sync, uv lock, uv run and uvx.
// https://docs.astral.sh/uv/reference/cli/
var UV = evidence.Format{
	Name:   "uv",
	Shape:  evidence.ToolShape,
	Title:  "uv output",
	Proves: "what was installed, removed, locked, or would be on a dry run, with versions; downloads by name",
	Cannot: "versions of downloads, and of an installation that prints only its count",
	Doc:    "https://docs.astral.sh/uv/reference/cli/",
	Sample: "written by hand after uv 0.9's output",
	Starts: []string{
		"+ ", "- ", "~ ", "Resolved ", "Prepared ", "Uninstalled ", "Installed ", "Would ", "Audited ", "Checked ",
		"Added ", "Updated ", "Removed ", "Add ", "Update ", "Remove ", "Modified ", "× No solution found ", "Downloading ", "Downloaded ", "Built ", "DEBUG ",
		"0.", "1.", "2.", "3.", "4.", "5.", "6.", "7.", "8.", "9.",
	},
	Looks: looksUV,
	Tool:  func() evidence.Parser { return &uv{} },
}

// looksUV tells a row from an item of a list, a download with its size from
// other programs' and uv's debug messages from all the others.
func looksUV(text []byte) bool {
	if text[0] <= '9' && text[0] >= '0' {
		text = timed(text)
		if text == nil {
			return false
		}
	}
	switch text[0] {
	case '+', '-', '~':
		return bytes.Contains(text, []byte("=="))
	case 'D':
		word, rest, _ := bytes.Cut(text, []byte(" "))
		if len(word) > 5 { // Downloading litellm (8.1MiB)
			_, size, _ := bytes.Cut(rest, []byte(" "))
			return bytes.HasPrefix(evidence.TrimIndent(size), []byte("("))
		}
		for i := range uvDebug {
			if w := uvDebug[i].start; len(rest) > len(w) && string(rest[:len(w)]) == w {
				return true
			}
		}
		return false
	}
	return true
}

// uvPhase is the last header that was printed. They come in this order.
type uvPhase uint8

const (
	uvIdle  uvPhase = iota
	uvBegun         // a download or a message of --verbose
	uvResolved
	uvPrepared
	uvWould // a dry run: the rows are plans
	uvUninstalled
	uvInstalled
	uvUnchanged // "Audited 5 packages": nothing was done
	uvRows      // rows came
)

type uv struct {
	op     *evidence.Op
	phase  uvPhase
	plan   bool            // rows are a dry run's
	bare   bool            // rows came without a header: it was cut off, or some list looks the same
	open   bool            // the line before was a row: uv prints them in one go
	spaced bool            // blank lines stand between the lines
	count  *evidence.Mark  // "Installed 21 packages", while no row has come
	told   *evidence.Mark  // that line, as long as the invocation lasts
	rows   int             // rows that it still must have
	got    map[string]bool // downloads said already
	minus  []heldRow       // " - x==1" rows without a header: a list may look the same
	tool   bool            // the line before may be of uv tool upgrade, whose rows have no other header
}

// heldRow is a removal that the next line must confirm.
type heldRow struct {
	mark evidence.Mark
	item timeline.Item
}

// Line reads one line.
func (u *uv) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	row, isRow := uvRow(l.Text)
	if u.tool {
		u.tool = false
		if isRow && u.op == nil {
			u.begin(uvInstalled, o)
		}
	}
	if u.minus != nil && !u.confirm(row, text, o) {
		u.minus = nil
	}
	if len(text) == 0 && !l.Echo && (u.count != nil || u.spaced && u.open) {
		u.spaced = true // as each line of some copies is, with a blank one behind it
		return evidence.More
	}
	if u.count != nil && !isRow {
		u.counted(o)
	}
	if message := timed(text); message != nil {
		text = message
	}
	word, rest, _ := bytes.Cut(text, []byte(" "))
	if u.open && !isRow && !uvLocks[string(word)] {
		u.finish(timeline.OpOpen, o)
	}
	if l.Echo {
		return evidence.Miss
	}
	if isRow && u.op == nil && row.sign == '-' && bytes.HasPrefix(l.Text, []byte("   ")) {
		return evidence.Miss // a list in YAML: pip's part of conda env export
	}
	if isRow {
		return u.row(row, o)
	}
	switch string(word) {
	case "Resolved", "Prepared", "Uninstalled", "Installed", "Audited", "Checked":
		return u.header(string(word), string(rest), o)
	case "Would":
		return u.would(rest, o)
	case "Modified":
		return u.upgraded(bytes.HasSuffix(rest, []byte(" environment")))
	case "×":
		return u.unsolved(o)
	case "Added", "Updated", "Removed", "Add", "Update", "Remove":
		return u.locked(string(word), string(rest), o)
	case "Downloading", "Downloaded":
		if name, size, sized := bytes.Cut(rest, []byte(" ")); sized && !bytes.HasPrefix(size, []byte("(")) || !sized && u.op == nil || len(name) == 0 {
			return evidence.Miss
		}
		return u.download(string(rest), o)
	case "Built":
		return u.built(string(rest), o)
	case "DEBUG":
		return u.debug(string(rest), o)
	}
	return evidence.Miss
}

// begin returns the invocation that a header of the given phase belongs to.
func (u *uv) begin(ph uvPhase, o *evidence.Out) *evidence.Op {
	if u.op != nil && (ph <= u.phase && ph != uvRows || o.Overtaken(u.op)) {
		u.finish(timeline.OpOpen, o)
	}
	if u.op == nil {
		u.op = o.Invocation("uv")
	}
	u.phase = max(u.phase, ph)
	o.Seen(timeline.PyPI)
	return u.op
}

// finish ends the invocation. uv prints no last line: what reached its rows or
// said that nothing was to do is done when something else begins.
func (u *uv) finish(how timeline.OpState, o *evidence.Out) {
	if u.op == nil {
		return
	}
	if (u.phase == uvRows || u.phase == uvUnchanged) && !u.bare {
		u.op.Answer()
	}
	if u.phase >= uvInstalled && how == timeline.OpOpen && !u.bare {
		how = timeline.OpDone
	}
	if u.rows > 0 && u.phase == uvRows && !u.bare {
		lostRows(*u.told, u.op, o)
	}
	o.Close(u.op, how)
	u.told, u.rows = nil, 0
	u.op, u.phase, u.plan, u.bare, u.open, u.spaced, u.got = nil, uvIdle, false, false, false, false, nil
}

// End ends the invocation.
func (u *uv) End(how timeline.OpState, o *evidence.Out) {
	if u.count != nil {
		u.counted(o)
	}
	u.minus = nil
	u.finish(how, o)
}

// header reads "Resolved 195 packages in 1.19s" and its kin.
func (u *uv) header(word, rest string, o *evidence.Out) evidence.Result {
	if !packageCount(rest) {
		return evidence.Miss
	}
	switch word {
	case "Resolved":
		u.begin(uvResolved, o)
	case "Prepared":
		u.begin(uvPrepared, o)
	case "Uninstalled":
		u.begin(uvUninstalled, o)
	case "Installed":
		u.begin(uvInstalled, o)
		mark := o.Mark()
		u.count, u.told = &mark, &mark
		u.rows, _ = strconv.Atoi(firstWord(rest))
		return evidence.More
	case "Audited", "Checked":
		u.begin(uvUnchanged, o)
		u.finish(timeline.OpDone, o)
	}
	return evidence.Done
}

// packageCount knows "1 package in 12ms" and "195 packages in 1.19s".
func packageCount(text string) bool {
	n, rest, _ := strings.Cut(text, " ")
	if n == "" || strings.Trim(n, "0123456789") != "" {
		return false
	}
	unit, rest, timed := strings.Cut(rest, " ")
	return (unit == "package" || unit == "packages") && timed && strings.HasPrefix(rest, "in ")
}

// lostRows says that packages were installed of which the rows are missing: less
// of them came than the line before them counts.
func lostRows(mark evidence.Mark, op *evidence.Op, o *evidence.Out) {
	o.At(mark, timeline.Event{Action: timeline.Opaque, Op: op.Number, Items: []timeline.Item{{Artifact: timeline.Ecosystem("pypi")}}})
}

// counted says that packages were installed without a row that names them.
func (u *uv) counted(o *evidence.Out) {
	o.At(*u.count, timeline.Event{
		Action: timeline.Opaque, Op: u.op.Number,
		Items: []timeline.Item{{Artifact: timeline.Ecosystem("pypi")}},
	})
	u.count = nil
}

// would reads the headers of a dry run:
//
//	Would install 1 package
//	Would make no changes
func (u *uv) would(rest []byte, o *evidence.Out) evidence.Result {
	verb, n, _ := bytes.Cut(rest, []byte(" "))
	switch string(verb) {
	case "download", "install", "uninstall":
		count, unit, _ := strings.Cut(string(n), " ")
		if strings.Trim(count, "0123456789") != "" || unit != "package" && unit != "packages" {
			return evidence.Miss
		}
	case "make":
		if string(n) != "no changes" {
			return evidence.Miss
		}
		u.begin(uvUnchanged, o)
		u.finish(timeline.OpDone, o)
		return evidence.Done
	default:
		return evidence.Miss
	}
	if u.op != nil && u.phase > uvWould {
		u.finish(timeline.OpOpen, o)
	}
	if u.phase == uvWould && u.op != nil {
		u.plan = true
		return evidence.Done
	}
	u.begin(uvWould, o)
	u.plan = true
	return evidence.Done
}

// change is a row: a sign and what it is about.
type change struct {
	sign byte
	item timeline.Item
}

// uvRow reads the rows behind a header. The blank before the sign tells them
// from a shell's trace and from most lists; a log may have indented them.
//
//	Installed 2 packages in 12ms
//	 - litellm==1.106.2
//	 + litellm==1.107.0
//	 ~ lightspeed-stack==0.2.0 (from file:///srv/ci/lightspeed-stack)
func uvRow(line []byte) (c change, ok bool) {
	text := bytes.TrimLeft(line, " \t")
	if len(text) < 6 || text[0] != '+' && text[0] != '-' && text[0] != '~' || text[1] != ' ' || text[2] == ' ' {
		return c, false
	}
	name, version, ok := strings.Cut(string(bytes.TrimRight(text[2:], " ")), "==")
	if !ok || !evidence.IsDistName(name) {
		return c, false
	}
	version, from, _ := strings.Cut(version, " ")
	if !evidence.IsVersion(version) || from != "" && !strings.HasPrefix(from, "(from ") {
		return c, false
	}
	from = strings.TrimSuffix(strings.TrimPrefix(from, "(from "), ")")
	return change{text[0], timeline.Item{Artifact: timeline.PURL("pypi", "", name, version), Ref: evidence.Redact(from)}}, true
}

// row reads a row. Without a header it proves that a resolver or a text named
// the version, no more: headers are cut off, and lists look the same.
func (u *uv) row(c change, o *evidence.Out) evidence.Result {
	if u.op == nil && o.Prints() {
		return evidence.Miss
	}
	u.count = nil
	if c.sign != '-' {
		u.rows--
	}
	if u.op == nil && c.sign == '-' {
		u.minus = append(u.minus, heldRow{o.Mark(), c.item})
		return evidence.More
	}
	u.bare = u.bare || u.op == nil
	op := u.begin(uvRows, o)
	switch {
	case u.plan && c.sign == '-':
		o.Emit(timeline.Present, op, c.item)
	case u.plan, u.bare && c.sign != '-':
		o.Emit(timeline.Resolve, op, c.item)
	case u.bare:
		u.minus = append(u.minus, heldRow{o.Mark(), c.item})
	case c.sign == '-':
		o.Emit(timeline.Remove, op, c.item)
	default:
		o.Emit(timeline.Install, op, c.item)
	}
	u.open = true
	return evidence.More
}

// confirm releases the held removal that the row behind it confirms, a new
// version of the same package; it reports whether rows are still held.
func (u *uv) confirm(c change, text []byte, o *evidence.Out) bool {
	if c.sign == '-' {
		return true
	}
	held := u.minus[len(u.minus)-1]
	added := timeline.Split(c.item.Artifact).Name
	if name, _, ok := bytes.Cut(text, []byte("==")); c.sign == 0 && ok && u.op != nil { // + slackify-markdown==0.
		added = strings.TrimPrefix(string(name), "+ ")
	}
	if added != timeline.Split(held.item.Artifact).Name {
		return false
	}
	u.bare = u.bare || u.op == nil
	op := u.begin(uvRows, o)
	o.At(held.mark, timeline.Event{Action: timeline.Remove, Op: op.Number, Items: []timeline.Item{held.item}})
	u.minus = nil
	return true
}

// download reads the big ones, which uv shows without a version:
//
//	Downloading pydantic-core (2.0MiB)
//	 Downloaded pydantic-core
func (u *uv) download(rest string, o *evidence.Out) evidence.Result {
	name, size, sized := strings.Cut(rest, " ")
	if sized && (!strings.HasPrefix(size, "(") || !strings.HasSuffix(size, "iB)") || strings.Contains(size, " ")) {
		return evidence.Miss
	}
	if !evidence.IsDistName(name) || !sized && u.op == nil || strings.HasPrefix(name, "cpython-") || strings.HasPrefix(name, "pypy-") {
		return evidence.Miss
	}
	if u.op != nil && u.phase > uvPrepared {
		u.finish(timeline.OpOpen, o)
	}
	u.going(o)
	if !u.got[name] {
		if u.got == nil {
			u.got = map[string]bool{}
		}
		u.got[name] = true
		o.Emit(timeline.Download, u.op, timeline.Item{Artifact: timeline.PURL("pypi", "", name, "")})
	}
	return evidence.Done
}

// built reads "Built fasttext==0.9.3": the build code of a source distribution
// ran. A project of one's own has a path in place of the version:
//
//	Built acme-router @ file:///srv/ci/job/router
func (u *uv) built(rest string, o *evidence.Out) evidence.Result {
	name, version, ok := strings.Cut(rest, "==")
	if folder, from, of := strings.Cut(rest, " @ "); of && evidence.IsDistName(folder) && strings.Contains(from, "://") {
		o.Emit(timeline.Opaque, nil, buildRequirements)
		return evidence.Done
	}
	if !ok || !evidence.IsDistName(name) || !evidence.IsVersion(version) {
		return evidence.Miss
	}
	u.going(o)
	o.Emit(timeline.Install, u.op, timeline.Item{Artifact: timeline.PURL("pypi", "", name, version)})
	o.Emit(timeline.Opaque, nil, buildRequirements) // with an answer of its own: it is another environment
	return evidence.Done
}
