package matchers

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pulltrail/timeline"
)

// namesOf lists the names with tags that an image had, each with the time from
// which.
func (s *spreader) namesOf(image timeline.Subject, since int64) map[string]int64 {
	names := map[string]int64{}
	note := func(name string, from int64) {
		if timeline.Split(name).Version == "" {
			return
		}
		if old, ok := names[name]; !ok || from < old {
			names[name] = from
		}
	}
	if timeline.SHA256(image.ID) == "" {
		note(image.ID, since)
	}
	for name, from := range s.images.calls[image] {
		note(name, max(since, from))
	}
	for _, d := range s.identity(image) {
		for _, l := range s.images.names[d] {
			note(l.From, max(since, l.Span.From))
		}
		for _, f := range s.images.holders[d] {
			if f.Parts.Type == "image" && f.Parts.Version != "" {
				note(withoutDigest(f), max(since, f.Span.From))
			}
		}
	}
	return names
}

// toNamed: who got or asked for a name that the image had, and shows no digest,
// may have got it. Names move, so it is possible, no more.
func (s *spreader) toNamed(c cause) {
	mine := map[string]bool{}
	for _, d := range s.identity(c.subject) {
		mine[d] = true
	}
	names := s.namesOf(c.subject, c.since)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		parts := timeline.Split(name)
		if rules, mapped := s.q.imageRules(parts.Name); rules != nil && mapped && c.arrival.via == "" {
			continue // the incident's window decides
		}
		cache, _ := cacheOf(c.subject, timeline.SharedCache+name)
		for _, l := range s.links.used[cache] { // layers reused from the image
			if who, err := timeline.ParseSubject(l.From); err == nil && l.Span.To >= names[name] {
				s.arrive(c, who, s.linkFact(c, who, l), Possible, ruleRestored, fmt.Sprintf("took layers from %s, a name that %s had", name, short(c.subject.String())))
			}
		}
		all := s.images.named[parts.Name]
		for _, f := range all {
			if f.Parts.Version != parts.Version || f.Span.To < names[name] || s.madeBy(c.subject, f) || !consumes(f.Action) || f.Subject.Kind == timeline.Image {
				continue
			}
			if len(mine) > 0 && (s.otherImage(f, mine) || s.settled(f, all, mine)) {
				continue
			}
			s.place(c, &arrival{content: Possible, judged: judged{
				Fact: f, verdict: Possible, rule: ruleName,
				because: fmt.Sprintf("%s %s, a name that %s had; which image came is not known", verb(f.Action), short(f.Item.Artifact), short(c.subject.String())),
			}})
		}
	}
}

// settled reports whether another line says which image came by that name, and
// it is another one: an answer of the same command, or what the runtime of the
// same host finished right after the registry had served it.
func (s *spreader) settled(f *timeline.Fact, all []*timeline.Fact, mine map[string]bool) bool {
	for _, g := range all {
		if g.Parts.Version != f.Parts.Version || !s.otherImage(g, mine) || !came(g.Action) {
			continue
		}
		if f.Op != 0 && g.Source == f.Source && g.Op == f.Op {
			return true
		}
		if f.Subject.Kind != timeline.Client || f.Span.From == timeline.Beginning || g.Span.From < f.Span.From-pullClock || g.Span.To > f.Span.To+pullTime {
			continue
		}
		if host, sure := s.m.clients.at(f.Subject.ID, f.Span); sure && g.Subject == (timeline.Subject{Kind: timeline.Host, ID: host[0]}) {
			return true
		}
	}
	return false
}

const (
	pullTime  = int64(10 * time.Minute) // between a registry's answer and the end of the pull
	pullClock = int64(2 * time.Second)  // by which the clocks of registry and host may differ
)

// came reports whether an action says that an image came over, or was there.
func came(a timeline.Action) bool {
	return a == timeline.Pull || a == timeline.Present || a == timeline.Cached || a == timeline.Run
}

// consumes reports whether an action gets an image, or asks for it.
func consumes(a timeline.Action) bool {
	switch a {
	case timeline.Require, timeline.Resolve, timeline.Check, timeline.Cached, timeline.Pull, timeline.Present, timeline.Run, timeline.Download, timeline.Install:
		return true
	}
	return false
}

// otherImage reports whether a fact shows which image came: this one, which was
// judged by its digest, or another. That an image ID is no manifest says
// nothing, unless documents join the two; nor does a layer.
func (s *spreader) otherImage(f *timeline.Fact, mine map[string]bool) bool {
	id := false
	for _, d := range f.Item.Digests {
		switch {
		case mine[d.Value]:
			return true
		case d.Role == timeline.Layer || d.Role == timeline.Diff || d.Role == timeline.File:
		case d.Role != timeline.Config || len(s.m.holds.parents(d.Value)) > 0:
			return true
		default:
			id = true
		}
	}
	return id && s.knowsConfig(mine)
}

func (s *spreader) knowsConfig(mine map[string]bool) bool {
	for d := range mine {
		for _, f := range s.images.holders[d] {
			for _, fd := range f.Item.Digests {
				if fd.Value == d && fd.Role == timeline.Config {
					return true
				}
			}
		}
	}
	return false
}
