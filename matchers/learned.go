package matchers

import (
	"fmt"
	"slices"

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
	m.q.learned = map[string]kin{}
	seeds := map[string]kin{}
	for i, f := range m.r.facts {
		for _, j := range all[i] {
			if j.rule != "release-tag" || asks(f.Action) || j.verdict == Possible || m.q.during(j.channel, f.Span) == nil {
				continue
			}
			for _, d := range f.Item.Digests {
				if ofImage(d.Role) && m.q.digests[d.Value] == nil && seeds[d.Value].via == nil {
					seeds[d.Value] = kin{channel: j.channel, via: f, says: fmt.Sprintf("the image that came to %s as %s:%s (%s:%d)", f.Subject, f.Parts.Name, f.Parts.Version, f.Path, f.Line)}
				}
			}
		}
	}
	before := len(m.r.facts)
	if err := m.family(seeds); err != nil {
		return nil, err
	}
	if len(m.q.learned) == 0 && len(m.r.facts) == before {
		return all, nil
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
	from, ok := q.learned[d.Value]
	if !ok || !ofImage(d.Role) || f.Parts.Type != "image" && f.Item.Artifact != "" || f.Action == timeline.Contact || q.plainly(f, from) {
		return judged{}, false
	}
	j := judged{Fact: f, channel: from.channel, key: "digest/" + d.Value, rule: ruleSameImage, verdict: exact(f.Action, true), ask: asks(f.Action) && f.Action != timeline.Require}
	j.because = fmt.Sprintf("%s %s, %s", verb(f.Action), short(f.Item.Artifact), from.says)
	if from.weak || anotherPlatform(f, func(d string) bool { _, ok := q.learned[d]; return ok }) {
		j.verdict = Possible
		j.because += "; it is of another platform than those that are listed"
	}
	if from.via != nil {
		j.via = findingID(q.inc.ID, from.via.Subject)
	}
	return j, true
}

// plainly reports whether a fact says by itself what would be learned of it.
func (q *question) plainly(f *timeline.Fact, from kin) bool {
	if from.via != nil && f.Parts.Name == from.via.Parts.Name && f.Parts.Version == from.via.Parts.Version {
		return true
	}
	return slices.ContainsFunc(f.Item.Digests, func(d timeline.Digest) bool { return q.digests[d.Value] != nil })
}
