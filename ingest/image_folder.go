package ingest

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pulltrail/ingest/image"
)

// imageFolders takes the image archives among the files of a folder out: each
// is one source, its list. The list names every part by its hash, or leads to
// a config that does, so its own hash vouches for all that is read.
//
//	oci-layout, index.json, blobs/sha256/…       an OCI layout ('skopeo copy oci:')
//	version, manifest.json, 54c8…                'skopeo copy dir:'
//	manifest.json, 54c8….json, 4d18…/layer.tar   what docker save wrote, unpacked
func imageFolders(all []member) (layouts []input, rest []member) {
	names := map[string]bool{}
	parts := map[string]bool{} // folders with a file that has a hash for its name
	for _, m := range all {
		names[m.name] = true
		if part, _ := image.PartOf(m.name); part == image.Blob {
			parts[path.Dir(m.name)] = true
		}
	}
	lists := map[string]string{} // folder → its list
	for _, m := range all {
		dir, base := path.Split(m.name)
		switch {
		case base == "index.json" && names[dir+"oci-layout"]:
			lists[dir] = m.name
		case base == "manifest.json" && (parts[path.Clean(dir)] || names[dir+"repositories"]) && lists[dir] == "":
			lists[dir] = m.name
		}
	}
	of := map[string][]member{}
	for _, m := range all {
		if dir, ok := folderOf(m.name, lists); ok {
			of[dir] = append(of[dir], m)
		} else {
			rest = append(rest, m)
		}
	}
	for dir, list := range lists {
		layouts = append(layouts, input{path: filepath.FromSlash(list), images: of[dir]})
	}
	slices.SortFunc(layouts, func(a, b input) int { return strings.Compare(a.path, b.path) })
	return layouts, rest
}

// folderOf finds the image archive that a file is a part of.
func folderOf(name string, lists map[string]string) (string, bool) {
	if part, _ := image.PartOf(name); part == image.Other && path.Base(name) != "version" {
		return "", false
	}
	for dir, _ := path.Split(name); ; dir, _ = path.Split(strings.TrimSuffix(dir, "/")) {
		if lists[dir] != "" {
			return dir, true
		}
		if dir == "" || dir == "/" {
			return "", false
		}
	}
}

// imageFolder reads the image archive that a folder is. What a part holds
// stands in the part's own path.
func (s *source) imageFolder() error {
	images := &imageArchive{Archive: image.New()}
	size := int64(0)
	for _, m := range s.from.images {
		size += m.size
	}
	s.budget.packed = func() int64 { return size }
	dir, _ := path.Split(filepath.ToSlash(s.from.path))
	for _, m := range s.from.images {
		if !s.budget.member() {
			break
		}
		if err := s.imageFile(images, m, strings.TrimPrefix(m.name, dir)); err != nil {
			return err
		}
	}
	at := where{path: s.info.Path}
	if s.budget.over != nil {
		if err := s.overrun(at); err != nil {
			return err
		}
	}
	return s.images(images, at)
}

// imageFile reads one part.
func (s *source) imageFile(images *imageArchive, m member, name string) error {
	if path.Base(name) == "version" {
		return nil // of the layout
	}
	at := where{path: m.name, depth: 1}
	if m.name == filepath.ToSlash(s.from.path) {
		return s.inside(s.in, at, "", "file", func(r io.Reader, at where) error { return s.part(images, name, r, at) })
	}
	f, err := os.Open(filepath.FromSlash(m.name))
	if err != nil {
		return s.broken(m.name, err)
	}
	defer f.Close()
	return s.inside(&told{f, s.g}, at, "", "file", func(r io.Reader, at where) error { return s.part(images, name, r, at) })
}

// told tells the progress of what is read.
type told struct {
	r io.Reader
	g *ingester
}

func (t *told) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.g.progress(int64(n))
	return n, err
}
