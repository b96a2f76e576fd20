package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Typescript is the recording that script(1) writes.
// https://man7.org/linux/man-pages/man1/script.1.html
var Typescript = evidence.Format{
	Name:   "typescript",
	Shape:  evidence.FrameShape,
	Title:  "Terminal recording of script(1)",
	Proves: "what was shown on a terminal, after the recording began and before it was done",
	Cannot: "the time of a line: it stands in a timing file of its own, which counts bytes; on which host",
	Doc:    "https://man7.org/linux/man-pages/man1/script.1.html",
	Sample: "util-linux 2.38 run for this project",
	Claim:  func(h *evidence.Head) bool { return bytes.HasPrefix(h.Bytes, scriptBegan) },
	New:    func() evidence.Peeler { return &typescript{} },
}

var scriptBegan, scriptDone = []byte("Script started on "), []byte("Script done on ")

type typescript struct{ began []byte }

// Peel reads the first and the last line, and gives all else its time:
//
//	Script started on 2026-10-21 12:04:51+00:00 [TERM="xterm" TTY="/dev/pts/0" COLUMNS="80" LINES="24"]
//	Script done on 2026-10-21 12:09:51+00:00 [COMMAND_EXIT_CODE="0"]
func (t *typescript) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	child := s.Child(o, nil)
	if text, ok := bytes.CutPrefix(l.Text, scriptBegan); ok {
		child.Step(o)
		t.began = bytes.Clone(text)
		return s
	}
	if bytes.HasPrefix(l.Text, scriptDone) {
		child.Step(o)
		t.began = nil
		return s
	}
	l.Stamp = evidence.Stamp{Text: t.began, Read: afterStart}
	unprompt(l)
	return child
}

// afterStart is any time behind the one that is written: what follows it happened
// later.
func afterStart(text []byte, t *evidence.Times) timeline.Span {
	s := evidence.ISOStamp(text, t)
	s.To = timeline.Forever
	if s.Clock == timeline.Exact {
		s.Clock = timeline.Section
	}
	return s
}

// End says when the recording has no last line.
func (t *typescript) End(o *evidence.Out) {
	if t.began != nil {
		o.Cut(`the recording ends before "Script done"`)
	}
}
