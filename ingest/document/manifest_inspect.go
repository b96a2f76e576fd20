package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ManifestInspect is what Docker's tools print of an image in a registry:
// 'docker manifest inspect --verbose' and 'docker buildx imagetools inspect'.
// https://docs.docker.com/reference/cli/docker/manifest/inspect/
// https://docs.docker.com/reference/cli/docker/buildx/imagetools/inspect/
var ManifestInspect = evidence.Format{
	Name:   "manifest-inspect",
	Shape:  evidence.DocumentShape,
	Title:  "docker manifest inspect --verbose, docker buildx imagetools inspect",
	Proves: "which digest a name had when it was asked, which manifests an index stands for, and which config a manifest has",
	Cannot: "when it was asked; that any of them was pulled",
	Doc:    "https://docs.docker.com/reference/cli/docker/manifest/inspect/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		if ok {
			return isInspectedManifest(v)
		}
		_, ok = imagetools(string(h.Bytes[:min(len(h.Bytes), 2048)]))
		return ok
	},
	Read: readManifestInspect,
}

// isInspectedManifest wants a reference with its descriptor.
//
//	{"Ref": "ghcr.io/acme/gw:1.4@sha256:2477…", "Descriptor": {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:2477…", …}, "OCIManifest": {…}}
func isInspectedManifest(v value) bool {
	return v.has("Ref") && timeline.SHA256(v.get("Descriptor", "digest").text()) != "" && v.get("Descriptor").has("mediaType")
}

func readManifestInspect(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	if k := (value{d.Data, 0, len(d.Data)}).kind(); k != '{' && k != '[' {
		readImagetools(d, o)
		return nil
	}
	all, err := records(d)
	for _, v := range all {
		digest := v.get("Descriptor", "digest")
		at(d, o, digest)
		id := timeline.SHA256(digest.text())
		if id == "" {
			o.Skip("a manifest without digest")
			continue
		}
		if ref, ok := timeline.ParseImage(v.get("Ref").text()); ok && ref.Tag != "" && ref.Digest == "" {
			o.Link(timeline.Names, ref.String(), id)
		}
		for _, kind := range []string{"OCIManifest", "SchemaV2Manifest"} {
			if config := timeline.SHA256(v.get(kind, "config", "digest").text()); config != "" {
				o.Link(timeline.Holds, id, config)
			}
		}
	}
	return err
}

// imagetools reads the head of what 'imagetools inspect' prints.
//
//	Name:      ghcr.io/acme/gw:1.4
//	MediaType: application/vnd.oci.image.index.v1+json
//	Digest:    sha256:8f45…
func imagetools(text string) (index timeline.ImageRef, ok bool) {
	var words [3]string
	for i, key := range []string{"Name:", "MediaType:", "Digest:"} {
		line, rest, _ := strings.Cut(text, "\n")
		value, ok := strings.CutPrefix(line, key)
		if !ok {
			return index, false
		}
		words[i], text = strings.TrimSpace(value), rest
	}
	index, ok = timeline.ParseImage(words[0])
	index.Digest = timeline.SHA256(words[2])
	return index, ok && index.Digest != "" && strings.HasPrefix(words[1], "application/vnd.")
}

// readImagetools reads the manifests that an index stands for.
//
//	Manifests:
//	  Name:      ghcr.io/acme/gw:1.4@sha256:2477…
//	  MediaType: application/vnd.oci.image.manifest.v1+json
//	  Platform:  linux/amd64
func readImagetools(d *evidence.Doc, o *evidence.Out) {
	index := ""
	for line := range eachLogicalLine(d) {
		key, rest, ok := strings.Cut(strings.TrimSpace(line.text), ":")
		rest = strings.TrimSpace(rest)
		onLine(d, o, line.off)
		switch {
		case !ok:
		case key == "Name" && index == "":
			head, ok := imagetools(string(d.Data[line.off:min(len(d.Data), line.off+2048)]))
			if !ok {
				o.Skip("an image without digest")
				return
			}
			index = head.Digest
			if head.Tag != "" {
				o.Link(timeline.Names, timeline.ImageRef{Name: head.Name, Tag: head.Tag}.String(), index)
			}
		case key == "Name":
			if ref, ok := timeline.ParseImage(rest); ok && ref.Digest != "" && ref.Digest != index {
				o.Link(timeline.Holds, index, ref.Digest)
			}
		}
	}
}
