package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Image is an image in a local store, as 'docker image inspect', 'podman image
// inspect', 'podman images --format json', 'buildah images --json' and the
// Docker API's image list print it.
// https://docs.docker.com/reference/cli/docker/image/inspect/
var Image = evidence.Format{
	Name:   "docker-image",
	Shape:  evidence.DocumentShape,
	Title:  "docker, podman or buildah image inspect and image list (JSON)",
	Proves: "an image is in the store: its ID, repository digests and tags, its layers, names of secrets baked into its environment",
	Cannot: "when it came, whether it ever ran",
	Doc:    "https://docs.docker.com/reference/cli/docker/image/inspect/",
	Sample: "podman 4.3 and buildah 1.28 run for this project; Docker's written by hand after the documentation",
	Claim:  claimImage,
	Read:   readInspected,
}

// claimImage wants an ID and one of the lists of names, and no state: that
// would be a container.
//
//	"Id": "sha256:9a9f…", "RepoTags": ["ghcr.io/acme/gw:1.4"], "RepoDigests": ["ghcr.io/acme/gw@sha256:8f45…"]
//	"id": "d091e050857c", "names": ["registry.acme.example:5000/base/python:3.11"], "digest": "sha256:87b0…"
func claimImage(h *evidence.Head) bool {
	v, ok := headRecord(h)
	if !ok || v.has("State") {
		return false
	}
	if v.has("Id") {
		names := v.has("RepoTags") || v.has("RepoDigests")
		return isImageID(v.get("Id").text()) && (names || v.has("ContainerConfig") && v.has("Architecture")) // before Docker 1.9 without names
	}
	return isImageID(v.get("id").text()) && v.has("names") && v.has("digest") && v.has("createdat")
}

func isImageID(id string) bool {
	return timeline.SHA256(id) != "" || len(id) == 12 && timeline.SHA256(id+strings.Repeat("0", 52)) != ""
}

// storedImage is what a record says of one image.
type storedImage struct {
	id      []timeline.Digest // what identifies it whatever its name
	digests []timeline.ImageRef
	tags    []timeline.ImageRef
}

func readImage(d *evidence.Doc, o *evidence.Out, v value) {
	at(d, o, v)
	id, tags := v.get("Id"), v.get("RepoTags")
	if id.kind() == 0 {
		id, tags = v.get("id"), v.get("names")
	} else if tags.kind() != '[' {
		tags = v.get("Names") // podman's list
	}
	if !isImageID(id.text()) {
		o.Skip("a record without image ID")
		return
	}
	at(d, o, id)
	img := storedImage{id: imageIDs(v, id.text())}
	for _, text := range v.get("RepoDigests").texts() {
		if ref, ok := timeline.ParseImage(text); ok && ref.Digest != "" {
			img.digests = append(img.digests, ref)
		}
	}
	for _, text := range tags.texts() {
		if ref, ok := timeline.ParseImage(text); ok && text != "<none>:<none>" {
			img.tags = append(img.tags, ref)
		}
	}
	var who timeline.Subject
	if o.Claim.IsZero() && len(img.id) > 0 {
		who = timeline.Subject{Kind: timeline.Image, ID: img.id[0].Value}
	}
	about(o, who, func() {
		o.Emit(timeline.Present, nil, img.items()...)
		img.links(o, v)
		holdEnv(d, o, v.get("Config", "Env"), timeline.Span{})
	})
}

// imageIDs returns the digests that a record has of its image itself. A bare
// ID is one in podman only: before Docker 1.10 it was a random number.
func imageIDs(v value, id string) []timeline.Digest {
	var all []timeline.Digest
	add := func(digest string, role timeline.Role) {
		if digest = timeline.SHA256(digest); digest != "" && !hasDigest(all, digest) {
			all = append(all, timeline.Digest{Value: digest, Role: role})
		}
	}
	podman := timeline.SHA256(v.get("Digest").text()) != "" || v.has("digest")
	descriptor := v.get("Descriptor")
	if strings.HasPrefix(id, "sha256:") || podman {
		role := idRole(v, podman)
		repoDigests := v.get("RepoDigests").texts()
		for _, r := range repoDigests {
			if strings.HasSuffix(r, "@"+id) {
				role = timeline.NoRole
			}
		}
		if descriptor.get("digest").text() == id {
			role = mediaRole(descriptor.get("mediaType").text())
		}
		add(id, role)
	}
	add(descriptor.get("digest").text(), mediaRole(descriptor.get("mediaType").text()))
	add(v.get("Digest").text(), timeline.NoRole)
	add(v.get("digest").text(), timeline.NoRole)
	return all
}

// items names the image by each tag and, where no tag has the repository, by
// each repository digest: the two lists are no pairs.
func (img storedImage) items() []timeline.Item {
	var items []timeline.Item
	used := map[string]bool{}
	for _, tag := range img.tags {
		used[tag.Name] = true
		items = append(items, timeline.Item{Artifact: tag.String(), Digests: img.identities(tag.Name)})
	}
	for _, ref := range img.digests {
		if !used[ref.Name] {
			used[ref.Name] = true
			items = append(items, timeline.Item{Artifact: ref.String(), Digests: img.identities(ref.Name)})
		}
	}
	if len(items) == 0 {
		items = append(items, timeline.Item{Digests: img.id})
	}
	return items
}

// identities returns the image's digests and those that it has in a repository.
func (img storedImage) identities(name string) []timeline.Digest {
	all := append([]timeline.Digest(nil), img.id...)
	for _, ref := range img.digests {
		if ref.Name == name && !hasDigest(all, ref.Digest) {
			all = append(all, timeline.Digest{Value: ref.Digest})
		}
	}
	return all
}

// links records what tags name and which layers the image under its ID holds,
// lowest first; with the containerd store the ID is an index and the layers are
// those of this machine's platform.
func (img storedImage) links(o *evidence.Out, v value) {
	for _, tag := range img.tags {
		for _, d := range img.identities(tag.Name) {
			o.Link(timeline.Names, tag.String(), d.Value)
		}
	}
	if len(img.id) == 0 {
		return
	}
	for _, diff := range v.get("RootFS", "Layers").texts() {
		if diff = timeline.SHA256(diff); diff != "" {
			o.Link(timeline.Holds, img.id[0].Value, timeline.DiffEnd+diff)
		}
	}
}
