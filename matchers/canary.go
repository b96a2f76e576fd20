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
	At      int64   // nanoseconds
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
		return cmp.Or(cmpInt(a.Start, b.Start), strings.Compare(a.ID, b.ID))
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

// A rate that was measured is that of whole replies, with network and queue in
// it: the engine may be faster. So many in a row must have been as fast, and the
// first token must be faster by more.
const (
	measuredReplies = 5
	measuredTimes   = 4 * fasterThan
)

// rate is the highest one that lasted at the endpoint, how many times a first
// token has to beat it, and where it is from; 0 when nothing says it.
func (c *canaries) rate(r *timeline.CanaryRow) (best int64, times float64, from string) {
	at := served{r.Node, r.Model}
	stated := cmp.Or(r.Rate, c.stated[at]) // what was stated for this round counts first
	if best = max(stated, c.rates[r.Node]); best > 0 {
		from = "as the targets file says"
		if c.rates[r.Node] > stated {
			from = "as its own log says"
		}
		return best, fasterThan, from
	}
	var last []int64 // of other rounds: one must not excuse itself
	for _, s := range c.seen[at] {
		if s.run == r.Run {
			continue
		}
		if last = append(last, s.rate); len(last) > measuredReplies {
			last = last[1:]
		}
		if len(last) == measuredReplies {
			best = max(best, slices.Min(last))
		}
	}
	return best, measuredTimes, "as measured in other rounds"
}

// shown is what one request says of one subject.
type shown struct {
	subject timeline.Subject
	verdict Verdict
	rule    string
	because string
	fix     string
	row     *timeline.CanaryRow
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

// judge says what a request means for its tenant, for the endpoint, and for the
// tenants whose markers came with its reply.
func (c *canaries) judge(r *timeline.CanaryRow) []shown {
	var out []shown
	add := func(s shown) {
		s.row, s.subject = r, testTenant(r.Tenant)
		out = append(out, s)
		s.subject, s.because = r.Node, "to "+r.Tenant+": "+s.because
		out = append(out, s)
	}
	switch {
	case len(r.Others) > 0:
		names := strings.Join(r.Others, ", ")
		add(shown{
			verdict: Exposed, rule: "canary-cross-talk", because: "the reply named the marker of " + names + ", which only the requests of " + names + " held: data crossed between tenants",
			fix: "take customers off this endpoint or give each an engine of its own; keep the logs of engine and gateway; then 'pulltrail match' with the engines' logs says who else was answered",
		})
		for _, name := range r.Others {
			out = append(out, shown{
				subject: testTenant(name), verdict: Exposed, rule: "canary-cross-talk", because: "its marker came in a reply to " + r.Tenant + ": its data reached another tenant",
				fix: out[0].fix, row: r,
			})
		}
	case r.Stale:
		add(shown{
			verdict: Possible, rule: "canary-other-request", because: "the reply named a code of another request of the same tenant: it was not made of its own prompt alone",
			fix: "look whether a cache of similar replies stands in front of the engine, and turn it off for test tenants; without one, treat it as data that crossed",
		})
	case r.Probe == timeline.MarkerProbe:
		add(c.marker(r))
	case r.Probe == timeline.LongProbe:
		add(overLong(r))
	case r.Outcome != timeline.ToItsEnd && r.Outcome != timeline.CutOff && r.Outcome != timeline.NotStreamed:
		add(noReply(r))
	}
	return out
}

// marker judges a long prompt that the endpoint may take.
func (c *canaries) marker(r *timeline.CanaryRow) shown {
	if r.Outcome != timeline.ToItsEnd {
		return noReply(r)
	}
	unknown := func(rule, fix, format string, args ...any) shown {
		return shown{verdict: Unknown, rule: rule, because: fmt.Sprintf(format, args...), fix: fix}
	}
	switch {
	case r.Own == timeline.NoMarks:
		return unknown("own-marker-missing", "run it again, with a larger reply_tokens or a model that does as it is asked; if it stays so, have somebody look at such a reply",
			"the reply named none of its own codes: the model did not do as it was asked, or it is not the reply to this prompt")
	case r.Own != timeline.BothMarks:
		return unknown("own-marker-half", "run it again; if the same half is missing each time, the prompt is cut",
			"the reply named only the %s of its two codes: the prompt may have been cut, or the model left one out", r.Own)
	case r.Prompt < 0:
		return unknown("no-usage", "have the server send its usage (stream_options.include_usage), then run it again",
			"the server gave no counts of tokens: how much of the prompt it read is not known")
	case r.Sent < 0:
		return unknown("size-unknown", "run it again; the counts of short prompts do not fit each other", "how long the prompt was is not known")
	case r.Prompt < r.Sent-r.Sent/20:
		return shown{
			verdict: Possible, rule: "prompt-cut", because: fmt.Sprintf("about %d tokens were sent and %d counted: the prompt was cut without a word", r.Sent, r.Prompt),
			fix: "find out who cuts, gateway or engine, and have it refuse instead",
		}
	case r.Prompt > r.Sent+r.Sent/10:
		return unknown("size-disagrees", "compare the server's counts with the engine's log", "about %d tokens were sent and %d counted: the counts cannot be relied on", r.Sent, r.Prompt)
	case !r.Streamed:
		return unknown("not-streamed", "have gateways in between pass the stream on as it comes", "the reply came in one piece: when its first token came is not known")
	}
	return c.wait(r)
}

// wait judges how soon the first token came.
func (c *canaries) wait(r *timeline.CanaryRow) shown {
	best, times, from := c.rate(r)
	read := r.Prompt - r.Cached
	switch {
	case read < minRead:
		return shown{
			verdict: Unknown, rule: "too-little-read", because: fmt.Sprintf("only %d tokens were not cached, too few to tell whether the first token came too soon", read),
			fix: "raise prompt_tokens",
		}
	case best == 0:
		return shown{
			verdict: Unknown, rule: "rate-unknown", because: "nothing says how fast the engine reads, so that a first token that came too soon would not be seen",
			fix: fmt.Sprintf("state prefill_rate in the targets file; or go on: it is measured once other rounds brought %d whole replies", measuredReplies),
		}
	}
	if text, fast := beats(&r.Request, best, times); fast {
		return shown{
			verdict: Possible, rule: "first-token-too-fast", because: text + ", " + from,
			fix: "look whether the engine can be that fast; if not, it answered from what it held of somebody else's prompt",
		}
	}
	seconds := float64(r.First-r.Start) / 1e9
	return shown{verdict: Clear, rule: "own-marker", because: fmt.Sprintf(
		"the reply named its own codes and no other tenant's; its first token came after %.3f s for %d tokens, no sooner than the engine reads them (%d a second, %s)", seconds, read, best, from)}
}

// overLong judges a prompt that had to be refused.
func overLong(r *timeline.CanaryRow) shown {
	const fix = "have the engine refuse what it cannot hold; until then have the gateway do so, and look in 'pulltrail sql \"SELECT * FROM requests\"' for prompts above the limit"
	answered := r.Status == 200 && (r.Outcome == timeline.ToItsEnd || r.Outcome == timeline.NotStreamed || r.First > 0)
	switch {
	case r.Outcome == timeline.TooLong:
		return shown{verdict: Clear, rule: "over-length-refused", because: fmt.Sprintf("a prompt of about %d tokens, where at most %d may be taken, was refused for its length", r.Sent, r.Limit)}
	case answered && r.Prompt > r.Limit:
		return shown{verdict: Exposed, rule: "over-length-answered", fix: fix, because: fmt.Sprintf(
			"a prompt of %d tokens was answered (HTTP 200), where at most %d may be taken", r.Prompt, r.Limit)}
	case answered && r.Prompt >= 0:
		return shown{verdict: Possible, rule: "over-length-cut", fix: fix, because: fmt.Sprintf(
			"a prompt of about %d tokens, where at most %d may be taken, was answered (HTTP 200) as if it had %d: it was cut without a word in place of being refused", r.Sent, r.Limit, r.Prompt)}
	case answered:
		return shown{verdict: Possible, rule: "over-length-answered", fix: fix, because: fmt.Sprintf(
			"a prompt of about %d tokens was answered (HTTP 200), where at most %d may be taken; how much of it was read is not said", r.Sent, r.Limit)}
	}
	s := noReply(r)
	s.because = fmt.Sprintf("whether a prompt of more than %d tokens is refused is not shown: %s", r.Limit, s.because)
	return s
}

// endings say what an ending that shows nothing means, and what to do.
var endings = map[timeline.Ending][2]string{
	timeline.CutOff:      {"the reply broke off", "run it again; if it stays so, look what ends streams: a proxy's timeout, the engine's log"},
	timeline.TooLong:     {"the prompt was refused for its length, though the targets file says that it may be that long", "correct limit_tokens or prompt_tokens in the targets file"},
	timeline.Refused:     {"the request was refused, and not for its length", "try the model and a reply of reply_tokens by hand: the endpoint does not take such a request"},
	timeline.Forbidden:   {"the endpoint refused the key", "give the test tenant a key that works for this model"},
	timeline.Limited:     {"the endpoint asked to come back later", "run it at a quieter time, or give the test tenants a higher limit"},
	timeline.Redirected:  {"the endpoint sent the request elsewhere, and nobody followed with the key", "if the address is yours, write it into the targets file"},
	timeline.NotStreamed: {"the reply was not streamed", "have the endpoint stream (text/event-stream), or name one that does"},
	timeline.Slow:        {"the reply took too long", "run it again; raise timeout if the endpoint is that slow"},
	timeline.Unreachable: {"the endpoint was not reached", "look at its address, name and certificate"},
	timeline.Broken:      {"the endpoint failed", "look at its log, and run it again"},
	timeline.NotSent:     {"the request was not sent", "close what stands before it, and run it again"},
	timeline.Interrupted: {"the run was interrupted", "run it again"},
}

// noReply says of a request without a whole reply why it shows nothing.
func noReply(r *timeline.CanaryRow) shown {
	text, ok := endings[r.Outcome]
	if !ok {
		text = [2]string{"what became of the request is not known", "run it again"}
	}
	s := shown{verdict: Unknown, rule: "canary-" + string(r.Outcome), because: text[0], fix: text[1]}
	var more []string
	if r.Status != 0 {
		more = append(more, fmt.Sprintf("HTTP %d", r.Status))
	}
	if r.Why != "" {
		more = append(more, r.Why)
	}
	if len(more) > 0 {
		s.because += " (" + strings.Join(more, ", ") + ")"
	}
	return s
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
