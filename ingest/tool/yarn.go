package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Yarn is the output of yarn, classic (1) and later.
// https://classic.yarnpkg.com/lang/en/docs/cli/add/
// https://yarnpkg.com/advanced/error-codes
var Yarn = evidence.Format{
	Name:   "yarn",
	Shape:  evidence.ToolShape,
	Title:  "yarn output",
	Proves: "what yarn 1 added, what yarn 2 and newer resolved, fetched and built; tarballs asked for with --verbose; what yarn list lists",
	Cannot: "the versions that yarn install installed: yarn.lock of that commit has them; what an alias stands for",
	Doc:    "https://github.com/yarnpkg/berry/blob/master/packages/docusaurus/docs/advanced/04-technical/error-codes.mdx",
	Sample: "yarn 1.22.22 and 4.18.1 run for this project; 3 by hand",
	Starts: []string{
		"yarn ", "➤ YN", "[1/", "[2/", "[3/", "[4/", "success ", "info Direct", "info All", "├─ ", "└─ ", "│  ", "Done in ", "✨", "=> Found \"", "verbose ", "error ",
	},
	Tool: func() evidence.Parser { return &yarn{} },
}

// yarnPhase is how far yarn got.
type yarnPhase uint8

const (
	yarnBegun yarnPhase = iota
	yarnAdded           // the rows that follow name what was added
	yarnLists           // the rows that follow name what is there
)

type yarn struct {
	op      *evidence.Op
	phase   yarnPhase
	counted *evidence.Mark // the line at which packages came without their names
	named   map[string]bool
	failed  bool
}

// Line reads one line.
func (y *yarn) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := bytes.TrimSpace(l.Text)
	if rest, ok := bytes.CutPrefix(text, []byte("➤ YN")); ok {
		return y.berry(string(rest), o)
	}
	word, rest, _ := strings.Cut(string(text), " ")
	switch word {
	case "yarn":
		return y.header(rest, o)
	case "├─", "└─", "│":
		return y.row(word, rest, o)
	case "=>":
		return y.found(rest, o)
	}
	if y.op == nil && !y.begun(word, rest, o) {
		return evidence.Miss
	}
	switch word {
	case "[2/4]", "[3/4]", "[4/4]", "[2/5]", "[3/5]", "[4/5]":
		// [2/4] Fetching packages...
		if y.counted == nil {
			mark := o.Mark()
			y.counted = &mark
		}
		return evidence.Done
	case "[1/4]", "[1/5]", "[1/2]", "[2/2]":
		return evidence.Done
	case "info":
		if rest == "Direct dependencies" || rest == "All dependencies" {
			y.phase = yarnAdded
			return evidence.Done
		}
	case "success":
		return y.success(rest, o)
	case "verbose":
		return y.request(rest, o)
	case "error":
		y.failed = true
		return y.broken(rest, o)
	case "✨": // and two blanks
		return y.done(strings.TrimPrefix(strings.TrimSpace(rest), "Done "), o)
	case "Done":
		return y.done(rest, o)
	}
	return evidence.Miss
}

// begun takes up an invocation whose first line is missing.
//
//	[2/4] 🚚  Fetching packages...
//	verbose 0.912 Performing "GET" request to "https://registry.npmjs.tld/left-pad/-/left-pad-1.3.0.tgz".
func (y *yarn) begun(word, rest string, o *evidence.Out) bool {
	fetches := (word == "[2/4]" || word == "[2/5]") && strings.HasSuffix(rest, "Fetching packages...")
	if !fetches && (word != "verbose" || !strings.Contains(rest, ` Performing "GET" request to "http`)) {
		return false
	}
	y.op = o.Invocation("yarn")
	o.Seen(timeline.NPM)
	return true
}

// broken reads an archive that came and was not what the lock file says:
//
//	error https://registry.npmjs.tld/left-pad/-/left-pad-1.3.0.tgz: Integrity check failed for "left-pad" (computed integrity doesn't match our records, got "sha512-…")
func (y *yarn) broken(rest string, o *evidence.Out) evidence.Result {
	address, what, ok := strings.Cut(rest, ": ")
	if item, kind := npmAddress(address); ok && kind == wholeFile && strings.HasPrefix(what, "Integrity check failed") {
		o.Emit(timeline.Download, y.op, item)
	}
	return evidence.Done
}

// header begins an invocation of yarn 1:
//
//	yarn install v1.22.22
//	yarn run v1.22.22
func (y *yarn) header(rest string, o *evidence.Out) evidence.Result {
	command, version, ok := strings.Cut(rest, " v")
	if !ok || !evidence.IsSemver(version) || strings.ContainsAny(command, " ./") {
		return evidence.Miss
	}
	y.finish(timeline.OpOpen, o)
	switch command {
	case "install", "add", "upgrade", "global", "import":
		y.op = o.Invocation("yarn")
	case "list":
		y.op, y.phase = o.NewOp("yarn", ""), yarnLists
	case "run": // and its command after a "$"
		ran(npmScript, o)
		return evidence.Done
	default:
		return evidence.Done
	}
	o.Seen(timeline.NPM)
	return evidence.Done
}

// found reads what yarn why finds in the tree, behind the packages that it is
// below:
//
//	=> Found "axios@1.14.1"
//	=> Found "web#axios@0.30.4"
func (y *yarn) found(rest string, o *evidence.Out) evidence.Result {
	quoted, ok := strings.CutPrefix(rest, `Found "`)
	id, closed := strings.CutSuffix(quoted, `"`)
	name, version, exact := evidence.SplitNPM(id[strings.LastIndexByte(id, '#')+1:])
	if !ok || !closed || !exact {
		return evidence.Miss
	}
	o.Seen("")
	o.Emit(timeline.Present, nil, evidence.NPMItem(name, version))
	return evidence.Done
}

// row reads what was added or is in place:
//
//	├─ is-number@6.0.0
//	│  └─ is-number@^6.0.0
//	├─ is-number@npm:6.0.0        yarn 2 and newer
func (y *yarn) row(word, rest string, o *evidence.Out) evidence.Result {
	if name, version, ok := evidence.SplitNPM(berryLocator(rest)); ok && word != "│" {
		o.Seen("") // yarn info, yarn why
		o.Emit(timeline.Present, nil, evidence.NPMItem(name, version))
		return evidence.Done
	}
	if y.op == nil || y.phase < yarnAdded {
		return evidence.Miss
	}
	if word == "│" {
		rest = strings.TrimLeft(rest, "│├└─ ")
	}
	name, version, ok := evidence.SplitNPM(rest)
	if !ok {
		return evidence.Done // a range
	}
	if y.phase == yarnLists {
		o.Emit(timeline.Present, y.op, evidence.NPMItem(name, version))
		return evidence.Done
	}
	y.install(name, version, timeline.Install, o)
	return evidence.Done
}

func (y *yarn) install(name, version string, action timeline.Action, o *evidence.Out) {
	key := action.String() + name + "@" + version
	if y.named[key] || len(y.named) >= maxNPMNames {
		return
	}
	if y.named == nil {
		y.named = map[string]bool{}
	}
	y.named[key] = true
	o.Emit(action, y.op, evidence.NPMItem(name, version))
}

// success reads yarn's words for what it did:
//
//	success Already up-to-date.
//	success Saved 2 new dependencies.
//	success Installed "mime@1.6.0" with binaries:
func (y *yarn) success(rest string, o *evidence.Out) evidence.Result {
	if quoted, ok := strings.CutPrefix(rest, `Installed "`); ok {
		id, _, _ := strings.Cut(quoted, `"`)
		if name, version, ok := evidence.SplitNPM(id); ok {
			y.install(name, version, timeline.Install, o)
		}
	}
	if strings.HasPrefix(rest, "Saved ") && strings.Contains(rest, " new dependenc") {
		y.phase = yarnAdded // early releases have no line before the rows
	}
	return evidence.Done
}

// request reads what yarn 1 asks a registry for with --verbose:
//
//	verbose 0.912 Performing "GET" request to "https://registry.yarnpkg.tld/kind-of/-/kind-of-6.0.3.tgz".
//
// The tarball is written down while it comes: its request is all that is said.
func (y *yarn) request(rest string, o *evidence.Out) evidence.Result {
	_, address, ok := strings.Cut(rest, `Performing "GET" request to "`)
	if !ok {
		return evidence.Done
	}
	address, _, _ = strings.Cut(address, `"`)
	item, kind := npmAddress(address)
	switch kind {
	case wholeFile:
		o.Emit(timeline.Download, y.op, item)
	case indexPage:
		o.Emit(timeline.Resolve, y.op, item)
	}
	return evidence.Done
}

// done reads "Done in 0.59s.", the last line.
func (y *yarn) done(rest string, o *evidence.Out) evidence.Result {
	if !strings.HasPrefix(rest, "in ") || !strings.HasSuffix(rest, "s.") {
		return evidence.Miss
	}
	y.finish(timeline.OpDone, o)
	return evidence.Done
}

// finish ends the invocation. Beside what was added, all that the lock file
// names may have come.
func (y *yarn) finish(how timeline.OpState, o *evidence.Out) {
	if y.op == nil {
		return
	}
	if y.counted != nil {
		uncounted(y.op, y.counted, "npm", o)
	}
	if y.counted != nil || len(y.named) > 0 {
		y.op.Answer()
	}
	if y.failed && how != timeline.OpCached {
		how = timeline.OpFailed
	}
	o.Close(y.op, how)
	*y = yarn{}
}

// End ends the invocation.
func (y *yarn) End(how timeline.OpState, o *evidence.Out) { y.finish(how, o) }
