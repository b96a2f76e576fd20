package matchers

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pulltrail/timeline"
)

// images is what spread has read of images so far.
type images struct {
	names   map[string][]timeline.LinkRow            // by digest
	made    map[timeline.Subject][]timeline.Fact     // by who built or pushed
	holders map[string][]timeline.Fact               // by digest
	named   map[string][]timeline.Fact               // by name without tag
	extra   map[timeline.Subject][]string            // digests that a builder gives the image besides those that documents join
	makers  map[timeline.Subject][]timeline.Subject  // of an image
	calls   map[timeline.Subject]map[string]struct{} // names that builders gave an image
}

func newImages(links []timeline.LinkRow) images {
	im := images{
		names: map[string][]timeline.LinkRow{}, made: map[timeline.Subject][]timeline.Fact{}, holders: map[string][]timeline.Fact{},
		named: map[string][]timeline.Fact{}, extra: map[timeline.Subject][]string{}, makers: map[timeline.Subject][]timeline.Subject{},
		calls: map[timeline.Subject]map[string]struct{}{},
	}
	for _, l := range links {
		if l.Relation == timeline.Names {
			im.names[l.To] = append(im.names[l.To], l)
		}
	}
	return im
}

// fetch reads what a round needs, all of it at once.
func (s *spreader) fetch(now []arrival) error {
	var who []timeline.Subject
	var digests []string
	for _, a := range now {
		if a.at.Kind != timeline.Image {
			if _, ok := s.images.made[a.at]; !ok {
				s.images.made[a.at] = nil
				who = append(who, a.at)
			}
			continue
		}
		for _, d := range s.identity(a.at) {
			if _, ok := s.images.holders[d]; !ok {
				s.images.holders[d] = nil
				digests = append(digests, d)
			}
		}
	}
	facts, err := s.m.r.made(who)
	if err != nil {
		return err
	}
	for _, f := range facts {
		s.images.made[f.Subject] = append(s.images.made[f.Subject], f)
	}
	if facts, err = s.m.r.with(digests); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, d := range digests {
		wanted[d] = true
	}
	for _, f := range facts {
		for _, d := range f.Item.Digests {
			if wanted[d.Value] {
				s.images.holders[d.Value] = append(s.images.holders[d.Value], f)
			}
		}
	}
	return s.fetchNamed(now)
}

func (s *spreader) fetchNamed(now []arrival) error {
	var names []string
	for _, a := range now {
		if a.at.Kind != timeline.Image {
			continue
		}
		for tagged := range s.namesOf(a.at, a.since) {
			name := timeline.Split(tagged).Name
			if _, ok := s.images.named[name]; !ok {
				s.images.named[name] = nil
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	facts, err := s.m.r.named(names)
	if err != nil {
		return err
	}
	for _, f := range facts {
		s.images.named[f.Parts.Name] = append(s.images.named[f.Parts.Name], f)
	}
	return nil
}

// identity lists the digests that an image goes by.
func (s *spreader) identity(image timeline.Subject) []string {
	if timeline.SHA256(image.ID) == "" {
		return nil // only its name is known
	}
	all := s.m.holds.same(image.ID)
	for _, d := range s.images.extra[image] {
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

// toTwins: one image may be known by its manifest in one place, and by its
// config in another.
func (s *spreader) toTwins(c cause) {
	for _, d := range s.identity(c.subject) {
		if twin := (timeline.Subject{Kind: timeline.Image, ID: d}); twin != c.subject && s.m.about[twin] != nil {
			s.makesToo(c.subject, twin)
			s.arrive(c, twin, c.Fact, c.verdict, ruleSame, fmt.Sprintf("is the same image as %s", short(c.subject.String())))
		}
	}
}

func (s *spreader) makesToo(image, twin timeline.Subject) {
	for _, who := range s.images.makers[image] {
		if !slices.Contains(s.images.makers[twin], who) {
			s.images.makers[twin] = append(s.images.makers[twin], who)
		}
	}
}

// toPullers: whoever pulled or ran exactly this image has it, whenever that was.
// What the incident or a content list says of an image was judged before.
func (s *spreader) toPullers(c cause) {
	if c.arrival.via == "" {
		return
	}
	seen := map[factKey]bool{}
	for _, d := range s.identity(c.subject) {
		for _, f := range s.images.holders[d] {
			if seen[keyOf(f)] || f.Subject.Kind == timeline.Image || s.madeBy(c.subject, f) || f.Action == timeline.Hold || f.Action == timeline.Contact {
				continue
			}
			seen[keyOf(f)] = true
			a := arrival{content: Possible, judged: judged{Fact: f, verdict: Possible, rule: rulePuller}}
			if c.sure != timeline.Forever {
				a.verdict, a.content = exact(f.Action, true), Exposed
			}
			a.because = fmt.Sprintf("%s %s, which %s", verb(f.Action), short(f.Item.Artifact), c.because)
			s.place(c, a)
		}
	}
}

// madeBy reports whether a fact is what its maker says of an image.
func (s *spreader) madeBy(image timeline.Subject, f timeline.Fact) bool {
	return (f.Action == timeline.Build || f.Action == timeline.Push || f.Action == timeline.Tag) && slices.Contains(s.images.makers[image], f.Subject)
}

// place gives an arrival to the subject of its fact: a client of the inventory
// is its host, and each of several hosts behind one address may have done it.
func (s *spreader) place(c cause, a arrival) {
	a.at = a.Fact.Subject
	if a.at.Kind != timeline.Client {
		s.add(c, a)
		return
	}
	hosts, sure := s.m.clients.at(a.at.ID, a.Span)
	if sure {
		a.at = timeline.Subject{Kind: timeline.Host, ID: hosts[0]}
		s.add(c, a)
		return
	}
	s.add(c, a)
	for _, h := range hosts {
		one := a
		one.at = timeline.Subject{Kind: timeline.Host, ID: h}
		one.verdict, one.content, one.rule = Possible, Possible, "behind-one-address"
		one.because = fmt.Sprintf("one of the %d hosts behind %s %s", len(hosts), a.at.ID, a.because)
		s.add(c, one)
	}
}

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
	for name := range s.images.calls[image] {
		note(name, since)
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
	names := s.namesOf(c.subject, c.maybe)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		parts := timeline.Split(name)
		if rules, mapped := s.q.imageRules(parts.Name); rules != nil && mapped && c.arrival.via == "" {
			continue // the incident's window decides
		}
		all := s.images.named[parts.Name]
		for _, f := range all {
			if f.Parts.Version != parts.Version || f.Span.To < names[name] || s.madeBy(c.subject, f) || !consumes(f.Action) || f.Subject.Kind == timeline.Image {
				continue
			}
			if len(mine) > 0 && (s.otherImage(f, mine) || s.settled(f, all, mine)) {
				continue
			}
			s.place(c, arrival{content: Possible, judged: judged{
				Fact: f, verdict: Possible, rule: ruleName,
				because: fmt.Sprintf("%s %s, a name that %s had; which image came is not known", verb(f.Action), short(f.Item.Artifact), short(c.subject.String())),
			}})
		}
	}
}

// settled reports whether another line says which image came by that name, and
// it is another one: an answer of the same command, or what the runtime of the
// same host finished right after the registry had served it.
func (s *spreader) settled(f timeline.Fact, all []timeline.Fact, mine map[string]bool) bool {
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
func (s *spreader) otherImage(f timeline.Fact, mine map[string]bool) bool {
	id := false
	for _, d := range f.Item.Digests {
		switch {
		case mine[d.Value]:
			return true
		case d.Role == timeline.Layer || d.Role == timeline.Diff || d.Role == timeline.File:
		case d.Role != timeline.Config || len(s.m.holds.up[d.Value]) > 0:
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

// toDerived: an image whose layers include the one that holds the package was
// built on it, whenever that was; so was one that has all its layers and more.
// Sharing any other layer is nothing.
func (s *spreader) toDerived(c cause) {
	own := s.identity(c.subject)
	holding := map[string]judged{}
	for _, j := range s.m.of(c.subject).judged {
		for _, d := range j.Item.Digests {
			if _, ok := holding[d.Value]; !ok && j.verdict == Exposed && d.Role == timeline.Diff {
				holding[d.Value] = j
			}
		}
	}
	for _, d := range slices.Sorted(maps.Keys(holding)) {
		for _, id := range s.m.holds.onDiff[d] {
			if !slices.Contains(own, id) {
				s.derive(c, id, holding[d].Fact, Exposed, fmt.Sprintf("has the layer %s, which holds %s", d, holding[d].Item.Artifact))
			}
		}
	}
	if len(holding) > 0 {
		return
	}
	v := Possible
	if c.sure != timeline.Forever {
		v = Exposed
	}
	for _, id := range own {
		for _, above := range s.m.holds.builtOn(id) {
			if !slices.Contains(own, above) {
				because := "has all layers of " + short(c.subject.String())
				if c.rule != ruleLayer {
					because += ", which " + c.because
				}
				s.derive(c, above, c.Fact, v, because)
			}
		}
	}
}

func (s *spreader) derive(c cause, id string, f timeline.Fact, v Verdict, because string) {
	if known, _, _ := s.m.holds.of([]timeline.Digest{{Value: id}}); known == Clear {
		return // its content is known, and decides
	}
	s.arrive(c, s.m.imageOf(id), f, v, ruleLayer, because)
}

// builtOn lists the images that have all layers of an image.
func (c *contents) builtOn(image string) []string {
	layers := c.diffs[image]
	if len(layers) == 0 {
		return nil
	}
	fewest := slices.MinFunc(layers, func(a, b string) int { return len(c.onDiff[a]) - len(c.onDiff[b]) })
	var out []string
	for _, id := range c.onDiff[fewest] {
		has := map[string]bool{}
		for _, d := range c.diffs[id] {
			has[d] = true
		}
		if id != image && !slices.ContainsFunc(layers, func(d string) bool { return !has[d] }) {
			out = append(out, id)
		}
	}
	return out
}

// imageOf is the subject of an image: the one that is known under one of its
// digests, else the digest itself.
func (m *matching) imageOf(digest string) timeline.Subject {
	for _, d := range m.holds.same(digest) {
		s := timeline.Subject{Kind: timeline.Image, ID: d}
		if m.about[s] != nil {
			return s
		}
	}
	return timeline.Subject{Kind: timeline.Image, ID: digest}
}
