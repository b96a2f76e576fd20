package frame

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Stamped is any output whose lines begin with a time and its zone: docker
// logs --timestamps, kubectl logs --timestamps, Jenkins' Timestamper, ts.
// https://docs.docker.com/reference/cli/docker/container/logs/
// https://plugins.jenkins.io/timestamper/
var Stamped = evidence.Format{
	Name:   "stamped-lines",
	Shape:  evidence.FrameShape,
	Title:  "Lines that begin with an ISO 8601 time or an epoch",
	Proves: "the time of each line",
	Cannot: "who wrote it and where; lines without a zone are left as they are",
	Doc:    "https://docs.docker.com/reference/cli/docker/container/logs/",
	Sample: "written by hand after the documentation",
	First:  "0129[", // a clock that was never set is one too
	Looks: func(text []byte) bool {
		return len(text) > 19 && (text[10] == 'T' || text[11] == 'T') || epochLen(text) > 0
	},
	Common: true,
	Cuts:   true,
	New:    func() evidence.Peeler { return stamped{} },
}

type stamped struct{}

// Peel takes the time off:
//
//	2026-10-21T12:04:51.123456789Z Collecting litellm
//	[2026-10-21T12:04:51.123Z] Collecting litellm
//	2026-10-21T12:04:51.123456Z	Collecting litellm             (Cloudflare Pages)
//	1792584291.251 Collecting litellm
//	1792584291251 Collecting litellm
func (stamped) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text := l.Text
	if n := epochLen(text); n > 0 {
		child := s.Child(o, nil)
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], text[:n]...), Read: sinceEpoch}
		l.Stamp = child.Last
		l.Text = text[min(n+1, len(text)):]
		return child
	}
	bracket := len(text) > 0 && text[0] == '['
	if bracket {
		text = text[1:]
	}
	m, n := evidence.ParseISO(text)
	if n == 0 || text[10] != 'T' || !m.HasOffset {
		return nil
	}
	rest := text[n:]
	if bracket {
		if len(rest) == 0 || rest[0] != ']' {
			return nil
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		if rest[0] != ' ' && rest[0] != '\t' {
			return nil
		}
		rest = rest[1:]
	}
	child := s.Child(o, nil)
	child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], text[:n]...), Read: evidence.ISOStamp}
	l.Stamp = child.Last
	l.Text = behindLevel(rest)
	return child
}

// behindLevel cuts the level that AWS Amplify puts before what a build prints:
//
//	2026-10-21T12:04:51.123Z [INFO]: added 65 packages in 3s
func behindLevel(text []byte) []byte {
	for _, level := range [...]string{"[INFO]: ", "[WARNING]: ", "[ERROR]: "} {
		if rest, ok := bytes.CutPrefix(text, []byte(level)); ok {
			return rest
		}
	}
	return text
}

// epochLen returns the length of an epoch at the start of a line: seconds, with
// or without a fraction, or milliseconds. A proxy's log begins alike, and has
// how long it took behind it:
//
//	1792585800.899     87 10.0.4.7 TCP_MISS/200 657750 GET …
func epochLen(text []byte) int {
	n := 0
	for n < len(text) && n < 14 && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n != 10 && n != 13 || text[0] != '1' {
		return 0
	}
	fraction := 0
	if n == 10 && n < len(text) && text[n] == '.' {
		for n++; n < len(text) && fraction < 9 && text[n] >= '0' && text[n] <= '9'; n++ {
			fraction++
		}
		if fraction == 0 {
			return 0
		}
	}
	if n < len(text) && text[n] != ' ' {
		return 0
	}
	if fraction == 3 {
		took, _, _ := bytes.Cut(bytes.TrimLeft(text[n:], " "), []byte(" "))
		if number(took) && (bytes.Contains(text, []byte(" TCP_")) || bytes.Contains(text, []byte(" UDP_")) || bytes.Contains(text, []byte(" NONE"))) {
			return 0
		}
	}
	return n
}

// sinceEpoch reads seconds with a fraction, or milliseconds.
func sinceEpoch(text []byte, _ *evidence.Times) timeline.Span {
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	if len(whole) == 13 {
		return evidence.Epoch(integer(whole), time.Millisecond, string(text))
	}
	nanos := []byte("000000000")
	copy(nanos, fraction)
	return evidence.Epoch(integer(whole)*int64(time.Second)+integer(nanos), time.Nanosecond, string(text))
}
