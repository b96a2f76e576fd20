package matchers

import (
	"fmt"

	"pulltrail/timeline"
)

// ruleSameImage is the rule of an image that is the same, by its digest, as one
// that came under a name of the bad release.
const ruleSameImage = "same-image"

// learn finds digests that came under a listed name of the release, which the
// incident does not list: whatever has one of them has that image, whatever it
// calls it. What a moving tag pointed at is not known, so that nothing is learned
// from it. It reads the other facts on those digests, and judges all anew.
//
//	host:a pulled ghcr.io/acme/gw:v1.107.0@sha256:9f2c…
//	host:b pulled mirror.acme.example/gw:stable@sha256:9f2c…
func (m *matching) learn(all [][]judged) ([][]judged, error) {
	m.q.learned = map[string]judged{}
	var digests []string
	for i, f := range m.r.facts {
		for _, j := range all[i] {
			if j.rule != "release-tag" || asks(f.Action) || j.verdict == Possible || m.q.during(j.channel, f.Span) == nil {
				continue
			}
			for _, d := range f.Item.Digests {
				if ofImage(d.Role) && m.q.digests[d.Value] == nil && m.q.learned[d.Value].Fact == nil {
					m.q.learned[d.Value] = j
					digests = append(digests, d.Value)
				}
			}
		}
	}
	if len(digests) == 0 {
		return all, nil
	}
	more, err := m.r.with(digests)
	if err != nil {
		return nil, err
	}
	for _, f := range more {
		if k := keyOf(f); !m.r.seen[k] {
			m.r.seen[k] = true
			m.r.facts = append(m.r.facts, f)
		}
	}
	sortFacts(m.r.facts)
	all = make([][]judged, len(m.r.facts))
	for i, f := range m.r.facts {
		all[i] = m.q.judge(f)
	}
	return all, nil
}

// ofImage reports whether a digest of the role tells one image from others.
func ofImage(r timeline.Role) bool {
	return r == timeline.NoRole || r == timeline.Index || r == timeline.Manifest || r == timeline.Config
}

// judgeSame judges a fact on a digest that came under a name of the release
// elsewhere. One that says that name itself is judged by it.
func (q *question) judgeSame(f *timeline.Fact, d timeline.Digest) (judged, bool) {
	from := q.learned[d.Value]
	if from.Fact == nil || !ofImage(d.Role) || f.Parts.Type != "image" || f.Action == timeline.Contact ||
		f.Parts.Name == from.Parts.Name && f.Parts.Version == from.Parts.Version {
		return judged{}, false
	}
	j := judged{Fact: f, channel: from.channel, key: "digest/" + d.Value, rule: ruleSameImage, verdict: exact(f.Action, true), ask: asks(f.Action) && f.Action != timeline.Require}
	j.because = fmt.Sprintf("%s %s, the image that came to %s as %s:%s (%s:%d)", verb(f.Action), short(f.Item.Artifact), from.Subject, from.Parts.Name, from.Parts.Version, from.Path, from.Line)
	j.via = findingID(q.inc.ID, from.Subject)
	return j, true
}
