package frame

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ClockOnly is output whose lines begin with a time of day and no date, as
// Vercel's build log and Jenkins' Timestamper show it.
// https://vercel.com/docs/deployments/logs
var ClockOnly = evidence.Format{
	Name:   "clock-lines",
	Shape:  evidence.FrameShape,
	Title:  "Lines that begin with a time of day (Vercel build log, Jenkins Timestamper)",
	Proves: "nothing by itself: the order of the lines",
	Cannot: "date and time zone: state with --covers when it was",
	Doc:    "https://vercel.com/docs/deployments/logs",
	Sample: "written by hand after the documentation",
	First:  "012",
	Looks:  func(text []byte) bool { return clockLen(text) > 0 },
	Common: true,
	New:    func() evidence.Peeler { return clockOnly{} },
}

type clockOnly struct{}

// Peel takes the time off:
//
//	17:28:57.572 Running "install" command: `npm ci`...
//	12:04:51  Collecting litellm
func (clockOnly) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	n := clockLen(l.Text)
	if n == 0 {
		return nil
	}
	rest := l.Text[n:]
	switch {
	case n == 12 && len(rest) > 0 && rest[0] == ' ':
		rest = rest[1:]
	case n == 8 && len(rest) > 1 && rest[0] == ' ' && rest[1] == ' ':
		rest = rest[2:]
	case len(rest) == 0:
	default:
		return nil
	}
	child := s.Child(o, nil)
	if l.Stamp.Read == nil { // a frame around it knows the whole time
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], l.Text[:n]...), Read: dateless}
		l.Stamp = child.Last
	}
	l.Text = rest
	return child
}

// clockLen returns the length of hh:mm:ss or hh:mm:ss.mmm at the start of text.
func clockLen(text []byte) int {
	if len(text) < 8 || text[2] != ':' || text[5] != ':' {
		return 0
	}
	for _, i := range [...]int{0, 1, 3, 4, 6, 7} {
		if text[i] < '0' || text[i] > '9' {
			return 0
		}
	}
	if text[0] > '2' || text[3] > '5' || text[6] > '6' {
		return 0
	}
	n := 8
	if n < len(text) && text[n] == '.' {
		for n++; n < len(text) && text[n] >= '0' && text[n] <= '9'; n++ {
		}
		if n != 12 {
			return 0
		}
	}
	return n
}

// dateless keeps what was written: a time of day without date and zone can be
// any time.
func dateless(text []byte, _ *evidence.Times) timeline.Span {
	s := timeline.Always()
	s.Clock, s.Written = timeline.NoYear, string(text)
	return s
}
