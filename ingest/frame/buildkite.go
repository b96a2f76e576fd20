package frame

import (
	"bytes"
	"strconv"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Buildkite is a job log of Buildkite: the agent puts a time before each piece
// of output, in an escape sequence that terminals hide.
// https://buildkite.com/docs/pipelines/configure/managing-log-output
var Buildkite = evidence.Format{
	Name:   "buildkite",
	Shape:  evidence.FrameShape,
	Title:  "Buildkite job log",
	Proves: "the time of each line (UTC, ms), the commands that were run",
	Cannot: "pipeline, build and job; the host",
	Doc:    "https://buildkite.com/docs/pipelines/configure/managing-log-output",
	Sample: "written by hand after the documentation",
	Claim:  func(h *evidence.Head) bool { return buildkiteMark(h.Bytes) > 0 },
	First:  "\x1b",
	New:    func() evidence.Peeler { return buildkite{} },
}

// buildkiteBegins starts the mark "ESC _bk;t=1725840901293 BEL".
var buildkiteBegins = []byte("\x1b_bk;t=")

// buildkiteMark returns the length of the mark at the start of text, 0 when
// there is none.
func buildkiteMark(text []byte) int {
	if !bytes.HasPrefix(text, buildkiteBegins) {
		return 0
	}
	n := len(buildkiteBegins)
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n == len(buildkiteBegins) || n == len(text) || text[n] != 0x07 {
		return 0
	}
	return n + 1
}

type buildkite struct{}

// Peel takes the marks off; one may also stand inside a line, where a piece of
// output ended.
func (buildkite) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	n := buildkiteMark(l.Text)
	if n == 0 && !o.IsClaimed(s) {
		return nil
	}
	child := s.Child(o, nil)
	if n > 0 {
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], l.Text[len(buildkiteBegins):n-1]...), Read: millis}
		l.Stamp = child.Last
		l.Text = l.Text[n:]
	} else if child.Last.Read != nil {
		l.Stamp = child.Last
		l.Stamp.Inherited = true
	}
	l.Text = bytes.TrimRight(dropMarks(l.Text), "\r")
	// "~~~ Running commands", "--- :package: Build", "+++ Tests"
	if len(l.Text) > 4 && l.Text[3] == ' ' && (bytes.HasPrefix(l.Text, []byte("~~~")) || bytes.HasPrefix(l.Text, []byte("---")) || bytes.HasPrefix(l.Text, []byte("+++"))) {
		child.Step(o)
	}
	return child
}

// dropMarks takes the marks out of the middle of a line.
func dropMarks(text []byte) []byte {
	i := bytes.Index(text, buildkiteBegins)
	if i < 0 {
		return text
	}
	out := append([]byte(nil), text[:i]...)
	for text = text[i:]; len(text) > 0; {
		if n := buildkiteMark(text); n > 0 {
			text = text[n:]
			continue
		}
		next := bytes.Index(text[1:], buildkiteBegins) + 1
		if next == 0 {
			next = len(text)
		}
		out, text = append(out, text[:next]...), text[next:]
	}
	return out
}

// millis reads milliseconds since 1970.
func millis(text []byte, _ *evidence.Times) timeline.Span {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return timeline.Always()
	}
	return evidence.Epoch(n, time.Millisecond, string(text))
}
