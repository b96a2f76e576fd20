package document

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ImageIndex is an image index or manifest list: the images of one name, one
// for each platform. Its own SHA-256 is its digest.
// https://github.com/opencontainers/image-spec/blob/main/image-index.md
var ImageIndex = evidence.Format{
	Name:   "image-index",
	Shape:  evidence.DocumentShape,
	Title:  "image index or manifest list",
	Proves: "which manifests an index digest stands for",
	Cannot: "that any of them was pulled",
	Doc:    "https://github.com/opencontainers/image-spec/blob/main/image-index.md",
	Sample: "buildah 1.28 run for this project",
	Claim:  claimImageIndex,
	Read:   readImageIndex,
}

// ImageManifest is an image manifest. Its own SHA-256 is its digest.
// https://github.com/opencontainers/image-spec/blob/main/manifest.md
var ImageManifest = evidence.Format{
	Name:   "image-manifest",
	Shape:  evidence.DocumentShape,
	Title:  "image manifest",
	Proves: "which config (image ID) and layers a manifest digest stands for",
	Cannot: "that it was pulled",
	Doc:    "https://github.com/opencontainers/image-spec/blob/main/manifest.md",
	Sample: "buildah 1.28 run for this project",
	Claim:  claimImageManifest,
	Read:   readImageManifest,
}

// ImageConfig is an image's config. Its own SHA-256 is the image ID.
// https://github.com/opencontainers/image-spec/blob/main/config.md
var ImageConfig = evidence.Format{
	Name:   "image-config",
	Shape:  evidence.DocumentShape,
	Title:  "image config",
	Proves: "which instructions made an image, when each layer was made, names of secrets in its environment",
	Cannot: "what the layers hold; that the image was pulled",
	Doc:    "https://github.com/opencontainers/image-spec/blob/main/config.md",
	Sample: "buildah 1.28 run for this project",
	Claim:  claimImageConfig,
	Read:   readImageConfig,
}

// claimImageIndex wants descriptors of manifests.
//
//	{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":…,"digest":"sha256:54c8…"
func claimImageIndex(h *evidence.Head) bool {
	v, ok := headRecord(h)
	if !ok || !v.has("schemaVersion") {
		return false
	}
	for m := range v.get("manifests").elements() {
		return m.has("digest") && m.has("mediaType")
	}
	return mediaRole(v.get("mediaType").text()) == timeline.Index && v.get("manifests").kind() == '['
}

// claimImageManifest wants descriptors of a config and of layers.
//
//	{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":…,"digest":"sha256:86ef…"
func claimImageManifest(h *evidence.Head) bool {
	v, ok := headRecord(h)
	return ok && v.has("schemaVersion") && timeline.SHA256(v.get("config", "digest").text()) != "" && v.get("layers").kind() == '['
}

// claimImageConfig wants the list of layers; where a long history stands
// before it, platform and history.
//
//	{"created":"2026-10-21T11:58:30Z","architecture":"amd64","os":"linux","config":{…},"rootfs":{"type":"layers","diff_ids":[
func claimImageConfig(h *evidence.Head) bool {
	v, ok := headRecord(h)
	if !ok || !v.has("architecture") || !v.has("os") {
		return false
	}
	if v.get("rootfs", "diff_ids").kind() == '[' {
		return true
	}
	for entry := range v.get("history").elements() {
		return len(h.Bytes) >= headLimit && entry.has("created_by")
	}
	return false
}

// own is the subject that a document of images is: the hash of its bytes.
func own(d *evidence.Doc) timeline.Subject {
	return timeline.Subject{Kind: timeline.Image, ID: d.SHA256}
}

func readImageIndex(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		at(d, o, v.get("schemaVersion"))
		tagged(d, o)
		for m := range v.get("manifests").elements() {
			if m.get("annotations", "vnd.docker.reference.type").kind() != 0 {
				continue // an attestation: no image
			}
			at(d, o, m.get("digest"))
			digest := timeline.SHA256(m.get("digest").text())
			if digest == "" {
				continue
			}
			o.Link(timeline.Holds, d.SHA256, digest)
			for _, key := range []string{"io.containerd.image.name", "org.opencontainers.image.ref.name"} {
				name := m.get("annotations", key)
				if strings.ContainsAny(name.text(), ":/") && timeline.NormalizeImage(name.text()) != "" { // a tag alone names nothing
					at(d, o, name)
					o.Link(timeline.Names, timeline.NormalizeImage(name.text()), digest)
					break
				}
			}
		}
	}
	return err
}

func readImageManifest(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		config := v.get("config", "digest")
		at(d, o, config)
		tagged(d, o)
		if digest := timeline.SHA256(config.text()); digest != "" && isImageMedia(v.get("config", "mediaType").text()) {
			o.Link(timeline.Holds, d.SHA256, digest)
		}
	}
	return err
}

// tagged records what a registry's tag named when a collector asked for it: the
// address says the tag, and the bytes are what has the digest.
//
//	https://registry.acme.example/v2/acme/api/manifests/1.4
//
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests
func tagged(d *evidence.Doc, o *evidence.Out) {
	u, err := url.Parse(d.Path)
	if d.Asked == 0 || err != nil || !strings.HasPrefix(u.Path, "/v2/") {
		return
	}
	repository, tag, ok := strings.Cut(strings.TrimPrefix(u.Path, "/v2/"), "/manifests/")
	if !ok || strings.Contains(tag, ":") {
		return // a digest
	}
	if image := timeline.NormalizeImage(u.Host + "/" + repository + ":" + tag); image != "" {
		o.ByPath()
		o.LinkOver(timeline.At(time.Unix(0, d.Asked).UTC(), ""), timeline.Names, image, d.SHA256)
	}
}

// isImageMedia tells an image's config from that of a chart or another
// artifact that registries hold.
func isImageMedia(mediaType string) bool {
	return mediaType == "" || mediaRole(mediaType) == timeline.Config
}

func readImageConfig(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		about(o, own(d), func() {
			readHistory(d, o, v)
			holdEnv(d, o, v.get("config", "Env"), timeline.Span{})
		})
		for diff := range v.get("rootfs", "diff_ids").elements() {
			at(d, o, diff)
			if digest := timeline.SHA256(diff.text()); digest != "" {
				o.Link(timeline.Holds, d.SHA256, timeline.DiffEnd+digest)
			}
		}
	}
	return err
}

// readHistory records the instructions that may have fetched packages, at the
// time their layer was made. Builders that commit once (buildah, kaniko) mark
// every instruction but the last as one without a layer.
func readHistory(d *evidence.Doc, o *evidence.Out, v value) {
	below := timeline.Beginning
	for entry := range v.get("history").elements() {
		var created timeline.Span
		created, below = sinceBelow(evidence.ISOStamp([]byte(entry.get("created").text()), &o.Times), below)
		by := entry.get("created_by")
		at(d, o, by)
		askedBy(o, by.text(), created, false)
	}
}

// sinceBelow says when a layer was made. It cannot be older than the one below:
// then its clock was set by hand.
func sinceBelow(created timeline.Span, below int64) (timeline.Span, int64) {
	switch {
	case created.Clock != timeline.Exact:
	case created.From < below:
		created = timeline.Span{From: timeline.Beginning, To: timeline.Forever, Clock: timeline.Unset, Written: created.Written}
	default:
		below = created.From
	}
	return created, below
}

// isImage reports whether an item is a container image.
func isImage(it timeline.Item) bool {
	return !strings.HasPrefix(it.Artifact, "pkg:") || it.Artifact == timeline.Ecosystem("oci")
}

// askedBy records what the instruction of a layer may have fetched. Of one that
// was cut, the last package may be another one.
func askedBy(o *evidence.Out, by string, created timeline.Span, cut bool) {
	instruction := evidence.Instruction(by)
	command, isRun := strings.CutPrefix(instruction, "RUN ")
	if !isRun {
		return
	}
	items := slices.DeleteFunc(o.Asks(command), isImage) // a build step starts no containers of the host's
	for i := range items {
		if cut && i == len(items)-1 {
			items[i].Artifact = timeline.Ecosystem(timeline.Split(items[i].Artifact).Type)
		}
		items[i].Ref = instruction
	}
	if len(items) > 0 {
		o.Event(timeline.Event{Action: timeline.Opaque, Span: created, Items: items})
	}
}
