package image

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"pulltrail/timeline"
)

// Image is one image of an archive.
type Image struct {
	Path    string            // of its config, as in Origin.Path
	Digests []timeline.Digest // its config first, then its manifests, and an index that stands for it alone
	Names   []string          // what the archive calls it
	Layers  []*Layer          // lowest first; nil where one is missing
	Diffs   []string          // the diff ID of each layer
}

// Missing tells why the content of the image is not known whole, "" when it
// is.
func (i *Image) Missing() string {
	for n, l := range i.Layers {
		if l == nil {
			return fmt.Sprintf("layer %d of %d (diff ID %s) is not in the archive, or damaged", n+1, len(i.Layers), i.Diffs[n])
		}
		if l.Broken != "" {
			return fmt.Sprintf("layer %d of %d: %s", n+1, len(i.Layers), l.Broken)
		}
	}
	return ""
}

// Images returns the images of the archive, in the order of their configs.
func (a *Archive) Images() []*Image {
	var all []*Image
	for _, digest := range a.order {
		c := a.configs[digest]
		img := &Image{Path: c.path, Diffs: c.diffs, Digests: []timeline.Digest{{Value: digest, Role: timeline.Config}}}
		for _, d := range c.diffs {
			img.Layers = append(img.Layers, a.layers[d])
		}
		for _, m := range slices.Sorted(maps.Keys(a.manifests)) {
			if a.manifests[m].config == digest {
				img.Digests = append(img.Digests, timeline.Digest{Value: m, Role: timeline.Manifest})
			}
		}
		for _, i := range slices.Sorted(maps.Keys(a.indexes)) {
			if only := images(a.indexes[i]); len(only) == 1 && img.has(only[0].Digest.String()) {
				img.Digests = append(img.Digests, timeline.Digest{Value: i, Role: timeline.Index})
			}
		}
		img.Names = a.namesOf(img)
		all = append(all, img)
	}
	return all
}

func (i *Image) has(digest string) bool {
	return slices.ContainsFunc(i.Digests, func(d timeline.Digest) bool { return d.Value == digest })
}

// namesOf lists what the roots of the archive call an image. An index of
// several platforms names each of them.
func (a *Archive) namesOf(img *Image) []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, r := range a.roots {
		for _, d := range r.docker {
			if img.has(a.documents[path.Join(r.dir, d.Config)]) {
				for _, tag := range d.RepoTags {
					add(timeline.NormalizeImage(tag))
				}
			}
		}
		for _, d := range r.index {
			if img.has(d.Digest.String()) || slices.ContainsFunc(a.indexes[d.Digest.String()], func(m v1.Descriptor) bool { return img.has(m.Digest.String()) }) {
				add(Name(d.Annotations))
			}
		}
	}
	return names
}

// Name is the reference that the annotations of a descriptor give an image, ""
// for none: a tag alone names nothing.
//
//	"org.opencontainers.image.ref.name": "registry.acme.example:5000/acme/tiny:1.0"
//	"io.containerd.image.name": "docker.io/library/alpine:3.20", with ref.name "3.20"
func Name(annotations map[string]string) string {
	for _, key := range []string{"io.containerd.image.name", "org.opencontainers.image.ref.name"} {
		if text := annotations[key]; strings.ContainsAny(text, ":/") {
			return timeline.NormalizeImage(text)
		}
	}
	return ""
}

// Gap is something that the archive should hold and does not.
type Gap struct{ Path, Why string }

// Gaps lists what the lists of the archive name and is not in it. An index of
// many platforms may hold only some of them: that is how one image of it is
// saved.
func (a *Archive) Gaps() []Gap {
	var gaps []Gap
	wanted := func(place string, all []v1.Descriptor) {
		list := images(all)
		here := slices.ContainsFunc(list, func(d v1.Descriptor) bool { return a.known(d.Digest.String()) })
		for _, d := range list {
			if digest := d.Digest.String(); !here && d.MediaType.IsImage() || !here && d.MediaType.IsIndex() {
				gaps = append(gaps, Gap{place, fmt.Sprintf("%s is not in the archive, or damaged", digest)})
			}
		}
	}
	for _, r := range a.roots {
		wanted(r.path, r.index)
		for _, d := range r.index {
			wanted(r.path, a.indexes[d.Digest.String()])
		}
		for _, d := range r.docker {
			if a.configs[a.documents[path.Join(r.dir, d.Config)]] == nil {
				gaps = append(gaps, Gap{r.path, fmt.Sprintf("config %s is not in the archive, or damaged", d.Config)})
			}
		}
	}
	for _, digest := range slices.Sorted(maps.Keys(a.manifests)) {
		if m := a.manifests[digest]; m.image && !a.seen[m.config] {
			gaps = append(gaps, Gap{m.path, fmt.Sprintf("config %s is not in the archive, or damaged", m.config)})
		}
	}
	return gaps
}

func (a *Archive) known(digest string) bool {
	_, manifest := a.manifests[digest]
	_, index := a.indexes[digest]
	return manifest || index
}

// Orphans returns the layers that no image of the archive has, in the order of
// their paths.
func (a *Archive) Orphans() []*Layer {
	used := map[string]bool{}
	for _, c := range a.configs {
		for _, d := range c.diffs {
			used[d] = true
		}
	}
	var all []*Layer
	for _, l := range a.layers {
		if !used[l.Diff] {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(x, y *Layer) int { return strings.Compare(x.Path, y.Path) })
	return all
}
