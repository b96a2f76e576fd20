package matchers

import (
	"fmt"
	"slices"

	"pulltrail/timeline"
)

// contents knows what images hold: by digest, never by tag. Index, manifest
// and config of one image are joined by the links that documents of the image
// itself prove.
type contents struct {
	*holdings
	q      *question
	people *people
	facts  map[string][]judged // what whole lists of packages say of the question, by digest
}

// newContents takes what was judged of each fact that was read.
func newContents(q *question, r *record, p *people, all [][]judged) *contents {
	c := &contents{holdings: newHoldings(r), q: q, people: p, facts: map[string][]judged{}}
	var digests []string
	for i := range r.facts {
		f := r.facts[i]
		if f.Subject.Kind == timeline.Image && f.Action == timeline.Present && f.Parts.Type != "image" {
			c.facts[f.Subject.ID] = append(c.facts[f.Subject.ID], all[i]...)
			digests = append(digests, f.Subject.ID)
		}
		for _, d := range f.Item.Digests {
			digests = append(digests, d.Value)
		}
	}
	c.want(digests...)
	return c
}

// listed reports whether there is a whole list of an image's packages.
func (c *contents) listed(image string) bool {
	return slices.ContainsFunc(c.people.rowsOf(timeline.Subject{Kind: timeline.Image, ID: image}), c.isList)
}

// lists is listed of one kind of packages.
func (c *contents) lists(image, kind string) bool {
	return slices.ContainsFunc(c.people.rowsOf(timeline.Subject{Kind: timeline.Image, ID: image}), func(row timeline.CoverageRow) bool {
		return c.isList(row) && kind == string(row.Topic)
	})
}

func (c *contents) isList(row timeline.CoverageRow) bool {
	return row.Whole && c.q.ecosystems[string(row.Topic)] != ""
}

// built answers what an instruction of an image's history asked for: the whole
// list of what came of it.
func (c *contents) built(j judged) *cleared {
	if j.Subject.Kind != timeline.Image {
		return nil
	}
	for _, id := range c.same(j.Subject.ID) {
		if !c.lists(id, j.Parts.Type) {
			continue
		}
		if v, by, how := c.of([]timeline.Digest{{Value: id}}); v == Clear {
			return &cleared{j, by, how}
		}
	}
	return nil
}

// of tells what the content of one of the digests says: clear with the lines
// that name another version, or that the list is whole and does not name the
// package; a bad verdict with the line that names it; "" when no list is known.
func (c *contents) of(digests []timeline.Digest) (Verdict, []Evidence, string) {
	for _, d := range digests { // of several lists of one image a bad one decides
		for _, id := range c.same(d.Value) {
			for _, j := range c.facts[id] {
				if j.verdict == Exposed {
					return Exposed, []Evidence{{Fact: j.Fact, Part: "content of exactly this digest"}}, fmt.Sprintf("the content list of %s names %s", short(id), j.Item.Artifact)
				}
			}
		}
	}
	for _, d := range digests {
		for _, id := range c.same(d.Value) {
			if by, how, ok := c.clean(id); ok {
				return Clear, by, how
			}
		}
		if by, how, ok := c.allClean(d.Value); ok {
			return Clear, by, how
		}
	}
	return "", nil, ""
}

// clean reports whether there is a whole list of exactly this digest that names
// another version, or not the package.
func (c *contents) clean(id string) (by []Evidence, how string, ok bool) {
	if !c.listed(id) {
		return nil, "", false
	}
	js := c.facts[id]
	for _, j := range js {
		if j.answer {
			return []Evidence{{Fact: j.Fact, Part: "content of exactly this digest"}}, fmt.Sprintf("the content list of %s names %s, which is not listed", short(id), j.Item.Artifact), true
		}
	}
	return nil, fmt.Sprintf("the content list of %s is whole and names no listed package", short(id)), len(js) == 0
}

// allClean reports whether each manifest of an index is clean: whichever of them
// came.
func (c *contents) allClean(index string) (by []Evidence, how string, ok bool) {
	kids := c.held(index)
	for _, kid := range kids {
		if !slices.ContainsFunc(c.same(kid), func(id string) bool {
			if id == index {
				return false
			}
			list, _, clean := c.clean(id)
			if clean {
				by = append(by, list...)
			}
			return clean
		}) {
			return nil, "", false
		}
	}
	return by, fmt.Sprintf("the content lists of all %d manifests of %s are whole, and name no listed package", len(kids), short(index)), len(kids) > 1
}

// derived judges every fact that carries the digest of an image whose content
// is bad: whoever pulled or ran exactly that image has it.
func (m *matching) derived() error {
	var digests []string
	from := map[string]judged{}
	for id, js := range m.holds.facts {
		for _, j := range js {
			if j.verdict != Exposed {
				continue
			}
			for _, d := range m.holds.same(id) {
				if _, ok := from[d]; !ok {
					from[d] = j
					digests = append(digests, d)
				}
			}
		}
	}
	if len(digests) == 0 {
		return nil
	}
	facts, err := m.r.with(digests)
	if err != nil {
		return err
	}
	more, err := m.alsoCalled(facts, from)
	if err != nil {
		return err
	}
	for _, f := range append(facts, more...) {
		for _, d := range f.Item.Digests {
			j, ok := from[d.Value]
			if !ok || f.Subject.Kind == timeline.Image && f.Subject.ID == d.Value {
				continue
			}
			out := judged{Fact: f, channel: j.channel, key: "digest/" + d.Value, rule: "image-content"}
			out.verdict = exact(f.Action, true)
			out.because = fmt.Sprintf("%s %s with digest %s, an image that holds %s", verb(f.Action), short(f.Item.Artifact), d.Value, j.Item.Artifact)
			if anotherPlatform(f, func(d string) bool { _, ok := from[d]; return ok }) {
				out.verdict = Possible
				out.because += ", perhaps on another platform: its image ID is another one"
			}
			m.place(f, []judged{out})
			break
		}
	}
	cut := map[string]judged{}
	for d, j := range from {
		cut[d] = judged{channel: j.channel, because: fmt.Sprintf("%s, which holds %s", short(d), j.Item.Artifact)}
	}
	return m.cut(cut)
}

// alsoCalled adds the digests that lines give images of bad content together
// with the one that is known, and reads the facts on them.
func (m *matching) alsoCalled(facts []*timeline.Fact, from map[string]judged) ([]*timeline.Fact, error) {
	one := func(d string) bool {
		_, ok := from[d]
		return ok && len(m.holds.held(d)) < 2
	}
	var digests []string
	for d, f := range joined(facts, one) {
		i := slices.IndexFunc(f.Item.Digests, func(d timeline.Digest) bool { return one(d.Value) })
		for _, same := range m.holds.same(d) {
			if _, ok := from[same]; !ok {
				from[same] = from[f.Item.Digests[i].Value]
				digests = append(digests, same)
			}
		}
	}
	if len(digests) == 0 {
		return nil, nil
	}
	slices.Sort(digests)
	return m.r.with(digests)
}
