package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ClockOnly is output whose lines begin with a time of day and no date, as
// Vercel's build log and Jenkins' Timestamper show it.
// https://vercel.com/docs/deployments/logs
var ClockOnly = evidence.Format{
	Name:   "clock-lines",
	Shape:  evidence.FrameShape,
	Title:  "Lines that begin with a time of day (Vercel and Netlify build logs, Jenkins Timestamper)",
	Proves: "nothing by itself: the order of the lines",
	Cannot: "date and time zone: state with --covers when it was",
	Doc:    "https://vercel.com/docs/deployments/logs",
	Sample: "written by hand after the documentation",
	First:  "0123456789[",
	Looks:  func(text []byte) bool { return clockLen(text) > 0 || halfDayLen(text) > 0 || bracketLen(text) > 0 },
	Common: true,
	New:    func() evidence.Peeler { return clockOnly{} },
}

type clockOnly struct{}

// Peel takes the time off:
//
//	17:28:57.572 Running "install" command: `npm ci`...
//	12:04:51  Collecting litellm
//	12:04:51.412	Collecting litellm                    (Cloudflare Pages)
//	7:28:21 AM: Collecting litellm                       (Netlify)
//	[17:28:57.572] Collecting litellm                    (Vercel, as it is copied)
func (clockOnly) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	n, half, bracket := clockLen(l.Text), halfDayLen(l.Text), bracketLen(l.Text)
	if n == 0 && half == 0 && bracket == 0 {
		return nil
	}
	rest := l.Text[max(n, half, bracket):]
	switch {
	case bracket > 0:
		n = len("[17:28:57.572]")
	case half > 0:
		n = half - len(": ")
	case (n == 8 || n == 12) && len(rest) > 0 && rest[0] == '\t', n == 12 && len(rest) > 0 && rest[0] == ' ':
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

// halfDayLen returns the length of "h:mm:ss AM: " at the start of text.
func halfDayLen(text []byte) int {
	n := bytes.IndexByte(text[:min(len(text), 3)], ':')
	if n < 1 || len(text) < n+11 || text[n+3] != ':' || text[n+6] != ' ' || text[n+7] != 'A' && text[n+7] != 'P' || string(text[n+8:n+11]) != "M: " {
		return 0
	}
	for i, c := range text[:n+6] {
		if i != n && i != n+3 && (c < '0' || c > '9') {
			return 0
		}
	}
	return n + 11
}

// bracketLen returns the length of "[hh:mm:ss.mmm] " at the start of text.
func bracketLen(text []byte) int {
	if n := len("[17:28:57.572]"); len(text) >= n && text[0] == '[' && text[n-1] == ']' && clockLen(text[1:n-1]) == n-2 && (len(text) == n || text[n] == ' ') {
		return min(n+1, len(text))
	}
	return 0
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
