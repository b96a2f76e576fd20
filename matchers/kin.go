package matchers

import (
	"fmt"
	"maps"
	"slices"

	"pulltrail/timeline"
)

// An image goes by several digests: its index, its manifest and its config. An
// advisory names one of them, a host's log another. Two things join them:
// documents of the image itself, and a line that names both.
//
//	"Id": "sha256:9a9f86…", "RepoDigests": ["ghcr.io/acme/gw@sha256:8f45e5…"]
//	Using docker image sha256:393c29… for python:3.12 with digest python@sha256:acae89…

// kin is a digest of an image that is known to be bad by another one.
type kin struct {
	channel string
	via     *timeline.Fact // of whose subject it follows, nil where the incident lists the other digest
	says    string         // what this image is
	weak    bool           // it may be another platform, which is not known to be bad
	several bool           // it is an index that holds other images too
}

// relatives finds the digests that documents join with seeds: what holds them,
// and what they hold.
func relatives(h *holdings, seeds map[string]kin, listed func(string) bool) map[string]kin {
	out := map[string]kin{}
	add := func(d string, k kin) {
		if _, ok := seeds[d]; ok || listed(d) {
			return
		}
		if old, ok := out[d]; !ok || old.weak && !k.weak {
			out[d] = k
		}
	}
	for _, seed := range slices.Sorted(maps.Keys(seeds)) {
		k := seeds[seed]
		for _, d := range h.same(seed) {
			up := k
			if up.several = len(h.held(d)) > 1; up.several {
				up.says = "which holds " + k.says
			}
			add(d, up)
		}
		kids := h.held(seed)
		down := k
		down.weak = k.weak || slices.ContainsFunc(kids, listed) // the others are listed by themselves
		for _, kid := range kids {
			add(kid, down)
			for _, d := range h.held(kid) {
				add(d, down)
			}
		}
	}
	return out
}

// joined lists the digests that a line gives an image together with one of
// those, and the line. An index of several images says nothing of the others.
func joined(facts []*timeline.Fact, of func(string) bool) map[string]*timeline.Fact {
	out := map[string]*timeline.Fact{}
	for _, f := range facts {
		if len(f.Item.Digests) < 2 || f.Parts.Type != "image" && f.Item.Artifact != "" ||
			!slices.ContainsFunc(f.Item.Digests, func(d timeline.Digest) bool { return ofImage(d.Role) && of(d.Value) }) {
			continue
		}
		for _, d := range f.Item.Digests {
			if ofImage(d.Role) && out[d.Value] == nil && !of(d.Value) {
				out[d.Value] = f
			}
		}
	}
	return out
}

// anotherPlatform reports whether a fact names the image's own ID, and it is not
// one of those: of an index it got another image than the one that is bad.
func anotherPlatform(f *timeline.Fact, of func(string) bool) bool {
	other := false
	for _, d := range f.Item.Digests {
		if d.Role == timeline.Config {
			if of(d.Value) {
				return false
			}
			other = true
		}
	}
	return other
}

// family finds all digests that are known to be of a bad image by others: seeds
// are the ones that came under a name of the release, and those that the
// incident lists are added to them. It reads the facts on what it finds.
func (m *matching) family(seeds map[string]kin) error {
	for d, r := range m.q.digests {
		if r.image && !r.cite.Disputed {
			seeds[d] = kin{channel: r.channel, says: fmt.Sprintf("the same image as %s, which the incident lists", short(r.what))}
		}
	}
	if len(seeds) == 0 {
		return nil
	}
	listed := func(d string) bool { return m.q.digests[d] != nil }
	h := newHoldings(m.r)
	known := relatives(h, seeds, listed)
	if err := m.read(seeds, known); err != nil {
		return err
	}
	one := func(d string) bool {
		k, ok := known[d]
		return seeds[d].says != "" || ok && !k.weak && !k.several
	}
	more := map[string]kin{}
	for d, f := range joined(m.r.facts, one) {
		if listed(d) || known[d].says != "" {
			continue
		}
		for _, other := range f.Item.Digests {
			k, ok := seeds[other.Value]
			if !ok {
				k, ok = known[other.Value]
			}
			if ok && !k.weak && !k.several {
				k.says += fmt.Sprintf(" (%s:%d names both digests)", f.Path, f.Line)
				more[d] = k
				break
			}
		}
	}
	above := relatives(h, more, listed)
	for _, found := range []map[string]kin{seeds, above, known, more} {
		for d, k := range found {
			if !listed(d) {
				m.q.learned[d] = k
			}
		}
	}
	if h.err != nil {
		return h.err
	}
	return m.read(more, above)
}

// read adds the facts on digests to those that were read.
func (m *matching) read(all ...map[string]kin) error {
	var digests []string
	for _, found := range all {
		digests = slices.AppendSeq(digests, maps.Keys(found))
	}
	if len(digests) == 0 {
		return nil
	}
	slices.Sort(digests)
	facts, err := m.r.with(digests)
	if err != nil {
		return err
	}
	for _, f := range facts {
		if k := keyOf(f); !m.r.seen[k] {
			m.r.seen[k] = true
			m.r.facts = append(m.r.facts, f)
		}
	}
	return nil
}
