package matchers

import (
	"fmt"
	"strings"

	"pulltrail/timeline"
)

// placed are the links by both ends: what runs where, what is one with what,
// and which caches were used and written.
type placed struct {
	on       map[timeline.Subject][]timeline.LinkRow // job or container → host, by both
	is       map[timeline.Subject][]timeline.LinkRow // by both
	used     map[timeline.Subject][]timeline.LinkRow // by cache
	saved    map[timeline.Subject][]timeline.LinkRow // by who wrote it
	reaching map[timeline.Subject][]timeline.LinkRow // by container: parts of its host
}

func newPlaced(links []timeline.LinkRow) placed {
	p := placed{
		on: map[timeline.Subject][]timeline.LinkRow{}, is: map[timeline.Subject][]timeline.LinkRow{},
		used: map[timeline.Subject][]timeline.LinkRow{}, saved: map[timeline.Subject][]timeline.LinkRow{},
		reaching: map[timeline.Subject][]timeline.LinkRow{},
	}
	for _, l := range links {
		from, err := timeline.ParseSubject(l.From)
		if err != nil {
			continue
		}
		switch l.Relation {
		case timeline.On, timeline.Is:
			to, err := timeline.ParseSubject(l.To)
			if err != nil || to == from {
				continue
			}
			by := p.on
			if l.Relation == timeline.Is {
				by = p.is
			}
			by[from] = append(by[from], l)
			by[to] = append(by[to], l)
		case timeline.Uses:
			if strings.HasPrefix(l.To, timeline.HostEnd) {
				p.reaching[from] = append(p.reaching[from], l)
			} else if c, ok := cacheOf(from, l.To); ok {
				p.used[c] = append(p.used[c], l)
			}
		case timeline.Saves:
			p.saved[from] = append(p.saved[from], l)
		case timeline.Names, timeline.Holds, timeline.Mirrors:
		}
	}
	return p
}

// cacheOf is the cache that a key names for a job: keys are those of a project,
// unless the key is the name of an image.
func cacheOf(who timeline.Subject, end string) (timeline.Subject, bool) {
	key, ok := strings.CutPrefix(end, timeline.CacheEnd)
	if !ok || key == "" {
		return timeline.Subject{}, false
	}
	if !strings.HasPrefix(end, timeline.SharedCache) {
		_, scope, _ := strings.Cut(projectOf(who).String(), ":")
		key = scope + "/caches/" + key
	}
	return timeline.Subject{Kind: timeline.Cache, ID: key}, true
}

// linkFact is a link as a fact: where it stands, and what is said to have come
// by it. The line proves no action.
func (s *spreader) linkFact(c cause, who timeline.Subject, l timeline.LinkRow) *timeline.Fact {
	s.linked--
	return &timeline.Fact{
		Event: s.linked, Subject: who, Item: timeline.Item{Artifact: c.Item.Artifact}, Parts: c.Parts,
		Span: l.Span, Source: l.Source, SHA256: l.SHA256, Origin: l.Origin,
	}
}

// other returns the end of a link that is not s.
func other(l timeline.LinkRow, s timeline.Subject) (timeline.Subject, bool) {
	end := l.From
	if end == s.String() {
		end = l.To
	}
	o, err := timeline.ParseSubject(end)
	return o, err == nil && o != s
}

// toRunner: what a job installs on a self-hosted runner stays there.
func (s *spreader) toRunner(c cause) {
	for _, l := range s.links.on[c.subject] {
		host, ok := other(l, c.subject)
		if !ok || host.Kind != timeline.Host {
			continue
		}
		s.arrive(c, host, c.Fact, c.verdict, ruleRunner, fmt.Sprintf("ran %s, which %s", c.subject, c.short))
	}
}

// toLaterJobs: a job that ran on an exposed machine afterwards met what was
// left there; whether it used it is not known.
func (s *spreader) toLaterJobs(c cause) {
	if c.verdict != Exposed {
		return
	}
	for _, l := range s.links.on[c.subject] {
		job, ok := other(l, c.subject)
		if ok && job.Kind == timeline.Job && l.Span.To >= c.since {
			s.arrive(c, job, s.linkFact(c, job, l), Possible, ruleLater, fmt.Sprintf("ran on %s after it was exposed", c.subject))
		}
	}
}

// toGuests: what reads the environment of every process of a host reads that of
// its containers.
func (s *spreader) toGuests(c cause) {
	if c.verdict != Exposed || !s.wide {
		return
	}
	for _, l := range s.links.on[c.subject] {
		guest, ok := other(l, c.subject)
		if ok && guest.Kind == timeline.Container && l.Span.To >= c.since {
			s.arrive(c, guest, s.linkFact(c, guest, l), Possible, ruleGuest,
				fmt.Sprintf("ran on %s, which is exposed; the release reads the environment of every process that it can", c.subject))
		}
	}
}

// toHost: a container's image lay in the store of its host. That the host could
// be reached from inside needs evidence of its own.
func (s *spreader) toHost(c cause) {
	if c.subject.Kind != timeline.Container {
		return
	}
	for _, l := range s.links.on[c.subject] {
		host, ok := other(l, c.subject)
		if !ok || host.Kind != timeline.Host {
			continue
		}
		if c.verdict == Exposed {
			for _, access := range s.links.reaching[c.subject] {
				s.arrive(c, host, s.linkFact(c, host, access), Exposed, ruleHost,
					fmt.Sprintf("ran %s with %s, which %s", c.subject, strings.TrimPrefix(access.To, timeline.HostEnd), c.short))
			}
		}
		if c.rule == ruleCutID {
			s.arrive(c, host, c.Fact, Possible, ruleHost, fmt.Sprintf("started %s, which %s", c.subject, c.because))
		}
		if c.Parts.Type != "image" || c.verdict.rank() > Pulled.rank() {
			continue
		}
		s.arrive(c, host, c.Fact, Pulled, ruleHost,
			fmt.Sprintf("holds %s: %s ran from it, and nothing shows that it could reach the host itself", short(c.Item.Artifact), c.subject))
	}
}

// toSame: two names of one container, or of a client and its host. A name that
// only the link knows is no subject of its own, and a host is not what an
// address did at another time.
func (s *spreader) toSame(c cause) {
	for _, l := range s.links.is[c.subject] {
		same, ok := other(l, c.subject)
		if !ok || c.subject.Kind == timeline.Host || s.m.people.find(same) == nil {
			continue
		}
		s.arrive(c, same, c.Fact, c.verdict, ruleSame, fmt.Sprintf("is %s, which %s", c.subject, c.short))
	}
}

// toCaches: what a job or host wrote into a cache may hold what it got.
func (s *spreader) toCaches(c cause) {
	for _, l := range s.links.saved[c.subject] {
		if cache, ok := cacheOf(c.subject, l.To); ok && l.Span.To >= c.since {
			s.arrive(c, cache, s.linkFact(c, cache, l), Possible, ruleSaved, fmt.Sprintf("was written by %s after it %s", c.subject, c.short))
		}
	}
}

// toConsumers: who gets a cache later may get what is in it.
func (s *spreader) toConsumers(c cause) {
	for _, l := range s.links.used[c.subject] {
		who, err := timeline.ParseSubject(l.From)
		if err == nil && l.Span.To >= c.since {
			s.arrive(c, who, s.linkFact(c, who, l), Possible, ruleRestored, fmt.Sprintf("got %s, which %s", c.subject, c.because))
		}
	}
}

// served: a registry, mirror or proxy whose log shows that it gave the release
// to a client had it, and may serve it again.
func (s *spreader) served(c cause) {
	if c.Fact.Subject.Kind != timeline.Client || c.verdict.rank() > Pulled.rank() {
		return
	}
	by, err := timeline.ParseSubject(s.m.source(c.Source).Claim)
	if err != nil || by.Kind != timeline.Host && by.Kind != timeline.Cache && by.Kind != timeline.Container || by == c.subject {
		return
	}
	switch c.Action {
	case timeline.Download, timeline.Pull, timeline.Cached, timeline.Push:
		s.arrive(c, by, c.Fact, Pulled, ruleServed, fmt.Sprintf("its log shows that %s %s %s", c.Fact.Subject, verb(c.Action), short(c.Item.Artifact)))
	}
}
