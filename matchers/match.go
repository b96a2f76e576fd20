package matchers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
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
	carriers *carriers // images that carry the release on
	ops      map[int64]map[int64]timeline.Op
	known    map[projectKind]bool                   // who is known to use a listed package
	late     map[timeline.Subject]int64             // engines of which nothing is known before a time
	made     int64                                  // facts that stand for what is no event
	wrote    map[timeline.Subject]*timeline.LinkRow // who wrote a cache; nil before it is asked for
	gaps     []Gap                                  // of the canary
	said     statements                             // what people state of subjects
	alike    map[string][]string                    // hosts by a host whose name looks like theirs
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
	m.holds = newContents(q, r, m.people)
	m.invite()
	for _, f := range r.facts {
		m.place(f, q.judge(f))
	}
	if err := m.opaque(); err != nil {
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
	r.facts, m.ops, m.holds.facts, m.known = nil, nil, nil, nil // what counts of them is placed
	m.covers = newCovers(m)
	res := m.findings()
	m.covers.conclude(res)
	if m.err == nil {
		m.err = m.egress(res, r.endpoints)
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
func (m *matching) whose(f timeline.Fact) timeline.Subject {
	if f.Subject.Kind == timeline.Client {
		if hosts, sure := m.clients.at(f.Subject.ID, f.Span); sure {
			return timeline.Subject{Kind: timeline.Host, ID: hosts[0]}
		}
	}
	return f.Subject
}

// place gives a fact to its subject: a client of the inventory is its host,
// several hosts behind one address may each have done it.
func (m *matching) place(f timeline.Fact, js []judged) {
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
				for i := to - most; i < min(to, len(order)); i++ {
					out[i] = m.finding(order[i], c)
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
// order they have. They are large, and each moves once.
func arrange(findings []Finding, ranks []int) {
	starts := make([]int, len(Verdicts)+2)
	for _, r := range ranks {
		starts[r+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	to := make([]int, len(ranks))
	for i, r := range ranks {
		to[i] = starts[r]
		starts[r]++
	}
	for i := range findings {
		for to[i] != i {
			j := to[i]
			findings[i], findings[j] = findings[j], findings[i]
			to[i], to[j] = to[j], j
		}
	}
}

func compareSubjects(a, b timeline.Subject) int { return a.Compare(b) }

// FindingID is the stable name of a subject's finding in an incident.
func FindingID(incident string, s timeline.Subject) string {
	var text [200]byte
	b := append(append(text[:0], incident...), 0)
	b = append(append(append(b, s.Kind...), ':'), s.ID...)
	sum := sha256.Sum256(b)
	return string(hex.AppendEncode(append(text[:0], "f-"...), sum[:6]))
}

func (m *matching) finding(a *about, c *covers) Finding {
	f := Finding{
		ID: FindingID(m.q.inc.ID, a.subject), Subject: a.subject, On: a.on, Verdict: Clear,
		Span: timeline.Always(), Egress: "unknown",
	}
	m.inventoryOf(&f)
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
		m.channel(&f, j.channel, j.verdict, j.because)
		if j.fault != "" && !slices.Contains(f.Faults, j.fault) {
			f.Faults = append(f.Faults, j.fault)
		}
		if j.via != "" && !slices.Contains(f.Via, j.via) {
			f.Via = append(f.Via, j.via)
		}
	}
	answered := m.answered(a, &f)
	quiet := c.channels(a, &f)
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
		c.verdict(&f)
	}
	m.evidence(a, best, &f)
	m.fetched(a, &f)
	a.judged, a.cleared = nil, nil // what counts of them is in the finding
	return f
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
func origin(a, b timeline.Fact) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	if c := cmpInt(a.Line, b.Line); c != 0 {
		return c
	}
	if c := strings.Compare(a.SHA256, b.SHA256); c != 0 {
		return c
	}
	return strings.Compare(a.Item.Artifact+a.Item.Ref, b.Item.Artifact+b.Item.Ref)
}

// answered tells what was positively answered, "" when nothing was. Only
// records of something else count; the asks they answer were taken back.
func (m *matching) answered(a *about, f *Finding) string {
	if len(a.judged) == 0 && len(a.cleared) == 0 {
		return ""
	}
	var said []string
	answers := map[string]bool{}
	for _, c := range a.cleared {
		m.channel(f, c.ask.channel, Clear, c.how)
		said = append(said, c.how)
		for _, e := range c.by {
			answers[e.Item.Artifact] = true
		}
	}
	best := map[string]judged{} // by artifact, the action that says most
	for _, j := range a.judged {
		if old, ok := best[j.Item.Artifact]; j.answer && j.rule != ruleRepackaged && m.positive(j) && (!ok || saysMore(j.Action, old.Action)) {
			best[j.Item.Artifact] = j
		}
	}
	for _, artifact := range slices.Sorted(maps.Keys(best)) {
		how := fmt.Sprintf("%s %s, which is not listed", verb(best[artifact].Action), short(artifact))
		m.channel(f, best[artifact].channel, Clear, how)
		if !answers[artifact] { // what answers an ask was said with it
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
func (m *matching) positive(j judged) bool {
	if from, _, ok := m.q.union(j.channel); ok && j.Span.To < from && j.Subject.Kind != timeline.Job {
		return false
	}
	switch j.Action {
	case timeline.Install, timeline.Download, timeline.Pull, timeline.Run, timeline.Build, timeline.Push, timeline.Cached:
		return true
	case timeline.Present:
		return j.Op != 0 || j.Subject.Kind == timeline.Image
	}
	return false
}

// evidence lists what the finding stands on: what decides, what accuses, what
// answers, in order of time.
func (m *matching) evidence(a *about, best *judged, f *Finding) {
	if len(a.judged) == 0 && len(a.cleared) == 0 {
		return
	}
	seen := map[factKey]bool{}
	if best != nil {
		seen[keyOf(best.Fact)] = true
	}
	add := func(fact timeline.Fact, part string, v Verdict) {
		if k := keyOf(fact); !seen[k] {
			seen[k] = true
			f.Evidence = append(f.Evidence, Evidence{fact, part, v})
		}
	}
	first := len(f.Evidence)
	for _, j := range a.judged {
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
		if c := cmpInt(x.Span.From, y.Span.From); c != 0 {
			return c
		}
		return origin(x.Fact, y.Fact)
	})
}

func cmpInt(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
