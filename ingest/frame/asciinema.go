package frame

import (
	"bytes"
	"strconv"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Asciinema is the recording of a terminal: a header, and an array for each
// piece of output.
// https://docs.asciinema.org/manual/asciicast/v2/
// https://docs.asciinema.org/manual/asciicast/v3/
var Asciinema = evidence.Format{
	Name:   "asciinema",
	Shape:  evidence.FrameShape,
	Title:  "asciinema recording (asciicast 2 and 3)",
	Proves: "what was shown on a terminal, and when, if the header says when the recording began",
	Cannot: "on which host; what was typed without being shown",
	Doc:    "https://docs.asciinema.org/manual/asciicast/v2/",
	Sample: "asciinema 2.2 run for this project; version 3 by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		line, _, _ := bytes.Cut(h.Bytes, []byte("\n"))
		_, ok := castHeader(line)
		return ok
	},
	New: func() evidence.Peeler { return &asciinema{} },
}

type asciinema struct {
	pieces
	buf   []byte
	cast  cast
	since time.Duration // of the last event
}

// cast is what the header says.
type cast struct {
	version int
	began   int64 // seconds since 1970, 0: not known
}

// castHeader reads
//
//	{"version": 2, "width": 80, "height": 24, "timestamp": 1792584000, "env": {"SHELL": "/bin/bash"}}
//	{"version":3,"term":{"cols":80,"rows":24},"timestamp":1792584000}
func castHeader(line []byte) (c cast, ok bool) {
	sized := false
	f := evidence.JSONFields(bytes.TrimRight(line, "\r"))
	for f.Next() {
		switch string(f.Key) {
		case "version":
			c.version = int(integer(f.Value))
		case "timestamp":
			c.began = max(integer(f.Value), 0)
		case "width", "term":
			sized = true
		}
	}
	return c, f.Whole() && sized && (c.version == 2 || c.version == 3)
}

// Peel takes one event:
//
//	[1.001376, "o", "Collecting litellm\r\n"]
//
// In version 2 the number counts from the beginning, in 3 from the event before.
func (a *asciinema) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	if len(l.Text) > 0 && l.Text[0] == '{' && a.cast.version == 0 {
		if c, ok := castHeader(l.Text); ok {
			a.cast = c
			return s
		}
	}
	if len(bytes.TrimSpace(l.Text)) == 0 || l.Text[0] == '#' && a.cast.version == 3 {
		return s // version 3 allows comments
	}
	var fields [3][]byte
	n := 0
	for e := evidence.JSONElements(l.Text); n < 3 && e.Next(); n++ {
		fields[n] = e.Value
	}
	seconds, err := strconv.ParseFloat(string(fields[0]), 64)
	if n < 3 || err != nil || seconds < 0 || seconds > 1e9 || len(fields[2]) < 2 {
		o.Skip("no event of a recording")
		return s
	}
	at := time.Duration(seconds * float64(time.Second))
	if a.cast.version == 3 {
		at += a.since
	}
	a.since = at
	if string(fields[1]) != `"o"` {
		return s // what was typed is shown too
	}
	text, buf, ok := evidence.UnquoteJSON(fields[2], a.buf)
	if a.buf = buf; !ok {
		o.Skip("no event of a recording")
		return s
	}
	child := s.Child(o, nil)
	began := a.cast.began
	l.Stamp = evidence.Stamp{Text: bytes.Clone(fields[0]), Read: func(written []byte, _ *evidence.Times) timeline.Span {
		if began == 0 {
			return sinceStart(written, nil)
		}
		return evidence.Epoch(began*int64(time.Second)+int64(at), time.Nanosecond, string(written))
	}}
	if l.Text = evidence.StripEscapes(a.take(child, l, text)); len(l.Text) == 0 {
		return s
	}
	return child
}

// End reads a last line without an end.
func (a *asciinema) End(o *evidence.Out) { a.end(o) }
