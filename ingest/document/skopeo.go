package document

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// SkopeoInspect is what skopeo inspect prints of an image in a registry, and
// skopeo list-tags.
// https://github.com/containers/skopeo/blob/main/docs/skopeo-inspect.1.md
var SkopeoInspect = evidence.Format{
	Name:   "skopeo",
	Shape:  evidence.DocumentShape,
	Title:  "skopeo inspect, skopeo list-tags",
	Proves: "that somebody looked an image up, and its digest then",
	Cannot: "by which tag, and when; that layers came over; RepoTags are the names of the repository, not of the image",
	Doc:    "https://github.com/containers/skopeo/blob/main/docs/skopeo-inspect.1.md",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		return ok && (v.has("Name") && v.has("Digest") && v.has("RepoTags") || v.has("Repository") && v.get("Tags").kind() == '[')
	},
	Read: readSkopeo,
}

// readSkopeo reads one answer; the layers are blobs, as the registry has them.
//
//	{"Name": "docker.io/library/alpine", "Digest": "sha256:be5e…", "RepoTags": ["3.20", "latest"], "Created": "…", "Layers": ["sha256:d25f…"], "Env": […]}
//	{"Repository": "docker.io/library/alpine", "Tags": ["3.20", "latest"]}
func readSkopeo(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		digest := timeline.SHA256(v.get("Digest").text())
		if digest == "" {
			continue // tags that there are: nobody asked for one
		}
		at(d, o, v.get("Digest"))
		item := timeline.Item{Digests: []timeline.Digest{{Value: digest}}}
		if name := v.get("Name").text(); name != "" {
			if it, ok := imageItem(name + "@" + digest); ok {
				item = it
			}
		}
		if item.Artifact == "" {
			continue // an archive or a folder
		}
		o.Emit(timeline.Check, nil, item)
		for _, layer := range v.get("Layers").texts() {
			if sha := timeline.SHA256(layer); sha != "" {
				o.Link(timeline.Holds, digest, sha)
			}
		}
	}
	return err
}
