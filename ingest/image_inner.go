package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"pulltrail/ingest/document"
	"pulltrail/ingest/evidence"
	"pulltrail/ingest/image"
	"pulltrail/timeline"
)

// innerArchives are endings of zip files that Python and Node.js load packages
// from as they are: what an application is shipped as, and Yarn's cache.
//
//	usr/bin/app.pex   opt/app.pyz   srv/function.zip   app/.yarn/cache/axios-npm-1.14.1-3a1a1f5b2c-10c0.zip
var innerArchives = map[string]bool{".pex": true, ".pyz": true, ".pyzw": true, ".shiv": true, ".par": true, ".zip": true}

// inner looks for lists of packages in a zip file of a layer. It is held in
// memory, as its directory stands at its end.
func (w *walk) inner(name string, r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		w.l.Broken = fmt.Sprintf("tar: %v", cut(err))
		return nil
	}
	inner := where{path: w.l.Path}.in(name).path
	if len(data) > maxDocument {
		return w.unread(inner, fmt.Errorf("a zip archive of more than %d MiB is not read", maxDocument>>20))
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if errors.Is(err, zip.ErrFormat) && !bytes.Contains(data, []byte("PK\x03\x04")) {
		return nil // another format with the same ending
	}
	if err != nil {
		return w.unread(inner, fmt.Errorf("zip: %w", err))
	}
	for _, f := range z.File {
		if !w.s.budget.member() {
			w.l.Broken = w.s.budget.over.Error()
			return nil
		}
		if err := w.innerFile(name, f); err != nil || w.l.Broken != "" {
			return err
		}
	}
	return nil
}

// innerFile reads one member as a file of the layer, if it is a list of packages
// or a package.
func (w *walk) innerFile(archive string, f *zip.File) error {
	at := where{path: archive}.in(strings.TrimPrefix(path.Clean("/"+f.Name), "/")).path
	if f.Mode().IsDir() || !w.listed(at) && path.Ext(at) != ".whl" {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		return w.unread(where{path: w.l.Path}.in(at).path, fmt.Errorf("zip: %w", err))
	}
	m := &metered{r: r, b: &w.s.budget, what: "zip"}
	if err := errors.Join(w.file(&tar.Header{Name: at, Typeflag: tar.TypeReg}, m), r.Close()); err != nil {
		return err
	}
	if gap := m.gap(); gap != nil {
		return w.unread(where{path: w.l.Path}.in(at).path, gap)
	}
	return nil
}

// listed reports whether a path is that of a list of packages.
func (w *walk) listed(name string) bool {
	for _, f := range w.formats {
		if f.Place(name) {
			return true
		}
	}
	return false
}

// unread records that a file which may hold packages of both kinds was not read.
func (w *walk) unread(inner string, why error) error {
	for _, topic := range []timeline.Topic{timeline.PyPI, timeline.NPM} {
		if w.l.Unsure[topic] == "" {
			w.l.Unsure[topic] = strings.TrimPrefix(inner, w.l.Path+"!") + ": " + why.Error()
		}
	}
	return w.s.broken(inner, why)
}

// kept records a package that a package manager keeps in the layer, apart from
// what is installed there.
func (w *walk) kept(name string) (bool, error) {
	artifact, ok := document.KeptArchive(name)
	if !ok {
		return false, nil
	}
	reading := w.s.g.machine.NewReading(where{path: w.l.Path}.in(name).path, timeline.Subject{}, image.Walked, evidence.Times{}, w.take)
	reading.Emit(timeline.Download, nil, timeline.Item{Artifact: artifact})
	_, err := reading.Finish(timeline.Span{})
	w.full()
	return true, err
}

// locks are the lock files of Node.js' package managers.
var locks = map[string]bool{
	"package-lock.json": true, "npm-shrinkwrap.json": true, "yarn.lock": true, "pnpm-lock.yaml": true, "bun.lock": true, "bun.lockb": true, "deno.lock": true,
}

// lock notes a lock file. Where nothing is installed beside it, a bundler may have
// put what it names into one file: the layers do not show what that holds.
func (w *walk) lock(name string, r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		w.l.Broken = fmt.Sprintf("tar: %v", cut(err))
		return nil
	}
	inner := where{path: w.l.Path}.in(name).path
	before := len(w.l.Events)
	if f := w.s.claim(newHead(inner, data[:min(len(data), headSize)])); f != nil && f.Read != nil && len(data) <= maxDocument {
		if err := w.list(f, name, bytes.NewReader(data)); err != nil {
			return err
		}
	}
	before = min(before, len(w.l.Events))
	w.l.Locks = append(w.l.Locks, image.Lock{Path: name, Events: append([]timeline.Event(nil), w.l.Events[before:]...)})
	w.l.Events = w.l.Events[:before]
	return nil
}

// isLock reports whether a file is the lock of a project: packages have theirs
// too, which are of their own making.
func isLock(name string) bool {
	return locks[path.Base(name)] && !strings.Contains("/"+name, "/node_modules/") && !strings.Contains(name, "-packages/")
}

// bundled adds what the locks name beside which nothing is installed, and tells
// whether there is such a lock.
func bundled(layers []*image.Layer) (events []timeline.Event, lock string) {
	installed := map[string]bool{}
	for _, l := range layers {
		if l == nil {
			continue
		}
		for _, e := range l.Events {
			if dir, _, ok := strings.Cut(strings.TrimPrefix(e.Path, l.Path+"!"), "node_modules/"); ok {
				installed[dir] = true
			}
		}
	}
	for _, l := range layers {
		if l == nil {
			continue
		}
		for _, k := range l.Locks {
			if dir, _ := path.Split(k.Path); !installed[dir] {
				events, lock = append(events, k.Events...), k.Path
			}
		}
	}
	return events, lock
}
