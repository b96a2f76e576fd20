package tool

import (
	"bytes"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NPM is the output of npm install, npm ci and npm ls, with npm's messages at
// any log level.
// https://docs.npmjs.com/cli/commands/npm-install
var NPM = evidence.Format{
	Name:   "npm",
	Shape:  evidence.ToolShape,
	Title:  "npm output and its log messages",
	Proves: "requested packages with versions where npm prints them; tarballs fetched, places in the tree and scripts run with --loglevel http or silly; what npm ls lists",
	Cannot: "the versions behind \"added 65 packages\": the lock file of that commit has them",
	Doc:    "https://github.com/npm/cli/blob/latest/docs/lib/content/commands/npm-install.md",
	Sample: "npm 6.14.18 and 11.19.1 run for this project; npm 2 and 3 by hand",
	Starts: []string{
		"npm ", "+ ", "added ", "add ", "change ", "changed ", "updated ", "removed ", "up to date", "├── ", "└── ", "├─┬ ", "└─┬ ", "│ ", "+-- ", "`-- ", "+-+ ", "`-+ ", "| ",
		"silly placeDep ", "silly ADD ", "silly CHANGE ", "silly audit ", "http fetch ", "http cache ", "info run ", "info lifecycle ", "info linkStuff ",
		"info using npm@", "info it worked", "info ok", "verbose argv ", "verbose exit ", "warn deprecated ", "warn exec ", "error code ",
		"verbose cli ", "silly resolveWithNewModule ", "silly decomposeActions ", "silly extract ", "silly saveTree ", "silly currentTree ", "silly idealTree ", "silly pacote version ", "http 200 ", "http 304 ",
		npmNeeds, "Ok to proceed? (y)", "npx: installed ", "# npm audit report",
	},
	Looks: looksNPM,
	Tool:  func() evidence.Parser { return &npm{} },
}

// looksNPM tells rows of a tree from what else begins with a bar.
//
//	| +-- litellm-proxy-client@1.2.0
func looksNPM(text []byte) bool {
	if text[0] != '|' {
		return true
	}
	row := bytes.TrimLeft(text, "| ")
	return len(row) > 0 && (row[0] == '+' || row[0] == '`')
}

// maxNPMNames bounds what is remembered of one invocation.
const maxNPMNames = 20000

type npm struct {
	op      *evidence.Op
	plan    bool           // --dry-run
	counted *evidence.Mark // the line that counts packages
	fetched int            // packages that it counts
	before  bool           // packages were named before the count (npm 6 and older)
	named   map[string]bool
	ended   timeline.OpState
	verbose npmVerbose
	asks    npmExec
	ears    int    // lines of any start that are still looked at
	sends   bool   // npm publish is at work
	packed  string // of which it made an archive
}

// npmLine is what stands on a line: a message of a log level, or output.
func npmLine(text []byte) (level, message string) {
	first, rest, _ := bytes.Cut(text, []byte(" "))
	if string(first) == "npm" {
		first, rest, _ = bytes.Cut(rest, []byte(" "))
	}
	switch string(first) {
	case "silly", "sill":
		level = "silly"
	case "verbose", "verb":
		level = "verbose"
	case "http", "info":
		level = string(first)
	case "warn", "WARN":
		level = "warn"
	case "error", "ERR!":
		level = "error"
	case "notice":
		level = "notice"
	default:
		return "", ""
	}
	return level, string(bytes.TrimSpace(rest))
}

// Line reads one line.
func (n *npm) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if l.Echo {
		n.given(o)
		n.commanded(text, o)
		return evidence.Miss
	}
	r := n.line(text, o)
	if r == evidence.Miss {
		n.deafen(o)
	}
	return r
}

func (n *npm) line(text []byte, o *evidence.Out) evidence.Result {
	switch n.asks.phase {
	case npmReport:
		if r := n.report(string(text), o); r != evidence.Miss {
			return r
		}
	case npmNames, npmWaits:
		if r := n.exec(string(text), o); r != evidence.Miss {
			return r
		}
	case npmIdle:
	}
	if len(text) == 0 {
		return evidence.Miss
	}
	if r := n.root(text, o); r != evidence.Miss {
		return r
	}
	if level, message := npmLine(text); level != "" {
		return n.message(level, message, o)
	}
	switch text[0] {
	case 'N', 'O':
		return n.exec(string(text), o)
	case 'n':
		return n.npxCount(string(text), o)
	case '#':
		if string(text) != "# npm audit report" {
			return evidence.Miss
		}
		o.Seen(timeline.NPM)
		n.asks.phase = npmReport
		o.Listen()
		return evidence.Done
	case '+':
		if r := n.requested(string(text), o); r != evidence.Miss {
			return r
		}
		return n.tree(string(text), o)
	case 'a', 'c', 'u', 'r':
		if r := n.planned(string(text), o); r != evidence.Miss {
			return r
		}
		return n.summary(string(text), o)
	}
	return n.tree(string(text), o)
}

// begin returns the invocation that a line belongs to.
func (n *npm) begin(o *evidence.Out) *evidence.Op {
	if n.op != nil && o.Overtaken(n.op) {
		n.finish(timeline.OpOpen, o)
	}
	if n.op == nil {
		n.op = o.Invocation("npm")
		n.plan = strings.Contains(n.op.Command, "--dry-run")
	}
	o.Seen(timeline.NPM)
	return n.op
}

// planned reads the rows of a dry run, and of --long, which say what npm is
// about to do:
//
//	add acme-dep 1.2.3
//	change debug 4.3.0 => 4.3.4
func (n *npm) planned(text string, o *evidence.Out) evidence.Result {
	w := strings.Fields(text)
	change := len(w) == 5 && w[0] == "change" && w[3] == "=>"
	if !change && (len(w) != 3 || w[0] != "add") || n.op == nil && !o.Awaited("npm") {
		return evidence.Miss
	}
	it, ok := atVersion("npm", w[1]+"@"+w[len(w)-1])
	if !ok || strings.Count(it.Ref, ".") < 2 || !exactVersion(it.Ref) {
		return evidence.Miss
	}
	it.Ref = ""
	o.Emit(timeline.Resolve, n.begin(o), it)
	return evidence.Done
}

// summary reads the line that counts what was done:
//
//	added 65 packages, and audited 66 packages in 3s
//	added 2 packages, removed 1 package, and changed 3 packages in 2s
//	added 1 package from 5 contributors in 0.267s
//	updated 1 package in 2s
//	up to date, audited 66 packages in 1s
func (n *npm) summary(text string, o *evidence.Out) evidence.Result {
	fetched, ok := npmCount(text)
	if !ok {
		return evidence.Miss
	}
	if fetched == 0 && !strings.HasPrefix(text, "up to date") && !o.Awaited("npm") && (n.op == nil || n.counted != nil) {
		return evidence.Done // npm uninstall
	}
	if n.counted != nil {
		n.finish(timeline.OpDone, o)
	}
	n.begin(o)
	mark := o.Mark()
	n.counted, n.fetched, n.before, n.ended = &mark, fetched, len(n.named) > 0, timeline.OpDone
	return evidence.Done
}

// npmCount adds up the packages that came, of a line in npm's own words.
func npmCount(text string) (fetched int, ok bool) {
	if strings.HasPrefix(text, "up to date in ") || strings.HasPrefix(text, "up to date, audited ") || text == "up to date" {
		return 0, true
	}
	words := strings.Fields(text)
	for i := 0; i+2 < len(words); i++ {
		count, err := strconv.Atoi(words[i+1])
		if err != nil || !strings.HasPrefix(words[i+2], "package") {
			continue
		}
		switch words[i] {
		case "added", "changed", "updated":
			fetched += count
		case "removed", "moved", "audited":
		default:
			return 0, false
		}
		ok = true
	}
	return fetched, ok && (strings.Contains(text, " in ") || strings.Contains(text, "audited "))
}

// requested reads a package that the command named:
//
//	$ npm install axios cache@npm:left-pad
//	+ axios@1.14.1
//	+ left-pad@1.3.0 (as cache)
//	+ cache@npm:left-pad@1.3.0
func (n *npm) requested(text string, o *evidence.Out) evidence.Result {
	word, rest, _ := strings.Cut(text[1:], "(as ")
	name, version, ok := npmPackage(strings.TrimSpace(word))
	if !ok || rest != "" && !strings.HasSuffix(rest, ")") || text[1] != ' ' {
		return evidence.Miss
	}
	if n.sent(word) {
		return evidence.Done
	}
	if n.counted != nil && n.before {
		n.finish(timeline.OpDone, o) // the next command names its packages
	}
	n.begin(o)
	n.install(name, version, o.Mark(), o)
	return evidence.Done
}

// npmPackage splits a package as npm names it: of an alias what it stands for.
func npmPackage(text string) (name, version string, ok bool) {
	folder, alias, is := strings.Cut(text, "@npm:")
	if is && evidence.IsNPMName(folder) {
		text = alias
	}
	return evidence.SplitNPM(text)
}

// install records a package once for each invocation.
func (n *npm) install(name, version string, mark evidence.Mark, o *evidence.Out) {
	key := name + "@" + version
	if n.named[key] || len(n.named) >= maxNPMNames {
		return
	}
	if n.named == nil {
		n.named = map[string]bool{}
	}
	n.named[key] = true
	action := timeline.Install
	if n.plan {
		action = timeline.Resolve
	}
	o.At(mark, timeline.Event{Action: action, Op: n.op.Number, Items: []timeline.Item{evidence.NPMItem(name, version)}})
}

// tree reads a row of npm ls, which shows what is in place, or of an
// installation by npm 4 and older, which shows what it installed:
//
//	├─┬ express@4.17.1
//	│ └── accepts@1.3.7
//	├── accepts@1.2.5 (mime-types@2.0.10, negotiator@0.5.1)
//	+-- axios@0.21.1
//	├── UNMET PEER DEPENDENCY react@15.0.0
func (n *npm) tree(text string, o *evidence.Out) evidence.Result {
	row := strings.TrimLeft(text, "│├└┬─|+-` ")
	word, rest, _ := strings.Cut(row, " ")
	name, version, ok := npmPackage(word)
	if !ok || !treeRow(text[:len(text)-len(row)]) || strings.HasPrefix(rest, "-> ") {
		return evidence.Miss
	}
	items := []timeline.Item{evidence.NPMItem(name, version)}
	if below, is := strings.CutPrefix(strings.TrimSpace(rest), "("); is {
		for part := range strings.SplitSeq(strings.TrimSuffix(below, ")"), ", ") {
			if name, version, ok := npmPackage(part); ok {
				items = append(items, evidence.NPMItem(name, version))
			}
		}
	}
	if n.counted == nil && (n.op != nil && !o.Overtaken(n.op) || o.Awaited("npm")) {
		op := n.begin(o)
		n.ended = timeline.OpDone
		op.Answer()
		o.Emit(timeline.Install, op, items...)
		return evidence.Done
	}
	o.Seen("")
	o.Emit(timeline.Present, nil, items...)
	return evidence.Done
}

// treeRow knows the lines of npm's trees; yarn's have one stroke less.
func treeRow(lines string) bool {
	lines = strings.TrimRight(lines, " ")
	return strings.HasSuffix(lines, "──") || strings.HasSuffix(lines, "─┬") || strings.HasSuffix(lines, "--") || strings.HasSuffix(lines, "-+")
}

// finish ends the invocation. What was counted and not named is opaque.
func (n *npm) finish(how timeline.OpState, o *evidence.Out) {
	if n.op == nil {
		return
	}
	n.verbose.settle(n, o)
	if n.fetched > len(n.named) && !n.plan {
		uncounted(n.op, n.counted, "npm", o)
	}
	if n.fetched > 0 || len(n.named) > 0 || n.plan {
		n.op.Answer()
	}
	if n.ended != "" && how != timeline.OpCached {
		how = n.ended
	}
	o.Close(n.op, how)
	*n = npm{asks: n.asks, ears: n.ears}
}

// uncounted records that packages came without their names: somewhere between
// the command, when it was echoed, and the line that counts them.
func uncounted(op *evidence.Op, counted *evidence.Mark, kind string, o *evidence.Out) {
	mark := *counted
	if asked, ok := op.Asked(); ok {
		mark = asked.Until(mark)
	}
	o.At(mark, timeline.Event{Action: timeline.Opaque, Op: op.Number, Items: []timeline.Item{{Artifact: timeline.Ecosystem(kind)}}})
}

// End ends the invocation.
func (n *npm) End(how timeline.OpState, o *evidence.Out) {
	if n.asks.phase == npmNames || n.asks.phase == npmWaits {
		n.proceed(npmUnknown, o)
	}
	n.finish(how, o)
}
