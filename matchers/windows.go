package matchers

import (
	"fmt"
	"strings"
	"time"

	"pulltrail/timeline"
)

// during finds a window of the channel that a span overlaps; nil when it
// overlaps none.
func (q *question) during(channel string, s timeline.Span) *Window {
	w := q.windows[channel]
	for i := range w {
		if s.Overlaps(w[i].From, w[i].To) {
			return &w[i]
		}
	}
	return nil
}

// since reports whether a span reaches past the start of the channel's windows:
// what was served then can come at any time after, from mirrors and caches.
func (q *question) since(channel string, s timeline.Span) bool {
	from, _, ok := q.union(channel)
	return !ok || s.To >= from
}

// union is the span from the first to the last instant of all windows of the
// channels, all of them when none is named; ok is false without any window.
func (q *question) union(channels ...string) (from, to int64, ok bool) {
	if len(channels) == 0 {
		for c := range q.windows {
			channels = append(channels, c)
		}
	}
	from, to = timeline.Forever, timeline.Beginning
	for _, c := range channels {
		for _, w := range q.windows[c] {
			from, to, ok = min(from, w.From), max(to, w.To), true
		}
	}
	return from, to, ok
}

// spans lists the windows of all channels: those with two ends, and the others.
func (q *question) spans() (closed, open []timeline.Span) {
	for _, c := range q.inc.Channels {
		for i := range q.windows[c.Name] {
			w := &q.windows[c.Name][i]
			s := timeline.Span{From: w.From, To: w.To}
			if w.open() {
				open = append(open, s)
			} else {
				closed = append(closed, s)
			}
		}
	}
	return closed, open
}

// open reports whether nobody knows when the window began or ended.
func (w *Window) open() bool { return w.To == timeline.Forever || w.From == timeline.Beginning }

// when says how a span lies to a window, and whose window it is where sources
// give several.
func (q *question) when(w *Window, s timeline.Span) string {
	k := q.lies(w, s)
	text, ok := q.whens[k]
	if !ok {
		if q.whens == nil {
			q.whens = map[lie]string{}
		}
		text = q.whenText(w, s)
		q.whens[k] = text
	}
	return text
}

func (q *question) whenText(w *Window, s timeline.Span) string {
	where := "inside the window"
	switch {
	case w.From == timeline.Beginning && w.To == timeline.Forever:
		return "while it may have been served (no window is known)"
	case s.From == timeline.Beginning && s.To == timeline.Forever:
		where = "at a time that is not known and may lie in the window"
	case !s.Within(w.From, w.To):
		where = "at a time that may lie in the window"
	}
	where += " " + windowText(w)
	if q.several {
		where += q.whose(w, s)
	}
	return where
}

// windowText prints a window to the second: "2026-10-21 11:39:00 to 14:20:59
// UTC", or "any time" where neither end is known.
func windowText(w *Window) string {
	if w.From == timeline.Beginning && w.To == timeline.Forever {
		return "any time"
	}
	text := func(ns int64) string {
		if ns == timeline.Beginning || ns == timeline.Forever {
			return "an unknown time"
		}
		return time.Unix(0, ns).UTC().Format(time.DateTime)
	}
	from, to := text(w.From), text(w.To)
	if day, _, ok := strings.Cut(from, " "); ok && w.From != timeline.Beginning {
		to = strings.TrimPrefix(to, day+" ")
	}
	return from + " to " + to + " UTC"
}

// lie is how a span lies to a window and to those that other sources give for
// the same channel. Few differ, and many spans lie alike.
type lie struct {
	w   *Window
	how string
}

func (q *question) lies(w *Window, s timeline.Span) lie {
	var text [16]byte
	how := append(text[:0], '0')
	if s.From == timeline.Beginning && s.To == timeline.Forever {
		how[0] = '1'
	}
	to := func(w *Window) byte {
		switch {
		case s.Within(w.From, w.To):
			return 'i'
		case s.Overlaps(w.From, w.To):
			return 'm'
		}
		return 'o'
	}
	how = append(how, to(w))
	if q.several {
		list := q.given(w)
		for i := range list {
			how = append(how, to(&list[i]))
		}
	}
	return lie{w, string(how)}
}

// given are the windows of the channel that a window is of.
func (q *question) given(w *Window) []Window {
	for _, list := range q.windows {
		for i := range list {
			if &list[i] == w {
				return list
			}
		}
	}
	return nil
}

// whose says whose window w is, and how the time lies to the windows that other
// sources give for the same channel.
func (q *question) whose(w *Window, s timeline.Span) string {
	text := " (" + q.cite(w.Cite) + ")"
	list := q.given(w)
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
