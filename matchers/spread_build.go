package matchers

import (
	"fmt"
	"slices"

	"pulltrail/timeline"
)

// build is one run of a builder, in which an install stays inside the image.
type build struct{ source, op int64 }

// builders are the tools whose operations are builds.
var builders = map[string]bool{"buildkit": true, "docker-build": true, "kaniko": true}

// buildOf returns the build that a line belongs to.
func (s *spreader) buildOf(f *timeline.Fact) (build, bool) {
	n := f.Op
	for range 8 {
		if n == 0 {
			break
		}
		op, err := s.m.op(f.Source, n)
		if err != nil {
			s.err = err
			break
		}
		if builders[op.Tool] {
			return build{f.Source, n}, true
		}
		n = op.Parent
	}
	return build{}, false
}

// built: an image that was made with or after what came may hold it.
func (s *spreader) built(c cause) {
	made := s.images.made[c.subject]
	if len(made) == 0 {
		return
	}
	in, inside := s.buildOf(c.Fact)
	inside = inside && c.Event >= 0 && c.Fact.Subject == c.subject
	for _, f := range made {
		if f.Span.To < c.since || f.Parts.Type != "image" && len(f.Item.Digests) == 0 {
			continue
		}
		if d := s.imageDigest(f); d != "" && s.maker(s.m.holds.same(d)) != c.subject {
			continue // another one made it: this one handed it on
		}
		v := s.afterwards(c)
		if inside {
			v = s.together(c, f, in, made)
		}
		if v == "" {
			continue
		}
		if known, _, _ := s.m.holds.of(f.Item.Digests); known == Clear {
			continue // its content is known, and decides
		}
		rule, because := ruleBuilt, fmt.Sprintf("was built by %s after it %s", c.subject, c.short)
		if inside && c.Parts.Type == "image" {
			rule, because = ruleFrom, fmt.Sprintf("was built by %s with %s", c.subject, short(c.Item.Artifact))
		}
		for _, image := range s.imagesOf(f, made) {
			s.named(image, f)
			s.arrive(c, image, f, v, rule, because)
		}
	}
}

// afterwards: what a job did before it built an image is in the image, as far as
// anybody knows. What came to a host need not be, and evidence that names
// nobody may be of many jobs, one after the other.
func (s *spreader) afterwards(c cause) Verdict {
	switch c.subject.Kind {
	case timeline.Job:
		if c.verdict == Exposed {
			return Exposed
		}
		return Possible
	case timeline.Host, timeline.Container, timeline.Source:
		if c.verdict.rank() <= Pulled.rank() {
			return Possible
		}
	case timeline.Image, timeline.Client, timeline.Cache:
	}
	return ""
}

// together: what a build installed, or was built from, is in the image of that
// build and in no other.
func (s *spreader) together(c cause, f *timeline.Fact, in build, made []*timeline.Fact) Verdict {
	v := Possible
	if c.content == Exposed && (c.Parts.Type != "image" || s.onlyBase(c, in)) {
		v = Exposed
	}
	of, known := s.buildOf(f)
	switch {
	case known && of == in:
		return v
	case known:
		return ""
	}
	for _, other := range made { // pushed later under the name that a build gave it
		if other.Action == timeline.Build && other.Item.Artifact == withoutDigest(f) && other.Item.Artifact != "" {
			if of, known := s.buildOf(other); known && of == in {
				return v
			} else if known {
				return ""
			}
		}
	}
	return Possible
}

// withoutDigest is the name and tag of an image.
func withoutDigest(f *timeline.Fact) string {
	if f.Parts.Version == "" {
		return f.Parts.Name
	}
	return f.Parts.Name + ":" + f.Parts.Version
}

// onlyBase reports whether a build names no other image: with several, the one
// that is exposed may be that of a stage of which little or nothing was copied.
func (s *spreader) onlyBase(c cause, in build) bool {
	facts, err := s.m.r.ofOps(in.source, s.opsOf(in))
	if err != nil {
		s.err = err
		return false
	}
	mine := map[string]bool{}
	for _, d := range c.Item.Digests {
		for _, same := range s.m.holds.same(d.Value) {
			mine[same] = true
		}
	}
	for _, f := range facts {
		if f.Parts.Type != "image" || f.Action == timeline.Build || f.Action == timeline.Push || f.Action == timeline.Tag ||
			f.Action == timeline.Opaque || f.Action == timeline.Require || f.Parts.Name == c.Parts.Name || frontend[f.Parts.Name] {
			continue
		}
		if !slices.ContainsFunc(f.Item.Digests, func(d timeline.Digest) bool { return mine[d.Value] }) {
			return false
		}
	}
	return true
}

// frontend is the image that reads the Dockerfile; nothing of it comes into
// what is built.
var frontend = map[string]bool{"docker.io/docker/dockerfile": true, "docker.io/docker/buildkit-syft-scanner": true}

// opsOf lists a build with the operations inside it.
func (s *spreader) opsOf(in build) []int64 {
	out := []int64{in.op}
	ops, err := s.m.opsIn(in.source)
	if err != nil {
		s.err = err
	}
	for n, o := range ops {
		if o.Parent == in.op {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// imagesOf lists the subjects that a built image is: those that are known under
// its digests, else the digest that names it best, else its name, unless the
// builder gave the same name with a digest.
func (s *spreader) imagesOf(f *timeline.Fact, made []*timeline.Fact) []timeline.Subject {
	var out []timeline.Subject
	for _, d := range f.Item.Digests {
		for _, same := range s.m.holds.same(d.Value) {
			if image := (timeline.Subject{Kind: timeline.Image, ID: same}); s.m.people.find(image) != nil && !slices.Contains(out, image) {
				out = append(out, image)
			}
		}
	}
	switch d := s.imageDigest(f); {
	case len(out) > 0:
		return out
	case d != "":
		return []timeline.Subject{{Kind: timeline.Image, ID: d}}
	}
	if other := s.sameImage(f, made); other != nil {
		return s.imagesOf(other, made)
	}
	return []timeline.Subject{{Kind: timeline.Image, ID: withoutDigest(f)}}
}

// named notes what its maker calls an image, and by which digests it goes.
func (s *spreader) named(image timeline.Subject, f *timeline.Fact) {
	if f.Parts.Version != "" {
		if s.images.calls[image] == nil {
			s.images.calls[image] = map[string]int64{}
		}
		name := withoutDigest(f)
		if old, ok := s.images.calls[image][name]; !ok || f.Span.From < old {
			s.images.calls[image][name] = f.Span.From
		}
	}
	for _, d := range f.Item.Digests {
		for _, same := range s.m.holds.same(d.Value) {
			if same != image.ID && !slices.Contains(s.images.extra[image], same) {
				s.images.extra[image] = append(s.images.extra[image], same)
			}
		}
	}
}

// sameImage finds the line that gives the digest of an image that was built
// without one: of the same build, or its push under the same name before that
// name was given to another.
func (s *spreader) sameImage(f *timeline.Fact, made []*timeline.Fact) *timeline.Fact {
	in, inside := s.buildOf(f)
	var push *timeline.Fact
	for i := range made {
		other := made[i]
		if other.Source != f.Source || withoutDigest(other) != withoutDigest(f) {
			continue
		}
		of, known := s.buildOf(other)
		switch {
		case s.imageDigest(other) != "" && inside && known && of == in:
			return other
		case other.Line <= f.Line || push != nil && push.Line < other.Line:
		case other.Action == timeline.Build || s.imageDigest(other) != "":
			push = other
		}
	}
	if push == nil || push.Action == timeline.Build || s.imageDigest(push) == "" {
		return nil
	}
	if _, known := s.buildOf(push); known {
		return nil
	}
	return push
}

// imageDigest is the digest of the image that a fact made. A registry's log
// shows only blobs: one of them may be an image ID that others know as such.
func (s *spreader) imageDigest(f *timeline.Fact) string {
	if d := builtDigest(f); d != "" {
		return d
	}
	for _, d := range f.Item.Digests {
		for _, h := range s.images.holders[d.Value] {
			if slices.Contains(h.Item.Digests, timeline.Digest{Value: d.Value, Role: timeline.Config}) {
				return d.Value
			}
		}
	}
	return ""
}

// builtDigest is the digest that names a built image best.
func builtDigest(f *timeline.Fact) string {
	best, rank := "", len(builtRoles)
	for _, d := range f.Item.Digests {
		if i := slices.Index(builtRoles, d.Role); i >= 0 && i < rank {
			best, rank = d.Value, i
		}
	}
	return best
}

var builtRoles = []timeline.Role{timeline.Index, timeline.Manifest, timeline.NoRole, timeline.Config}
