package matchers

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// machines maps the names of a machine to the one that it goes by here. Two
// names are one machine where a person states it, or evidence has both: a link,
// or a job that a record places on a runner of one name and its own log on a
// machine of another. Names that only look alike are never joined.
type machines map[string]string

func newMachines(r *record, said statements) machines {
	m := machines{}
	for _, s := range slices.SortedFunc(maps.Keys(said), compareSubjects) { // the same name whatever came first
		for _, w := range slices.Sorted(maps.Keys(said[s])) {
			if other, ok := strings.CutPrefix(w, isWord); ok && s.Kind == timeline.Host {
				m.join(s.ID, other)
			}
		}
	}
	formats := map[int64]string{}
	for _, s := range r.sources {
		formats[s.ID] = s.Format
	}
	type place struct{ runner, machine map[string]bool }
	jobs := map[string]*place{}
	for i := range r.links {
		l := &r.links[i]
		to, isHost := strings.CutPrefix(l.To, "host:")
		if from, ok := strings.CutPrefix(l.From, "host:"); ok && isHost && l.Relation == timeline.Is {
			m.join(from, to)
		}
		if l.Relation != timeline.On || !isHost || !strings.HasPrefix(l.From, "job:") {
			continue
		}
		p := jobs[l.From]
		if p == nil {
			p = &place{map[string]bool{}, map[string]bool{}}
			jobs[l.From] = p
		}
		if strings.Contains(formats[l.Source], "github-jobs") {
			p.runner[to] = true
		} else {
			p.machine[to] = true
		}
	}
	for _, job := range slices.Sorted(maps.Keys(jobs)) {
		if p := jobs[job]; len(p.runner) == 1 && len(p.machine) == 1 {
			m.join(slices.Collect(maps.Keys(p.runner))[0], slices.Collect(maps.Keys(p.machine))[0])
		}
	}
	return m
}

// join says that name is a name of the machine that goes by other.
func (m machines) join(name, other string) {
	if name, other = m.of(name), m.of(other); name != other {
		m[name] = other
	}
}

// of is the name that a machine goes by.
func (m machines) of(name string) string {
	for {
		other, ok := m[name]
		if !ok {
			return name
		}
		name = other
	}
}

// every adds the other names of the hosts among the subjects.
func (m machines) every(who []timeline.Subject) []timeline.Subject {
	all := slices.Clone(who)
	wanted := map[string]bool{}
	for _, s := range who {
		wanted[s.ID] = wanted[s.ID] || s.Kind == timeline.Host
	}
	for name := range m {
		if wanted[m.of(name)] {
			all = append(all, timeline.Subject{Kind: timeline.Host, ID: name})
		}
	}
	return all
}

// differ reports whether two machines have full names that are not the same.
func (m machines) differ(a, b string) bool {
	for _, x := range m.full(a) {
		for _, y := range m.full(b) {
			if !strings.EqualFold(x, y) {
				return true
			}
		}
	}
	return false
}

// full lists the names of a machine that have a domain.
func (m machines) full(name string) []string {
	var out []string
	if strings.Contains(name, ".") {
		out = append(out, name)
	}
	for other := range m {
		if strings.Contains(other, ".") && m.of(other) == name {
			out = append(out, other)
		}
	}
	return out
}

// subject is the subject under the name of its machine.
func (m machines) subject(s timeline.Subject) timeline.Subject {
	switch s.Kind {
	case timeline.Host:
		s.ID = m.of(s.ID)
	case timeline.Container:
		if host, rest, ok := strings.Cut(s.ID, "/"); ok && host != "k8s" {
			s.ID = m.of(host) + "/" + rest
		}
	}
	return s
}

// end is one end of a link.
func (m machines) end(text string) string {
	if s, err := timeline.ParseSubject(text); err == nil && (s.Kind == timeline.Host || s.Kind == timeline.Container) {
		return m.subject(s).String()
	}
	return text
}

// rename puts all that was read, and will be read, under one name a machine.
func (r *record) rename(m machines) {
	if r.names = m; len(m) == 0 {
		return
	}
	facts := func(list []*timeline.Fact) {
		for i := range list {
			list[i].Subject = m.subject(list[i].Subject)
		}
	}
	links := func(list []timeline.LinkRow) {
		for i := range list {
			list[i].From, list[i].To = m.end(list[i].From), m.end(list[i].To)
		}
	}
	facts(r.facts)
	links(r.links)
	for i, s := range r.subjects {
		r.subjects[i] = m.subject(s)
	}
	for i := range r.coverage {
		r.coverage[i].Subject = m.subject(r.coverage[i].Subject)
	}
	for i := range r.expected {
		r.expected[i].Subject = m.subject(r.expected[i].Subject)
	}
	for i := range r.inventory {
		r.inventory[i].Host = m.of(r.inventory[i].Host)
	}
	said := statements{}
	for s, words := range r.said {
		s = m.subject(s)
		if said[s] == nil {
			said[s] = map[string]timeline.Decision{}
		}
		maps.Copy(said[s], words)
	}
	r.said = said
	slices.SortFunc(r.subjects, compareSubjects) // they are searched, and rows stand together by subject
	r.subjects = slices.Compact(r.subjects)
	slices.SortStableFunc(r.coverage, func(a, b timeline.CoverageRow) int { return compareSubjects(a.Subject, b.Subject) })
	r.renameLater(m, facts, links)
	r.sort()
}

func (r *record) renameLater(m machines, facts func([]*timeline.Fact), links func([]timeline.LinkRow)) {
	then := func(list []*timeline.Fact, err error) ([]*timeline.Fact, error) {
		facts(list)
		return list, err
	}
	ofOps, with, made, named, more := r.ofOps, r.with, r.made, r.named, r.more
	r.ofOps = func(source int64, ops []int64) ([]*timeline.Fact, error) { return then(ofOps(source, ops)) }
	r.with = func(digests []string) ([]*timeline.Fact, error) { return then(with(digests)) }
	r.named = func(images []string) ([]*timeline.Fact, error) { return then(named(images)) }
	r.made = func(by []timeline.Subject) ([]*timeline.Fact, error) { return then(made(m.every(by))) }
	during, opaqueOf, restored := r.during, r.opaqueOf, r.restored
	r.restored = func(kind string, from int64) ([]*timeline.Fact, error) { return then(restored(kind, from)) }
	r.during = func(spans []timeline.Span) ([]*timeline.Fact, error) { return then(during(spans)) }
	r.opaqueOf = func(who []timeline.Subject) ([]*timeline.Fact, error) { return then(opaqueOf(m.every(who))) }
	endpoints := r.endpoints
	r.endpoints = func(who []timeline.Subject, want func(string) bool, yield func(timeline.Subject, string)) error {
		return endpoints(m.every(who), want, func(s timeline.Subject, endpoint string) { yield(m.subject(s), endpoint) })
	}
	r.more = func(relations ...timeline.Relation) ([]timeline.LinkRow, error) {
		list, err := more(relations...)
		links(list)
		return list, err
	}
}

// lookalikes groups hosts whose names may be those of one machine: the same in
// other letters, or one the other without its domain. Two names with different
// domains are two machines.
func (m *matching) lookalikes() map[string][]string {
	groups := map[string][]string{}
	for a := range m.people.all() {
		s := a.subject
		if s.Kind != timeline.Host {
			continue
		}
		add := func(short string) {
			if !slices.Contains(groups[short], s.ID) {
				groups[short] = append(groups[short], s.ID)
			}
		}
		address := addressOf(s.ID)
		for _, row := range m.clients[address] { // behind one several hosts may stand: each may be it
			add(shortName(row.Host))
		}
		if address != s.ID {
			add(shortName(s.ID))
		}
	}
	out := map[string][]string{}
	for _, hosts := range groups {
		if len(hosts) < 2 {
			continue
		}
		slices.Sort(hosts)
		for _, a := range hosts {
			for _, b := range hosts {
				_, other := m.said[timeline.Subject{Kind: timeline.Host, ID: a}][notWord+b]
				_, another := m.said[timeline.Subject{Kind: timeline.Host, ID: b}][notWord+a]
				if a != b && !other && !another && !m.r.names.differ(a, b) {
					out[a] = append(out[a], b)
				}
			}
		}
	}
	return out
}

// shortName is a host's name without its domain, in small letters.
func shortName(host string) string {
	short, _, _ := strings.Cut(strings.ToLower(host), ".")
	return short
}

// addressOf is the address that a host goes by in place of a name, "" for none:
// 10.20.9.5, and ip-10-20-9-5 as EC2 calls it.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/hostname-types.html
func addressOf(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	if rest, ok := strings.CutPrefix(shortName(host), "ip-"); ok {
		if a, err := netip.ParseAddr(strings.ReplaceAll(rest, "-", ".")); err == nil {
			return a.String()
		}
	}
	return ""
}

// ruleAlike is the rule of a verdict that a machine of nearly the same name has.
const ruleAlike = "same-name"

// sameNames raises hosts whose name looks like that of one that is accused: they
// may be one machine. That is a guess, so it clears nothing.
func (m *matching) sameNames() {
	m.alike = m.lookalikes()
	type raise struct {
		to string
		j  judged
	}
	var all []raise
	for _, name := range slices.Sorted(maps.Keys(m.alike)) {
		from := timeline.Subject{Kind: timeline.Host, ID: name}
		var best *judged
		known := m.of(from).judged
		for i := range known {
			if j := &known[i]; j.verdict != "" && j.verdict != Clear && (best == nil || better(j, best)) {
				best = j
			}
		}
		if best == nil {
			continue
		}
		for _, to := range m.alike[name] {
			j := *best
			if j.verdict != Unknown {
				j.verdict = Possible
			}
			j.rule, j.ask, j.answer, j.via = ruleAlike, false, false, findingID(m.q.inc.ID, from)
			j.because = fmt.Sprintf("may be the same machine as %s, which %s; %s", from, best.because, sayWhich(to, name))
			all = append(all, raise{to, j})
		}
	}
	for _, r := range all {
		a := m.of(timeline.Subject{Kind: timeline.Host, ID: r.to})
		a.judged = append(a.judged, r.j)
	}
}

// sayWhich is how a person settles whether two names are one machine.
func sayWhich(a, b string) string {
	return fmt.Sprintf("'pulltrail state host:%s is=%s --by NAME' says that it is, not=%s that it is not", a, b, b)
}
