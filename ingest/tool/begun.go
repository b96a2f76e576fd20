package tool

import (
	"slices"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// begunPulls are pulls of which a daemon's log has the first line and not yet
// the last. What is never seen to end was asked for, and nothing says what came.
type begunPulls struct{ open []begunPull }

type begunPull struct {
	key   string
	event timeline.Event
	mark  evidence.Mark
}

// begin remembers the line at work as the first of a pull.
func (b *begunPulls) begin(key string, line *daemonLine, item timeline.Item, o *evidence.Out) {
	b.end(key)
	if len(b.open) >= maxPulls {
		o.At(b.open[0].mark, b.open[0].event)
		b.open = b.open[1:]
	}
	b.open = append(b.open, begunPull{key, timeline.Event{Action: timeline.Require, Items: []timeline.Item{item}, Span: line.span(o)}, o.Mark()})
}

// end forgets a pull whose last line is there.
func (b *begunPulls) end(key string) {
	b.open = slices.DeleteFunc(b.open, func(p begunPull) bool { return p.key == key })
}

// flush records the pulls that never ended.
func (b *begunPulls) flush(o *evidence.Out) {
	for _, p := range b.open {
		o.At(p.mark, p.event)
	}
	b.open = nil
}
