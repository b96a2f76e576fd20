package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ImageArchive is an archive or folder of images: an OCI layout, what docker
// save and podman save write, or both in one. Its parts are documents of their
// own (image-index, image-manifest, image-config) and layers, which the core
// walks; what stands here are the lists that only an archive has.
// https://github.com/opencontainers/image-spec/blob/main/image-layout.md
var ImageArchive = evidence.Format{
	Name:   "image-archive",
	Shape:  evidence.DocumentShape,
	Title:  "container image archive: OCI layout, docker save",
	Proves: "the packages in each layer, also those that a later layer deletes; names, config and layers of each image; when every layer is there and whole, what an image does not hold",
	Cannot: "packages that leave no list behind (copied files, frozen or bundled programs, rpm); when they came",
	Doc:    "https://github.com/opencontainers/image-spec/blob/main/image-layout.md",
	Sample: "skopeo 1.9, buildah 1.28 and podman 4.3 run for this project",
	Claim:  claimImageArchive,
	Read:   readImageArchive,
}

// claimImageArchive wants one of the three lists.
//
//	[{"Config":"8a0d….json","RepoTags":["ghcr.io/acme/big:1"],"Layers":["4d18…/layer.tar"]}]
//	{"imageLayoutVersion":"1.0.0"}
//	{"ghcr.io/acme/big":{"1":"4d1853242977…"}}
func claimImageArchive(h *evidence.Head) bool {
	v, ok := headRecord(h)
	if !ok {
		return false
	}
	if h.Name == "repositories" {
		for _, tags := range v.fields() {
			for _, id := range tags.fields() {
				return timeline.SHA256(id.text()) != ""
			}
			return false
		}
	}
	return v.has("imageLayoutVersion") || v.get("Config").kind() == '"' && v.get("Layers").kind() == '[' && v.has("RepoTags")
}

// readImageArchive says which config each tag names, where its file is called
// after it.
func readImageArchive(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	for _, v := range all {
		config := v.get("Config").text()
		config = config[strings.LastIndexByte(config, '/')+1:]
		config = timeline.SHA256(strings.TrimSuffix(config, ".json"))
		for tag := range v.get("RepoTags").elements() {
			if name := timeline.NormalizeImage(tag.text()); name != "" && config != "" {
				at(d, o, tag)
				o.Link(timeline.Names, name, config)
			}
		}
	}
	return err
}
