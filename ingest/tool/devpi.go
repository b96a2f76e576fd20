package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Devpi is the log of devpi-server.
// https://devpi.net/docs/devpi/devpi/stable/+doc/adminman/server.html
var Devpi = evidence.Format{
	Name:   "devpi-log",
	Shape:  evidence.ToolShape,
	Title:  "devpi-server log",
	Proves: "which files and pages were asked for, and which files the mirror fetched itself",
	Cannot: "who asked, and that a file was sent: a request is logged when it arrives; the zone of its times",
	Doc:    "https://devpi.net/docs/devpi/devpi/stable/+doc/adminman/server.html",
	Sample: "written by hand after its output",
	Starts: []string{"20", "INFO  [req"},
	Tool:   func() evidence.Parser { return &devpi{} },
}

type devpi struct{}

// Line reads one line. 'reading remote' is written when the upstream has
// answered:
//
//	2026-10-21 12:38:51,079 INFO  [req3] GET /root/pypi/+simple/litellm/
//	2026-10-21 12:38:51,278 INFO  [req4] [Wtx2] reading remote: https://files.acme.example/packages/ec/ab/a440…/litellm-1.107.0.tar.gz, target root/pypi/+f/b84/41f1053edd9dc/litellm-1.107.0.tar.gz
func (*devpi) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	var span timeline.Span
	if m, n := evidence.ParseISO(text); n > 0 && n < len(text) && text[n] == ' ' {
		span, text = m.Span(string(text[:n]), &o.Times), text[n+1:]
	}
	rest, ok := bytes.CutPrefix(text, []byte("INFO  [req"))
	if !ok {
		return evidence.Miss
	}
	_, rest, ok = bytes.Cut(rest, []byte("] "))
	if !ok {
		return evidence.Miss
	}
	o.Seen("")
	action := timeline.Require
	path := ""
	if _, target, remote := bytes.Cut(rest, []byte("reading remote: ")); remote {
		_, target, _ := strings.Cut(string(target), ", target ")
		path, action = "/"+target, timeline.Download
	} else if asked, get := bytes.CutPrefix(rest, []byte("GET ")); get {
		path = string(asked)
	}
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	item, kind := packagePath(path)
	switch kind {
	case noPath:
		return evidence.Done
	case indexPage, metadata:
		action = timeline.Resolve
	case wholeFile:
	}
	o.Event(timeline.Event{Action: action, Span: span, Items: []timeline.Item{item}})
	return evidence.Done
}

// End has nothing to do: each line stands alone.
func (*devpi) End(timeline.OpState, *evidence.Out) {}
