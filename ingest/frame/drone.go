package frame

import (
	"bytes"
	"encoding/base64"

	"pulltrail/ingest/evidence"
)

// Drone is the log of a step of Drone or Woodpecker, as the API answers it.
// https://docs.drone.io/api/builds/build_logs/
// https://woodpecker-ci.org/api#tag/Pipeline-logs
var Drone = evidence.Format{
	Name:   "drone-log",
	Shape:  evidence.FrameShape,
	Title:  "Drone and Woodpecker step log (JSON)",
	Proves: "the order of the lines, with the seconds since the step began",
	Cannot: "when the step began: state with --covers when it was; repository, build and step",
	Doc:    "https://docs.drone.io/api/builds/build_logs/",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"pos", "out", "time"}, {"pos", "out"}, {"line", "data", "time"}, {"line", "data", "step_id"}, {"proc", "pos", "out"}},
	First:  "{",
	Looks: func(text []byte) bool {
		return firstKey(text, "out", "data", "time", "pos", "line", "step_id", "proc", "id", "type")
	},
	New: func() evidence.Peeler { return &drone{} },
}

type drone struct {
	pieces
	buf []byte
}

// Peel takes one line. Woodpecker writes it in base64:
//
//	{"pos":3,"out":"Collecting litellm\n","time":12}
//	{"id":31,"step_id":7,"time":12,"line":3,"data":"Q29sbGVjdGluZyBsaXRlbGxt","type":0}
func (d *drone) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !bytes.Contains(l.Text, []byte(`"out"`)) && !bytes.Contains(l.Text, []byte(`"data"`)) {
		return nil
	}
	var out, data, seconds, at, step []byte
	f := evidence.JSONFields(l.Text)
	for f.Next() {
		switch string(f.Key) {
		case "out":
			out = f.Value
		case "data":
			data = f.Value
		case "time":
			seconds = f.Value
		case "pos", "line":
			at = f.Value
		case "step_id", "proc":
			step = f.Value
		case "id", "type":
		default:
			return nil
		}
	}
	if !f.Whole() || !number(at) || len(seconds) > 0 && !number(seconds) && string(seconds) != "null" {
		return nil
	}
	var text []byte
	switch {
	case len(out) > 1 && out[0] == '"' && data == nil:
		unquoted, buf, ok := evidence.UnquoteJSON(out, d.buf)
		if d.buf = buf; !ok {
			return nil
		}
		text = unquoted
	case out == nil && (len(data) > 1 && data[0] == '"' || string(data) == "null"):
		raw, err := base64.StdEncoding.DecodeString(string(bytes.Trim(data, `"`)))
		if err != nil {
			return nil
		}
		text = raw
		if string(data) == "null" {
			text = nil
		}
		text = append(bytes.TrimRight(text, "\r\n"), '\n') // each is a line
	default:
		return nil
	}
	child := s.Child(o, step)
	if l.Stamp.Read == nil {
		l.Stamp = evidence.Stamp{Text: seconds, Read: sinceStart}
	}
	if l.Text = evidence.StripEscapes(d.take(child, l, text)); len(l.Text) == 0 {
		return s
	}
	return child
}

// End reads a last line without an end.
func (d *drone) End(o *evidence.Out) { d.end(o) }
