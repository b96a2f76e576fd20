package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Crane is the output of crane copy and crane push, and of ko, which builds
// programs of Go upon a base image.
// https://github.com/google/go-containerregistry/blob/main/cmd/crane/README.md
var Crane = evidence.Format{
	Name:   "crane",
	Shape:  evidence.ToolShape,
	Title:  "crane copy and push, ko build",
	Proves: "images pushed, with digests; from where they were copied, and upon which base they were built",
	Cannot: "what crane pull fetched: it prints nothing",
	Doc:    "https://github.com/google/go-containerregistry/blob/main/cmd/crane/doc/crane_copy.md",
	Sample: "written by hand after the source",
	Starts: []string{"20"},
	Tool:   func() evidence.Parser { return &crane{} },
}

type crane struct{ op *evidence.Op }

// Line reads what it logs; times are local and have no zone:
//
//	2026/10/21 12:00:00 Copying from ghcr.io/acme/api:1.4 to mirror.acme.example/api:1.4
//	2026/10/21 12:00:01 existing blob: sha256:9b32…
//	2026/10/21 12:00:02 mirror.acme.example/api:1.4: digest: sha256:6ded… size: 812
//	2026/10/21 12:00:00 Using base cgr.dev/acme/static:latest@sha256:6ded… for example.tld/acme/api
func (c *crane) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimLeft(l.Text, " \t")
	if len(text) < 25 || text[4] != '/' || text[7] != '/' || text[10] != ' ' || text[13] != ':' || text[19] != ' ' {
		return evidence.Miss
	}
	message := string(text[20:])
	span := o.Mark().Span()
	if l.Stamp.Read == nil {
		iso := append([]byte(nil), text[:19]...)
		iso[4], iso[7] = '-', '-'
		span = evidence.ISOStamp(iso, &o.Times)
	}
	if from, to, ok := strings.Cut(strings.TrimPrefix(message, "Copying from "), " to "); ok && strings.HasPrefix(message, "Copying from ") {
		source := timeline.NormalizeImage(from)
		if source == "" || timeline.NormalizeImage(to) == "" || !strings.ContainsAny(from, "/:@") || !strings.Contains(to, "/") {
			return evidence.Miss
		}
		c.op = o.Invocation("crane")
		o.Seen(timeline.Images)
		o.Event(timeline.Event{Action: timeline.Resolve, Op: c.op.Number, Span: span, Items: []timeline.Item{{Artifact: source}}})
		return evidence.Done
	}
	if base, target, ok := strings.Cut(strings.TrimPrefix(message, "Using base "), " for "); ok && strings.HasPrefix(message, "Using base ") {
		source := timeline.NormalizeImage(base)
		if source == "" || strings.ContainsAny(base+target, " \t") {
			return evidence.Miss
		}
		o.Seen(timeline.Images)
		o.Event(timeline.Event{Action: timeline.Resolve, Span: span, Items: []timeline.Item{{Artifact: source}}})
		return evidence.Done
	}
	name, rest, ok := strings.Cut(message, ": digest: ")
	digest, size, sized := strings.Cut(rest, " size: ")
	image := timeline.NormalizeImage(name)
	d := timeline.SHA256(digest)
	if !ok || !sized || image == "" || d == "" || strings.Trim(size, "0123456789") != "" {
		return evidence.Miss
	}
	if c.op == nil || o.Overtaken(c.op) {
		c.op = o.Invocation("crane")
	}
	o.Seen(timeline.Images)
	o.Event(timeline.Event{Action: timeline.Push, Op: c.op.Number, Span: span, Items: []timeline.Item{{Artifact: image, Digests: []timeline.Digest{{Value: d}}}}})
	c.op.Answer()
	o.Close(c.op, timeline.OpDone)
	c.op = nil
	return evidence.Done
}

// End leaves an open copy as it is.
func (c *crane) End(how timeline.OpState, o *evidence.Out) {
	o.Close(c.op, how)
	c.op = nil
}
