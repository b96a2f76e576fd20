package matchers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pulltrail/timeline"
)

// covers knows what was and was not read.
type covers struct {
	m      *matching
	had    map[string]map[string]bool // host → channels that the inventory states, nil: not stated
	claims map[string]bool            // what --subject said of sources
	torn   map[timeline.Subject]bool  // jobs out of whose log lines were taken; that is said

	quiet map[string]*Finding // answers of subjects of which nothing was said, by what was seen of them
	key   []byte
	said  []seen

	archives bool // one of them said that it is of a job or attempt
	gaps     []Gap

	fetches map[string]string // what to bring of a host, by channel
	asked   []asked           // the channels of the incident
	spans   []timeline.Span   // scratch
}

// asked is a channel of the incident, made ready.
type asked struct {
	name, base string
	topics     map[timeline.Topic]bool
	from, to   int64 // of its windows together
	windows    bool  // it has some
	all        []Hole
	open       bool   // an end of them is not known
	unread     string // a purl type that it serves and of which no command is known; "" where all are
}

// askedOf prepares a channel.
func (q *question) askedOf(name string) asked {
	ch := asked{name: name, base: base(name), topics: map[timeline.Topic]bool{timeline.Everything: true, timeline.Topic(base(name)): true}}
	maps.Copy(ch.topics, q.topics[name])
	for topic := range q.topics[name] {
		if q.ecosystems[string(topic)] != "" && !slices.Contains(timeline.FetchedKinds, string(topic)) {
			ch.unread = string(topic)
		}
	}
	ch.from, ch.to, ch.windows = q.union(name)
	ch.all = []Hole{{name, ch.from, ch.to}}
	ch.open = !ch.windows || ch.from == timeline.Beginning || ch.to == timeline.Forever
	return ch
}

func newCovers(m *matching) *covers {
	c := &covers{m: m, claims: map[string]bool{}, quiet: map[string]*Finding{}, torn: map[timeline.Subject]bool{}, gaps: m.gaps}
	for i := range m.r.sources {
		claim := m.r.sources[i].Claim
		c.claims[claim] = true
		c.archives = c.archives || strings.HasPrefix(claim, "job:")
	}
	for i := range m.people.known {
		m.people.known[i].rows = m.trusted(m.people.known[i].rows)
	}
	for _, ch := range m.q.inc.Channels {
		c.asked = append(c.asked, m.q.askedOf(ch.Name))
	}
	c.had = c.stated()
	c.expected()
	return c
}

// fork is a copy for one of several goroutines that make findings: what is only
// read is shared.
func (c *covers) fork() *covers {
	f := *c
	f.quiet, f.fetches, f.key, f.said, f.spans, f.gaps = map[string]*Finding{}, nil, nil, nil, nil, nil
	return &f
}

// trusted are the rows of sources that were read whole, and of what was proved to
// be whole in others, in order: of the rest, a part may stand in what was lost.
// Steps are compared on their own.
func (m *matching) trusted(rows []timeline.CoverageRow) []timeline.CoverageRow {
	cut := func(r timeline.CoverageRow) bool {
		return !r.Topic.Covers() || !r.Whole && m.source(r.Source).State != timeline.Read
	}
	if slices.ContainsFunc(rows, cut) {
		rows = slices.DeleteFunc(slices.Clone(rows), cut)
	}
	if !slices.IsSortedFunc(rows, compareCoverage) {
		slices.SortStableFunc(rows, compareCoverage)
	}
	return rows
}

// channel reports whether a channel of the incident is covered for a subject,
// why or why not, and what of its window is not.
func (c *covers) channel(a *about, ch *asked) (bool, string, []Hole) {
	if a.subject.Kind == timeline.Host && len(c.had) > 0 {
		if had := c.had[a.subject.ID]; had != nil && !had[ch.name] && !had[ch.base] {
			return true, "the inventory does not list it for the host", nil
		}
	}
	mute := ""
	spans := c.spans[:0]
	for i := range a.rows {
		r := &a.rows[i]
		if !ch.topics[r.Topic] {
			continue
		}
		if r.Topic == timeline.Everything {
			if mute = c.mute(a, ch); mute != "" {
				continue
			}
		}
		if r.Whole {
			return true, r.Why, nil
		}
		spans = append(spans, r.Span)
	}
	c.spans = spans
	if a.subject.Kind == timeline.Image && !c.m.q.packaged(ch.name) && c.m.holds.listed(a.subject.ID) {
		return true, "the content list of the image is whole", nil
	}
	if !ch.windows {
		return false, "the incident gives no window for it", nil
	}
	if len(spans) == 0 && mute != "" {
		return false, mute, ch.all
	}
	if len(spans) == 0 {
		return false, noSource, ch.all
	}
	open := holes(ch.name, spans, ch.from, ch.to)
	if len(open) > 0 && len(spans) > 1 {
		open = slices.DeleteFunc(open, func(h Hole) bool { return c.bridged(a, ch, h) })
	}
	if len(open) > 0 {
		last := slices.MaxFunc(spans, func(a, b timeline.Span) int { return cmp.Compare(a.To, b.To) })
		if last.To < open[0].From {
			return false, "what was read of it ends at " + timeline.FormatTime(last.To) + ", before the window does (a cut log looks like a quiet one)", open
		}
		return false, "what was read leaves a hole from " + timeline.FormatTime(open[0].From), open
	}
	return true, "what was read covers the whole window", nil
}

// packaged reports whether a channel serves packages that a list of an image's
// content may leave out: a whole list of one kind of packages is none of another.
func (q *question) packaged(channel string) bool {
	for topic := range q.topics[channel] {
		switch topic {
		case timeline.Images, timeline.GitHubActions, "github": // no list of content has them
		default:
			if q.ecosystems[string(topic)] != "" {
				return true
			}
		}
	}
	return false
}

// mute says why the log of a job, however whole, shows nothing of a channel; ""
// where it does.
func (c *covers) mute(a *about, ch *asked) string {
	if ch.unread != "" {
		return "nothing is known here of the commands that fetch packages of type " + ch.unread
	}
	if ch.open && a.subject.Kind == timeline.Job && len(c.m.silent) > 0 {
		for _, topic := range slices.Sorted(maps.Keys(ch.topics)) {
			if c.m.silent[jobKind{a.subject, topic}] {
				return "its log is whole, but it ran commands that do not say which " + string(topic) + " packages came, and nobody knows both ends of the window"
			}
		}
	}
	return ""
}

// bridged reports whether the pieces of a log on both sides of a hole meet in it,
// as people stated what each of them covers: nothing was written at the end of
// one and at the beginning of the next.
//
//	pip.log.1, stated until 12:00, ends at 11:50    pip.log, stated from 12:00, begins at 12:30
func (c *covers) bridged(a *about, ch *asked, h Hole) bool {
	for i := range a.rows {
		before := &a.rows[i]
		if !ch.topics[before.Topic] || before.Span.To+1 != h.From {
			continue
		}
		_, until, _ := strings.Cut(c.m.source(before.Source).Covers, "/")
		for j := range a.rows {
			after := &a.rows[j]
			if after.Topic != before.Topic || after.Source == before.Source || after.Span.From-1 != h.To {
				continue
			}
			since, _, _ := strings.Cut(c.m.source(after.Source).Covers, "/")
			end, err := time.Parse(time.RFC3339Nano, until)
			start, err2 := time.Parse(time.RFC3339Nano, since)
			if err == nil && err2 == nil && !end.Before(start) && end.UnixNano() <= after.Span.From && start.UnixNano() >= before.Span.To {
				return true
			}
		}
	}
	return false
}

// holes lists the parts of [from, to] outside all spans.
func holes(channel string, spans []timeline.Span, from, to int64) []Hole {
	slices.SortFunc(spans, func(a, b timeline.Span) int { return cmp.Compare(a.From, b.From) })
	var out []Hole
	at := from
	for _, s := range spans {
		if s.From > to {
			break
		}
		if s.From > at {
			out = append(out, Hole{channel, at, s.From - 1})
		}
		if s.To >= to {
			return out
		}
		at = max(at, s.To+1)
	}
	return append(out, Hole{channel, at, to})
}

// noSource says of a channel that nothing that was read covers its window.
const noSource = "no source covers it"

// channels fills in the channels of a finding that no fact speaks of, and
// records every channel that is not covered as a gap. Most subjects are quiet:
// nothing was said of them. Those of which the same was seen share one answer,
// which nobody changes; it is returned where it is the verdict too.
func (c *covers) channels(a *about, f *Finding) *Finding {
	quiet := f.Channels == nil && a.missing == nil && len(a.judged) == 0 && len(a.cleared) == 0
	if f.Channels == nil && !quiet {
		f.Channels, f.Reasons = map[string]Verdict{}, map[string]string{}
	}
	c.key, c.said = c.key[:0], c.said[:0]
	if a.missing != nil {
		for i := range c.asked {
			ch := &c.asked[i]
			if _, said := f.Channels[ch.name]; !said {
				f.Channels[ch.name], f.Reasons[ch.name] = Unknown, missingText(a.missing)
			}
			if ch.windows && a.missing.Span.Overlaps(ch.from, ch.to) {
				f.Uncovered = append(f.Uncovered, Hole{ch.name, max(ch.from, a.missing.Span.From), min(ch.to, a.missing.Span.To)})
			}
		}
		return nil // its own gap stands already
	}
	for i := range c.asked {
		ch := &c.asked[i]
		ok, why, open := c.answeredFor(a, ch)
		if f.Uncovered == nil {
			f.Uncovered = open[:len(open):len(open)]
		} else {
			f.Uncovered = append(f.Uncovered, open...)
		}
		if !ok {
			if _, found := f.Channels[ch.name]; found && why == noSource {
				why = "something was found, and no source covers the rest"
			}
			if len(c.gaps) == cap(c.gaps) {
				c.gaps = slices.Grow(c.gaps, len(c.gaps)+256)
			}
			c.gaps = append(c.gaps, c.lack(a, ch, why, open))
		}
		v := Unknown
		if ok {
			v = Clear
		}
		if quiet {
			c.key = append(append(append(c.key, v...), why...), 0)
			c.said = append(c.said, seen{v, why})
		} else if _, said := f.Channels[ch.name]; !said {
			f.Channels[ch.name], f.Reasons[ch.name] = v, why
		}
	}
	if !quiet {
		return nil
	}
	same := c.quiet[string(c.key)]
	if same == nil {
		same = c.shared(string(c.key))
	}
	f.Channels, f.Reasons = same.Channels, same.Reasons
	if a.subject.Kind == timeline.Host && c.m.carriers != nil {
		return nil // what its other images may have brought is its own
	}
	return same
}

// seen is what was seen of one channel.
type seen struct {
	verdict Verdict
	why     string
}

// shared makes the answer of quiet subjects.
func (c *covers) shared(key string) *Finding {
	f := &Finding{Verdict: Clear, Channels: map[string]Verdict{}, Reasons: map[string]string{}}
	for i, ch := range c.m.q.inc.Channels {
		f.Channels[ch.Name], f.Reasons[ch.Name] = c.said[i].verdict, c.said[i].why
	}
	c.verdict(f)
	c.quiet[key] = f
	return f
}

// verdict decides a subject of which nothing was asked and nothing answered.
func (c *covers) verdict(f *Finding) {
	var open, closed []string
	for _, ch := range c.m.q.inc.Channels {
		if f.Channels[ch.Name] == Clear {
			closed = append(closed, ch.Name)
		} else {
			open = append(open, ch.Name)
		}
	}
	if len(open) > 0 || len(closed) == 0 || !c.m.q.hasMatcher() {
		f.Verdict, f.Rule = Unknown, "not-covered"
		f.Because = "Nothing that was read answers the question" + c.grouped(open, f)
		if len(open) == 0 {
			f.Because = "The incident names nothing that evidence of this kind can answer"
			switch c.m.q.inc.Kind {
			case EngineFlaw:
				f.Because = "Nothing that was read says whether an engine of the incident ran here"
			case VendorBreach:
				f.Because = c.m.q.silent()
			}
		}
		return
	}
	f.Rule, f.Because = "covered", "Complete evidence without it"+c.grouped(closed, f)
	if why := c.carried(f.Subject); why != "" {
		f.Verdict, f.Rule, f.Because = Unknown, "not-covered", capital(why)
	}
}

// grouped lists channels with their reasons, those of one reason together.
func (c *covers) grouped(channels []string, f *Finding) string {
	var order []string
	by := map[string][]string{}
	for _, ch := range channels {
		why := f.Reasons[ch]
		if by[why] == nil {
			order = append(order, why)
		}
		by[why] = append(by[why], ch)
	}
	var b strings.Builder
	for i, why := range order {
		b.WriteString([]string{": ", "; "}[min(i, 1)] + strings.Join(by[why], ", ") + " (" + why + ")")
	}
	return b.String()
}

// hasMatcher reports whether the incident's kind has a matcher.
func (q *question) hasMatcher() bool {
	return q.inc.Kind == MaliciousRelease && len(q.inc.Channels) > 0
}

// conclude gathers the gaps and decides whether the answer is complete.
func (c *covers) conclude(res *Result) {
	res.Gaps, res.Tallies = c.gaps, c.tallies()
	add := func(g Gap) { res.Gaps = append(res.Gaps, g) }
	for i := range res.Findings {
		c.outside(&res.Findings[i], add)
	}
	c.ofCase(res, add)
	c.ledger(add)
	said := make(map[string]bool, len(res.Gaps))
	for _, g := range res.Gaps {
		said[g.Subject] = true
	}
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Verdict == Unknown && !said[f.Subject.String()] {
			add(c.unplaced(f))
		}
	}
	sortBy(res.Gaps, func(a, b *Gap) int {
		if c := strings.Compare(a.Subject, b.Subject); c != 0 {
			return c
		}
		return cmp.Or(strings.Compare(a.Channel, b.Channel),
			strings.Compare(a.Source, b.Source), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Detail, b.Detail))
	})
	res.Complete = len(res.Gaps) == 0
}

// outside adds the gaps of a subject that lie outside the windows of its channels:
// images that carry the release on, and what an engine was before it was seen.
func (c *covers) outside(f *Finding, add func(Gap)) {
	if why := c.carried(f.Subject); why != "" && f.Verdict.rank() >= Unknown.rank() {
		add(Gap{
			Subject: f.Subject.String(), Reason: "uncovered", Detail: why,
			Fix: "ingest the journal of the host's container runtime with --covers; or 'pulltrail state " + SubjectWord + " no-docker --by NAME'",
		})
	}
	if first, late := c.m.late[f.Subject]; late && f.Verdict == Clear {
		add(Gap{
			Subject: f.Subject.String(), Reason: "uncovered", Detail: "what ran here before " + timeline.FormatTime(first) + " is not in the evidence",
			Fix: "bring its earlier start-up lines, inspect or lists of packages: an engine that was replaced since may have been affected",
		})
	}
}

// ofCase adds the gaps that are of no subject alone: nothing was read, or not all
// of it, and an incident that logs cannot clear.
func (c *covers) ofCase(res *Result, add func(Gap)) {
	if len(res.Sources) == 0 {
		add(Gap{Reason: "missing", Detail: "nothing was read", Fix: "run 'pulltrail ingest PATH...'"})
	}
	if len(res.Sources) > 0 && len(res.Findings) == 0 {
		add(Gap{
			Reason: "nobody", Detail: "nothing that was read names a host, container, image, job or client",
			Fix: "say whose evidence it is with --subject, or which hosts there are with 'pulltrail inventory'",
		})
	}
	for _, s := range res.Sources {
		if s.State != timeline.Read {
			add(Gap{Source: s.Path, Reason: string(s.State), Detail: s.Why, Fix: stateFix(s.State, s.Why)})
		}
	}
	if !c.m.q.hasMatcher() && c.m.q.inc.Kind != EngineFlaw {
		add(Gap{
			Reason: "no-matcher", Detail: fmt.Sprintf("incidents of kind %q without channels cannot be cleared from logs alone", c.m.q.inc.Kind),
			Fix: cmp.Or(c.m.q.askVendor(), "read the incident's response order and its unknown facts"),
		})
	}
}

// unplaced is the gap of a subject that is unknown for what it did, and not for
// what was not read.
func (c *covers) unplaced(f *Finding) Gap {
	switch f.Rule {
	case ruleUnseen:
		return unseenGap(f)
	case ruleFromCache:
		return restoredGap(f)
	case ruleFound:
		return foundGap(f)
	}
	return Gap{
		Subject: f.Subject.String(), Reason: "unplaced", Detail: f.Because,
		Fix: cmp.Or(c.m.q.askVendor(), "bring evidence that answers it: the log of the same command with its versions, or the content of the image's digest"),
	}
}
