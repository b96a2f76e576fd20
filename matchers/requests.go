package matchers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pulltrail/timeline"
)

// fasterThan is how many times the rate that lasted a first token must have
// beaten: bursts stay well below.
const fasterThan = 4

// requests looks for replies that cannot have been computed from their own
// prompt alone, and gives them to their node and their tenant:
//
//   - a prompt longer than any server that could have answered it holds;
//   - a first token that came faster than the prompt can be read.
//
// A limit or a rate that is not known accuses nobody.
func (m *matching) requests(nodes []*node) error {
	if len(nodes) == 0 {
		return nil
	}
	s := &requestScan{m: m, nodes: nodes, last: map[string]int64{}, memo: map[stateKey][]nodeState{}}
	if err := m.r.requests(s.least(), s.look); err != nil {
		return err
	}
	for _, h := range s.hits {
		m.blame(h)
	}
	return nil
}

type requestScan struct {
	m     *matching
	nodes []*node
	last  map[string]int64 // by log: the latest end of a request so far
	memo  map[stateKey][]nodeState
	hits  []requestHit
}

type stateKey struct {
	node int
	at   int64
}

// requestHit is a reply that cannot be right.
type requestHit struct {
	row     timeline.RequestRow
	by      []*node
	verdict Verdict
	rule    string
	because string
}

// least is the shortest prompt that either rule can be about: with a rate known
// any.
func (s *requestScan) least() int64 {
	least := int64(-1)
	for _, n := range s.nodes {
		if len(n.settings[timeline.PrefillRate]) > 0 {
			return 0
		}
		for _, name := range []timeline.SettingName{timeline.PoolTokens, timeline.InputTokens} {
			for _, x := range n.settings[name] {
				if v := (nodeState{name: x}).count(name); v > 0 && (least < 0 || v < least) {
					least = v
				}
			}
		}
	}
	return least
}

// look judges one request.
func (s *requestScan) look(r *timeline.RequestRow) error {
	stepped := s.stepped(r)
	if r.Failed || r.Stored || r.Prompt <= 0 {
		return nil
	}
	could, states := s.candidates(r)
	if len(could) == 0 {
		return nil
	}
	if h, ok := tooLong(r, states); ok {
		h.by = could
		s.hits = append(s.hits, h)
		return nil
	}
	if h, ok := tooFast(r, could); ok && !stepped {
		h.by = could
		s.hits = append(s.hits, h)
	}
	return nil
}

// stepped reports whether the clock of the log was set back before the request:
// it ends before one that was logged earlier.
func (s *requestScan) stepped(r *timeline.RequestRow) bool {
	if r.End == 0 {
		return false
	}
	back := r.End < s.last[r.Path]
	s.last[r.Path] = max(s.last[r.Path], r.End)
	return back
}

// candidates lists the nodes that could have answered, with their states then:
// the node that says so itself; for a gateway's row the node that it names, else
// each that serves the model. What a decode node writes was read by a prefill
// node.
func (s *requestScan) candidates(r *timeline.RequestRow) (could []*node, states [][]nodeState) {
	at := cmp.Or(r.Start, r.Span.To)
	if r.Span.From == timeline.Beginning {
		at = timeline.Forever
	}
	for i, n := range s.nodes {
		if !s.named(n, r) {
			continue
		}
		key := stateKey{i, n.momentBefore(at)}
		if s.memo[key] == nil {
			s.memo[key] = n.states(key.at)
		}
		could, states = append(could, n), append(states, s.memo[key])
	}
	return could, states
}

// momentBefore is the last time at which something of the node changed.
func (n *node) momentBefore(at int64) int64 {
	moments := n.moments()
	i, found := slices.BinarySearch(moments, at)
	switch {
	case found:
		return moments[i]
	case i > 0:
		return moments[i-1]
	}
	return timeline.Beginning
}

// named reports whether a node may have answered a request.
func (s *requestScan) named(n *node, r *timeline.RequestRow) bool {
	decode := r.Decode || !r.Gateway && s.is(r.Node, "decode")
	switch {
	case decode || r.Gateway && s.behind(r) == nil:
		return !n.only("decode") && n.serves(r.Model)
	case r.Gateway:
		return n == s.behind(r)
	}
	return n.subject == r.Node
}

// is reports whether the node of that name has the topology.
func (s *requestScan) is(who timeline.Subject, topology string) bool {
	for _, n := range s.nodes {
		if n.subject == who {
			return n.only(topology)
		}
	}
	return false
}

// behind is the node whose address a gateway's row names, nil when it is none of
// them: then it is a balancer in front of several.
func (s *requestScan) behind(r *timeline.RequestRow) *node {
	if r.Node.Kind != timeline.Client {
		return nil
	}
	host, ok := s.m.clients.settled(r.Node.ID, r.Span.From, r.Span.To)
	if !ok {
		host, _, _ = strings.Cut(r.Node.ID, ".")
	}
	for _, n := range s.nodes {
		if n.subject.Kind == timeline.Host && strings.EqualFold(n.subject.ID, host) {
			return n
		}
	}
	return nil
}

// only reports whether all that is known of the node's topology is that.
func (n *node) only(topology string) bool {
	list := n.settings[timeline.Topology]
	return len(list) > 0 && !slices.ContainsFunc(list, func(s setting) bool { return s.value != topology })
}

// serves reports whether the node may serve a model: it does, or nothing says
// what it serves.
func (n *node) serves(model string) bool {
	list := n.settings[timeline.ServedModel]
	return model == "" || len(list) == 0 || slices.ContainsFunc(list, func(s setting) bool { return sameModel(s.value, model) })
}

// sameModel compares names that a gateway may write with its provider in front.
func sameModel(served, asked string) bool {
	return served == asked || strings.HasSuffix(asked, "/"+served) || strings.HasSuffix(served, "/"+asked)
}

// limit is the longest prompt that a node in this state can have held, 0 when
// that is not known.
func (s nodeState) limit() int64 {
	pool, input := s.count(timeline.PoolTokens), s.count(timeline.InputTokens)
	switch {
	case pool == 0:
		return input
	case input == 0:
		return pool
	}
	return min(pool, input)
}

// tooLong reports a prompt that was answered although no node that could have
// answered holds it. Where only some of them do not, it may be one.
func tooLong(r *timeline.RequestRow, states [][]nodeState) (requestHit, bool) {
	smallest, largest := int64(0), int64(0)
	for _, list := range states {
		for _, s := range list {
			limit := s.limit()
			if limit == 0 {
				return requestHit{}, false
			}
			largest = max(largest, limit)
			if smallest == 0 || limit < smallest {
				smallest = limit
			}
		}
	}
	h := requestHit{row: *r, rule: "prompt-exceeds-pool"}
	switch {
	case r.Prompt > largest:
		h.verdict = Exposed
		h.because = fmt.Sprintf("a prompt of %d tokens was answered where at most %d can be held", r.Prompt, largest)
	case r.Prompt > smallest:
		h.verdict = Possible
		h.because = fmt.Sprintf("a prompt of %d tokens was answered by one of %d nodes, of which some hold only %d", r.Prompt, len(states), smallest)
	}
	return h, h.verdict != ""
}

// tooFast reports a first token that came faster than the tokens that were not
// in the cache can be read, measured by one clock on a reply that was streamed.
func tooFast(r *timeline.RequestRow, could []*node) (requestHit, bool) {
	wait := r.First - r.Start
	if !r.Streamed || r.Decode || r.Cached < 0 || r.Start == 0 || wait <= 0 || len(could) != 1 || could[0].only("decode") {
		return requestHit{}, false
	}
	text, fast := beats(&r.Request, could[0].rate(), fasterThan)
	return requestHit{row: *r, verdict: Possible, rule: "first-token-too-fast", because: text}, fast
}

// beats reports a first token that came so many times faster than the best rate
// that lasted allows, in words. A rate of 0 is not known.
func beats(r *timeline.Request, best int64, times float64) (because string, fast bool) {
	read, wait := r.Prompt-r.Cached, float64(r.First-r.Start)/1e9
	rate := float64(read) / wait
	if best == 0 || wait <= 0 || rate <= times*float64(best) || read < minRead {
		return "", false
	}
	return fmt.Sprintf("the first token came %.3f s after a prompt with %d tokens that were not cached, %.0f a second; the node reads %d", wait, read, rate, best), true
}

// rate is the highest rate of prefill that lasted on the node at any time, 0
// when no line gives one.
func (n *node) rate() int64 {
	best := int64(0)
	for _, x := range n.settings[timeline.PrefillRate] {
		best = max(best, nodeState{timeline.PrefillRate: x}.count(timeline.PrefillRate))
	}
	return best
}

// minRead is how many tokens must have been read: the wait of short prompts is
// not that for reading them.
const minRead = 8192

// counted is a number of tokens as the log says it.
func counted(tokens int64) string {
	if tokens < 0 {
		return "not said"
	}
	return strconv.FormatInt(tokens, 10)
}

// blame gives a hit to the tenant who got the reply and to the nodes that may
// have given it.
func (m *matching) blame(h requestHit) {
	f := timeline.Fact{
		Event: -m.nextMade(), Action: timeline.Contact, Span: h.row.Span, SHA256: h.row.SHA256, Origin: h.row.Origin,
		Item: timeline.Item{Artifact: "request:" + cmp.Or(h.row.ID, fmt.Sprintf("line-%d", h.row.Line))}, Parts: timeline.Parts{Type: "request"},
	}
	f.Text = fmt.Sprintf("prompt %d tokens, cached %s, output %s", h.row.Prompt, counted(h.row.Cached), counted(h.row.Output))
	if h.row.Tenant != "" {
		f.Subject = timeline.Subject{Kind: timeline.Client, ID: "tenant/" + h.row.Tenant}
		a, gotten := m.of(f.Subject), f
		a.judged = append(a.judged, judged{
			Fact: &gotten, verdict: h.verdict, rule: h.rule,
			because: h.because + "; its reply may hold data of other tenants, of whom is not determinable",
		})
	}
	for _, n := range h.by {
		given := f
		given.Subject = n.subject
		verdict := h.verdict
		if len(h.by) > 1 {
			verdict = Possible // one of them
		}
		a := m.of(n.subject)
		a.judged = append(a.judged, judged{
			Fact: &given, verdict: verdict, rule: h.rule,
			because: h.because + "; whose data went into the reply is not determinable",
		})
	}
}

// nextMade numbers a fact that stands for what is no event of the timeline.
func (m *matching) nextMade() int64 {
	m.made++
	return int64(len(m.r.settings)) + m.made
}
