package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Container is a container as 'docker inspect' and 'podman inspect' print it,
// and as Docker keeps it (config.json, config.v2.json).
// https://docs.docker.com/reference/cli/docker/inspect/
var Container = evidence.Format{
	Name:   "docker-container",
	Shape:  evidence.DocumentShape,
	Title:  "docker or podman inspect of containers",
	Proves: "the image a container was started from (name as typed, image ID), when it was last started, names of secrets in its environment; where traces are sent",
	Cannot: "when the image was pulled; earlier starts; what was installed inside",
	Doc:    "https://docs.docker.com/reference/cli/docker/inspect/",
	Sample: "written by hand after the documentation",
	Claim:  claimContainer,
	Read:   readInspected,
}

// claimContainer wants an ID, an image and a state that says when it started.
//
//	"Id": "bb06…", "State": {"Status": "running", "Running": true, … "StartedAt": "2026-10-21T12:04:51.1Z"
func claimContainer(h *evidence.Head) bool {
	v, ok := headRecord(h)
	if !ok {
		return false
	}
	state := v.get("State")
	return containerID(v) != "" && state.has("Running") && state.has("StartedAt") && v.has("Image")
}

// containerID returns the 64 hex digits, "" when there are none.
func containerID(v value) string {
	id := v.get("Id").text()
	if id == "" {
		id = v.get("ID").text() // Docker's own files
	}
	if timeline.SHA256(id) == "" || strings.HasPrefix(id, "sha256:") {
		return ""
	}
	return id
}

// readInspected reads containers and images alike: 'docker inspect' is given
// both in one call.
func readInspected(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	for _, v := range all {
		if v.get("State").kind() == '{' {
			readContainer(d, o, v)
		} else {
			readImage(d, o, v)
		}
	}
	return err
}

func readContainer(d *evidence.Doc, o *evidence.Out, v value) {
	id := containerID(v)
	at(d, o, v.get("State"))
	if id == "" {
		o.Skip("a record without container ID")
		return
	}
	who := timeline.Subject{Kind: timeline.Container, ID: id[:12]}
	if o.Claim.Kind == timeline.Host {
		who.ID = o.Claim.ID + "/" + who.ID
		o.Link(timeline.On, who.String(), o.Claim.String())
	}
	dockerReach(d, o, who, v)
	about(o, who, func() {
		item := containerImage(v)
		startedAt := v.get("State", "StartedAt")
		e := timeline.Event{Action: timeline.Present, Items: []timeline.Item{item}}
		if started := evidence.ISOStamp([]byte(startedAt.text()), &o.Times); started.Clock != timeline.Unset {
			// A stopped container was started too.
			e.Action, e.Span = timeline.Run, started
			at(d, o, startedAt)
		}
		o.Event(e)
		if len(item.Digests) > 0 {
			o.Cover(timeline.Coverage{
				Subject: who, Topic: timeline.Images, Span: timeline.Always(), Whole: true,
				Why: "a container has one image all its life",
			})
		}
		at(d, o, v.get("Args"))
		o.EngineCommand(append([]string{v.get("Path").text()}, v.get("Args").texts()...), e.Span)
		holdEnv(d, o, v.get("Config", "Env"), e.Span)
	})
}

// containerImage says what image a container was made from.
func containerImage(v value) timeline.Item {
	id := v.get("Image").text()
	var item timeline.Item
	for _, name := range []string{v.get("ImageName").text(), v.get("Config", "Image").text()} {
		if item.Artifact = imageName(name, id); item.Artifact != "" {
			break
		}
	}
	podman := v.has("ImageName")
	if digest := timeline.SHA256(id); digest != "" && (podman || strings.HasPrefix(id, "sha256:")) {
		item.Digests = append(item.Digests, timeline.Digest{Value: digest, Role: idRole(v, podman)})
	}
	add := func(digest string, role timeline.Role) {
		if digest = timeline.SHA256(digest); digest != "" && !hasDigest(item.Digests, digest) {
			item.Digests = append(item.Digests, timeline.Digest{Value: digest, Role: role})
		}
	}
	add(timeline.Split(item.Artifact).Digest, timeline.NoRole)
	for _, name := range []string{"ImageManifestDescriptor", "ImageManifest"} { // Docker 28 with the containerd store; config.v2.json
		add(v.get(name, "digest").text(), mediaRole(v.get(name, "mediaType").text()))
	}
	add(v.get("ImageDigest").text(), timeline.NoRole) // podman
	return item
}

// imageName normalises what the user typed; "" when that was the image's ID,
// whole or cut.
func imageName(text, id string) string {
	if strings.HasPrefix(text, "sha256:") || len(text) >= 6 && strings.HasPrefix(strings.TrimPrefix(id, "sha256:"), text) {
		return ""
	}
	if len(text) == 12 && timeline.SHA256(text+strings.Repeat("0", 52)) != "" {
		return "" // an ID of another image than the record's
	}
	return timeline.NormalizeImage(text)
}

func hasDigest(all []timeline.Digest, value string) bool {
	for _, d := range all {
		if d.Value == value {
			return true
		}
	}
	return false
}

// graphDrivers are the stores in which an image ID is the hash of the config.
// In containerd's store ("overlayfs") it is the hash of the index or manifest.
var graphDrivers = map[string]bool{
	"overlay2": true, "overlay": true, "aufs": true, "btrfs": true, "zfs": true, "vfs": true,
	"devicemapper": true, "fuse-overlayfs": true, "windowsfilter": true,
}

// idRole says what an image ID is the hash of, no role when the record does
// not tell.
func idRole(v value, podman bool) timeline.Role {
	if podman || graphDrivers[v.get("GraphDriver", "Name").text()] || graphDrivers[v.get("Driver").text()] {
		return timeline.Config
	}
	return timeline.NoRole
}

// mediaRole says what a media type of images stands for.
// https://github.com/opencontainers/image-spec/blob/main/media-types.md
func mediaRole(mediaType string) timeline.Role {
	switch mediaType {
	case "application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json":
		return timeline.Index
	case "application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json",
		"application/vnd.docker.distribution.manifest.v1+prettyjws", "application/vnd.docker.distribution.manifest.v1+json":
		return timeline.Manifest
	case "application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json":
		return timeline.Config
	}
	return timeline.NoRole
}
