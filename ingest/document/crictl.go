package document

import (
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CRI is what crictl prints as JSON of a node's images and containers:
// 'crictl images', 'inspecti', 'ps' and 'inspect' with '-o json'.
// https://github.com/kubernetes-sigs/cri-tools/blob/master/docs/crictl.md
var CRI = evidence.Format{
	Name:   "crictl-json",
	Shape:  evidence.DocumentShape,
	Title:  "crictl images, inspecti, ps and inspect (JSON)",
	Proves: "images in the store of a node, with image ID and repository digests; the image that each container runs or ran, since when, of which pod",
	Cannot: "when an image came; containers that are gone",
	Doc:    "https://github.com/kubernetes-sigs/cri-tools/blob/master/docs/crictl.md",
	Sample: "written by hand after the messages of the CRI API",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		if !ok {
			return false
		}
		for _, list := range []string{"images", "containers"} {
			for e := range v.get(list).elements() {
				return isCRIImage(e) || isCRIContainer(e)
			}
		}
		status := v.get("status")
		return isCRIImage(status) || isCRIContainer(status)
	},
	Read: readCRI,
}

// isCRIImage wants the lists of names of an image in the CRI API.
//
//	{"id":"sha256:9a9f…","repoTags":["ghcr.io/acme/gw:1.4"],"repoDigests":["ghcr.io/acme/gw@sha256:8f45…"],"size":"812","username":"","pinned":false}
func isCRIImage(v value) bool {
	return v.has("id") && (v.has("repoTags") || v.has("repoDigests"))
}

// isCRIContainer wants a container's state in the CRI API.
//
//	{"id":"ea22…","podSandboxId":"1a2b…","metadata":{"name":"gw","attempt":0},"image":{"image":"ghcr.io/acme/gw:1.4"},"imageRef":"ghcr.io/acme/gw@sha256:8f45…","state":"CONTAINER_RUNNING", …
func isCRIContainer(v value) bool {
	return v.has("id") && v.has("imageRef") && strings.HasPrefix(v.get("state").text(), "CONTAINER_")
}

func readCRI(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	for _, v := range all {
		n := 0
		for _, list := range []string{"images", "containers"} {
			for e := range v.get(list).elements() {
				readCRIRecord(d, o, e, value{})
				n++
			}
		}
		if status := v.get("status"); n == 0 && status.kind() == '{' {
			readCRIRecord(d, o, status, v.get("info"))
		}
	}
	return err
}

func readCRIRecord(d *evidence.Doc, o *evidence.Out, v, info value) {
	switch {
	case isCRIImage(v):
		readCRIImage(d, o, v, info)
	case isCRIContainer(v):
		readCRIContainer(d, o, v)
	default:
		at(d, o, v)
		o.Skip("no image or container of the CRI API")
	}
}

// readCRIImage reads an image of the store. Its ID is the digest of its config.
func readCRIImage(d *evidence.Doc, o *evidence.Out, v, info value) {
	at(d, o, v.get("id"))
	id := timeline.SHA256(v.get("id").text())
	if id == "" {
		o.Skip("an image without ID")
		return
	}
	img := storedImage{id: []timeline.Digest{{Value: id, Role: timeline.Config}}}
	for _, text := range v.get("repoDigests").texts() {
		if ref, ok := timeline.ParseImage(text); ok && ref.Digest != "" {
			img.digests = append(img.digests, ref)
		}
	}
	for _, text := range v.get("repoTags").texts() {
		if ref, ok := timeline.ParseImage(text); ok && !strings.HasPrefix(text, "<none>") {
			img.tags = append(img.tags, ref)
		}
	}
	var who timeline.Subject
	if o.Claim.IsZero() {
		who = timeline.Subject{Kind: timeline.Image, ID: id}
	}
	about(o, who, func() {
		o.Emit(timeline.Present, nil, img.items()...)
		img.links(o, v)
		for _, diff := range info.get("imageSpec", "rootfs", "diff_ids").texts() {
			if diff = timeline.SHA256(diff); diff != "" {
				o.Link(timeline.Holds, id, timeline.DiffEnd+diff)
			}
		}
	})
}

// readCRIContainer reads a container. Its image is a repository digest, or the
// image ID where the runtime knows no more; the name is one that the node has.
func readCRIContainer(d *evidence.Doc, o *evidence.Out, v value) {
	at(d, o, v.get("imageRef"))
	name := v.get("image", "userSpecifiedImage").text()
	if name == "" {
		name = v.get("image", "image").text()
	}
	item, ok := runningImage(v.get("imageRef").text(), name)
	short := shortID(v.get("id").text())
	if !ok || short == "" {
		o.Skip("a container without ID or image")
		return
	}
	id := "container:" + short
	if o.Claim.Kind == timeline.Host {
		id = "container:" + o.Claim.ID + "/" + short
	}
	labels := v.get("labels")
	who := timeline.Subject{Kind: timeline.Container, ID: strings.TrimPrefix(id, "container:")}
	if pod := labels.get("io.kubernetes.pod.name").text(); pod != "" {
		who.ID = "k8s/" + labels.get("io.kubernetes.pod.namespace").text() + "/" + pod + "/" + labels.get("io.kubernetes.container.name").text()
		o.Link(timeline.Is, who.String(), id)
	}
	if o.Claim.Kind == timeline.Host {
		o.Link(timeline.On, who.String(), o.Claim.String())
	}
	e := timeline.Event{Action: timeline.Present, Items: []timeline.Item{item}}
	if state := v.get("state").text(); state == "CONTAINER_RUNNING" || state == "CONTAINER_EXITED" {
		e.Action, e.Span = timeline.Run, criStarted(v, o)
	}
	about(o, who, func() { o.Event(e) })
}

// criStarted is when a container began: exactly, where it was inspected; else
// some time after it was made. The CRI API counts nanoseconds since 1970.
func criStarted(v value, o *evidence.Out) timeline.Span {
	if s := evidence.ISOStamp([]byte(v.get("startedAt").text()), &o.Times); s.Clock == timeline.Exact && s.From > 0 {
		return s
	}
	created := v.get("createdAt")
	if n, ok := created.integer(); ok && n > 0 {
		s := evidence.Epoch(n, time.Nanosecond, string(created.raw()))
		if s.Clock == timeline.Exact {
			s.To, s.Clock = timeline.Forever, timeline.Section
			return s
		}
	}
	return timeline.Span{}
}
