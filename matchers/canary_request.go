package matchers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// shown is what one request says of one subject.
type shown struct {
	subject timeline.Subject
	verdict Verdict
	rule    string
	because string
	fix     string
	row     *timeline.CanaryRow
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
