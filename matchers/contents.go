package matchers

import (
	"fmt"
	"strings"

	"pulltrail/timeline"
)

// contents knows what images hold: by digest, never by tag. Index, manifest
// and config of one image are joined by the links that documents of the image
// itself prove.
type contents struct {
	up, down map[string][]string // holds: parent → children, and back
	diffs    map[string][]string // image → unpacked layers that it holds
	onDiff   map[string][]string // and back
	listed   map[string]bool     // image digests with a whole list of packages
	kinds    map[imageKind]bool  // and of which kind of packages
	facts    map[string][]judged // what those lists say of the question
}

// imageKind is an image by digest and a kind of package.
type imageKind struct{ image, kind string }

func newContents(q *question, r *record) *contents {
	c := &contents{
		up: map[string][]string{}, down: map[string][]string{}, diffs: map[string][]string{}, onDiff: map[string][]string{},
		listed: map[string]bool{}, kinds: map[imageKind]bool{}, facts: map[string][]judged{},
	}
	type pair struct{ from, to string }
	known := map[pair]bool{} // two documents may say the same
	for _, l := range r.links {
		if l.Relation != timeline.Holds || known[pair{l.From, l.To}] {
			continue
		}
		known[pair{l.From, l.To}] = true
		down, up, to := c.down, c.up, l.To
		if diff, ok := strings.CutPrefix(l.To, timeline.DiffEnd); ok {
			down, up, to = c.diffs, c.onDiff, diff
		}
		down[l.From] = append(down[l.From], to)
		up[to] = append(up[to], l.From)
	}
	for _, row := range r.coverage {
		if row.Subject.Kind == timeline.Image && row.Whole && q.ecosystems[string(row.Topic)] != "" {
			c.listed[row.Subject.ID] = true
			c.kinds[imageKind{row.Subject.ID, string(row.Topic)}] = true
		}
	}
	for _, f := range r.facts {
		if f.Subject.Kind == timeline.Image && f.Action == timeline.Present && f.Parts.Type != "image" {
			c.facts[f.Subject.ID] = append(c.facts[f.Subject.ID], q.judge(f)...)
		}
	}
	return c
}

// same lists the digests that are one image with d: what it holds down to the
// config, and what holds it. Layers are not followed: many images share them.
// From an index only a single manifest is the image; with several it is not
// known which one came.
func (c *contents) same(d string) []string {
	out, seen := []string{d}, map[string]bool{d: true}
	for i := 0; i < len(out); i++ {
		next := c.up[out[i]]
		if kids := c.down[out[i]]; len(kids) == 1 {
			next = append(next[:len(next):len(next)], kids...)
		}
		for _, n := range next {
			if !seen[n] && len(out) < 64 {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	return out
}

// built answers what an instruction of an image's history asked for: the whole
// list of what came of it.
func (c *contents) built(j judged) *cleared {
	if j.Subject.Kind != timeline.Image {
		return nil
	}
	for _, id := range c.same(j.Subject.ID) {
		if !c.kinds[imageKind{id, j.Parts.Type}] {
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
	for _, d := range digests {
		for _, id := range c.same(d.Value) {
			js := c.facts[id]
			for _, j := range js {
				if j.verdict == Exposed {
					return Exposed, []Evidence{{Fact: j.Fact, Part: "content of exactly this digest"}}, fmt.Sprintf("the content list of %s names %s", short(id), j.Item.Artifact)
				}
			}
			if !c.listed[id] {
				continue
			}
			for _, j := range js {
				if j.answer {
					return Clear, []Evidence{{Fact: j.Fact, Part: "content of exactly this digest"}}, fmt.Sprintf("the content list of %s names %s, which is not listed", short(id), j.Item.Artifact)
				}
			}
			if len(js) == 0 {
				return Clear, nil, fmt.Sprintf("the content list of %s is whole and names no listed package", short(id))
			}
		}
	}
	return "", nil, ""
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
	for _, f := range facts {
		for _, d := range f.Item.Digests {
			j, ok := from[d.Value]
			if !ok || f.Subject.Kind == timeline.Image && f.Subject.ID == d.Value {
				continue
			}
			out := judged{Fact: f, channel: j.channel, key: "digest/" + d.Value, rule: "image-content"}
			out.verdict = exact(f.Action, true)
			out.because = fmt.Sprintf("%s %s with digest %s, an image that holds %s", verb(f.Action), short(f.Item.Artifact), d.Value, j.Item.Artifact)
			m.place(f, []judged{out})
			break
		}
	}
	return nil
}
