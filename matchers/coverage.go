package matchers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"pulltrail/timeline"
)

// covers knows what was and was not read.
type covers struct {
	m      *matching
	rows   map[timeline.Subject][]timeline.CoverageRow
	had    map[string]map[string]bool // host → channels that the inventory states, nil: not stated
	lists  map[string]bool            // attempts whose jobs a record lists
	claims map[string]bool            // what --subject said of sources
	torn   map[timeline.Subject]bool  // jobs out of whose log lines were taken; that is said

	quiet map[string]*Finding // answers of subjects of which nothing was said, by what was seen of them
	key   []byte
	said  []seen

	archives bool // one of them said that it is of a job or attempt
	gaps     []Gap

	fetches map[string]string // what to bring of a host, by channel
}

func newCovers(m *matching) *covers {
	c := &covers{
		m: m, rows: map[timeline.Subject][]timeline.CoverageRow{},
		lists: map[string]bool{}, claims: map[string]bool{}, quiet: map[string]*Finding{}, torn: map[timeline.Subject]bool{},
	}
	for _, src := range m.r.sources {
		c.claims[src.Claim] = true
		c.archives = c.archives || strings.HasPrefix(src.Claim, "job:")
	}
	for all := m.r.coverage; len(all) > 0; {
		n := 1
		for n < len(all) && all[n].Subject == all[0].Subject {
			n++
		}
		c.rows[all[0].Subject] = m.trusted(all[:n:n])
		all = all[n:]
	}
	c.had = c.stated()
	c.expected()
	return c
}

// trusted are the rows of sources that were read whole, and of what was proved to
// be whole in others, in order: of the rest, a part may stand in what was lost.
// Steps are compared on their own.
func (m *matching) trusted(rows []timeline.CoverageRow) []timeline.CoverageRow {
	cut := func(r timeline.CoverageRow) bool {
		return r.Topic == timeline.StepRan || r.Topic == timeline.StepSeen || !r.Whole && m.bySource[r.Source].State != timeline.Read
	}
	if slices.ContainsFunc(rows, cut) {
		rows = slices.DeleteFunc(slices.Clone(rows), cut)
	}
	slices.SortStableFunc(rows, compareCoverage)
	return rows
}

// expected compares what records say must exist with what was read.
func (c *covers) expected() {
	runs := c.runNames()
	needed := map[string]bool{}                   // attempts that a record speaks of
	refused := map[string]*timeline.ExpectedRow{} // attempts whose logs a collector did not get
	c.steps(runs)
	for i := range c.m.r.expected {
		x := &c.m.r.expected[i]
		id := resolveRun(x.Subject.ID, runs)
		if attempt, _, ok := strings.Cut(id, "/jobs/"); ok && x.Source != 0 {
			c.lists[attempt] = true
		} else if x.Reason != "" && isAttempt(x.Subject.Kind, id) {
			refused[id] = x
		}
	}
	twins := c.twins(runs)
	for i := range c.m.r.expected {
		x := &c.m.r.expected[i]
		if from, _, ok := c.m.q.union(); ok && x.Span.To < from {
			continue // over before the release was served
		}
		id := resolveRun(x.Subject.ID, runs)
		s := timeline.Subject{Kind: x.Subject.Kind, ID: id}
		if isAttempt(s.Kind, id) {
			needed[id] = true
			c.attempt(s, x)
			continue
		}
		a := c.m.of(s)
		if a.missing != nil || x.Reason == "" && c.whole(s, x.Span) >= twins[s] {
			continue
		}
		if all := refused[attemptOf(id)]; all != nil && x.Reason == "" {
			x = &timeline.ExpectedRow{Source: x.Source, SHA256: x.SHA256, Expected: x.Expected}
			x.Reason, x.Detail = all.Reason, x.Detail+"; "+all.Detail
		}
		a.missing = x
		if c.torn[s] {
			continue
		}
		reason, fix := "missing", "fetch its log: "+logPath(s.ID)
		switch {
		case x.Reason != "":
			reason, fix = x.Reason, refusalFix(x.Reason, "treat it as possible, and look at what the job could read")
		case twins[s] > 1:
			reason, fix = "cut", fmt.Sprintf("the record lists %d jobs of this name: fetch the log of each", twins[s])
		case c.whole(s, timeline.Always()) > 0:
			reason, fix = "cut", "look whose log was read: it is of another time than the record says"
		case len(a.judged) > 0 || c.m.named(s):
			reason, fix = "cut", "fetch the whole log: its start or end mark was not seen"
		}
		c.gaps = append(c.gaps, Gap{Subject: s.String(), Channel: x.Channel, Source: x.Path, Reason: reason, Detail: x.Detail, Fix: fix})
	}
	c.unrecorded(needed)
}

// runNames maps run ids to the repositories that run records name, where some
// record does not say which.
func (c *covers) runNames() map[string]string {
	names := map[string]string{}
	if !slices.ContainsFunc(c.m.r.expected, func(x timeline.ExpectedRow) bool { return strings.HasPrefix(x.Subject.ID, nameless) }) {
		return names
	}
	note := func(id string) {
		if repo, rest, ok := strings.Cut(strings.TrimPrefix(id, "github:"), "/runs/"); ok && repo != "*" {
			run, _, _ := strings.Cut(rest, "/")
			names[run] = repo
		}
	}
	for i := range c.m.r.expected {
		note(c.m.r.expected[i].Subject.ID)
	}
	for s := range c.m.about {
		if s.Kind == timeline.Job && strings.HasPrefix(s.ID, "github:") {
			note(s.ID)
		}
	}
	return names
}

// nameless begins the id of a job record that names only its run.
const nameless = "github:*/runs/"

// resolveRun fills in the repository of a job record that names only its run.
func resolveRun(id string, runs map[string]string) string {
	rest, ok := strings.CutPrefix(id, nameless)
	if !ok {
		return id
	}
	run, _, _ := strings.Cut(rest, "/")
	if repo := runs[run]; repo != "" {
		return "github:" + repo + "/runs/" + rest
	}
	return id
}

// attempt wants a log of an attempt, and a record that lists its jobs.
func (c *covers) attempt(s timeline.Subject, x *timeline.ExpectedRow) {
	switch {
	case x.Reason != "":
		c.gaps = append(c.gaps, Gap{
			Subject: s.String(), Source: x.Path, Reason: x.Reason, Detail: x.Detail,
			Fix: refusalFix(x.Reason, "treat its jobs as possible"),
		})
	case !c.m.hasJobs(s.ID):
		c.gaps = append(c.gaps, Gap{
			Subject: s.String(), Source: x.Path, Reason: "missing", Detail: x.Detail,
			Fix: "fetch the log archive of this attempt: " + logPath(s.ID),
		})
	case !c.lists[s.ID]:
		c.gaps = append(c.gaps, Gap{
			Subject: s.String(), Source: x.Path, Reason: "no-record", Detail: "nothing says which jobs this attempt had",
			Fix: "fetch the attempt's list of jobs and ingest it: " + jobsPath(s.ID),
		})
	}
}

// unrecorded wants a record for the run of every log that came from a run
// archive: without it, earlier attempts and other jobs are not known.
func (c *covers) unrecorded(needed map[string]bool) {
	missing := map[string]bool{}
	if !c.archives {
		return
	}
	for s := range c.m.about {
		if s.Kind != timeline.Job || !strings.HasPrefix(s.ID, "github:") {
			continue
		}
		attempt, _, ok := strings.Cut(s.ID, "/jobs/")
		if ok && !needed[attempt] && c.fromArchive(s) {
			missing[attempt] = true
		}
	}
	for attempt := range missing {
		c.gaps = append(c.gaps, Gap{
			Subject: "job:" + attempt, Reason: "no-record", Detail: "no API record of this run was read, so other attempts and jobs are not known",
			Fix: "fetch the run and its list of jobs, and ingest them: " + jobsPath(attempt),
		})
	}
}

// fromArchive reports whether the subject was named by a run archive: the claim
// of its source is the attempt, and the job's name came from inside.
func (c *covers) fromArchive(s timeline.Subject) bool {
	attempt, _, ok := strings.Cut(s.ID, "/jobs/")
	return ok && c.claims["job:"+attempt]
}

// twins counts the jobs that records list by their names: a run may have two of
// one name, which is one subject with two logs.
func (c *covers) twins(runs map[string]string) map[timeline.Subject]int {
	type twin struct {
		timeline.Subject
		detail string
	}
	counts, seen := map[timeline.Subject]int{}, map[twin]bool{}
	for i := range c.m.r.expected {
		x := &c.m.r.expected[i]
		s := timeline.Subject{Kind: x.Subject.Kind, ID: resolveRun(x.Subject.ID, runs)}
		if k := (twin{s, x.Detail}); !seen[k] && (counts[s] == 0 || s.Kind == timeline.Job && x.Reason == "") {
			seen[k] = true
			counts[s]++
		}
	}
	return counts
}

// whole counts the logs of a subject that were read from start to end and are
// of the time that a record gives it. A copy of a log has the same span.
func (c *covers) whole(s timeline.Subject, life timeline.Span) int {
	spans := map[[2]int64]bool{}
	for _, r := range c.rows[s] {
		if r.Whole && r.Topic == timeline.Everything &&
			(life.From == timeline.Beginning || r.Span.To >= life.From-slack) && (life.To == timeline.Forever || r.Span.From <= life.To+slack) {
			spans[[2]int64{r.Span.From, r.Span.To}] = true
		}
	}
	return len(spans)
}

// slack is how far a record's clock may be from that of a log.
const slack = int64(10 * time.Minute)

// channel reports whether a channel of the incident is covered for a subject,
// why or why not, and what of its window is not.
func (c *covers) channel(s timeline.Subject, channel string) (bool, string, []Hole) {
	if s.Kind == timeline.Host {
		if had := c.had[s.ID]; had != nil && !had[channel] && !had[base(channel)] {
			return true, "the inventory does not list it for the host", nil
		}
	}
	topics := c.m.q.topics[channel]
	var spans []timeline.Span
	for _, r := range c.rows[s] {
		if r.Topic != timeline.Everything && !topics[r.Topic] && string(r.Topic) != base(channel) {
			continue
		}
		if r.Whole {
			return true, r.Why, nil
		}
		spans = append(spans, r.Span)
	}
	if s.Kind == timeline.Image && c.m.holds.listed[s.ID] {
		return true, "the content list of the image is whole", nil
	}
	from, to, ok := c.m.q.union(channel)
	if !ok {
		return false, "the incident gives no window for it", nil
	}
	if len(spans) == 0 {
		return false, "no source covers it", []Hole{{channel, from, to}}
	}
	if open := holes(channel, spans, from, to); len(open) > 0 {
		last := slices.MaxFunc(spans, func(a, b timeline.Span) int { return cmpInt(a.To, b.To) })
		if last.To < open[0].From {
			return false, "what was read of it ends at " + timeline.FormatTime(last.To) + ", before the window does (a cut log looks like a quiet one)", open
		}
		return false, "what was read leaves a hole from " + timeline.FormatTime(open[0].From), open
	}
	return true, "what was read covers the whole window", nil
}

// holes lists the parts of [from, to] outside all spans.
func holes(channel string, spans []timeline.Span, from, to int64) []Hole {
	slices.SortFunc(spans, func(a, b timeline.Span) int { return cmpInt(a.From, b.From) })
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
		for _, ch := range c.m.q.inc.Channels {
			if _, said := f.Channels[ch.Name]; !said {
				f.Channels[ch.Name], f.Reasons[ch.Name] = Unknown, missingText(a.missing)
			}
			if from, to, ok := c.m.q.union(ch.Name); ok && a.missing.Span.Overlaps(from, to) {
				f.Uncovered = append(f.Uncovered, Hole{ch.Name, max(from, a.missing.Span.From), min(to, a.missing.Span.To)})
			}
		}
		return nil // its own gap stands already
	}
	for _, ch := range c.m.q.inc.Channels {
		ok, why, open := c.answeredFor(a, ch.Name)
		f.Uncovered = append(f.Uncovered, open...)
		if !ok {
			c.gaps = append(c.gaps, c.lack(a.subject, ch.Name, why, open))
		}
		v := Unknown
		if ok {
			v = Clear
		}
		if quiet {
			c.key = append(append(append(c.key, v...), why...), 0)
			c.said = append(c.said, seen{v, why})
		} else if _, said := f.Channels[ch.Name]; !said {
			f.Channels[ch.Name], f.Reasons[ch.Name] = v, why
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
			if c.m.q.inc.Kind == EngineFlaw {
				f.Because = "Nothing that was read says whether an engine of the incident ran here"
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
	return q.inc.Kind == "malicious-release" && len(q.inc.Channels) > 0
}

// conclude gathers the gaps and decides whether the answer is complete.
func (c *covers) conclude(res *Result) {
	res.Gaps, res.Tallies = c.gaps, c.tallies()
	add := func(g Gap) { res.Gaps = append(res.Gaps, g) }
	for i := range res.Findings {
		f := &res.Findings[i]
		if why := c.carried(f.Subject); why != "" && f.Verdict.rank() >= Unknown.rank() {
			add(Gap{Subject: f.Subject.String(), Reason: "uncovered", Detail: why, Fix: "ingest the journal of the host's container runtime with --covers; or 'pulltrail state " + SubjectWord + " no-docker --by NAME'"})
		}
	}
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
			add(Gap{Source: s.Path, Reason: string(s.State), Detail: s.Why, Fix: stateFix(s.State)})
		}
	}
	if !c.m.q.hasMatcher() && c.m.q.inc.Kind != EngineFlaw {
		add(Gap{
			Reason: "no-matcher", Detail: fmt.Sprintf("incidents of kind %q without channels cannot be cleared from logs alone", c.m.q.inc.Kind),
			Fix: "read the incident's response order and its unknown facts",
		})
	}
	c.ledger(add)
	said := make(map[string]bool, len(res.Gaps))
	for _, g := range res.Gaps {
		said[g.Subject] = true
	}
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Verdict == Unknown && !said[f.Subject.String()] {
			add(Gap{Subject: f.Subject.String(), Reason: "unplaced", Detail: f.Because, Fix: "bring evidence that answers it: the log of the same command with its versions, or the content of the image's digest"})
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
