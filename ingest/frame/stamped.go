package frame

import (
	"pulltrail/ingest/evidence"
)

// Stamped is any output whose lines begin with a time and its zone: docker
// logs --timestamps, kubectl logs --timestamps, Jenkins' Timestamper, ts.
// https://docs.docker.com/reference/cli/docker/container/logs/
// https://plugins.jenkins.io/timestamper/
var Stamped = evidence.Format{
	Name:   "stamped-lines",
	Shape:  evidence.FrameShape,
	Title:  "Lines that begin with an ISO 8601 time",
	Proves: "the time of each line",
	Cannot: "who wrote it and where; lines without a zone are left as they are",
	Doc:    "https://docs.docker.com/reference/cli/docker/container/logs/",
	Sample: "written by hand after the documentation",
	First:  "0129[", // a clock that was never set is one too
	Looks:  func(text []byte) bool { return len(text) > 19 && (text[10] == 'T' || text[11] == 'T') },
	Common: true,
	Cuts:   true,
	New:    func() evidence.Peeler { return stamped{} },
}

type stamped struct{}

// Peel takes the time off:
//
//	2026-10-21T12:04:51.123456789Z Collecting litellm
//	[2026-10-21T12:04:51.123Z] Collecting litellm
func (stamped) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text := l.Text
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
		if rest[0] != ' ' {
			return nil
		}
		rest = rest[1:]
	}
	child := s.Child(o, nil)
	child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], text[:n]...), Read: evidence.ISOStamp}
	l.Stamp = child.Last
	l.Text = rest
	return child
}
