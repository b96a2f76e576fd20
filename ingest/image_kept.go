package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"pulltrail/ingest/image"
	"pulltrail/timeline"
)

// keptImage is an image whose layers a collector kept: what its config is read
// with.
type keptImage struct {
	manifests []*timeline.Inquiry
	layers    []*timeline.Inquiry // lowest first; those that were obtained
}

// since reports whether a layer came after a time.
func (k *keptImage) since(at int64) bool {
	return k != nil && slices.ContainsFunc(k.layers, func(l *timeline.Inquiry) bool { return l.At > at })
}

// keptImages finds the images of which layers are kept, by the hash of their
// config.
func keptImages(ctx context.Context, db *timeline.DB, requests []timeline.Inquiry) (map[string]*keptImage, error) {
	layers := map[string]*timeline.Inquiry{} // that were asked for
	for i := range requests {
		r := &requests[i]
		if old := layers[r.Name]; r.Kind == layerKind && (old == nil || old.Reply != timeline.Obtained) {
			layers[r.Name] = r
		}
	}
	all, read := map[string]*keptImage{}, map[string]bool{}
	for i := range requests {
		r := &requests[i]
		if len(layers) == 0 || r.Kind != manifestKind || r.Reply != timeline.Obtained || read[r.SHA256] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		read[r.SHA256] = true
		config, digests, err := keptManifest(db, r.SHA256)
		if err != nil {
			return nil, fmt.Errorf("ingest %s: %w", r.URL, err)
		}
		var here []*timeline.Inquiry
		missing := false
		for _, d := range digests {
			l := layers[d]
			if missing = missing || l == nil; l != nil && l.Reply == timeline.Obtained {
				here = append(here, l)
			}
		}
		if missing || len(here) == 0 {
			continue // its layers were not asked for, but for those that another image has too
		}
		k := all[config]
		if k == nil {
			k = &keptImage{}
			all[config] = k
		}
		k.manifests = append(k.manifests, r)
		if len(here) > len(k.layers) { // the same image, packed in another way
			k.layers = here
		}
	}
	return all, nil
}

// keptManifest reads which config and layers a manifest names, as hashes.
func keptManifest(db *timeline.DB, sha string) (config string, layers []string, err error) {
	in, err := db.OpenKept(sha)
	if err != nil {
		return "", nil, err
	}
	defer in.Close()
	type descriptor struct {
		Digest string `json:"digest"`
	}
	var m struct {
		Config descriptor   `json:"config"`
		Layers []descriptor `json:"layers"`
	}
	if err := json.NewDecoder(io.LimitReader(in, maxDocument)).Decode(&m); err != nil {
		return "", nil, nil //nolint:nilerr // read as a document it says what is wrong with it
	}
	for _, l := range m.Layers {
		layers = append(layers, strings.TrimPrefix(l.Digest, "sha256:"))
	}
	return strings.TrimPrefix(m.Config.Digest, "sha256:"), layers, nil
}

// imageKept reads an image whose layers are kept: as the config that it is, and
// with what the layers hold. The config names each by its hash, so its own hash
// vouches for all that is read.
func (s *source) imageKept() error {
	kept := s.from.content
	images := &imageArchive{Archive: image.New()}
	size := int64(0)
	for _, l := range kept.layers {
		size += l.Bytes
	}
	s.budget.packed = func() int64 { return size + s.in.n }
	for _, m := range kept.manifests {
		if err := s.keptPart(m, func(r io.Reader, at where) error {
			data, err := io.ReadAll(io.LimitReader(r, maxDocument))
			if err != nil {
				return err
			}
			if err := images.Add(m.URL, m.URL, "sha256:"+m.SHA256, data, false); err != nil {
				return s.broken(at.path, err)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	at := where{path: s.info.Path, depth: 1}
	err := s.inside(s.in, at, "", "file", func(r io.Reader, at where) error {
		return s.imageDocument(images, s.from.path, "", r, at, false)
	})
	for _, l := range kept.layers {
		if err == nil && s.budget.member() {
			err = s.keptLayer(images, l)
		}
	}
	if err == nil && s.budget.over != nil {
		err = s.overrun(at)
	}
	if err != nil {
		return err
	}
	return s.images(images, at)
}

// keptPart reads what is kept.
func (s *source) keptPart(row *timeline.Inquiry, read func(io.Reader, where) error) error {
	in, err := s.g.db.OpenKept(row.SHA256)
	if err != nil {
		return fmt.Errorf("ingest %s: %w", row.URL, err)
	}
	defer in.Close()
	return s.inside(in, where{path: row.URL, depth: 1}, "", "file", read)
}

// keptLayer reads a layer, unless an image before had it too.
func (s *source) keptLayer(images *imageArchive, row *timeline.Inquiry) error {
	if l := s.g.walked.get(row.SHA256); l != nil {
		if images.AddLayer(l) {
			images.held += len(l.Events)
		}
		return nil
	}
	err := s.keptPart(row, func(r io.Reader, at where) error {
		return s.part(images, "blobs/sha256/"+row.SHA256, r, at)
	})
	if l := images.Layer("sha256:" + row.SHA256); err == nil && l != nil {
		s.g.walked.put(row.SHA256, l)
	}
	return err
}

// walkedLayers are layers that were walked without a fault, by the hash of their
// bytes: images that are built on each other share most of theirs.
type walkedLayers struct {
	mu     sync.Mutex
	all    map[string]*image.Layer
	events int
}

func (w *walkedLayers) get(sha string) *image.Layer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all[sha]
}

func (w *walkedLayers) put(sha string, l *image.Layer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	size := len(l.Events) + len(l.Whiteouts) + 1
	if l.Broken != "" || len(l.Unsure) > 0 || w.events+size > maxHeld {
		return
	}
	if w.all == nil {
		w.all = map[string]*image.Layer{}
	}
	w.all[sha] = l
	w.events += size
}
