package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Pipx is the output of pipx install and upgrade.
// https://pipx.pypa.io/stable/docs/
var Pipx = evidence.Format{
	Name:   "pipx",
	Shape:  evidence.ToolShape,
	Title:  "pipx output",
	Proves: "the application that was installed or upgraded, with its version",
	Cannot: "the versions of what it depends on",
	Doc:    "https://pipx.pypa.io/stable/docs/",
	Sample: "written by hand after the documentation",
	Starts: []string{"installed package ", "upgraded package ", "injected package "},
	Tool:   func() evidence.Parser { return pipx{} },
}

type pipx struct{}

// Line reads one line:
//
//	  installed package black 24.1.0, installed using Python 3.12.1
//	upgraded package black from 23.1.0 to 24.1.0 (location: /home/dev/.local/pipx/venvs/black)
//	  injected package litellm into venv black
//
// What the application depends on came too.
func (pipx) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	w := strings.Fields(string(bytes.TrimSpace(l.Text)))
	if l.Echo || len(w) < 4 || !evidence.IsDistName(w[2]) {
		return evidence.Miss
	}
	if w[0] == "injected" && w[3] == "into" { // in which version is not said
		op := o.Invocation("pipx")
		op.Answer()
		o.Seen(timeline.PyPI)
		o.Emit(timeline.Opaque, op, timeline.Item{Artifact: timeline.PURL("pypi", "", w[2], "")}, timeline.Item{Artifact: timeline.Ecosystem("pypi")})
		o.Close(op, timeline.OpDone)
		return evidence.Done
	}
	old, now := "", strings.TrimSuffix(w[3], ",")
	if w[0] == "upgraded" {
		if len(w) < 7 || w[3] != "from" || w[5] != "to" {
			return evidence.Miss
		}
		old, now = w[4], w[6]
	}
	if !evidence.IsVersion(now) || old != "" && !evidence.IsVersion(old) {
		return evidence.Miss
	}
	op := o.Invocation("pipx")
	op.Answer()
	o.Seen(timeline.PyPI)
	o.Emit(timeline.Install, op, timeline.Item{Artifact: timeline.PURL("pypi", "", w[2], now)})
	if old != "" {
		o.Emit(timeline.Remove, op, timeline.Item{Artifact: timeline.PURL("pypi", "", w[2], old)})
	}
	mark := o.Mark()
	uncounted(op, &mark, "pypi", o)
	o.Close(op, timeline.OpDone)
	return evidence.Done
}

// End does nothing: each line stands for itself.
func (pipx) End(timeline.OpState, *evidence.Out) {}
