package frame

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
)

// BuildKitJSON is the progress of a build as objects, one for each change. It
// is written down as the plain progress that the same build would have
// printed, which BuildKit's own frame reads.
// https://docs.docker.com/reference/cli/docker/buildx/build/#progress
// https://github.com/moby/buildkit/blob/master/client/graph.go
var BuildKitJSON = evidence.Format{
	Name:   "buildkit-rawjson",
	Shape:  evidence.FrameShape,
	Title:  "BuildKit progress as JSON (--progress=rawjson)",
	Proves: "what the plain progress proves, with the time of each line (UTC)",
	Cannot: "when a cached layer was made",
	Doc:    "https://github.com/moby/buildkit/blob/master/client/graph.go",
	Sample: "written by hand after the source",
	Fields: [][]string{{"vertexes"}, {"statuses"}, {"logs"}, {"warnings"}},
	Claim: func(h *evidence.Head) bool {
		return bytes.Contains(h.Bytes, []byte(`"vertexes":[{"digest":"sha256:`)) || bytes.Contains(h.Bytes, []byte(`"vertex":"sha256:`))
	},
	First: "{",
	Looks: func(text []byte) bool { return firstKey(text, "vertexes", "statuses", "logs", "warnings") },
	New:   func() evidence.Peeler { return &rawJSON{numbers: map[string]*vertex{}} },
}

// rawJSON knows the vertices of a build by their digest, which is of the step,
// not of an image.
type rawJSON struct {
	buf     []byte
	numbers map[string]*vertex
}

type vertex struct {
	number  int
	name    string
	headed  bool
	ended   bool
	started string
	output  pieces
}

// Peel takes one change:
//
//	{"vertexes":[{"digest":"sha256:9c1f…","name":"[2/3] RUN pip install litellm","started":"2026-10-21T12:04:51.1Z"}]}
//	{"logs":[{"vertex":"sha256:9c1f…","stream":1,"data":"Q29sbGVjdGluZyBsaXRlbGxtCg==","timestamp":"2026-10-21T12:04:53.4Z"}]}
//	{"statuses":[{"id":"extracting sha256:…","vertex":"sha256:…","timestamp":"…","completed":"…"}]}
func (r *rawJSON) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !bytes.Contains(l.Text, []byte(`"vertex`)) {
		return nil
	}
	type change struct {
		list string
		of   []byte
	}
	var changes []change
	f := evidence.JSONFields(l.Text)
	for f.Next() {
		switch name := string(f.Key); name {
		case "vertexes", "statuses", "logs", "warnings":
			changes = append(changes, change{name, f.Value})
		default:
			return nil
		}
	}
	if !f.Whole() || len(changes) == 0 {
		return nil
	}
	child := s.Child(o, nil)
	for _, c := range changes {
		for e := evidence.JSONElements(c.of); e.Next(); {
			r.entry(c.list, e.Value, l, child, o)
		}
	}
	return s
}

// of returns the vertex with a digest.
func (r *rawJSON) of(digest string) *vertex {
	v := r.numbers[digest]
	if v == nil && strings.HasPrefix(digest, "sha256:") && len(r.numbers) < maxSteps {
		v = &vertex{number: len(r.numbers) + 1}
		r.numbers[digest] = v
	}
	return v
}

func (r *rawJSON) entry(list string, object []byte, l *evidence.Line, child *evidence.Stream, o *evidence.Out) {
	fields := map[string]string{}
	f := evidence.JSONFields(object)
	for f.Next() {
		text, buf, ok := evidence.UnquoteJSON(f.Value, r.buf)
		if r.buf = buf; !ok {
			text = f.Value
		}
		fields[string(f.Key)] = string(text)
	}
	switch list {
	case "vertexes":
		if v := r.of(fields["digest"]); v != nil {
			r.vertex(v, fields, l, child, o)
		}
	case "statuses":
		if v := r.of(fields["vertex"]); v != nil && fields["id"] != "" {
			r.status(v, fields, l, child, o)
		}
	case "logs":
		data, err := base64.StdEncoding.DecodeString(fields["data"])
		if v := r.of(fields["vertex"]); v != nil && err == nil {
			r.log(v, data, fields["timestamp"], l, child, o)
		}
	}
}

// vertex prints how a step began or ended.
func (r *rawJSON) vertex(v *vertex, f map[string]string, l *evidence.Line, child *evidence.Stream, o *evidence.Out) {
	if v.ended {
		return
	}
	if v.started == "" {
		v.started = f["started"]
	}
	if v.name == "" {
		v.name = strings.ReplaceAll(f["name"], "\n", " ")
	}
	begun := f["started"] != "" || f["completed"] != "" || f["cached"] == "true"
	if !v.headed && begun && v.name != "" { // all steps are listed before one begins
		v.headed = true
		r.print(v, v.name, f["started"], l, child, o)
	}
	switch {
	case f["cached"] == "true":
		r.end(v, "CACHED", f["completed"], l, child, o)
	case f["error"] != "":
		r.end(v, "ERROR: "+strings.ReplaceAll(f["error"], "\n", " "), f["completed"], l, child, o)
	case f["completed"] != "":
		r.end(v, fmt.Sprintf("DONE %.1fs", seconds(v.started, f["completed"])), f["completed"], l, child, o)
	}
}

func (r *rawJSON) end(v *vertex, how, at string, l *evidence.Line, child *evidence.Stream, o *evidence.Out) {
	r.log(v, nil, at, l, child, o)
	v.ended = true
	r.print(v, how, at, l, child, o)
}

// status prints a row of a step.
func (r *rawJSON) status(v *vertex, f map[string]string, l *evidence.Line, child *evidence.Stream, o *evidence.Out) {
	text := f["id"]
	if total, err := strconv.ParseFloat(f["total"], 64); err == nil && total > 0 {
		current, _ := strconv.ParseFloat(f["current"], 64)
		text += fmt.Sprintf(" %s / %s", byteCount(current), byteCount(total))
	} else if current, err := strconv.ParseFloat(f["current"], 64); err == nil && current > 0 {
		text += " " + byteCount(current)
	}
	if f["completed"] != "" {
		text += " done"
	}
	r.print(v, text, f["timestamp"], l, child, o)
}

func byteCount(n float64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2fGB", n/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.2fMB", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.2fkB", n/1e3)
	}
	return fmt.Sprintf("%.0fB", n)
}

// log prints the lines that end in a piece of a step's output; data nil ends
// the last one.
func (r *rawJSON) log(v *vertex, data []byte, at string, l *evidence.Line, child *evidence.Stream, o *evidence.Out) {
	if data == nil {
		if open := v.output.open[child]; open == nil || len(open.text) == 0 {
			return
		}
		data = []byte("\n")
	}
	for line := range bytes.Lines(v.output.take(child, l, data)) {
		line = evidence.StripEscapes(bytes.TrimRight(line, "\r\n"))
		r.print(v, fmt.Sprintf("%.3f %s", seconds(v.started, at), line), at, l, child, o)
	}
}

// print sends a line of the plain progress on.
func (r *rawJSON) print(v *vertex, text, at string, l *evidence.Line, child *evidence.Stream, o *evidence.Out) {
	line := evidence.Line{Text: fmt.Appendf(nil, "#%d %s", v.number, text), No: l.No, Off: l.Off, Stamp: l.Stamp}
	if _, n := evidence.ParseISO([]byte(at)); n > 0 {
		line.Stamp = evidence.Stamp{Text: []byte(at), Read: evidence.ISOStamp}
	}
	o.Feed(&line, child)
}

// seconds is how long after the start of a step something happened.
func seconds(from, to string) float64 {
	a := evidence.ISOStamp([]byte(from), &evidence.Times{})
	b := evidence.ISOStamp([]byte(to), &evidence.Times{})
	if d := b.From - a.From; d > 0 && d < 1e17 {
		return float64(d) / 1e9
	}
	return 0
}
