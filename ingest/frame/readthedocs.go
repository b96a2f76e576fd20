package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ReadTheDocs is the raw log of a build of Read the Docs: before each command
// stands when it began and ended.
// https://docs.readthedocs.io/en/stable/builds.html
var ReadTheDocs = evidence.Format{
	Name:   "readthedocs",
	Shape:  evidence.FrameShape,
	Title:  "Read the Docs build log",
	Proves: "start and end of each command (UTC), and the command",
	Cannot: "the time of a line within its command; project and build, which are not taken as a subject",
	Doc:    "https://docs.readthedocs.com/platform/stable/builds.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return bytes.HasPrefix(h.Bytes, []byte("Read the Docs build information")) || bytes.HasPrefix(h.Bytes, rtdCommand)
	},
	First: "[",
	Looks: func(text []byte) bool { return bytes.HasPrefix(text, rtdCommand) },
	New:   func() evidence.Peeler { return &readTheDocs{} },
}

var rtdCommand = []byte("[rtd-command-info] start-time: ")

// readTheDocs knows the stream whose lines are those of a build.
type readTheDocs struct {
	build   *evidence.Stream
	command bool // the next line is a command
}

// Peel reads the line before a command, and has the command echoed:
//
//	[rtd-command-info] start-time: 2026-03-20T10:07:58.074153Z, end-time: 2026-03-20T10:08:03.111680Z, duration: 5, exit-code: 0
//	python -m pip install --upgrade --no-cache-dir pip setuptools
func (r *readTheDocs) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if times, ok := bytes.CutPrefix(l.Text, rtdCommand); ok {
		child := s.Child(o, nil)
		child.Step(o)
		times, _, _ = bytes.Cut(times, []byte(", duration: "))
		child.Last = evidence.Stamp{Text: append([]byte(nil), times...), Read: rtdSpan}
		r.build, r.command = s, true
		o.Seen("")
		o.AskNext(s)
		return s
	}
	if r.build != s {
		return nil
	}
	o.AskNext(s)
	child := s.Child(o, nil)
	l.Stamp = child.Last
	l.Echo, r.command = r.command, false
	return child
}

// rtdSpan reads "START, end-time: END".
func rtdSpan(text []byte, t *evidence.Times) timeline.Span {
	start, end, ok := bytes.Cut(text, []byte(", end-time: "))
	s := evidence.ISOStamp(start, t)
	if !ok || s.Clock != timeline.Exact {
		return s
	}
	if e := evidence.ISOStamp(end, t); e.Clock == timeline.Exact && e.To >= s.From {
		s.To = e.To
	} else {
		s.To = timeline.Forever
	}
	s.Clock = timeline.Section
	return s
}
