// Package image knows what the parts of an image archive are and how they
// belong together: an OCI layout, what docker save writes, or both in one.
//
// Parts come by once, in any order, and are told by their content: a document
// by the SHA-256 of its bytes, a layer by that of its content (its diff ID). So
// nothing depends on where a tool put a layer, and a part that is not what its
// name says is damage, not evidence.
//
// https://github.com/opencontainers/image-spec/blob/main/image-layout.md
// https://github.com/moby/docker-image-spec/blob/main/spec.md
package image

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"pulltrail/timeline"
)

// Limits on what is kept of an archive: far above what builders make.
const (
	maxImages = 2000
	maxLayers = 1000 // of one image; overlay file systems stop at 500
	maxNames  = 10_000
)

// Part is what the name of a member says that it is.
type Part uint8

// The parts of an archive.
const (
	Other Part = iota // not known from its name
	Blob              // a document or a layer, which its content tells
	List              // a document in the root of the archive: index.json, manifest.json, …
	Old               // what docker save wrote for clients before 2016; holds nothing that is not said elsewhere
)

// PartOf tells what a member is from its name alone, and the SHA-256 that the
// name promises, "" when it promises none.
//
//	blobs/sha256/54c8…, 54c8….json, 54c8….tar, 54c8….tar.gz, sha256:54c8…, 54c8…/layer.tar
func PartOf(name string) (part Part, promised string) {
	name = strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "./")
	dir, base := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir, base = name[:i], name[i+1:]
	}
	switch base {
	case "layer.tar":
		return Blob, ""
	case "index.json", "oci-layout", "manifest.json", "repositories", "config.json":
		return List, ""
	case "json", "VERSION":
		if timeline.SHA256(dir[strings.LastIndexByte(dir, '/')+1:]) != "" {
			return Old, ""
		}
		return Other, ""
	}
	stem := strings.TrimPrefix(base, "sha256:")
	for _, end := range []string{".json", ".tar.gz", ".tar"} {
		stem = strings.TrimSuffix(stem, end)
	}
	digest := timeline.SHA256(stem)
	if digest == "" || strings.Contains(stem, ":") {
		return Other, ""
	}
	if strings.HasSuffix(base, ".tar") || strings.HasSuffix(base, ".tar.gz") {
		return Blob, "" // some name it after the file, some after the content, some after neither
	}
	return Blob, digest
}

// Layer is a layer that was walked.
type Layer struct {
	Path   string // of the member, as in Origin.Path
	Digest string // of its bytes
	Diff   string // of its content: the diff ID
	Broken string // why the walk did not reach the end, "" when it did
	// Unsure says by topic why some package may have been missed.
	Unsure map[timeline.Topic]string
	// Events are what the files of the layer prove, in their order. Those of the
	// subject Walked belong to every image that has the layer.
	Events []timeline.Event
	// Whiteouts are the members that delete what lower layers hold.
	Whiteouts []string
	// Locks are the lock files among them.
	Locks []Lock
}

// Lock is the lock file of a project in a layer, and what it asks for.
type Lock struct {
	Path   string // in the layer
	Events []timeline.Event
}

// Walked stands for the images of a layer until they are known.
var Walked = timeline.Subject{Kind: timeline.Image, ID: "layer"}

// Archive gathers the parts of one archive.
type Archive struct {
	layers    map[string]*Layer // by diff ID
	configs   map[string]*config
	order     []string            // configs as they came
	manifests map[string]manifest // by digest
	indexes   map[string][]v1.Descriptor
	roots     []root
	documents map[string]string // digest by name of the member
	seen      map[string]bool   // digests of the documents
	names     int
}

type config struct {
	path  string
	diffs []string
}

type manifest struct {
	path, config string
	image        bool // its config says how to run it; charts and signatures have others
}

// root is a list in the root of the archive.
type root struct {
	path   string // as in Origin.Path
	dir    string // of the list in the archive; the names that it lists start there
	index  []v1.Descriptor
	docker tarball.Manifest
}

// New returns an empty archive.
func New() *Archive {
	return &Archive{
		layers: map[string]*Layer{}, configs: map[string]*config{}, manifests: map[string]manifest{},
		indexes: map[string][]v1.Descriptor{}, documents: map[string]string{}, seen: map[string]bool{},
	}
}

// ErrTooMuch is returned for an archive with more than is kept of one.
var ErrTooMuch = errors.New("more images, layers or names than any archive of images has")

// Add adds a JSON document by its kind; what is none of an image is left out.
// name is that of the member, place its Origin.Path, list whether it stands in
// the root.
func (a *Archive) Add(name, place, digest string, data []byte, list bool) error {
	if len(a.configs)+len(a.manifests)+len(a.indexes)+len(a.roots) >= maxImages {
		return ErrTooMuch
	}
	a.documents[path.Clean(name)] = digest
	a.seen[digest] = true
	switch kind(data) {
	case "docker":
		var m tarball.Manifest
		if err := json.Unmarshal(data, &m); err != nil {
			return fmt.Errorf("list of images: %w", err)
		}
		for _, d := range m {
			a.names += len(d.RepoTags)
		}
		a.roots = append(a.roots, root{path: place, dir: path.Dir(name), docker: m})
	case "index":
		m, err := v1.ParseIndexManifest(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("image index: %w", err)
		}
		a.names += len(m.Manifests)
		if list {
			a.roots = append(a.roots, root{path: place, index: m.Manifests})
		} else {
			a.indexes[digest] = m.Manifests
		}
	case "manifest":
		m, err := v1.ParseManifest(bytes.NewReader(data))
		if err != nil {
			return fmt.Errorf("image manifest: %w", err)
		}
		a.manifests[digest] = manifest{place, m.Config.Digest.String(), m.Config.MediaType.IsConfig()}
	case "config":
		return a.addConfig(place, digest, data)
	}
	if a.names > maxNames {
		return ErrTooMuch
	}
	return nil
}

func (a *Archive) addConfig(place, digest string, data []byte) error {
	c, err := v1.ParseConfigFile(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("image config: %w", err)
	}
	if len(c.RootFS.DiffIDs) > maxLayers {
		return ErrTooMuch
	}
	if c.OS == "unknown" || a.configs[digest] != nil {
		return nil // an attestation, which no machine runs; a copy
	}
	diffs := make([]string, len(c.RootFS.DiffIDs))
	for i, d := range c.RootFS.DiffIDs {
		diffs[i] = d.String()
	}
	a.configs[digest] = &config{place, diffs}
	a.order = append(a.order, digest)
	return nil
}

// kind tells the documents of an image apart by the fields that they must have.
func kind(data []byte) string {
	var list []struct{ Config, Layers json.RawMessage }
	if json.Unmarshal(data, &list) == nil {
		if len(list) > 0 && list[0].Config != nil && list[0].Layers != nil {
			return "docker"
		}
		return ""
	}
	var v struct {
		Manifests, Layers, Config json.RawMessage
		RootFS                    struct {
			DiffIDs json.RawMessage `json:"diff_ids"`
		} `json:"rootfs"`
	}
	switch err := json.Unmarshal(data, &v); {
	case err != nil:
		return ""
	case v.RootFS.DiffIDs != nil:
		return "config"
	case v.Layers != nil && v.Config != nil:
		return "manifest"
	case v.Manifests != nil:
		return "index"
	}
	return ""
}

// AddLayer adds a layer that was walked; it reports whether it is new.
func (a *Archive) AddLayer(l *Layer) bool {
	if a.layers[l.Diff] != nil || len(a.layers) >= maxImages*10 {
		return false
	}
	a.layers[l.Diff] = l
	return true
}

// Layer returns the layer whose bytes have a digest, nil when it is not here.
func (a *Archive) Layer(digest string) *Layer {
	for _, l := range a.layers {
		if l.Digest == digest {
			return l
		}
	}
	return nil
}

// attested reports whether a manifest is a statement about another one.
func attested(d v1.Descriptor) bool {
	return d.Annotations["vnd.docker.reference.type"] != "" || d.Platform != nil && d.Platform.OS == "unknown"
}

// images lists the manifests of an index that are images.
func images(all []v1.Descriptor) []v1.Descriptor {
	return slices.DeleteFunc(slices.Clone(all), attested)
}
