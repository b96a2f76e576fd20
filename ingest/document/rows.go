package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// rowList is a list of packages in which each line is a row, or says nothing.
type rowList struct {
	// none reports whether a line is a header, a rule or a note.
	none func(line string) bool
	// row reads one package; ok is false for what is no row. A package without
	// an artifact is known to be none that matters (a key, a removed one).
	row func(line string, o *evidence.Times) (e timeline.Event, ok bool)
}

// claims reports whether the head is such a list, with so many packages at least.
func (r rowList) claims(h *evidence.Head, least int) bool {
	n := 0
	every := everyLine(h, func(line string) bool {
		if line == "" || r.none(line) {
			return true
		}
		e, ok := r.row(line, &evidence.Times{})
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
		e, ok := r.row(line.text, &o.Times)
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

// inPlace is a package that is in place.
func inPlace(artifact string) timeline.Event {
	return timeline.Event{Action: timeline.Present, Items: []timeline.Item{{Artifact: artifact}}}
}

// withArch adds the architecture of a system package.
func withArch(artifact, arch string) string {
	if arch == "" || strings.Trim(arch, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return artifact
	}
	return artifact + "?arch=" + arch
}
