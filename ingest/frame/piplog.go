package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// PipLog is the file that pip --log writes and appends to: a local time
// without zone before every line, milliseconds in newer versions.
// https://pip.pypa.io/en/stable/cli/pip/#cmdoption-log
var PipLog = evidence.Format{
	Name:   "pip-log",
	Shape:  evidence.FrameShape,
	Title:  "pip --log FILE",
	Proves: "the local time of each line of pip's output",
	Cannot: "the time zone: state it with --zone; invocations without --log",
	Doc:    "https://pip.pypa.io/en/stable/cli/pip/#cmdoption-log",
	Sample: "made with pip 23.2.1 and 24.2 on a closed network",
	Claim:  claimPipLog,
	New:    func() evidence.Peeler { return pipLog{} },
}

// pipStamp returns the length of the stamp that text starts with, 0 for none:
//
//	2026-10-21T12:10:03,419 Using pip 23.2.1 from /srv/venv/lib/python3.11/site-packages/pip (python 3.11)
//	2019-07-19T06:46:52 Successfully installed fastparquet-0.3.1 llvmlite-0.29.0
func pipStamp(text []byte) int {
	if len(text) < 20 || text[10] != 'T' {
		return 0
	}
	m, n := evidence.ParseISO(text)
	if m.HasOffset || n == 0 || n < len(text) && text[n] != ' ' || n != 19 && !(n == 23 && text[19] == ',') {
		return 0
	}
	return n
}

// pipWords are words of pip's own that a log holds early.
var pipWords = [][]byte{
	[]byte(" Using pip "), []byte("Created temporary directory: "), []byte("Looking in indexes: "),
	[]byte("Collecting "), []byte("Requirement already satisfied"), []byte("Installing collected packages: "), []byte("Building wheels for "),
}

// claimPipLog wants the stamp on the first line and words of pip in the head:
// other programs write the same stamp.
func claimPipLog(h *evidence.Head) bool {
	if pipStamp(h.Bytes) == 0 {
		return false
	}
	for _, w := range pipWords {
		if bytes.Contains(h.Bytes, w) {
			return true
		}
	}
	return false
}

type pipLog struct{}

// Peel takes the stamp off. Lines without one go on from the line before.
func (pipLog) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	text := s.Child(o, nil)
	n := pipStamp(l.Text)
	if n == 0 {
		l.Stamp = text.Last
		l.Stamp.Inherited = true
		return text
	}
	l.Stamp = evidence.Stamp{Text: append(text.Last.Text[:0], l.Text[:n]...), Read: evidence.ISOStamp}
	text.Last = l.Stamp
	l.Text = l.Text[min(n+1, len(l.Text)):]
	return text
}
