package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CRIO is CRI-O's own log.
// https://github.com/cri-o/cri-o/blob/main/server/image_pull.go
var CRIO = evidence.Format{
	Name:   "crio",
	Shape:  evidence.ToolShape,
	Title:  "CRI-O log",
	Proves: "pulls with digest and exact time, with their tag when the pull's start is in the log; images that it found on the node when it was asked for them",
	Cannot: "image IDs of what it pulled; pulls by podman on the same node",
	Doc:    "https://github.com/cri-o/cri-o/blob/main/docs/crio.8.md",
	Sample: "written by hand after the source",
	Starts: append([]string{`time="`}, terminalStarts...),
	Tool:   func() evidence.Parser { return &crio{} },
}

type crio struct {
	line  daemonLine
	asks  recent // id of the call → reference that was asked
	had   recent // image ID → its names, as they were told last
	begun begunPulls
}

// Line reads one line:
//
//	time="2026-10-21 12:04:51.934122405+09:00" level=info msg="Pulling image: quay.io/calico/cni:v3.29" id=e9cc… name=/runtime.v1.ImageService/PullImage
//	time="2026-10-21 12:04:58.101288731+09:00" level=info msg="Pulled image: quay.io/calico/cni@sha256:…" id=e9cc… name=/runtime.v1.ImageService/PullImage
func (c *crio) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	program := o.Stream().Program
	if program != "crio" && !bytes.Contains(l.Text, []byte("name=/runtime.v1")) {
		return evidence.Miss
	}
	if program == "crio" || program == "" {
		o.SeenFor(o.Subject(), timeline.Images)
	}
	said := saying(l.Text)
	status := says(said, `Image status: &`)
	if !status && !says(said, "Pull") || !c.line.parse(l.Text) {
		return evidence.Done
	}
	msg := string(c.line.msg)
	if status {
		c.status(msg, o)
		return evidence.Done
	}
	if ref, ok := strings.CutPrefix(msg, "Pulling image: "); ok && len(c.line.id) > 0 {
		c.asks.put(string(c.line.id), ref)
		if item, ok := image(ref, ""); ok {
			c.begun.begin(string(c.line.id), &c.line, item, o)
		}
		return evidence.Done
	}
	if ref, ok := strings.CutPrefix(msg, "Pulled image: "); ok {
		c.pulled(ref, o)
	}
	return evidence.Done
}

// status reads what it answers the kubelet that asks for an image; it asks again
// every few minutes.
//
//	Image status: &ImageStatusResponse{Image:&Image{Id:32c3…,RepoTags:[quay.io/calico/cni:v3.29],RepoDigests:[quay.io/calico/cni@sha256:… quay.io/calico/cni@sha256:…],Size_:…
func (c *crio) status(msg string, o *evidence.Out) {
	_, msg, ok := strings.Cut(msg, "Image:&Image{Id:")
	id, rest, cut := strings.Cut(msg, ",RepoTags:[")
	tags, rest, tagged := strings.Cut(rest, "],RepoDigests:[")
	repos, _, whole := strings.Cut(rest, "]")
	config := timeline.SHA256(id)
	if !ok || !cut || !tagged || !whole || config == "" || c.had.get(config) == tags+repos {
		return
	}
	c.had.put(config, tags+repos)
	names := strings.Fields(tags)
	if len(names) == 0 {
		names = strings.Fields(repos)
	}
	var items []timeline.Item
	for _, name := range names {
		item, ok := image(name, "")
		if !ok {
			continue
		}
		for repo := range strings.FieldsSeq(repos) {
			_, digest, _ := strings.Cut(repo, "@")
			if sha := timeline.SHA256(digest); sha != "" && (len(item.Digests) == 0 || item.Digests[0].Value != sha) {
				item.Digests = append(item.Digests, timeline.Digest{Value: sha})
			}
		}
		item.Digests = append(item.Digests, timeline.Digest{Value: config, Role: timeline.Config})
		items = append(items, item)
	}
	if len(items) > 0 {
		c.line.event(o, timeline.Present, items...)
	}
}

func (c *crio) pulled(ref string, o *evidence.Out) {
	c.begun.end(string(c.line.id))
	item, ok := image(strings.TrimSuffix(ref, ">"), "")
	if asked := c.asks.get(string(c.line.id)); ok && asked != "" {
		name, digest, _ := strings.Cut(item.Artifact, "@")
		if more, ok := image(asked, digest); ok && timeline.Split(more.Artifact).Name == timeline.Split(name).Name {
			item = more
		}
	}
	if ok {
		c.line.event(o, timeline.Pull, item)
	}
}

// End tells of pulls that never ended.
func (c *crio) End(_ timeline.OpState, o *evidence.Out) { c.begun.flush(o) }
