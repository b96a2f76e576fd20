package document

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// rowList is a list of packages in which each line is a row, or says nothing.
type rowList struct {
	// none reports whether a line is a header, a rule or a note.
	none func(line string) bool
	// row reads one line; a row without items is known to be of no package that
	// is in place (a key, a removed one).
	row func(line string) (items []timeline.Item, ok bool)
	// event reads one line in place of row, where rows can have a time.
	event func(line string, t *evidence.Times) (e timeline.Event, ok bool)
}

// line reads one line.
func (r rowList) line(line string, t *evidence.Times) (e timeline.Event, ok bool) {
	if r.event != nil {
		return r.event(line, t)
	}
	items, ok := r.row(line)
	return timeline.Event{Action: timeline.Present, Items: items}, ok
}

// claims reports whether the head is such a list, with so many packages at least.
func (r rowList) claims(h *evidence.Head, least int) bool {
	n := 0
	every := everyLine(h, func(line string) bool {
		if line == "" || r.none(line) {
			return true
		}
		e, ok := r.line(line, &evidence.Times{})
		n += len(e.Items)
		return ok
	})
	return every && n >= least
}

func (r rowList) read(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	for _, line := range logicalLines(d) {
		if line.text == "" || r.none(line.text) {
			continue
		}
		onLine(d, o, line.off)
		e, ok := r.line(line.text, &o.Times)
		if !ok {
			o.Skip("no row of name and version")
			continue
		}
		if len(e.Items) > 0 {
			o.Event(e)
		}
	}
	return nil
}
