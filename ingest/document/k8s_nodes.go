package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Nodes is what 'kubectl get nodes -o json' and '-o yaml' print: a list of nodes,
// or one.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/node-v1/
var Nodes = evidence.Format{
	Name:   "k8s-nodes",
	Shape:  evidence.DocumentShape,
	Title:  "Kubernetes nodes (JSON, YAML)",
	Proves: "images in the store of a node, with their repository digests and tags",
	Cannot: "when an image came, whether it ran; all of them: a node names its 50 largest",
	Doc:    "https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/node-v1/",
	Sample: "written by hand after the documentation",
	Claim:  claimNodes,
	Read:   readNodes,
}

// claimNodes wants a node, or a list whose first item is one: items of a
// NodeList carry no kind of their own.
//
//	{"kind": "NodeList", "apiVersion": "v1", "items": [
//	{"apiVersion": "v1", "items": [{"apiVersion": "v1", "kind": "Node",
func claimNodes(h *evidence.Head) bool {
	if text := bytes.TrimLeft(h.Bytes, " \t\r\n"); len(text) > 0 && text[0] != '{' && text[0] != '[' {
		return claimYAML(text, "Node")
	}
	v, ok := headRecord(h)
	if !ok || v.get("apiVersion").text() != "v1" {
		return false
	}
	switch v.get("kind").text() {
	case "Node", "NodeList":
		return true
	case "List", "": // the kind stands behind the items, perhaps far away
		for item := range v.get("items").elements() {
			return item.get("kind").text() == "Node"
		}
	}
	return false
}

func readNodes(d *evidence.Doc, o *evidence.Out) error { return readCluster(d, o, "Node") }

// readNode records the images of one node.
//
//	"images": [{"names": ["ghcr.io/acme/gw@sha256:8f45…", "ghcr.io/acme/gw:1.4"], "sizeBytes": 117425193}]
func readNode(d *evidence.Doc, o *evidence.Out, v value) {
	name := v.get("metadata", "name")
	at(d, o, v)
	if name.text() == "" {
		o.Skip("a node without a name")
		return
	}
	about(o, timeline.Subject{Kind: timeline.Host, ID: name.text()}, func() {
		for image := range v.get("status", "images").elements() {
			var img storedImage
			for _, text := range image.get("names").texts() {
				ref, ok := timeline.ParseImage(text)
				switch {
				case !ok || strings.Contains(text, "<none>"):
				case ref.Digest != "":
					img.digests = append(img.digests, ref)
				default:
					img.tags = append(img.tags, ref)
				}
			}
			if len(img.digests)+len(img.tags) == 0 {
				continue // it lost its names
			}
			at(d, o, image)
			o.Emit(timeline.Present, nil, img.items()...)
			img.links(o, image)
		}
	})
}
