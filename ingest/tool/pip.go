// Package tool holds the tools: each knows what one line says, whatever frame
// it stands in.
package tool

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Pip is the output of pip install, download, wheel, uninstall and check.
// https://pip.pypa.io/en/stable/cli/pip_install/
var Pip = evidence.Format{
	Name:   "pip",
	Shape:  evidence.ToolShape,
	Title:  "pip output",
	Proves: "what was asked for, resolved, downloaded, reused from the cache, installed, removed and already there, with versions",
	Cannot: "what pip -q did, and what a build fetched for itself; the exact version of a requirement whose answer was cut off",
	Doc:    "https://pip.pypa.io/en/stable/cli/pip_install/",
	Sample: "made with pip 18.1 to 25.0.1 on a closed network; pip 1 by hand after public logs",
	Starts: []string{
		"Collecting ", "Downloading ", "Using cached ", "Requirement already ", "Processing ", "Obtaining ", "Saved ",
		"Created wheel for ", "Found existing installation: ", "Uninstalling ", "Successfully ", "Would install ", "Proceed (",
		"Looking in ", "Using pip ", "Installing collected packages: ", "Installing build dependencies", "ERROR: ", "Could not find a version ",
		"No matching distribution ", "Fetching", "Downloading/unpacking ", "Could not find any downloads ", "No distributions at all ", "File was already downloaded ",
	},
	Looks: looksPip,
	Tool:  func() evidence.Parser { return &pip{} },
}

// looksPip knows that the names of files have a dash and a dot, and tells what is
// asked for from prose.
func looksPip(text []byte) bool {
	switch text[0] {
	case 'D':
		if bytes.HasPrefix(text, []byte("Downloading/")) || bytes.HasPrefix(text, []byte("Downloading from URL ")) {
			return true
		}
	case 'C':
		asked, ok := bytes.CutPrefix(text, []byte("Collecting "))
		return !ok || !prose(asked)
	default:
		return true
	}
	file := text[len("Downloading "):]
	if i := bytes.IndexByte(file, ' '); i >= 0 {
		file = file[:i]
	}
	return bytes.IndexByte(file, '-') >= 0 && bytes.IndexByte(file, '.') >= 0
}

// phase is how far an invocation has come.
type phase uint8

const (
	idle phase = iota
	resolving
	installing
)

type pip struct {
	op        *evidence.Op
	phase     phase
	indent    int           // of the lines that began the invocation; what stands deeper is of a build environment
	got       map[said]bool // some versions print each download twice
	plan      []string      // what it said that it would install
	collected bool          // something was asked for that the environment did not have
	ends      bool          // the output may end here: some invocations print no last line
	old       bool          // a pip before 6, whose last line has no versions

	found found
	long  *longLine // a "Successfully installed …" that may go on in the next line
	asked *heldAsk  // a "Collecting x" that may be another program's
	gems  []heldGem // "Successfully installed x-1" lines that may be a gem's
	gem   bool      // the last line was RubyGems fetching something
}

// said is an event that an invocation has.
type said struct {
	action   timeline.Action
	artifact string
}

// Line reads one line.
func (p *pip) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if p.long != nil && p.goesOn(l, text, o) {
		return evidence.More
	}
	if p.asked != nil {
		p.release(l, text, o)
	}
	if p.gems != nil {
		if r := p.moreGems(text, o); r != evidence.Miss {
			return r
		}
	}
	if l.Echo {
		return evidence.Miss
	}
	indent := len(l.Text) - len(evidence.TrimIndent(l.Text))
	word, rest, _ := bytes.Cut(text, []byte(" "))
	gem := p.gem
	p.gem = false
	switch string(word) {
	case "Collecting":
		if prose(rest) {
			return evidence.Miss
		}
		return p.collecting(string(rest), indent, o)
	case "Downloading/unpacking":
		return p.unpacking(string(rest), indent, o)
	case "Downloading":
		return p.download(timeline.Download, rest, o)
	case "Using":
		return p.using(rest, l, o)
	case "Requirement":
		return p.satisfied(string(rest), indent, o)
	case "Processing":
		return p.processing(rest, indent, o)
	case "Obtaining":
		return p.obtaining(string(rest), indent, o)
	case "Saved":
		return p.saved(rest, o)
	case "File":
		return p.alreadyHere(rest, o)
	case "Created":
		return p.createdWheel(rest, o)
	case "Found":
		return p.foundExisting(rest, o)
	case "Uninstalling":
		return p.uninstalling(rest, o)
	case "Proceed":
		return p.proceed(rest, o)
	case "Successfully":
		if p.holdLong(string(rest), indent, gem, o) {
			return evidence.More
		}
		return p.successfully(string(rest), indent, gem, o)
	case "Would":
		return p.wouldInstall(rest, o)
	case "Looking":
		return p.looking(rest, indent, o)
	case "Installing":
		return p.installing(rest, indent, o)
	case "ERROR:":
		return p.failed(rest, o)
	case "Could", "No":
		return p.failed(text, o)
	case "Fetching", "Fetching:":
		p.gem = bytes.HasSuffix(word, []byte(":")) || bytes.HasSuffix(text, []byte(".gem"))
		o.Heed()
		return evidence.Miss
	}
	return p.conflict(text, o)
}

// begin returns the invocation that a line of the given phase belongs to.
func (p *pip) begin(ph phase, indent int, o *evidence.Out) *evidence.Op {
	if p.op != nil && (ph < p.phase || o.Overtaken(p.op)) && indent <= p.indent {
		p.finish(timeline.OpOpen, o)
	}
	if p.op == nil {
		p.op = o.Invocation("pip")
		p.indent = indent
	}
	p.phase = max(p.phase, ph)
	o.Seen(timeline.PyPI)
	o.Listen()
	return p.op
}

// current returns the open invocation for lines that do not begin one.
func (p *pip) current(o *evidence.Out) *evidence.Op {
	return p.begin(max(p.phase, resolving), p.indent, o)
}

// finish ends the open invocation.
func (p *pip) finish(how timeline.OpState, o *evidence.Out) {
	p.dropFound(o)
	if p.op == nil {
		return
	}
	if p.ends && !p.collected && how != timeline.OpFailed {
		p.op.Answer()
		if how == timeline.OpOpen {
			how = timeline.OpDone
		}
	}
	if how == timeline.OpDone || how == timeline.OpFailed {
		p.op.Answer()
	}
	o.Close(p.op, how)
	p.op, p.phase, p.got, p.plan, p.collected, p.ends, p.old = nil, idle, nil, nil, false, false, false
}

// End ends an invocation that printed no end.
func (p *pip) End(how timeline.OpState, o *evidence.Out) {
	p.endLong(o)
	if p.asked != nil {
		p.confirm(o)
	}
	p.releaseGems(o)
	p.finish(how, o)
	p.gem = false
}

// once emits an event unless the invocation said the same before.
func (p *pip) once(a timeline.Action, o *evidence.Out, it timeline.Item) {
	key := said{a, it.Artifact}
	if p.got[key] {
		return
	}
	if p.got == nil {
		p.got = map[said]bool{}
	}
	p.got[key] = true
	o.Emit(a, p.op, it)
}

func distItem(d evidence.Dist) timeline.Item {
	return timeline.Item{Artifact: timeline.PURL("pypi", "", d.Name, d.Version)}
}

// download reads the file behind "Downloading" and "Using cached":
//
//	Downloading litellm-1.107.0-py3-none-any.whl.metadata (399 bytes)
//	Downloading http://mirror.acme.example/packages/23/bd/18d1/litellm-1.107.0-py3-none-any.whl (657kB)
//	Using cached sgmllib3k-1.0.0.tar.gz (5.8 kB)
//	Downloading from URL http://mirror.acme.example/packages/2d/2c/5ccb/six-1.9.0.tar.gz#md5=de06… (from http://mirror.acme.example/simple/six/)
func (p *pip) download(a timeline.Action, rest []byte, o *evidence.Out) evidence.Result {
	rest = bytes.TrimPrefix(rest, []byte("from URL "))
	file, size, _ := bytes.Cut(rest, []byte(" "))
	d, ok := evidence.ParseDist(string(bytes.TrimSpace(file)))
	// Other programs download archives too; those of pip follow a question, or
	// have a size in parentheses, or come from where an index keeps its files.
	if !ok || !d.Wheel && p.op == nil && !bytes.HasPrefix(bytes.TrimSpace(size), []byte("(")) && !indexPath.Match(file) {
		return evidence.Miss
	}
	p.current(o)
	p.collected = true
	if d.Metadata {
		a = timeline.Resolve
	}
	p.once(a, o, distItem(d))
	return evidence.Done
}

// indexPath is where an index keeps files: under the hash of each.
var indexPath = regexp.MustCompile(`/packages/[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{28,64}/[^/]+$`)

func (p *pip) using(rest []byte, l *evidence.Line, o *evidence.Out) evidence.Result {
	if file, ok := bytes.CutPrefix(rest, []byte("cached ")); ok {
		return p.download(timeline.Cached, file, o)
	}
	// Using pip 24.2 from /opt/venv/lib/python3.13/site-packages/pip (python 3.13)
	if !bytes.HasPrefix(rest, []byte("pip ")) || !bytes.Contains(rest, []byte(" from ")) {
		return evidence.Miss
	}
	indent := len(l.Text) - len(evidence.TrimIndent(l.Text))
	if indent <= p.indent {
		p.finish(timeline.OpOpen, o)
	}
	p.begin(resolving, indent, o)
	return evidence.Done
}

// looking begins every invocation with a stated index:
//
//	Looking in indexes: http://mirror.acme.example/simple
//	Looking in links: ./wheels
func (p *pip) looking(rest []byte, indent int, o *evidence.Out) evidence.Result {
	index := bytes.HasPrefix(rest, []byte("in indexes: "))
	if !index && !bytes.HasPrefix(rest, []byte("in links: ")) {
		return evidence.Miss
	}
	if index && p.op != nil && (p.collected || p.ends) && indent <= p.indent {
		p.finish(timeline.OpOpen, o)
	}
	p.begin(resolving, indent, o)
	return evidence.Done
}

// saved reads what pip wheel and pip download leave in a folder; it is not
// installed. Mostly its download was printed before.
//
//	Saved ./wheelhouse/litellm-1.107.0-py3-none-any.whl
func (p *pip) saved(rest []byte, o *evidence.Out) evidence.Result {
	d, ok := evidence.ParseDist(string(rest))
	if !ok || !d.Wheel && p.op == nil && !o.Awaited("pip") {
		return evidence.Miss
	}
	p.current(o)
	p.ends, p.collected = true, false
	it := distItem(d)
	if !p.got[said{timeline.Cached, it.Artifact}] {
		p.once(timeline.Download, o, it)
	}
	return evidence.Done
}

// createdWheel proves that the build code of a source distribution ran. The
// hash is of the wheel built here, known to nobody else.
//
//	Created wheel for gast: filename=gast-0.2.2-py3-none-any.whl size=7539 sha256=a623c579394f986319dc4a4ff3c51e9eb95e…
func (p *pip) createdWheel(rest []byte, o *evidence.Out) evidence.Result {
	_, file, ok := bytes.Cut(rest, []byte("filename="))
	if !ok {
		return evidence.Miss
	}
	file, _, _ = bytes.Cut(file, []byte(" "))
	d, ok := evidence.ParseDist(string(file))
	if !ok {
		return evidence.Miss
	}
	p.current(o)
	p.once(timeline.Install, o, distItem(d))
	return evidence.Done
}

// installing reads "Installing collected packages: six, litellm".
func (p *pip) installing(rest []byte, indent int, o *evidence.Out) evidence.Result {
	if bytes.HasPrefix(rest, []byte("build dependencies")) {
		return p.isolated(rest, o)
	}
	if !bytes.HasPrefix(rest, []byte("collected packages: ")) {
		return evidence.Miss
	}
	if indent > p.indent && p.op != nil {
		return evidence.Done
	}
	p.begin(installing, indent, o)
	p.plan = strings.Split(string(rest[len("collected packages: "):]), ", ")
	for i, w := range p.plan { // what prints versions there is no pip of ours, and means the same
		if name, version, ok := evidence.SplitDist(w); ok && strings.Contains(version, ".") {
			p.plan[i] = name // app-2 is a name
		}
	}
	return evidence.Done
}

// isolated reads that pip made an environment for the build of a source
// distribution, of which it prints nothing. No invocation has it: what that
// installs is not in there.
//
//	Installing build dependencies: finished with status 'done'
//	Installing build dependencies ... done
//
// https://pip.pypa.io/en/stable/reference/build-system/
func (p *pip) isolated(rest []byte, o *evidence.Out) evidence.Result {
	how := bytes.TrimLeft(rest[len("build dependencies"):], ":. ")
	if !bytes.HasPrefix(how, []byte("finished")) && !bytes.HasPrefix(how, []byte("done")) && !bytes.HasPrefix(how, []byte("error")) {
		return evidence.Miss // it begins
	}
	o.Seen(timeline.PyPI)
	o.Emit(timeline.Opaque, nil, buildRequirements)
	return evidence.Done
}

// lacking are the packages that pip said it would install, and that the line
// which says what it installed does not name: something was taken out of it.
func (p *pip) lacking(items []timeline.Item) (out []timeline.Item) {
	for _, name := range p.plan {
		name = strings.TrimSpace(name)
		artifact := timeline.PURL("pypi", "", name, "")
		if evidence.IsDistName(name) && !slices.ContainsFunc(items, func(it timeline.Item) bool { return strings.HasPrefix(it.Artifact, artifact+"@") }) {
			out = append(out, timeline.Item{Artifact: artifact})
		}
	}
	return out
}

// wouldInstall reads the end of a dry run: "Would install litellm-1.107.0".
func (p *pip) wouldInstall(rest []byte, o *evidence.Out) evidence.Result {
	list, ok := bytes.CutPrefix(rest, []byte("install "))
	if !ok {
		return evidence.Miss
	}
	items := distList(string(list))
	if items == nil {
		return evidence.Miss
	}
	op := p.current(o)
	o.Emit(timeline.Resolve, op, items...)
	p.finish(timeline.OpDone, o)
	return evidence.Done
}

// distList reads "annotated-types-0.7.0 h2-4.3.0 torch-2.2.1+cpu"; nil when the
// first word is no distribution, or a sentence goes on behind it. A last word
// that was cut off is dropped, and so is a warning that got into the line, and a
// planned name that stands without its version, as old pips have it of what is
// developed in place.
func distList(text string, plan ...string) []timeline.Item {
	var items []timeline.Item
	words := strings.Fields(evidence.Clean(text))
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(plan, w) })
	for i, w := range words {
		name, version, ok := evidence.SplitDist(w)
		prose := !ok && i < len(words)-1 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == ""
		if !ok && items == nil || prose && len(items) == i {
			return nil
		}
		if ok {
			items = append(items, timeline.Item{Artifact: timeline.PURL("pypi", "", name, version)})
		}
	}
	return items
}
