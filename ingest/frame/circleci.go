package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// CircleCI is the output of one action of a step, as the output_url of the API
// answers it: an array of pieces.
// https://circleci.com/docs/api/v1/index.html#single-job
var CircleCI = evidence.Format{
	Name:   "circleci-output",
	Shape:  evidence.FrameShape,
	Title:  "CircleCI step output (JSON)",
	Proves: "when each piece of output came (UTC), and the command of the step",
	Cannot: "project, job and step, which stand in the answer that names the output; whether the output is whole",
	Doc:    "https://circleci.com/docs/api/v1/index.html#single-job",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"message", "time", "type"}},
	Claim: func(h *evidence.Head) bool {
		return bytes.Contains(h.Bytes, []byte(`"type":"out"`)) || bytes.Contains(h.Bytes, []byte(`"type":"err"`)) ||
			bytes.Contains(h.Bytes, []byte(`"type": "out"`)) || bytes.Contains(h.Bytes, []byte(`"type": "err"`))
	},
	First: "{",
	Looks: func(text []byte) bool {
		return firstKey(text, "message", "time", "type", "truncated", "index", "step", "allocation_id", "exit_code", "bash_command")
	},
	New: func() evidence.Peeler { return &circleCI{} },
}

type circleCI struct {
	pieces
	buf []byte
}

// Peel takes one piece:
//
//	{"message":"#!/bin/bash -eo pipefail\npip install -r requirements.txt\n","time":"2026-10-21T12:04:51.123456Z","type":"out"}
//	{"message":"Collecting litellm\r\n","time":"2026-10-21T12:04:53.410000Z","type":"out","truncated":false}
//
// The first piece of a step is its script.
func (c *circleCI) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !bytes.Contains(l.Text, []byte(`"message"`)) {
		return nil
	}
	var message, stamp, kind []byte
	f := evidence.JSONFields(l.Text)
	for f.Next() {
		switch string(f.Key) {
		case "message":
			message = f.Value
		case "time":
			stamp = bytes.Trim(f.Value, `"`)
		case "type":
			kind = f.Value
		case "truncated":
			if string(f.Value) == "true" {
				o.Cut("CircleCI cut the output of the step short (truncated)")
			}
		case "index", "step", "allocation_id", "exit_code", "bash_command":
		default:
			return nil
		}
	}
	if !f.Whole() || string(kind) != `"out"` && string(kind) != `"err"` || len(message) < 2 || message[0] != '"' {
		return nil
	}
	if _, n := evidence.ParseISO(stamp); n == 0 {
		return nil
	}
	text, buf, ok := evidence.UnquoteJSON(message, c.buf)
	if c.buf = buf; !ok {
		return nil
	}
	child := s.Child(o, nil)
	child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], stamp...), Read: evidence.ISOStamp}
	l.Stamp = child.Last
	if bytes.HasPrefix(text, []byte("#!/")) && bytes.IndexByte(text, '\n') > 0 {
		c.flush(child, o)
		child.Step(o)
		return c.script(l, text, s, child, o)
	}
	if l.Text = evidence.StripEscapes(c.take(child, l, text)); len(l.Text) == 0 {
		return s
	}
	return child
}

// script hands the commands of a step on.
func (c *circleCI) script(l *evidence.Line, text []byte, s, child *evidence.Stream, o *evidence.Out) *evidence.Stream {
	for line := range bytes.Lines(bytes.Clone(text)) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 && !bytes.HasPrefix(line, []byte("#!")) {
			o.Feed(&evidence.Line{Text: line, No: l.No, Off: l.Off, Stamp: l.Stamp, Echo: true}, child)
		}
	}
	return s
}

// End reads a last line without an end.
func (c *circleCI) End(o *evidence.Out) { c.end(o) }
