package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// DockerAPI is what the Docker Engine answers a client that pulls, builds or
// pushes through its API: an object for each line that docker would show. Client
// libraries and tools that manage containers log them as they come.
// https://docs.docker.com/reference/api/engine/version/v1.47/#tag/Image/operation/ImageCreate
// https://pkg.go.dev/github.com/docker/docker/pkg/jsonmessage#JSONMessage
var DockerAPI = evidence.Format{
	Name:   "docker-api",
	Shape:  evidence.FrameShape,
	Title:  "Answers of the Docker Engine's API to pull, build and push",
	Proves: "the lines that docker shows of it",
	Cannot: "when, and on which host; what BuildKit did, which it encodes",
	Doc:    "https://docs.docker.com/reference/api/engine/version/v1.47/#tag/Image/operation/ImageCreate",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		line, _, _ := bytes.Cut(h.Bytes, []byte("\n"))
		_, ok := parseDockerMessage(line)
		return ok
	},
	First: "{",
	Looks: func(text []byte) bool {
		return firstKey(text, "status", "stream", "error", "errorDetail", "progressDetail", "aux")
	},
	New: func() evidence.Peeler { return &dockerAPI{} },
}

// dockerMessage is an object taken apart; the values are as written.
type dockerMessage struct{ status, id, stream, fault []byte }

// parseDockerMessage reads an object that has no other names than these:
//
//	{"status":"Pulling from library/redis","id":"7.4"}
//	{"status":"Downloading","progressDetail":{"current":1234,"total":31000000},"progress":"[>   ]  1.2kB/31MB","id":"2cd821f730b9"}
//	{"status":"Status: Downloaded newer image for redis:7.4"}
//	{"stream":"Step 1/2 : FROM redis:7.4"}
//	{"errorDetail":{"message":"manifest unknown"},"error":"manifest unknown"}
//	{"progressDetail":{},"aux":{"Tag":"1.4","Digest":"sha256:77b2…","Size":1367}}
func parseDockerMessage(line []byte) (m dockerMessage, ok bool) {
	line = bytes.TrimRight(line, "\r")
	if len(line) == 0 || line[0] != '{' {
		return m, false
	}
	f := evidence.JSONFields(line)
	for f.Next() {
		switch string(f.Key) {
		case "status":
			m.status = f.Value
		case "id":
			m.id = f.Value
		case "stream":
			m.stream = f.Value
		case "error":
			m.fault = f.Value
		case "errorDetail", "progressDetail", "progress", "aux":
			ok = true
		default:
			return m, false
		}
	}
	if len(m.stream) > 0 { // {"stream":"stdout"} alone is of a log's line that lost the rest
		return m, f.Whole() && m.stream[0] == '"' && len(m.status)+len(m.id) == 0
	}
	return m, f.Whole() && (len(m.status) > 1 && m.status[0] == '"' || ok)
}

type dockerAPI struct {
	pieces
	buf []byte
}

// Peel writes the line that docker shows of an object.
func (d *dockerAPI) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	m, ok := parseDockerMessage(l.Text)
	if !ok {
		return nil
	}
	child := s.Child(o, nil)
	if len(m.stream) > 0 {
		text, ok := d.unquote(m.stream)
		if !ok {
			return nil
		}
		if l.Text = evidence.StripEscapes(d.take(child, l, text)); len(l.Text) == 0 {
			return s
		}
		return child
	}
	var line []byte
	for _, part := range [][]byte{m.id, m.status, m.fault} {
		text, ok := d.unquote(part)
		if !ok || len(text) == 0 {
			continue
		}
		if len(line) > 0 {
			line = append(line, ": "...)
		}
		line = append(line, text...)
	}
	l.Text = evidence.StripEscapes(line)
	return child
}

// unquote returns the text of a value, false when it is none.
func (d *dockerAPI) unquote(value []byte) ([]byte, bool) {
	if len(value) == 0 || value[0] != '"' {
		return nil, false
	}
	text, buf, ok := evidence.UnquoteJSON(value, d.buf)
	d.buf = buf
	return text, ok
}

// End reads a last line without an end.
func (d *dockerAPI) End(o *evidence.Out) { d.end(o) }
