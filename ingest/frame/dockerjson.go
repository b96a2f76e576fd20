package frame

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DockerJSON is the log file of a container that Docker's json-file driver
// writes, and the record that its fluentd driver sends.
// https://docs.docker.com/engine/logging/drivers/json-file/
var DockerJSON = evidence.Format{
	Name:   "docker-json",
	Shape:  evidence.FrameShape,
	Title:  "Docker container log (json-file), also as Fluentd and Fluent Bit ship it",
	Proves: "time of each line; the container's ID when the file lies in its own folder, the pod and its image when the shipper names them",
	Cannot: "the host, unless --subject host:… names it; the image",
	Doc:    "https://docs.docker.com/engine/logging/drivers/json-file/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		line, _, _ := bytes.Cut(h.Bytes, []byte("\n"))
		var d dockerLine
		return len(line) > 0 && line[0] == '{' && d.parse(line)
	},
	First: "{",
	Looks: func(text []byte) bool {
		return firstKey(text, "log", "stream", "source", "time", "container_id", "attrs", "container_name", "partial_message", "partial_id", "partial_ordinal", "partial_last",
			"kubernetes", "docker", "date", "@timestamp", "tag", "_p", "logtag")
	},
	New: func() evidence.Peeler { return &dockerJSON{} },
}

// dockerPiece is where the daemon cuts a line in two; only such a long line
// lacks its end of line.
const dockerPiece = 16 << 10

// dockerLine is a line taken apart; the values are as written.
type dockerLine struct{ log, writer, stamp, id, pod []byte }

// parse reads the daemon's spelling and those of Fluentd and Fluent Bit:
//
//	{"log":"Collecting litellm\n","stream":"stdout","time":"2026-10-21T12:04:51.237222729Z"}
//	{"container_id":"e7d0b7ea5ccf…","container_name":"/api","source":"stdout","log":"Collecting litellm"}
//	{"time":"2026-10-21T12:04:51.237222729Z","stream":"stdout","_p":"F","log":"Collecting litellm","kubernetes":{"pod_name":"api-7d9c",…}}
func (d *dockerLine) parse(line []byte) bool {
	if !bytes.Contains(line, []byte(`"log"`)) {
		return false
	}
	f := evidence.JSONFields(line)
	for f.Next() {
		switch string(f.Key) {
		case "log":
			d.log = f.Value
		case "stream", "source":
			d.writer = f.Value
		case "time":
			d.stamp = f.Value
		case "container_id":
			d.id = f.Value
		case "kubernetes":
			d.pod = f.Value
		case "attrs", "container_name", "partial_message", "partial_id", "partial_ordinal", "partial_last",
			"docker", "date", "@timestamp", "tag", "_p", "logtag": // of what ships logs
		default:
			return false
		}
	}
	return f.Whole() && len(d.log) > 1 && d.log[0] == '"' && (string(d.writer) == `"stdout"` || string(d.writer) == `"stderr"`)
}

type dockerJSON struct {
	buf   []byte
	parts parts
}

// Start learns the container from the folder that the daemon keeps logs in:
//
//	/var/lib/docker/containers/<64 hex>/<64 hex>-json.log
func (d *dockerJSON) Start(h *evidence.Head, s *evidence.Stream, o *evidence.Out) {
	id, _, _ := strings.Cut(h.Name, "-json.log")
	if id == h.Name || timeline.SHA256(id) == "" || o.Claim.Kind == timeline.Container {
		return
	}
	s.Subject = containerSubject(o, id)
	if o.Claim.Kind == timeline.Host {
		o.Link(timeline.On, s.Subject.String(), o.Claim.String())
	}
}

// Peel takes the JSON off.
func (d *dockerJSON) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	var line dockerLine
	if !line.parse(l.Text) {
		return nil
	}
	text, buf, ok := evidence.UnquoteJSON(line.log, d.buf)
	if d.buf = buf; !ok {
		return nil
	}
	id := bytes.Trim(line.id, `"`)
	if len(line.pod) > 0 {
		id = line.pod
	}
	child := s.Child(o, id)
	if stamp := bytes.Trim(line.stamp, `"`); len(stamp) > 0 {
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], stamp...), Read: dockerStamp}
		l.Stamp = child.Last
	}
	if len(line.pod) > 0 {
		podLine(line.pod, child, s, o)
	} else if len(id) >= 12 && child.Subject.IsZero() && s.Who().IsZero() {
		child.Subject = containerSubject(o, string(id))
	}
	if len(text) >= dockerPiece && text[len(text)-1] != '\n' {
		d.parts.add(line.writer, text)
		return s
	}
	l.Strip(bytes.TrimRight(d.parts.take(line.writer, text), "\r\n"))
	return child
}

// dockerStamp reads the daemon's time: always UTC, also where a rewriter lost
// the Z.
func dockerStamp(text []byte, t *evidence.Times) timeline.Span {
	m, n := evidence.ParseISO(text)
	if n == 0 {
		return timeline.Always()
	}
	m.HasOffset = true
	return m.Span(string(text), t)
}

// End says when the log stops inside a line.
func (d *dockerJSON) End(o *evidence.Out) {
	if d.parts.open() {
		o.Cut("the log ends inside a line")
	}
}

// firstKey reports whether the first name in a JSON object is one of some: the
// frames that know all names of their objects look no further at others.
func firstKey(object []byte, names ...string) bool {
	key := bytes.TrimLeft(object[1:], " \t\r\n")
	if len(key) == 0 || key[0] != '"' {
		return false
	}
	key = key[1:]
	if key = key[:max(bytes.IndexByte(key, '"'), 0)]; len(key) == 0 {
		return false
	}
	for _, n := range names {
		if string(key) == n {
			return true
		}
	}
	return false
}

// podLine names the container of a pod that Fluent Bit's and Fluentd's filter
// for Kubernetes found:
//
//	{"pod_name":"api-7d9c","namespace_name":"prod","host":"node-3","container_name":"api","docker_id":"14f7262f9d64…","container_image":"ghcr.io/acme/api:1.4"}
func podLine(pod []byte, child, s *evidence.Stream, o *evidence.Out) {
	if !child.Subject.IsZero() || !s.Who().IsZero() && s.Who().Kind != timeline.Host {
		return
	}
	field := map[string]string{}
	f := evidence.JSONFields(pod)
	for f.Next() {
		if f.Value[0] == '"' {
			field[string(f.Key)] = string(unquoted(f.Value))
		}
	}
	if field["pod_name"] == "" || field["namespace_name"] == "" || field["container_name"] == "" {
		return
	}
	child.Subject = timeline.Subject{Kind: timeline.Container, ID: "k8s/" + field["namespace_name"] + "/" + field["pod_name"] + "/" + field["container_name"]}
	if host := field["host"]; host != "" {
		o.Link(timeline.On, child.Subject.String(), timeline.Subject{Kind: timeline.Host, ID: host}.String())
	}
	image := field["container_image"]
	if hash := field["container_hash"]; strings.Contains(hash, "@sha256:") {
		image = hash
	}
	if name := timeline.NormalizeImage(image); name != "" {
		o.Event(timeline.Event{Action: timeline.Present, Subject: child.Subject, Items: []timeline.Item{{Artifact: name}}})
	}
}
