package matchers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// answered tells what was positively answered, "" when nothing was. Only
// records of something else count; the asks they answer were taken back.
func (m *matching) answered(a *about, f *Finding) string {
	if len(a.judged) == 0 && len(a.cleared) == 0 {
		return ""
	}
	var said []string
	var answers map[string]bool
	for i := range a.cleared {
		c := &a.cleared[i]
		m.channel(f, c.ask.channel, Clear, c.how)
		said = append(said, c.how)
		for _, e := range c.by {
			if answers == nil {
				answers = map[string]bool{}
			}
			answers[e.Item.Artifact] = true
		}
	}
	var room [4]*judged
	positive := room[:0]
	for i := range a.judged {
		if j := &a.judged[i]; j.answer && j.rule != ruleRepackaged && m.positive(j) {
			positive = append(positive, j)
		}
	}
	slices.SortStableFunc(positive, func(x, y *judged) int { return strings.Compare(x.Item.Artifact, y.Item.Artifact) })
	for len(positive) > 0 {
		best, n := positive[0], 1 // of each artifact, the action that says most
		for ; n < len(positive) && positive[n].Item.Artifact == best.Item.Artifact; n++ {
			if saysMore(positive[n].Action, best.Action) {
				best = positive[n]
			}
		}
		positive = positive[n:]
		how := verb(best.Action) + " " + short(best.Item.Artifact) + ", which is not listed"
		m.channel(f, best.channel, Clear, how)
		if !answers[best.Item.Artifact] { // what answers an ask was said with it
			said = append(said, how)
		}
	}
	slices.Sort(said)
	said = slices.Compact(said)
	if len(said) > 3 {
		said = append(said[:3], fmt.Sprintf("and %d more", len(said)-3))
	}
	return strings.Join(said, "; ")
}

// positive reports whether an answer counts without an ask: something was done
// and the log says what. A bare state (a lock file, one dist-info folder)
// speaks of one moment that nobody knows, and what a host did before the
// release was served says nothing of it; a job has one short life.
//
// What an image holds is one where all of it is known: a layer that was not read
// may hold another version.
func (m *matching) positive(j *judged) bool {
	if from, _, ok := m.q.union(j.channel); ok && j.Span.To < from && j.Subject.Kind != timeline.Job {
		return false
	}
	switch j.Action {
	case timeline.Install, timeline.Download, timeline.Pull, timeline.Run, timeline.Build, timeline.Push, timeline.Cached:
		return true
	case timeline.Present:
		return j.Op != 0 || j.Subject.Kind == timeline.Image && (j.Parts.Type == "image" || m.holds.lists(j.Subject.ID, j.Parts.Type))
	}
	return false
}

// evidence lists what the finding stands on: what decides, what accuses, what
// answers, in order of time.
func (m *matching) evidence(a *about, best *judged, f *Finding) {
	if len(a.judged) == 0 && len(a.cleared) == 0 {
		return
	}
	seen := newSeenFacts(len(a.judged) + 2*len(a.cleared))
	if best != nil {
		seen.add(best.Fact)
	}
	add := func(fact *timeline.Fact, part string, v Verdict) {
		if seen.add(fact) {
			f.Evidence = append(f.Evidence, Evidence{fact, part, v})
		}
	}
	first := len(f.Evidence)
	f.Evidence = slices.Grow(f.Evidence, len(a.judged))
	for i := range a.judged {
		j := &a.judged[i]
		switch {
		case j.part != "":
			add(j.Fact, j.part, "")
		case j.verdict != "":
			add(j.Fact, "also "+string(j.verdict)+": "+j.rule, j.verdict)
		case j.answer && j.rule != ruleRepackaged:
			add(j.Fact, "another version, digest or commit", "")
		default:
			add(j.Fact, "names it, outside the question", "")
		}
	}
	for _, c := range a.cleared {
		add(c.ask.Fact, "ask, answered", "")
		for _, e := range c.by {
			add(e.Fact, e.Part, "")
		}
	}
	rest := f.Evidence[first:]
	slices.SortStableFunc(rest, func(x, y Evidence) int {
		if c := cmp.Compare(x.Span.From, y.Span.From); c != 0 {
			return c
		}
		return origin(x.Fact, y.Fact)
	})
}

// seenFacts are facts that were seen. Of most subjects there are a few, and
// those are compared.
type seenFacts struct {
	few  []*timeline.Fact
	many map[factKey]bool
}

// maxFew is how many facts are compared with each other one.
const maxFew = 16

func newSeenFacts(most int) *seenFacts {
	if most > maxFew {
		return &seenFacts{many: make(map[factKey]bool, most)}
	}
	return &seenFacts{few: make([]*timeline.Fact, 0, most)}
}

// add notes a fact; it reports false when that was seen before.
func (s *seenFacts) add(f *timeline.Fact) bool {
	if s.many != nil {
		k := keyOf(f)
		had := s.many[k]
		s.many[k] = true
		return !had
	}
	for _, g := range s.few {
		if g == f || g.Event == f.Event && g.Item.Artifact == f.Item.Artifact && g.Item.Ref == f.Item.Ref {
			return false
		}
	}
	if s.few = append(s.few, f); len(s.few) > maxFew {
		s.many = make(map[factKey]bool, 2*maxFew)
		for _, g := range s.few {
			s.many[keyOf(g)] = true
		}
	}
	return true
}
