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
		s.improve(a, timeline.Subject{})
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
	}
	return nil
}

// arrival is what makes a subject exposed, or perhaps exposed.
type arrival struct {
	judged
	at      timeline.Subject
	since   int64   // nanoseconds: what the subject did before has nothing to do with it
	content Verdict // of an image that came: what is known of its content, also where it was only asked for
	short   string  // "installed pkg:pypi/x@1", for the sentence of the next step
}

// seeds are the judgements that stand on their own.
func (m *matching) seeds() []arrival {
	var out []arrival
	for s, a := range m.about {
		for _, j := range a.judged {
			if j.verdict.rank() > Possible.rank() || j.rule == ruleEngine {
				continue // a flaw is in the engine, and travels no further
			}
			seed := arrival{judged: j, at: s, since: j.Span.From, content: j.verdict, short: lower(j.because)}
			for _, more := range []string{", which ", " inside the window", " at a time that", "; "} {
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
var contentRules = map[string]bool{"exact-digest": true, "image-content": true, "release-tag": true}

func compareArrivals(a, b arrival) int {
	return cmp.Or(compareSubjects(a.at, b.at), origin(a.Fact, b.Fact), strings.Compare(a.rule, b.rule), strings.Compare(a.via, b.via))
}

// arrivalKey tells arrivals apart.
type arrivalKey struct {
	to        timeline.Subject
	rule, via string
	path      string
	line      int64
	artifact  string
}

// reached is how a subject stands: from when it is exposed, and from when it
// may be; Forever is never.
type reached struct {
	sure, maybe int64
	best        arrival
	by          timeline.Subject // whose exposure led to the best arrival; none for a seed
}

// spreader is one run.
type spreader struct {
	m       *matching
	q       *question
	reach   map[timeline.Subject]*reached
	arrived map[arrivalKey]arrival
	order   []arrivalKey
	carried map[timeline.Subject]standing
	next    []arrival
	links   placed
	linked  int64 // numbers for links that stand as evidence, below those of events
	images  images
	err     error
	wide    bool // the incident says that the release reads more than its own container or job
}

func newSpreader(m *matching) (*spreader, error) {
	s := &spreader{m: m, q: m.q, reach: map[timeline.Subject]*reached{}, arrived: map[arrivalKey]arrival{}, carried: map[timeline.Subject]standing{}, wide: m.q.inc.wide()}
	more, err := m.r.more(timeline.Names, timeline.Uses, timeline.Saves)
	if err != nil {
		return nil, err
	}
	s.links = newPlaced(append(m.r.links[:len(m.r.links):len(m.r.links)], more...))
	s.images = newImages(more)
	return s, nil
}

// improve notes an arrival, and from whose exposure it follows.
func (s *spreader) improve(a arrival, by timeline.Subject) {
	r := s.reach[a.at]
	if r == nil {
		r = &reached{sure: timeline.Forever, maybe: timeline.Forever, best: a, by: by}
		s.reach[a.at] = r
	}
	if d := a.verdict.rank() - r.best.verdict.rank(); d < 0 || d == 0 && a.since < r.best.since {
		r.best, r.by = a, by
	}
	if a.verdict == Exposed {
		r.sure = min(r.sure, a.since)
	}
	r.maybe = min(r.maybe, a.since)
}

// cause is what a step follows from: the subject, and how it stands.
type cause struct {
	subject timeline.Subject
	via     string
	arrival
	reached
}

func (s *spreader) causeOf(a arrival) cause {
	return cause{a.at, FindingID(s.q.inc.ID, a.at), a, *s.reach[a.at]}
}

// arrive records that a subject is exposed, or may be, by what another one is.
func (s *spreader) arrive(c cause, to timeline.Subject, f timeline.Fact, v Verdict, rule, because string) {
	s.add(c, arrival{at: to, content: v, judged: judged{Fact: f, verdict: v, rule: rule, because: because}})
}

func (s *spreader) add(c cause, a arrival) {
	a.channel, a.key, a.via = c.channel, "spread/"+c.via, c.via
	a.since = max(a.Span.From, c.since)
	if a.short = "was exposed"; a.verdict != Exposed {
		a.short = "may have been exposed"
	}
	k := arrivalKey{a.at, a.rule, a.via, a.Path, a.Line, a.Item.Artifact}
	if old, ok := s.arrived[k]; ok && (old.verdict.rank() < a.verdict.rank() || old.verdict == a.verdict && old.since <= a.since) {
		return
	} else if !ok {
		if a.at == c.subject || s.leads(a.at, c.subject) {
			return // it would be its own reason
		}
		s.order = append(s.order, k)
	}
	s.arrived[k] = a
	s.improve(a, c.subject)
	s.next = append(s.next, a)
}

// leads reports whether the exposure of from follows from that of to.
func (s *spreader) leads(to, from timeline.Subject) bool {
	for range 1000 {
		r := s.reach[from]
		if r == nil || r.by.IsZero() {
			return false
		}
		if from = r.by; from == to {
			return true
		}
	}
	return false
}

// round carries arrivals one step on.
func (s *spreader) round(now []arrival) error {
	slices.SortStableFunc(now, compareArrivals)
	if err := s.fetch(now); err != nil {
		return err
	}
	for _, a := range now {
		c := s.causeOf(a)
		s.built(c)
		s.served(c)
		stands := standing{c.sure, c.maybe, c.best.verdict}
		if s.carried[a.at] == stands {
			continue
		}
		s.carried[a.at] = stands
		s.step(s.causeOf(c.best))
	}
	return s.err
}

// standing is what of a subject was carried on.
type standing struct {
	sure, maybe int64
	verdict     Verdict
}

// step carries on how a subject stands.
func (s *spreader) step(c cause) {
	switch c.subject.Kind {
	case timeline.Job:
		s.toRunner(c)
	case timeline.Host:
		s.toLaterJobs(c)
		s.toGuests(c)
	case timeline.Container:
		s.toHost(c)
	case timeline.Image:
		s.toTwins(c)
		s.toPullers(c)
		s.toNamed(c)
		s.toDerived(c)
	case timeline.Cache:
		s.toConsumers(c)
	case timeline.Client, timeline.Source:
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
