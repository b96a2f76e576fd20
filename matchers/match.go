package matchers

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"pulltrail/timeline"
)

// Match answers an incident from the timeline: exactly one finding for each
// subject, what was covered and what was not. It reads no log.
func Match(db *timeline.DB, inc *Incident) (*Result, error) {
	db.Prepare()
	_, mirrors, err := db.Inventory()
	if err != nil {
		return nil, err
	}
	q := newQuestion(inc, mirrors)
	r, err := gather(db, q)
	if err != nil {
		return nil, err
	}
	res, err := decide(q, r)
	if err != nil {
		return nil, err
	}
	return res, res.dispositions(db)
}

// matching is one run of the matcher.
type matching struct {
	q        *question
	r        *record
	sources  []timeline.SourceRow // by number; the zero row is none
	byHost   map[string][]timeline.InventoryRow
	people   *people
	clients  clientMap
	holds    *contents
	covers   *covers
	carriers *carriers                               // images that carry the release on
	ops      map[int64]map[int64]timeline.Op         // by source
	asked    map[timeline.OpKey]timeline.Op          // those of asks
	known    map[projectKind]use                     // who is known to use a listed package
	silent   map[jobKind]bool                        // jobs with commands that name nothing, in windows that are open
	late     map[timeline.Subject]int64              // engines of which nothing is known before a time
	made     int64                                   // facts that stand for what is no event
	wrote    map[timeline.Subject][]timeline.LinkRow // who wrote a cache; nil before it is asked for
	gaps     []Gap                                   // of the canary
	said     statements                              // what people state of subjects
	against  map[timeline.Subject]map[string]string  // evidence against what is stated of hosts, by its word
	alike    map[string][]string                     // hosts by a host whose name looks like theirs
	err      error
}

// cleared is an ask that was answered, with what answers it.
type cleared struct {
	ask judged
	by  []Evidence
	how string
}

func decide(q *question, r *record) (*Result, error) {
	m := &matching{q: q, r: r, people: newPeople(r), ops: map[int64]map[int64]timeline.Op{}, said: r.said}
	for _, s := range r.sources {
		for int64(len(m.sources)) <= s.ID {
			m.sources = append(m.sources, timeline.SourceRow{})
		}
		m.sources[s.ID] = s
	}
	m.byHost = map[string][]timeline.InventoryRow{}
	for _, row := range r.inventory {
		m.byHost[row.Host] = append(m.byHost[row.Host], row)
	}
	m.clients = newClientMap(r.inventory)
	hushed := make(chan error, 1)
	go func() { hushed <- m.hush() }() // nobody asks before the gaps are counted
	all := make([][]judged, len(r.facts))
	for i, f := range r.facts {
		all[i] = q.judge(f)
	}
	all, err := m.learn(all)
	if err != nil {
		return nil, err
	}
	m.holds = newContents(q, r, m.people, all)
	m.invite()
	for i, f := range r.facts {
		m.place(f, all[i])
	}
	if err := m.cutOfListed(); err != nil {
		return nil, err
	}
	if err := m.opaque(); err != nil {
		return nil, err
	}
	if err := m.gainsay(); err != nil {
		return nil, err
	}
	r.seen = nil
	if err := m.derived(); err != nil {
		return nil, err
	}
	if err := m.answers(); err != nil {
		return nil, err
	}
	if err := m.spread(); err != nil {
		return nil, err
	}
	if err := m.engines(); err != nil {
		return nil, err
	}
	if err := m.exporters(); err != nil {
		return nil, err
	}
	m.sameNames()
	m.namesakes()
	r.facts, m.ops, m.asked, m.holds.facts, m.known = nil, nil, nil, nil, nil // what counts of them is placed
	if err := <-hushed; err != nil {
		return nil, err
	}
	m.covers = newCovers(m)
	res := m.findings()
	way := make(chan error, 1)
	go func() { way <- m.egress(res, r.endpoints) }() // of findings it changes nothing that gaps are made of
	m.covers.conclude(res)
	if err := <-way; m.err == nil {
		m.err = err
	}
	return res, m.err
}

func (m *matching) of(s timeline.Subject) *about { return m.people.of(s) }

// source is a source by its number, the zero row when nothing is known of it.
func (m *matching) source(id int64) *timeline.SourceRow {
	if id < 0 || id >= int64(len(m.sources)) {
		return &timeline.SourceRow{}
	}
	return &m.sources[id]
}

// invite finds out who gets a verdict: the subjects of the evidence, those of
// the inventory, self-hosted runners and nodes, and those of whom people state
// something.
func (m *matching) invite() {
	from, to, _ := m.q.union()
	for i := range m.people.known {
		s := m.people.known[i].subject
		if s.Kind == timeline.Job && m.people.hasJobsAt(i) {
			continue // an attempt whose jobs are subjects is none itself
		}
		if s.Kind == timeline.Client {
			if _, ok := m.clients.settled(s.ID, from, to); ok {
				continue // reported as its host
			}
		}
		m.people.known[i].asked = true
	}
	for _, row := range m.r.inventory {
		m.of(timeline.Subject{Kind: timeline.Host, ID: row.Host})
	}
	for s, words := range m.said {
		if !isProject(s, words) {
			m.of(s)
		}
	}
	for i := range m.r.links {
		l := &m.r.links[i]
		if l.Relation != timeline.On {
			continue
		}
		from, err1 := timeline.ParseSubject(l.From)
		to, err2 := timeline.ParseSubject(l.To)
		if err1 == nil && err2 == nil {
			m.of(from).on = to.ID
			m.of(to)
		}
	}
}

// whose is the subject that a fact is counted for.
func (m *matching) whose(f *timeline.Fact) timeline.Subject {
	if f.Subject.Kind == timeline.Client {
		if hosts, sure := m.clients.at(f.Subject.ID, f.Span); sure {
			return timeline.Subject{Kind: timeline.Host, ID: hosts[0]}
		}
	}
	return f.Subject
}

// place gives a fact to its subject: a client of the inventory is its host,
// several hosts behind one address may each have done it.
func (m *matching) place(f *timeline.Fact, js []judged) {
	if len(js) == 0 {
		return
	}
	who := m.whose(f)
	a := m.of(who)
	a.judged = append(a.judged, js...)
	if who != f.Subject || f.Subject.Kind != timeline.Client {
		return
	}
	hosts, _ := m.clients.at(f.Subject.ID, f.Span)
	for _, h := range hosts {
		host := m.of(timeline.Subject{Kind: timeline.Host, ID: h})
		for _, j := range js {
			if j.verdict == "" || j.verdict == Unknown {
				continue // a guess may raise and never clears
			}
			j.verdict, j.ask, j.answer = Possible, false, false
			j.rule = "behind-one-address"
			j.because = fmt.Sprintf("one of the %d hosts behind %s %s", len(hosts), f.Subject.ID, j.because)
			host.judged = append(host.judged, j)
		}
	}
}

// findings makes the finding of each subject.
func (m *matching) findings() *Result {
	res := &Result{Incident: m.q.inc, Sources: m.r.sources, Counts: map[Verdict]int{}}
	for _, v := range Verdicts {
		res.Counts[v] = 0
	}
	for _, row := range m.r.inventory {
		if !slices.Contains(res.Inventory, row.File) {
			res.Inventory = append(res.Inventory, row.File)
		}
	}
	slices.Sort(res.Inventory)
	res.Findings = m.conclude(m.people.sorted())
	ranks := make([]int, len(res.Findings))
	for i := range res.Findings {
		v := res.Findings[i].Verdict
		res.Counts[v]++
		ranks[i] = v.rank()
	}
	arrange(res.Findings, ranks)
	return res
}

// conclude makes the findings, on every core.
func (m *matching) conclude(order []*about) []Finding {
	out := make([]Finding, len(order))
	const most = 512 // subjects that are taken at once
	var taken atomic.Int64
	var wg sync.WaitGroup
	workers := make([]*covers, runtime.GOMAXPROCS(0))
	for w := range workers {
		c := m.covers.fork()
		workers[w] = c
		wg.Go(func() {
			for {
				to := min(int(taken.Add(most)), len(order)+most)
				some := out[to-most : min(to, len(order))]
				for i := range some {
					some[i].Span.From = 1 // a new page that is read before it is written is mapped twice
				}
				for i := range some {
					m.finding(&some[i], order[to-most+i], c)
				}
				if to >= len(order) {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, c := range workers { // they are put in order later
		m.covers.gaps = append(m.covers.gaps, c.gaps...)
	}
	return out
}

// arrange moves findings to where their rank belongs, those of one rank in the
// order they have.
func arrange(findings []Finding, ranks []int) {
	starts := make([]int, len(Verdicts)+2)
	for _, r := range ranks {
		starts[r+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	from := make([]int, len(ranks)) // what comes to each place
	for i, r := range ranks {
		from[starts[r]] = i
		starts[r]++
	}
	timeline.Permute(findings, from)
}

func compareSubjects(a, b timeline.Subject) int { return a.Compare(b) }

// findingID is the stable name of a subject's finding in an incident.
func findingID(incident string, s timeline.Subject) string {
	var text [200]byte
	b := append(append(text[:0], incident...), 0)
	b = append(append(append(b, s.Kind...), ':'), s.ID...)
	sum := sha256.Sum256(b)
	return string(hex.AppendEncode(append(text[:0], "f-"...), sum[:6]))
}

// finding fills in the finding of a subject.
func (m *matching) finding(f *Finding, a *about, c *covers) {
	*f = Finding{
		ID: findingID(m.q.inc.ID, a.subject), Subject: a.subject, On: a.on, Verdict: Clear,
		Span: timeline.Always(), Egress: "unknown",
	}
	m.inventoryOf(f)
	slices.SortStableFunc(a.judged, func(x, y judged) int { return origin(x.Fact, y.Fact) })
	slices.SortStableFunc(a.cleared, func(x, y cleared) int { return origin(x.ask.Fact, y.ask.Fact) })
	var best *judged
	for i := range a.judged {
		j := &a.judged[i]
		if j.verdict == "" || j.verdict == Clear {
			continue
		}
		if best == nil || better(j, best) {
			best = j
		}
		m.channel(f, j.channel, j.verdict, j.because)
		if j.fault != "" && !slices.Contains(f.Faults, j.fault) {
			f.Faults = append(f.Faults, j.fault)
		}
		if j.via != "" && !slices.Contains(f.Via, j.via) {
			f.Via = append(f.Via, j.via)
		}
	}
	answered := m.answered(a, f)
	quiet := c.channels(a, f)
	switch {
	case best != nil:
		f.Verdict, f.Rule, f.Because = best.verdict, best.rule, capital(best.because)
		f.Artifact, f.Span = best.Item.Artifact, best.Span
		f.Evidence = append(f.Evidence, Evidence{best.Fact, "decides", best.verdict})
		if skew := m.source(best.Source).Skew; best.Span.Clock == timeline.Skewed && skew != "" {
			f.Because += "; its time is corrected by the stated skew, " + skew
		}
	case answered != "" && a.missing == nil:
		f.Rule, f.Because = "answered", capital(answered)
	case a.missing != nil:
		f.Verdict, f.Rule, f.Because = Unknown, "evidence-missing", capital(missingText(a.missing))
	case quiet != nil:
		f.Verdict, f.Rule, f.Because = quiet.Verdict, quiet.Rule, quiet.Because
	default:
		c.verdict(f)
	}
	m.evidence(a, best, f)
	m.fetched(a, f)
	a.judged, a.cleared = nil, nil // what counts of them is in the finding
}

// channel raises the verdict of one channel of a finding; an indicator belongs
// to none.
func (m *matching) channel(f *Finding, channel string, v Verdict, why string) {
	if channel == "" {
		return
	}
	if f.Channels == nil {
		f.Channels, f.Reasons = map[string]Verdict{}, map[string]string{}
	}
	if old, ok := f.Channels[channel]; !ok || v.rank() < old.rank() {
		f.Channels[channel], f.Reasons[channel] = v, why
	}
}

// better reports whether a decides before b: the stronger verdict, then the
// stronger action, then the earlier line.
func better(a, b *judged) bool {
	if d := a.verdict.rank() - b.verdict.rank(); d != 0 {
		return d < 0
	}
	if (a.Action == timeline.Hold) != (b.Action == timeline.Hold) {
		return b.Action == timeline.Hold // the name of a key says least
	}
	if a.Action != b.Action {
		return a.Action == timeline.Install || a.Action == timeline.Run || b.Action != timeline.Install && b.Action != timeline.Run && a.Action > b.Action
	}
	if a.Span.From != b.Span.From {
		return a.Span.From < b.Span.From
	}
	return origin(a.Fact, b.Fact) < 0
}

// origin orders facts by where they stand, not by when they were read.
func origin(a, b *timeline.Fact) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Line, b.Line); c != 0 {
		return c
	}
	if c := strings.Compare(a.SHA256, b.SHA256); c != 0 {
		return c
	}
	if least := b.Item.Artifact == timeline.Anything; least != (a.Item.Artifact == timeline.Anything) { // "anything" says least
		if least {
			return -1
		}
		return 1
	}
	if a.Item.Ref == "" && b.Item.Ref == "" {
		return strings.Compare(a.Item.Artifact, b.Item.Artifact)
	}
	return strings.Compare(a.Item.Artifact+a.Item.Ref, b.Item.Artifact+b.Item.Ref)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
