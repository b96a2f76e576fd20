package matchers

import (
	"fmt"

	"pulltrail/timeline"
)

// whose says whose window w is, and how the time lies to the windows that other
// sources give for the same channel.
func (q *question) whose(w *Window, s timeline.Span) string {
	text := " (" + q.cite(w.Cite) + ")"
	for _, list := range q.windows {
		mine := false
		for i := range list {
			mine = mine || &list[i] == w
		}
		if !mine {
			continue
		}
		for i := range list {
			other := &list[i]
			switch {
			case other == w:
			case !s.Overlaps(other.From, other.To):
				text += fmt.Sprintf("; outside %s (%s)", windowText(other), q.cite(other.Cite))
			case s.Within(other.From, other.To):
				text += fmt.Sprintf("; inside %s too (%s)", windowText(other), q.cite(other.Cite))
			default:
				text += fmt.Sprintf("; it may lie in %s too (%s)", windowText(other), q.cite(other.Cite))
			}
		}
	}
	return text
}

// early tells an exact match that is dated before the release was served: the
// clock is wrong, or the window is. It stays what it is; the fault is shown.
func (q *question) early(j *judged) string {
	from, _, ok := q.union(j.channel)
	if !ok || j.Span.To >= from {
		return ""
	}
	return fmt.Sprintf("dated %s, before the release was served (%s): a wrong clock, or a window that begins too late",
		timeline.FormatTime(j.Span.To), timeline.FormatTime(from))
}
