package matchers

import (
	"cmp"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// spread follows the exposure to a fixed point and adds what it finds to the
// subjects. It only ever raises a verdict, and each step names the finding that
// it follows from.
//
// What travels is an arrival: a judgement of one subject, and from when it
// counts. Rounds go on as long as some subject becomes more exposed, or earlier;
// both can happen only so often, so cycles end.
func (m *matching) spread() error {
	first := m.seeds()
	if len(first) == 0 {
		return nil
	}
	s, err := newSpreader(m)
	if err != nil {
		return err
	}
	for _, a := range first {
		s.improve(a)
	}
	for next := first; len(next) > 0; next = s.next {
		s.next = nil
		if err := s.round(next); err != nil {
			return err
		}
	}
	m.carriers = s.carriers()
	for _, k := range s.order {
		a := m.of(k.to)
		a.judged = append(a.judged, s.arrived[k].judged)
		if from := s.arrived[k].from; from != nil && from.at != k.to {
			a.judged = append(a.judged, judged{Fact: from.Fact, part: "what it follows from"})
		}
	}
	return nil
}

// arrival is what makes a subject exposed, or perhaps exposed.
type arrival struct {
	judged
	at      timeline.Subject
	since   int64    // nanoseconds: what the subject did before has nothing to do with it
	content Verdict  // of an image that came: what is known of its content, also where it was only asked for
	short   string   // "installed pkg:pypi/x@1", for the sentence of the next step
	from    *arrival // the arrival that it follows from; nil for a seed
}

// seeds are the judgements that stand on their own.
func (m *matching) seeds() []*arrival {
	var out []*arrival
	for a := range m.people.all() {
		for _, j := range a.judged {
			if j.verdict.rank() > Possible.rank() || j.rule == ruleEngine {
				continue // a flaw is in the engine, and travels no further
			}
			seed := &arrival{judged: j, at: a.subject, since: j.Span.From, content: j.verdict, short: lower(j.because)}
			for _, more := range []string{", which ", " inside the window", " at a time that", " while it may", "; "} {
				seed.short, _, _ = strings.Cut(seed.short, more)
			}
			if contentRules[j.rule] {
				seed.content = Exposed
			}
			out = append(out, seed)
		}
	}
	slices.SortStableFunc(out, compareArrivals)
	return out
}

// contentRules are those by which an image is known to be bad, even where it
// was only asked for.
var contentRules = map[string]bool{"exact-digest": true, ruleSameImage: true, "image-content": true, "release-tag": true}

func compareArrivals(a, b *arrival) int {
	return cmp.Or(compareSubjects(a.at, b.at), origin(a.Fact, b.Fact), strings.Compare(a.rule, b.rule), strings.Compare(a.via, b.via))
}

// arrivalKey tells arrivals apart.
type arrivalKey struct {
	to        timeline.Subject
	rule, via string
	verdict   Verdict
	content   Verdict
	path      string
	line      int64
	artifact  string
}

// reached is how a subject stands: the earliest arrival of each verdict. All
// that a subject does to others follows from these, but for what is said where
// one arrival matters.
type reached struct {
	exposed, pulled, possible *arrival
}

// of is the place of the arrivals of a verdict.
func (r *reached) of(v Verdict) **arrival {
	switch v {
	case Exposed:
		return &r.exposed
	case Pulled:
		return &r.pulled
	case Possible, Unknown, Clear:
	}
	return &r.possible
}

// strongest are the arrivals that nothing stronger was before.
func (r *reached) strongest() []*arrival {
	var out []*arrival
	before := timeline.Forever
	for _, a := range []*arrival{r.exposed, r.pulled, r.possible} {
		if a != nil && (len(out) == 0 || a.since < before) {
			out, before = append(out, a), a.since
		}
	}
	return out
}

// spreader is one run.
type spreader struct {
	m       *matching
	q       *question
	reach   map[timeline.Subject]*reached
	arrived map[arrivalKey]*arrival
	order   []arrivalKey
	carried map[timeline.Subject]reached // how the subjects stood when they were carried on
	next    []*arrival
	links   placed
	linked  int64 // numbers for links that stand as evidence, below those of events
	images  images
	err     error
	wide    bool // the incident says that the release reads more than its own container or job
}

func newSpreader(m *matching) (*spreader, error) {
	s := &spreader{m: m, q: m.q, reach: map[timeline.Subject]*reached{}, arrived: map[arrivalKey]*arrival{}, carried: map[timeline.Subject]reached{}, wide: m.q.inc.wide()}
	more, err := m.r.more(timeline.Names, timeline.Uses, timeline.Saves)
	if err != nil {
		return nil, err
	}
	s.links = newPlaced(append(m.r.links[:len(m.r.links):len(m.r.links)], more...))
	s.images = newImages(more)
	return s, nil
}

// improve notes an arrival.
func (s *spreader) improve(a *arrival) {
	r := s.reach[a.at]
	if r == nil {
		r = &reached{}
		s.reach[a.at] = r
	}
	if old := r.of(a.verdict); *old == nil || a.since < (*old).since {
		*old = a
	}
}

// cause is what a step follows from: a subject, and what arrived there.
type cause struct {
	subject timeline.Subject
	via     string
	*arrival
}

func (s *spreader) causeOf(a *arrival) cause {
	return cause{a.at, findingID(s.q.inc.ID, a.at), a}
}

// arrive records that a subject is exposed, or may be, by what another one is.
func (s *spreader) arrive(c cause, to timeline.Subject, f *timeline.Fact, v Verdict, rule, because string) {
	s.add(c, &arrival{at: to, content: v, judged: judged{Fact: f, verdict: v, rule: rule, because: because}})
}

func (s *spreader) add(c cause, a *arrival) {
	a.channel, a.key, a.via = c.channel, "spread/"+c.via, c.via
	a.since = max(a.Span.From, c.since)
	if a.short = "was exposed"; a.verdict != Exposed {
		a.short = "may have been exposed"
	}
	a.from = c.arrival
	k := arrivalKey{a.at, a.rule, a.via, a.verdict, a.content, a.Path, a.Line, a.Item.Artifact}
	old, ok := s.arrived[k]
	if ok && old.since <= a.since {
		return
	}
	if !ok && (s.reach[a.at] == nil || !a.circular()) { // what nothing reached before is no reason of anything
		s.order = append(s.order, k) // its own reason is no evidence
	}
	s.arrived[k] = a
	s.improve(a)
	s.next = append(s.next, a)
}

// circular reports whether an arrival follows from one of the same subject that
// says as much.
func (a *arrival) circular() bool {
	n := 0
	for p := a.from; p != nil && n < 1000; p = p.from {
		if p.at == a.at && p.verdict.rank() <= a.verdict.rank() {
			return true
		}
		n++
	}
	return false
}

// round carries arrivals one step on.
func (s *spreader) round(now []*arrival) error {
	slices.SortStableFunc(now, compareArrivals)
	if err := s.fetch(now); err != nil {
		return err
	}
	for _, a := range now {
		c := s.causeOf(a)
		s.built(c)
		s.served(c)
		s.toHost(c)
		stands := s.reach[a.at]
		if s.carried[a.at] == *stands {
			continue
		}
		s.carried[a.at] = *stands
		for _, one := range stands.strongest() {
			s.step(s.causeOf(one))
		}
	}
	return s.err
}

// step carries on how a subject stands.
func (s *spreader) step(c cause) {
	switch c.subject.Kind {
	case timeline.Job:
		s.toRunner(c)
	case timeline.Host:
		s.toLaterJobs(c)
		s.toGuests(c)
	case timeline.Image:
		s.toTwins(c)
		s.toPullers(c)
		s.toNamed(c)
		s.toDerived(c)
	case timeline.Cache:
		s.toConsumers(c)
	case timeline.Container, timeline.Client, timeline.Source:
	}
	s.toCaches(c)
	s.toSame(c)
}

// Rules of steps.
const (
	ruleRunner   = "spread-runner"
	ruleLater    = "spread-later-job"
	ruleGuest    = "spread-host"
	ruleHost     = "spread-container"
	ruleSame     = "spread-same"
	ruleBuilt    = "spread-built-image"
	ruleFrom     = "spread-from"
	ruleLayer    = "spread-layer"
	rulePuller   = "spread-image"
	ruleName     = "spread-image-name"
	ruleSaved    = "spread-cache"
	ruleRestored = "spread-cache-used"
	ruleServed   = "spread-served"
	ruleEngine   = "affected-engine"
)

func lower(s string) string {
	if s == "" || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
