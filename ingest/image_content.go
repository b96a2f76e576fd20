package ingest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"pulltrail/ingest/image"
	"pulltrail/timeline"
)

// maxSpread bounds the events of an archive whose images share layers: each of
// them has the packages of the layer.
const maxSpread = 5_000_000

// images records what an archive of images holds, when all of it came by.
func (s *source) images(a *imageArchive, at where) error {
	all := a.Images()
	if len(all) > 0 {
		s.format("image-archive")
	}
	written := 0
	for _, img := range all {
		n, err := s.image(img, maxSpread-written)
		if err != nil {
			return err
		}
		written += n
	}
	orphans := a.Orphans()
	for _, l := range orphans {
		if err := s.orphan(l, at); err != nil {
			return err
		}
	}
	for _, gap := range a.Gaps() {
		if err := s.broken(gap.Path, fmt.Errorf("image archive: %s", gap.Why)); err != nil {
			return err
		}
	}
	if len(orphans) > 0 && len(all) == 0 {
		return s.broken(at.path, fmt.Errorf("image archive: %d layers, and no config that says which image they are", len(orphans)))
	}
	return nil
}

// image records one image: that it is here, what its layers hold and delete,
// and whether that is all of it. It returns how many events that made.
func (s *source) image(img *image.Image, room int) (int, error) {
	who := timeline.Subject{Kind: timeline.Image, ID: img.Digests[0].Value}
	b := &timeline.Batch{Events: s.inArchive(img, who)}
	missing := img.Missing()
	var below []*held
	for n, l := range img.Layers {
		if l == nil {
			continue
		}
		b.Events = append(b.Events, removed(l, below, who)...)
		for _, e := range l.Events {
			if e.Subject == image.Walked {
				e.Subject = who
			}
			e.Items = inLayer(e.Items, img.Diffs[n])
			b.Events = append(b.Events, e)
			if e.Action == timeline.Present {
				at, _, _ := strings.Cut(strings.TrimPrefix(e.Path, l.Path+"!"), "!") // what is in an archive goes with it
				below = append(below, &held{event: e, path: at})
			}
		}
		if len(b.Events) > room {
			b.Events, missing = b.Events[:room], fmt.Sprintf("its archive makes more than %d events", maxSpread)
			break
		}
	}
	asks, lock := bundled(img.Layers)
	for _, e := range asks {
		e.Subject = who
		b.Events = append(b.Events, e)
	}
	s.state(img.Path, timeline.Read, "")
	s.info.Events += int64(len(b.Events))
	if missing == "" {
		s.proved = append(s.proved, whole(img, who, lock)...) // layers are checked by their digests
		return len(b.Events), s.put(b)
	}
	if err := s.put(b); err != nil {
		return 0, err
	}
	return len(b.Events), s.broken(img.Path, fmt.Errorf("the content of the image is not known whole: %s", missing))
}

// inArchive says that the image is in the archive: of the image, and of whom
// --subject named.
func (s *source) inArchive(img *image.Image, who timeline.Subject) []timeline.Event {
	e := timeline.Event{Action: timeline.Present, Subject: who, Span: timeline.Always(), Origin: timeline.Origin{Path: img.Path, Line: 1}}
	for _, name := range img.Names {
		e.Items = append(e.Items, timeline.Item{Artifact: name, Digests: img.Digests})
	}
	if len(e.Items) == 0 {
		e.Items = []timeline.Item{{Digests: img.Digests}}
	}
	all := []timeline.Event{e}
	if claim := s.g.opt.Subject; !claim.IsZero() && claim.Kind != timeline.Image {
		e.Subject = claim
		all = append(all, e)
	}
	return all
}

// inLayer adds the diff ID of the layer that an item stands in.
func inLayer(items []timeline.Item, diff string) []timeline.Item {
	items = slices.Clone(items)
	for i := range items {
		items[i].Digests = append(slices.Clone(items[i].Digests), timeline.Digest{Value: diff, Role: timeline.Diff})
	}
	return items
}

// whole says for which kinds of packages the walk of all layers is a complete
// list: of Node.js' not, where a lock lies beside nothing that is installed.
func whole(img *image.Image, who timeline.Subject, lock string) []timeline.Coverage {
	var all []timeline.Coverage
	for _, topic := range listedTopics() {
		if topic == timeline.NPM && lock != "" {
			continue
		}
		if !slices.ContainsFunc(img.Layers, func(l *image.Layer) bool { return l.Unsure[topic] != "" }) {
			all = append(all, timeline.Coverage{Subject: who, Topic: topic, Span: timeline.Always(), Whole: true, Why: "every layer of the image was read"})
		}
	}
	return all
}

// held is what a lower layer holds.
type held struct {
	event timeline.Event
	path  string // in the image's file system
	gone  bool
}

// removed lists what a layer deletes of the ones below.
func removed(l *image.Layer, below []*held, who timeline.Subject) []timeline.Event {
	if len(l.Whiteouts) == 0 {
		return nil
	}
	by := make(map[string]string, len(l.Whiteouts)) // what is deleted → whiteout
	for _, w := range l.Whiteouts {
		dir, name := path.Split(w)
		if name = strings.TrimPrefix(name, whiteout); name == whiteout+".opq" {
			by[strings.TrimSuffix(dir, "/")+"/"] = w // what is in it, not itself
		} else if !strings.HasPrefix(name, whiteout) {
			by[dir+name] = w
		}
	}
	var all []timeline.Event
	told := map[string]bool{}
	for _, h := range below {
		w := deleter(by, h.path)
		if w == "" || h.gone {
			continue
		}
		h.gone = true
		e := timeline.Event{Action: timeline.Remove, Subject: who, Span: timeline.Always(), Origin: timeline.Origin{Path: l.Path + "!" + w}}
		for _, it := range h.event.Items {
			if !told[it.Artifact] {
				told[it.Artifact] = true
				e.Items = append(e.Items, timeline.Item{Artifact: it.Artifact, Digests: []timeline.Digest{{Value: l.Diff, Role: timeline.Diff}}})
			}
		}
		if len(e.Items) > 0 {
			all = append(all, e)
		}
	}
	return all
}

// deleter finds the whiteout that deletes a path or a folder above it.
func deleter(by map[string]string, p string) string {
	if w := by[p]; w != "" {
		return w
	}
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if dir == "." {
			return by["/"] // the whole file system
		}
		if w := by[dir]; w != "" {
			return w
		}
		if w := by[dir+"/"]; w != "" {
			return w
		}
	}
}

// orphan records what a layer of no known image holds: of whom --subject named,
// else of the source.
func (s *source) orphan(l *image.Layer, at where) error {
	who := s.g.opt.Subject
	if who.IsZero() {
		who = timeline.Subject{Kind: timeline.Source, ID: at.path}
		s.unnamed = s.unnamed || len(l.Events) > 0
	}
	b := &timeline.Batch{}
	for _, e := range l.Events {
		if e.Subject == image.Walked {
			e.Subject = who
		}
		e.Items = inLayer(e.Items, l.Diff)
		b.Events = append(b.Events, e)
	}
	s.info.Events += int64(len(b.Events))
	return s.put(b)
}
