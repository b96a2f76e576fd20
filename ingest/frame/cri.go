package frame

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CRI is the log file of a Kubernetes container as containerd and CRI-O write
// it.
// https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md
var CRI = evidence.Format{
	Name:   "kubernetes-cri",
	Shape:  evidence.FrameShape,
	Title:  "Kubernetes container log (CRI)",
	Proves: "time of each line; namespace, pod, container and container ID when the file has its own name or folder",
	Cannot: "the node, unless --subject host:… names it; what was rotated away",
	Doc:    "https://kubernetes.io/docs/concepts/cluster-administration/logging/",
	Sample: "written by hand after the proposal",
	Claim: func(h *evidence.Head) bool {
		line, _, _ := bytes.Cut(h.Bytes, []byte("\n"))
		_, ok := parseCRI(bytes.TrimRight(line, "\r"))
		return ok
	},
	First: "2",
	New:   func() evidence.Peeler { return &cri{} },
}

// criLine is a line taken apart.
type criLine struct {
	stamp, writer, text []byte
	partial             bool
}

// parseCRI reads
//
//	2026-10-21T12:04:51.904275087+00:00 stdout F Collecting litellm
//
// P instead of F says that the line goes on; more flags may follow a colon.
func parseCRI(line []byte) (c criLine, ok bool) {
	if len(line) < 30 {
		return c, false
	}
	stamp, rest, _ := bytes.Cut(line, []byte(" "))
	c.writer, rest, _ = bytes.Cut(rest, []byte(" "))
	if string(c.writer) != "stdout" && string(c.writer) != "stderr" {
		return c, false
	}
	flags, text, _ := bytes.Cut(rest, []byte(" "))
	if len(flags) == 0 || flags[0] != 'F' && flags[0] != 'P' || len(flags) > 1 && flags[1] != ':' {
		return c, false
	}
	if m, n := evidence.ParseISO(stamp); n != len(stamp) || !m.HasOffset {
		return c, false
	}
	c.stamp, c.text, c.partial = stamp, text, flags[0] == 'P'
	return c, true
}

type cri struct{ parts parts }

// Start learns the container from the name of the file.
func (c *cri) Start(h *evidence.Head, s *evidence.Stream, o *evidence.Out) {
	namespace, pod, name, id := criName(h.Path)
	if pod == "" {
		return
	}
	who := timeline.Subject{Kind: timeline.Container, ID: "k8s/" + namespace + "/" + pod + "/" + name}
	s.Subject = who
	if id != "" {
		o.Link(timeline.Is, who.String(), containerSubject(o, id).String())
	}
	if o.Claim.Kind == timeline.Host {
		o.Link(timeline.On, who.String(), o.Claim.String())
	}
}

// criName reads the two ways in which the kubelet names logs:
//
//	/var/log/containers/api-7d9c_prod_api-<64 hex>.log
//	/var/log/pods/prod_api-7d9c_0f3e…/api/0.log
func criName(path string) (namespace, pod, name, id string) {
	p := strings.Split(strings.ReplaceAll(path, "!", "/"), "/")
	last := p[len(p)-1]
	if stem, ok := strings.CutSuffix(last, ".log"); ok {
		w := strings.Split(stem, "_")
		if i := len(stem) - 64; len(w) == 3 && i > 0 && stem[i-1] == '-' && timeline.SHA256(stem[i:]) != "" {
			name, _, _ := strings.Cut(w[2], "-"+stem[i:])
			return w[1], w[0], name, stem[i:]
		}
	}
	if len(p) >= 3 && len(last) > 4 && last[0] >= '0' && last[0] <= '9' && strings.Contains(last, ".log") {
		if w := strings.Split(p[len(p)-3], "_"); len(w) == 3 && len(w[2]) >= 32 {
			return w[0], w[1], p[len(p)-2], ""
		}
	}
	return "", "", "", ""
}

// containerSubject is a container by its ID, with its host when --subject
// names that.
func containerSubject(o *evidence.Out, id string) timeline.Subject {
	id = id[:min(len(id), 12)]
	if o.Claim.Kind == timeline.Host {
		id = o.Claim.ID + "/" + id
	}
	return timeline.Subject{Kind: timeline.Container, ID: id}
}

// Peel takes time, writer and flags off and joins pieces.
func (c *cri) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	line, ok := parseCRI(l.Text)
	if !ok {
		return nil
	}
	// What a container writes to its two outputs belongs together: a registry
	// writes of one request to both.
	child := s.Child(o, nil)
	if line.partial {
		c.parts.add(line.writer, line.text)
		c.parts.add(line.writer, l.Open)
		return s
	}
	if whole := c.parts.take(line.writer, line.text); len(whole) > len(line.text) {
		l.Strip(append(whole, l.Open...))
	} else {
		l.Text = line.text
	}
	child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], line.stamp...), Read: evidence.ISOStamp}
	l.Stamp = child.Last
	return child
}

// End says when the log stops inside a line.
func (c *cri) End(o *evidence.Out) {
	if c.parts.open() {
		o.Cut("the log ends inside a line")
	}
}
