package ingest

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/image"
	"pulltrail/timeline"
)

// walk is the walk of one layer.
type walk struct {
	s       *source
	l       *image.Layer
	formats []*evidence.Format // that list what is installed
	room    int                // events that may still be held
}

// whiteout marks a file that deletes: ".wh.name" the file or folder of that
// name below, ".wh..wh..opq" all that the folder held below.
const whiteout = ".wh."

// file looks at one member of a layer.
func (w *walk) file(h *tar.Header, r io.Reader) error {
	name := strings.TrimPrefix(path.Clean("/"+h.Name), "/")
	if strings.HasPrefix(path.Base(name), whiteout) {
		if len(w.l.Whiteouts) >= maxMembers {
			w.l.Broken = "it deletes more files than are kept"
			return nil
		}
		w.l.Whiteouts = append(w.l.Whiteouts, name)
		return nil
	}
	if ext := path.Ext(name); h.Typeflag == tar.TypeReg && (ext == ".whl" || ext == ".egg" || ext == ".pth" || ext == ".vsix") {
		return w.loose(name, ext, r)
	} else if h.Typeflag == tar.TypeReg && isLock(name) {
		return w.lock(name, r)
	} else if h.Typeflag == tar.TypeReg {
		known, err := w.kept(name)
		if err != nil {
			return err
		}
		if !known && innerArchives[ext] {
			return w.inner(name, r)
		}
	}
	for _, f := range w.formats {
		if h.Typeflag == tar.TypeSymlink {
			if err := w.symlink(f, name, h.Linkname); err != nil {
				return err
			}
			continue
		}
		if !f.Place(name) {
			continue
		}
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
			return w.list(f, name, r)
		case tar.TypeLink:
			if f.Place(strings.TrimPrefix(path.Clean("/"+h.Linkname), "/")) {
				return nil // read where it stands as a file
			}
			// The path may say enough.
			return w.list(f, name, bytes.NewReader(nil))
		}
	}
	return nil
}

// symlink looks at a link to a list, or to the folder of one. What it leads to may
// be in a layer below, or in a cache that is not part of the image: uv can link all
// that it installs. The path says which release it is.
//
//	lib/python3.13/site-packages/litellm-1.107.0.dist-info -> /cache/archive-v0/Zq7…/litellm-1.107.0.dist-info
func (w *walk) symlink(f *evidence.Format, name, target string) error {
	if !path.IsAbs(target) {
		target = path.Join("/", path.Dir(name), target)
	}
	switch {
	case f.Topic == timeline.PyPI && f.Place(name+"/METADATA"):
		return w.list(f, name+"/METADATA", bytes.NewReader(nil))
	case f.Place(name) && (f.Topic == timeline.PyPI || !f.Place(strings.TrimPrefix(path.Clean(target), "/"))):
		return w.list(f, name, bytes.NewReader(nil))
	}
	return nil
}

// list reads one list of what is installed.
func (w *walk) list(f *evidence.Format, name string, r io.Reader) error {
	if !w.s.budget.member() {
		w.l.Broken = w.s.budget.over.Error()
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		w.l.Broken = fmt.Sprintf("tar: %v", cut(err))
		return nil
	}
	inner := where{path: w.l.Path}.in(name).path
	if len(data) > maxDocument {
		return w.unsure(f, inner, fmt.Errorf("a %s of more than %d MiB is not read", f.Name, maxDocument>>20))
	}
	sum := sha256.Sum256(data)
	doc := &evidence.Doc{Head: *newHead(inner, data[:min(len(data), headSize)]), Data: data, SHA256: "sha256:" + hex.EncodeToString(sum[:])}
	before := len(w.l.Events)
	reading := w.s.g.machine.NewReading(inner, timeline.Subject{}, image.Walked, evidence.Times{}, w.take)
	readErr := f.Read(doc, &reading.Out)
	t, err := reading.Finish(timeline.Span{})
	if err != nil {
		return err
	}
	w.full()
	switch {
	case readErr != nil:
		return w.unsure(f, inner, readErr)
	case t.Skipped > 0:
		return w.unsure(f, inner, fmt.Errorf("%d records could not be understood", t.Skipped))
	case len(data) == 0 && len(w.l.Events) == before && f.Topic == timeline.NPM:
		return w.unsure(f, inner, errors.New("a link to a file that was not read"))
	}
	return nil
}

// loose records files that no list of packages may name: a wheel, an egg or an
// editor's extension that came over and lies there, and a .pth file, which runs at
// every start of Python.
func (w *walk) loose(name, ext string, r io.Reader) error {
	item, action := timeline.Item{}, timeline.Present
	if ext == ".vsix" {
		var ok bool
		if item, ok = evidence.ExtensionFolder(strings.TrimSuffix(path.Base(name), ext)); !ok {
			return nil
		}
		action = timeline.Download
	} else if d, ok := evidence.ParseDist(name); ok && ext != ".pth" {
		item.Artifact, action = timeline.PURL("pypi", "", d.Name, d.Version), timeline.Download
	} else if dir := path.Base(path.Dir(name)); ext == ".pth" && (dir == "site-packages" || dir == "dist-packages") {
		item.Artifact = "file:/" + name
	} else {
		return nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		w.l.Broken = fmt.Sprintf("tar: %v", cut(err))
		return nil
	}
	item.Digests = []timeline.Digest{{Value: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Role: timeline.File}}
	at := where{path: w.l.Path}.in(name)
	reading := w.s.g.machine.NewReading(at.path, timeline.Subject{}, image.Walked, evidence.Times{}, w.take)
	reading.Emit(action, nil, item)
	_, err := reading.Finish(timeline.Span{})
	w.full()
	return err
}

// full ends the walk of a layer that holds too much.
func (w *walk) full() {
	if len(w.l.Events) > w.room {
		w.l.Events = w.l.Events[:w.room]
		w.l.Broken = fmt.Sprintf("it lists more than %d packages", maxHeld)
	}
}

// unsure records that packages of one kind may be missed.
func (w *walk) unsure(f *evidence.Format, inner string, why error) error {
	if w.l.Unsure[f.Topic] == "" {
		w.l.Unsure[f.Topic] = strings.TrimPrefix(inner, w.l.Path+"!") + ": " + why.Error()
	}
	return w.s.broken(inner, why)
}

// take keeps what a list says.
func (w *walk) take(b *timeline.Batch) error {
	w.l.Events = append(w.l.Events, b.Events...)
	return nil
}
