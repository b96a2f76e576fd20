package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Cargo is the output of cargo build, check, fetch, add, update and install.
// https://doc.rust-lang.org/cargo/commands/
var Cargo = evidence.Format{
	Name:   "cargo",
	Shape:  evidence.ToolShape,
	Title:  "cargo output",
	Proves: "crates that came over, were compiled (build scripts run), or installed, with versions",
	Cannot: "crates that were compiled before, and are not printed again",
	Doc:    "https://doc.rust-lang.org/cargo/commands/",
	Sample: "written by hand after the documentation",
	Starts: []string{"Downloaded ", "Downloading ", "Compiling ", "Checking ", "Fresh ", "Adding ", "Updating ", "Locking ", "Installed package ", "Replaced package ", "Downgrading "},
	Looks:  namesVersion,
	Tool:   func() evidence.Parser { return &cargo{} },
}

// namesVersion reports whether a word of the text is a version: v1.0.203
func namesVersion(text []byte) bool {
	for {
		i := bytes.IndexByte(text, 'v')
		if i < 0 || i+1 == len(text) {
			return false
		}
		if i > 0 && (text[i-1] == ' ' || text[i-1] == '\t') && isDecimal(text[i+1]) {
			return true
		}
		text = text[i+1:]
	}
}

type cargo struct{ op *evidence.Op }

// cargoVerbs say what a row proves: build scripts run when a crate is compiled
// or checked.
var cargoVerbs = map[string]timeline.Action{
	"Downloaded": timeline.Download, "Downloading": timeline.Download, "Compiling": timeline.Install, "Checking": timeline.Install,
	"Fresh": timeline.Present, "Adding": timeline.Resolve, "Updating": timeline.Resolve, "Downgrading": timeline.Resolve, "Locking": timeline.Resolve,
}

// Line reads one line.
//
//	Downloaded serde v1.0.203
//	 Compiling serde v1.0.203
//	 Compiling api v0.1.0 (/srv/api)
//	    Adding itoa v1.0.11 to dependencies
//	  Updating serde v1.0.202 -> v1.0.203
//	 Installed package `ripgrep v14.1.0` (executable `rg`)
//	  Replaced package `ripgrep v14.0.3` with `ripgrep v14.1.0` (executable `rg`)
func (c *cargo) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(bytes.TrimSpace(l.Text))
	if l.Echo {
		return evidence.Miss
	}
	verb, rest, _ := strings.Cut(text, " ")
	if quoted, ok := strings.CutPrefix(rest, "package `"); ok {
		return c.packaged(verb, quoted, o)
	}
	action, known := cargoVerbs[verb]
	name, rest, _ := strings.Cut(rest, " ")
	version, note, _ := strings.Cut(rest, " ")
	if to, ok := strings.CutPrefix(note, "-> "); ok && action == timeline.Resolve {
		version, note, _ = strings.Cut(to, " ")
	}
	it, ok := crate(name, version)
	// A path or a repository stands behind a crate that is of no registry.
	if !known || !ok || note != "" && !strings.HasPrefix(note, "(available: ") && !strings.HasPrefix(note, "(latest: ") && !strings.HasPrefix(note, "to ") &&
		!strings.HasPrefix(note, "(proc-macro)") && !strings.HasPrefix(note, "(registry ") {
		return evidence.Miss
	}
	o.Emit(action, c.begin(o), it)
	return evidence.Done
}

// packaged reads a program that was installed.
func (c *cargo) packaged(verb, quoted string, o *evidence.Out) evidence.Result {
	named, rest, ok := strings.Cut(quoted, "`")
	old, gone := timeline.Item{}, false
	if verb == "Replaced" {
		if old, gone = crate(cutWord(named)); !gone {
			return evidence.Miss
		}
		named, _, ok = strings.Cut(strings.TrimPrefix(rest, " with `"), "`")
	}
	it, valid := crate(cutWord(named))
	if !ok || !valid || verb != "Installed" && verb != "Replaced" {
		return evidence.Miss
	}
	op := c.begin(o)
	op.Answer()
	o.Emit(timeline.Install, op, it)
	if gone && old.Artifact != it.Artifact {
		o.Emit(timeline.Remove, op, old)
	}
	return evidence.Done
}

// cutWord returns the first word of a text, and the second.
func cutWord(text string) (first, second string) {
	first, rest, _ := strings.Cut(text, " ")
	second, _, _ = strings.Cut(rest, " ")
	return first, second
}

// crate is a crate at "v1.0.203".
func crate(name, version string) (timeline.Item, bool) {
	v, ok := strings.CutPrefix(strings.TrimSuffix(version, ","), "v")
	if !ok || !evidence.IsDistName(name) || strings.Count(v, ".") < 2 || !isDecimal(v[0]) || strings.ContainsAny(v, "`'\"(),") {
		return timeline.Item{}, false
	}
	return timeline.Item{Artifact: timeline.PURL("cargo", "", name, v)}, true
}

func (c *cargo) begin(o *evidence.Out) *evidence.Op {
	if c.op != nil && o.Overtaken(c.op) {
		c.End(timeline.OpDone, o)
	}
	if c.op == nil {
		c.op = o.Invocation("cargo")
	}
	o.Seen("cargo")
	return c.op
}

// End closes what is open.
func (c *cargo) End(how timeline.OpState, o *evidence.Out) {
	o.Close(c.op, how)
	c.op = nil
}
