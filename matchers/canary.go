package matchers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// What test tenants showed of an endpoint. An accusation counts whenever it was
// seen; that nothing was seen speaks of these requests alone, and makes no
// engine clear.

// CanaryAnswer is what one round showed of a test tenant, or of the endpoint
// that it asked.
type CanaryAnswer struct {
	Subject timeline.Subject
	Target  string
	Verdict Verdict
	Rule    string
	Because string
	Fix     string               // what to do next, "" when clear
	Row     timeline.CanaryRow   // that decides
	More    []timeline.CanaryRow // others that say as much
}

// Canary answers the rounds that were read from the source with this hash; "" is
// all that the case holds. Each subject has one answer a round, strongest first.
func Canary(db *timeline.DB, source string) ([]CanaryAnswer, error) {
	rows, err := db.Canaries()
	if err != nil {
		return nil, err
	}
	settings, err := db.Settings()
	if err != nil {
		return nil, err
	}
	c := newCanaries(rows, settings)
	out := c.answers(func(r *timeline.CanaryRow) bool { return source == "" || r.SHA256 == source })
	slices.SortStableFunc(out, func(a, b CanaryAnswer) int {
		return cmp.Or(cmp.Compare(a.Verdict.rank(), b.Verdict.rank()), compareSubjects(a.Subject, b.Subject))
	})
	return out, nil
}

// CanaryCell is what the canary told last of one test tenant (by its long
// prompt), or of one endpoint (by the prompt that it has to refuse).
type CanaryCell struct {
	Probe   timeline.Probe // MarkerProbe or LongProbe
	Subject timeline.Subject
	Target  string
	Verdict Verdict // Unknown: nothing was told so far
	At      int64   // nanoseconds since 1970 UTC
}

// CanaryCells lists them; a request that shows nothing takes nothing back.
func CanaryCells(db *timeline.DB) ([]CanaryCell, error) {
	rows, err := db.Canaries()
	if err != nil {
		return nil, err
	}
	settings, err := db.Settings()
	if err != nil {
		return nil, err
	}
	c := newCanaries(rows, settings)
	var out []CanaryCell
	var runs []string // of the cells
	for i := range c.rows {
		r := &c.rows[i]
		for _, s := range c.judge(r) {
			if r.Probe == timeline.SizeProbe || (s.subject == r.Node) != (r.Probe == timeline.LongProbe) {
				continue
			}
			cell := CanaryCell{r.Probe, s.subject, r.Target, s.verdict, r.Start}
			at := slices.IndexFunc(out, func(o CanaryCell) bool {
				return o.Probe == cell.Probe && o.Subject == cell.Subject && o.Target == cell.Target
			})
			switch {
			case at < 0:
				out, runs = append(out, cell), append(runs, r.Run)
			case runs[at] == r.Run && s.verdict.rank() < out[at].Verdict.rank(), runs[at] != r.Run && s.verdict != Unknown:
				out[at], runs[at] = cell, r.Run
			}
		}
	}
	return out, nil
}

// canaries are the requests of the canary, and how fast the engines read that
// they asked.
type canaries struct {
	rows   []timeline.CanaryRow // by time
	rates  map[timeline.Subject]int64
	stated map[served]int64
	seen   map[served][]speed // of whole replies, by time
}

// served is a model at an endpoint.
type served struct {
	node  timeline.Subject
	model string
}

// speed is how many tokens a second were read until the first one came.
type speed struct {
	run  string
	rate int64
}

func newCanaries(rows []timeline.CanaryRow, settings []timeline.SettingRow) *canaries {
	c := &canaries{rows: slices.Clone(rows), rates: map[timeline.Subject]int64{}, stated: map[served]int64{}, seen: map[served][]speed{}}
	slices.SortStableFunc(c.rows, func(a, b timeline.CanaryRow) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.ID, b.ID))
	})
	for _, s := range settings {
		if s.Name == timeline.PrefillRate {
			c.rates[s.Subject] = max(c.rates[s.Subject], nodeState{s.Name: setting{value: s.Value}}.count(s.Name))
		}
	}
	for i := range c.rows {
		r := &c.rows[i]
		at := served{r.Node, r.Model}
		c.stated[at] = max(c.stated[at], r.Rate)
		read, wait := r.Prompt-r.Cached, r.First-r.Start
		if r.Probe == timeline.MarkerProbe && r.Outcome == timeline.ToItsEnd && r.Streamed && r.Cached >= 0 && read >= minRead && wait > 0 && len(r.Others) == 0 {
			c.seen[at] = append(c.seen[at], speed{r.Run, int64(float64(read) / (float64(wait) / 1e9))})
		}
	}
	return c
}

// answers makes one answer of each subject and round out of the requests that
// are wanted.
func (c *canaries) answers(wanted func(*timeline.CanaryRow) bool) []CanaryAnswer {
	type key struct {
		run, target string
		subject     timeline.Subject
	}
	by := map[key][]shown{}
	var order []key
	tried := map[key]map[timeline.Probe]bool{}
	for i := range c.rows {
		r := &c.rows[i]
		if !wanted(r) {
			continue
		}
		node := key{r.Run, r.Target, r.Node}
		if tried[node] == nil {
			tried[node] = map[timeline.Probe]bool{}
		}
		tried[node][r.Probe] = true
		for _, s := range c.judge(r) {
			k := key{r.Run, r.Target, s.subject}
			if by[k] == nil {
				order = append(order, k)
			}
			by[k] = append(by[k], s)
		}
	}
	for k, probes := range tried {
		for _, p := range []timeline.Probe{timeline.MarkerProbe, timeline.LongProbe} {
			if !probes[p] && len(by[k]) > 0 {
				by[k] = append(by[k], shown{k.subject, Unknown, "not-tried", "no request of the kind " + string(p) + " is on record", "run the canary again", by[k][0].row})
			}
		}
	}
	out := make([]CanaryAnswer, len(order))
	for i, k := range order {
		out[i] = strongest(by[k])
	}
	return out
}

// strongest puts what was said of a subject into one answer.
func strongest(all []shown) CanaryAnswer {
	const notSent = "canary-" + string(timeline.NotSent)
	best := slices.MinFunc(all, func(a, b shown) int {
		if a.verdict == b.verdict && (a.rule == notSent) != (b.rule == notSent) { // what stood before it says more
			if b.rule == notSent {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.verdict.rank(), b.verdict.rank())
	})
	a := CanaryAnswer{Subject: best.subject, Target: best.row.Target, Verdict: best.verdict, Rule: best.rule, Fix: best.fix, Row: *best.row}
	var why []string
	for _, s := range all {
		if s.verdict == best.verdict && s.row != best.row && !slices.ContainsFunc(a.More, func(o timeline.CanaryRow) bool { return o.ID == s.row.ID }) {
			a.More = append(a.More, *s.row)
		}
		if s.verdict == best.verdict && (s.rule != notSent || best.rule == notSent) && !slices.Contains(why, s.because) {
			why = append(why, s.because)
		}
	}
	if more := len(why) - 3; more > 0 {
		why = append(why[:3], fmt.Sprintf("and %d more", more))
	}
	a.Because = capital(strings.Join(why, "; "))
	return a
}

// testTenant is the subject of a tenant's name.
func testTenant(name string) timeline.Subject {
	return timeline.Subject{Kind: timeline.Client, ID: "tenant/" + name}
}

// canaries gives what test tenants showed to them and to the endpoints: what
// accuses from every round, else what the last one says of a tenant.
func (m *matching) canaries() {
	c := newCanaries(m.r.canaries, m.r.settings)
	newest := map[timeline.Subject]CanaryAnswer{}
	for _, got := range c.answers(func(*timeline.CanaryRow) bool { return true }) {
		got.Subject = m.whose(got.fact(0))
		if got.Verdict.rank() < Unknown.rank() {
			a := m.of(got.Subject)
			a.judged = append(a.judged, judged{Fact: got.fact(-m.nextMade()), verdict: got.Verdict, rule: got.Rule, because: got.Because})
			for _, row := range got.More {
				more := CanaryAnswer{Subject: got.Subject, Row: row}
				a.judged = append(a.judged, judged{Fact: more.fact(-m.nextMade()), part: "request of the canary"})
			}
		}
		if strings.HasPrefix(got.Subject.ID, "tenant/") {
			if old, ok := newest[got.Subject]; !ok || got.Row.Start >= old.Row.Start {
				newest[got.Subject] = got
			}
		}
	}
	for _, who := range slices.SortedFunc(maps.Keys(newest), compareSubjects) {
		got, a := newest[who], m.of(who)
		switch f := got.fact(-m.nextMade()); got.Verdict {
		case Clear:
			a.cleared = append(a.cleared, cleared{ask: judged{Fact: f, part: "request of the canary"}, how: got.Because})
		case Unknown:
			a.judged = append(a.judged, judged{Fact: f, verdict: Unknown, rule: got.Rule, because: got.Because})
			m.gaps = append(m.gaps, Gap{Subject: who.String(), Source: got.Row.Path, Reason: "not-shown", Detail: got.Because, Fix: got.Fix})
		}
	}
}

// fact is the request that decided, as a fact of the timeline.
func (a *CanaryAnswer) fact(number int64) *timeline.Fact {
	return &timeline.Fact{
		Event: number, Action: timeline.Contact, Subject: a.Subject, Span: a.Row.Span, SHA256: a.Row.SHA256, Origin: a.Row.Origin,
		Item: timeline.Item{Artifact: "request:" + a.Row.ID}, Parts: timeline.Parts{Type: "request"},
	}
}
