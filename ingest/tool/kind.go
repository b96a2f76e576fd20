package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Kind is what kind says of images that it takes from the machine into the nodes
// of a cluster.
// https://kind.sigs.k8s.io/docs/user/quick-start/#loading-an-image-into-your-cluster
var Kind = evidence.Format{
	Name:   "kind",
	Shape:  evidence.ToolShape,
	Title:  "kind load docker-image",
	Proves: "images that are in place on the machine, with image IDs",
	Cannot: "that a container ran from them in the cluster",
	Doc:    "https://kind.sigs.k8s.io/docs/user/quick-start/#loading-an-image-into-your-cluster",
	Sample: "written by hand after the documentation and public logs",
	Starts: []string{`Image: "`},
	Looks:  func(text []byte) bool { return bytes.Contains(text[:min(len(text), 500)], []byte(`with ID "sha256:`)) },
	Tool:   func() evidence.Parser { return kindLoad{} },
}

type kindLoad struct{}

// Line reads one line; of an image that only has an ID the name is empty.
//
//	Image: "registry.acme.example/api:1.4" with ID "sha256:4d2d…" not yet present on node "kind-control-plane", loading...
//	Image: "registry.acme.example/api:1.4" with ID "sha256:4d2d…" found to be already present on all nodes.
func (kindLoad) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	rest, ok := strings.CutPrefix(string(bytes.TrimSpace(l.Text)), `Image: "`)
	name, rest, named := strings.Cut(rest, `" with ID "`)
	id, rest, closed := strings.Cut(rest, `" `)
	sha := timeline.SHA256(id)
	if l.Echo || !ok || !named || !closed || sha == "" || !strings.HasPrefix(rest, "not yet present on node ") && !strings.HasPrefix(rest, "found to be already present on ") {
		return evidence.Miss
	}
	o.Seen("")
	o.Emit(timeline.Present, nil, timeline.Item{Artifact: timeline.NormalizeImage(name), Digests: []timeline.Digest{{Value: sha, Role: timeline.Config}}})
	return evidence.Done
}

// End does nothing: each line stands for itself.
func (kindLoad) End(timeline.OpState, *evidence.Out) {}
