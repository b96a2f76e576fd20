package tool

import (
	"bytes"
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Deno is what deno prints of the files that it fetches.
// https://docs.deno.com/runtime/reference/cli/install/
var Deno = evidence.Format{
	Name:   "deno",
	Shape:  evidence.ToolShape,
	Title:  "deno install, add, cache and run",
	Proves: "npm packages that were looked up, fetched, and put into node_modules, with versions",
	Cannot: "packages of JSR and files of other servers, which are no packages here",
	Doc:    "https://docs.deno.com/runtime/reference/cli/install/",
	Sample: "written by hand after the documentation",
	Starts: []string{"Download http", "Initialize ", "Add npm:"},
	Tool:   func() evidence.Parser { return &deno{} },
}

type deno struct{ op *evidence.Op }

// Line reads one line:
//
//	Download https://registry.npmjs.tld/chalk
//	Download https://registry.npmjs.tld/chalk/-/chalk-5.3.0.tgz
//	Initialize chalk@5.3.0
//	Add npm:chalk@5.3.0
func (d *deno) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	verb, what, _ := bytes.Cut(bytes.TrimSpace(l.Text), []byte(" "))
	text := string(what)
	switch string(verb) {
	case "Download":
		u, err := url.Parse(text)
		if err != nil || strings.Contains(text, " ") {
			return evidence.Miss
		}
		item, kind := packagePath(u.EscapedPath())
		if kind != wholeFile || !strings.HasPrefix(item.Artifact, "pkg:npm/") {
			if d.op != nil || o.Awaited("deno") {
				d.begin(o)
				return evidence.Done
			}
			return evidence.Miss
		}
		o.Emit(timeline.Download, d.begin(o), item)
	case "Initialize":
		it, ok := atVersion("npm", text)
		if !ok || !strings.Contains(it.Artifact[4:], "@"+it.Ref) {
			return evidence.Miss
		}
		it.Ref = ""
		o.Emit(timeline.Install, d.begin(o), it)
	case "Add":
		it, ok := atVersion("npm", strings.TrimPrefix(text, "npm:"))
		if !ok || !strings.Contains(it.Artifact[4:], "@"+it.Ref) {
			return evidence.Miss
		}
		it.Ref = ""
		o.Emit(timeline.Resolve, d.begin(o), it)
	default:
		return evidence.Miss
	}
	return evidence.Done
}

func (d *deno) begin(o *evidence.Out) *evidence.Op {
	if d.op != nil && o.Overtaken(d.op) {
		d.close(timeline.OpDone, o)
	}
	if d.op == nil {
		d.op = o.Invocation("deno")
	}
	o.Seen(timeline.NPM)
	return d.op
}

func (d *deno) close(how timeline.OpState, o *evidence.Out) {
	if d.op != nil {
		d.op.Answer()
		o.Close(d.op, how)
	}
	d.op = nil
}

// End closes what is open.
func (d *deno) End(how timeline.OpState, o *evidence.Out) { d.close(how, o) }
