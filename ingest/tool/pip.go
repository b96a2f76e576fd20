// Package tool holds the tools: each knows what one line says, whatever frame
// it stands in.
package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Pip is the output of pip install, download, wheel and uninstall.
var Pip = evidence.Format{
	Name:   "pip",
	Shape:  evidence.ToolShape,
	Title:  "pip output",
	Starts: []string{"Successfully installed "},
	Tool:   func() evidence.Parser { return &pip{} },
}

type pip struct{ op *evidence.Op }

// Line reads one line.
func (p *pip) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(l.Text), []byte("Successfully installed "))
	if !ok {
		return evidence.Miss
	}
	if p.op == nil {
		p.op = o.Invocation("pip")
	}
	var items []timeline.Item
	for _, w := range bytes.Fields(rest) {
		i := bytes.LastIndexByte(w, '-')
		if i > 0 {
			items = append(items, timeline.Item{Artifact: timeline.PURL("pypi", "", string(w[:i]), string(w[i+1:]))})
		}
	}
	o.Seen(timeline.PyPI)
	p.op.Answer()
	o.Emit(timeline.Install, p.op, items...)
	o.Close(p.op, timeline.OpDone)
	p.op = nil
	return evidence.Done
}

// End ends an invocation that printed no end.
func (p *pip) End(how timeline.OpState, o *evidence.Out) { o.Close(p.op, how); p.op = nil }
