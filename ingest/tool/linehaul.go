package tool

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Linehaul is the line that the edge servers of a Python index write for its
// download statistics.
// https://github.com/pypi/linehaul-cloud-function
var Linehaul = evidence.Format{
	Name:   "linehaul",
	Shape:  evidence.ToolShape,
	Title:  "Download lines of a Python index's edge (linehaul)",
	Proves: "which file was downloaded, which index page was read, when",
	Cannot: "who did it: the lines name a country and a program, no address",
	Doc:    "https://github.com/pypi/linehaul-cloud-function",
	Sample: "written by hand after the parser",
	Starts: []string{"download|", "simple|"},
	Tool:   func() evidence.Parser { return &linehaul{} },
}

type linehaul struct{}

// Line reads one line: kind, time, country, path, TLS, cipher, project,
// version, type and user agent. Fields may be empty or "(null)"; the file's
// name tells what came.
//
//	download|Wed, 21 Oct 2026 12:54:54 GMT|DE|/packages/f7/12/ec3f…/litellm-1.107.0-py3-none-any.whl|TLSv1.3|AES256-GCM|litellm|1.107.0|bdist_wheel|pip/24.2 {…}
//	simple|Wed, 21 Oct 2026 12:54:52 GMT|DE|/simple/litellm/|TLSv1.3|AES256-GCM||||pip/24.2 {…}
func (*linehaul) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	w := bytes.SplitN(evidence.TrimIndent(l.Text), []byte("|"), 10)
	if len(w) < 10 {
		return evidence.Miss
	}
	at, err := time.Parse(time.RFC1123, string(w[1]))
	if err != nil {
		return evidence.Miss
	}
	item, kind := packagePath(string(w[3]))
	action := timeline.Resolve
	switch {
	case kind == noPath:
		o.Skip("neither a file nor a page of an index")
		return evidence.Done
	case kind == wholeFile && string(w[0]) == "download":
		action = timeline.Download
	}
	o.Event(timeline.Event{Action: action, Span: evidence.Epoch(at.Unix(), time.Second, string(w[1])), Items: []timeline.Item{item}})
	return evidence.Done
}

// End has nothing to do: each line stands alone.
func (*linehaul) End(timeline.OpState, *evidence.Out) {}
