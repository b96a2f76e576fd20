package matchers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"pulltrail/timeline"
)

// images is what spread has read of images so far.
type images struct {
	names   map[string][]timeline.LinkRow         // by digest
	made    map[timeline.Subject][]*timeline.Fact // by who built or pushed
	holders map[string][]*timeline.Fact           // by digest
	named   map[string][]*timeline.Fact           // by name without tag
	extra   map[timeline.Subject][]string         // digests that lines give the image besides those that documents join
	calls   map[timeline.Subject]map[string]int64 // names that makers gave an image, and from when
}

func newImages(links []timeline.LinkRow) images {
	im := images{
		names: map[string][]timeline.LinkRow{}, made: map[timeline.Subject][]*timeline.Fact{}, holders: map[string][]*timeline.Fact{},
		named: map[string][]*timeline.Fact{}, extra: map[timeline.Subject][]string{}, calls: map[timeline.Subject]map[string]int64{},
	}
	for _, l := range links {
		if l.Relation == timeline.Names {
			im.names[l.To] = append(im.names[l.To], l)
		}
	}
	return im
}

// fetch reads what a round needs, all of it at once: what its subjects made,
// who has the images that they are or made, and who asked for those by name.
func (s *spreader) fetch(now []*arrival) error {
	var who []timeline.Subject
	for _, a := range now {
		if _, ok := s.images.made[a.at]; !ok && a.at.Kind != timeline.Image {
			s.images.made[a.at] = nil
			who = append(append(who, a.at), s.addresses(a.at)...)
		}
	}
	made, err := s.m.r.made(who)
	if err != nil {
		return err
	}
	var digests []string
	for _, f := range made {
		by := s.doer(f)
		s.images.made[by] = append(s.images.made[by], f)
		if d := builtDigest(f); d != "" {
			digests = append(digests, s.m.holds.same(d)...)
		} else {
			for _, d := range f.Item.Digests {
				digests = append(digests, d.Value)
			}
		}
	}
	for _, a := range now {
		if a.at.Kind == timeline.Image {
			digests = append(digests, s.identity(a.at)...)
		}
	}
	if err := s.fetchHolders(digests); err != nil {
		return err
	}
	if err := s.alsoCalled(now); err != nil {
		return err
	}
	return s.fetchNamed(now)
}

// alsoCalled finds the digests that lines give an image together with the one
// that it is known by.
func (s *spreader) alsoCalled(now []*arrival) error {
	var digests []string
	for _, a := range now {
		if a.at.Kind != timeline.Image {
			continue
		}
		one := func(d string) bool { return d == a.at.ID }
		for _, d := range slices.Sorted(maps.Keys(joined(s.images.holders[a.at.ID], one))) {
			for _, same := range s.m.holds.same(d) {
				if !slices.Contains(s.identity(a.at), same) {
					s.images.extra[a.at] = append(s.images.extra[a.at], same)
					digests = append(digests, same)
				}
			}
		}
	}
	return s.fetchHolders(digests)
}

func (s *spreader) fetchHolders(digests []string) error {
	wanted := map[string]bool{}
	var more []string
	for _, d := range digests {
		if _, ok := s.images.holders[d]; !ok {
			s.images.holders[d], wanted[d] = nil, true
			more = append(more, d)
		}
	}
	facts, err := s.m.r.with(more)
	if err != nil {
		return err
	}
	for _, f := range facts {
		for _, d := range f.Item.Digests {
			if wanted[d.Value] {
				s.images.holders[d.Value] = append(s.images.holders[d.Value], f)
			}
		}
	}
	return nil
}

// doer is the subject of a fact; a client of the inventory is its host.
func (s *spreader) doer(f *timeline.Fact) timeline.Subject {
	if f.Subject.Kind == timeline.Client {
		if host, sure := s.m.clients.at(f.Subject.ID, f.Span); sure {
			return timeline.Subject{Kind: timeline.Host, ID: host[0]}
		}
	}
	return f.Subject
}

// addresses are those that a host had, as clients of a registry.
func (s *spreader) addresses(host timeline.Subject) []timeline.Subject {
	var out []timeline.Subject
	if host.Kind == timeline.Host {
		for _, row := range s.m.byHost[host.ID] {
			if c := (timeline.Subject{Kind: timeline.Client, ID: row.Address}); row.Address != "" && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

func (s *spreader) fetchNamed(now []*arrival) error {
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
		if twin := (timeline.Subject{Kind: timeline.Image, ID: d}); twin != c.subject && s.m.people.find(twin) != nil {
			s.arrive(c, twin, c.Fact, c.verdict, ruleSame, fmt.Sprintf("is the same image as %s", short(c.subject.String())))
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
	all := s.identity(c.subject)
	for _, d := range all {
		for _, f := range s.images.holders[d] {
			if seen[keyOf(f)] || f.Subject.Kind == timeline.Image || s.madeBy(c.subject, f) || f.Action == timeline.Hold || f.Action == timeline.Contact {
				continue
			}
			seen[keyOf(f)] = true
			a := &arrival{content: Possible, judged: judged{Fact: f, verdict: Possible, rule: rulePuller}}
			if c.verdict == Exposed && !anotherPlatform(f, func(d string) bool { return slices.Contains(all, d) }) {
				a.verdict, a.content = exact(f.Action, true), Exposed
			}
			a.because = fmt.Sprintf("%s %s, which %s", verb(f.Action), short(f.Item.Artifact), c.because)
			s.place(c, a)
		}
	}
}

// makes reports whether an action brings an image into being, or names it.
func makes(a timeline.Action) bool {
	return a == timeline.Build || a == timeline.Push || a == timeline.Tag
}

// maker is who made the image with these digests: who built it, else who named
// or pushed it first; none when no line says.
func (s *spreader) maker(digests []string) timeline.Subject {
	var first *timeline.Fact
	for _, d := range digests {
		for i := range s.images.holders[d] {
			f := s.images.holders[d][i]
			if !makes(f.Action) || f.Subject.Kind == timeline.Image {
				continue
			}
			if first == nil || cmp.Or(cmpBool(f.Action == timeline.Build, first.Action == timeline.Build),
				cmp.Compare(f.Span.From, first.Span.From), origin(f, first)) < 0 {
				first = f
			}
		}
	}
	if first == nil {
		return timeline.Subject{}
	}
	return s.doer(first)
}

// cmpBool puts what is true first.
func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// madeBy reports whether a fact is what its maker says of an image.
func (s *spreader) madeBy(image timeline.Subject, f *timeline.Fact) bool {
	if !makes(f.Action) {
		return false
	}
	by := s.maker(s.identity(image))
	return by.IsZero() || by == s.doer(f)
}

// place gives an arrival to the subject of its fact: a client of the inventory
// is its host, and each of several hosts behind one address may have done it.
func (s *spreader) place(c cause, a *arrival) {
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
		one := *a
		one.at = timeline.Subject{Kind: timeline.Host, ID: h}
		one.verdict, one.content, one.rule = Possible, Possible, "behind-one-address"
		one.because = fmt.Sprintf("one of the %d hosts behind %s %s", len(hosts), a.at.ID, a.because)
		s.add(c, &one)
	}
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
		for _, id := range s.m.holds.with(d) {
			if !slices.Contains(own, id) {
				s.derive(c, id, holding[d].Fact, Exposed, fmt.Sprintf("has the layer %s, which holds %s", d, holding[d].Item.Artifact))
			}
		}
	}
	if len(holding) > 0 {
		return
	}
	v := Possible
	if c.verdict == Exposed {
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

func (s *spreader) derive(c cause, id string, f *timeline.Fact, v Verdict, because string) {
	if known, _, _ := s.m.holds.of([]timeline.Digest{{Value: id}}); known == Clear {
		return // its content is known, and decides
	}
	s.arrive(c, s.m.imageOf(id), f, v, ruleLayer, because)
}

// imageOf is the subject of an image: the one that is known under one of its
// digests, else the digest itself.
func (m *matching) imageOf(digest string) timeline.Subject {
	for _, d := range m.holds.same(digest) {
		s := timeline.Subject{Kind: timeline.Image, ID: d}
		if m.people.find(s) != nil {
			return s
		}
	}
	return timeline.Subject{Kind: timeline.Image, ID: digest}
}
