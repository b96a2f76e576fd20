package tool

import (
	"bytes"
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PyPIServer is pypiserver's own log, in its default format. The server that it
// runs in writes access lines beside it.
// https://github.com/pypiserver/pypiserver#command-line-options
var PyPIServer = evidence.Format{
	Name:   "pypiserver",
	Shape:  evidence.ToolShape,
	Title:  "pypiserver log",
	Proves: "which files and index pages it served, and when (local time)",
	Cannot: "who asked: its lines have no address; the zone of its times",
	Doc:    "https://github.com/pypiserver/pypiserver#command-line-options",
	Sample: "written by hand after its source",
	Starts: []string{"20"},
	Tool:   func() evidence.Parser { return &pypiServer{asked: map[string]served{}} },
}

// served is a request whose answer has not come: one at a time for each thread.
type served struct {
	item   timeline.Item
	action timeline.Action
}

type pypiServer struct{ asked map[string]served }

// maxThreads bounds the requests that wait for their answer.
const maxThreads = 1024

// Line reads one line: time, logger, level, thread and message.
//
//	2026-10-21 12:04:51,251|pypiserver._app|INFO|140222|<LocalRequest: GET http://pypi.acme.example/packages/litellm-1.107.0-py3-none-any.whl>
//	2026-10-21 12:04:51,262|pypiserver._app|INFO|140222|200 OK
func (p *pypiServer) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	w := bytes.SplitN(bytes.TrimSpace(l.Text), []byte("|"), 5)
	if len(w) < 4 {
		return evidence.Miss
	}
	m, n := evidence.ParseISO(w[0])
	message := string(w[len(w)-1])
	thread := string(w[len(w)-2])
	if n == 0 || n != len(w[0]) || !allDigits([]byte(thread)) || len(w) == 5 && !bytes.HasPrefix(w[1], []byte("pypiserver")) {
		return evidence.Miss
	}
	if request, ok := strings.CutSuffix(strings.TrimPrefix(message, "<LocalRequest: "), ">"); ok && strings.HasPrefix(message, "<LocalRequest: ") {
		delete(p.asked, thread)
		method, address, _ := strings.Cut(request, " ")
		u, err := url.Parse(address)
		if err != nil || len(p.asked) >= maxThreads {
			return evidence.Done
		}
		item, kind := packagePath(u.EscapedPath())
		switch {
		case kind == noPath || method != "GET" && method != "HEAD":
		case method == "HEAD":
			p.asked[thread] = served{item, timeline.Check}
		case kind == wholeFile:
			p.asked[thread] = served{item, timeline.Download}
		default:
			p.asked[thread] = served{item, timeline.Resolve}
		}
		return evidence.Done
	}
	code, _, _ := strings.Cut(message, " ")
	status, known := status([]byte(code))
	if !known {
		return evidence.Miss
	}
	a, waits := p.asked[thread]
	delete(p.asked, thread)
	if waits && status == 304 {
		a.action = timeline.Check
	}
	if waits && (status == 200 || status == 304) {
		span := o.Mark().Span()
		if l.Stamp.Read == nil {
			span = m.Span(string(w[0]), &o.Times)
		}
		o.Event(timeline.Event{Action: a.action, Span: span, Items: []timeline.Item{a.item}})
	}
	return evidence.Done
}

// End forgets what was not answered.
func (p *pypiServer) End(timeline.OpState, *evidence.Out) { clear(p.asked) }
