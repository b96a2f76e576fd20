package document

import (
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Canary is what 'pulltrail canary run' noted of the requests that it sent as
// test tenants: counts, times and whose codes a reply named. Prompts, replies
// and keys never were in it.
// https://platform.openai.com/docs/api-reference/chat-streaming
var Canary = evidence.Format{
	Name:   "canary",
	Shape:  evidence.ToolShape,
	Title:  "requests of 'pulltrail canary run'",
	Proves: "what became of a request of a test tenant: whose codes its reply named, tokens as the server counted them, first token and end by one clock",
	Cannot: "that another request would have fared as well; which engine behind a gateway answered",
	Doc:    "https://platform.openai.com/docs/api-reference/chat-streaming",
	Sample: "written by this program, from a stand-in for an inference engine",
	Fields: [][]string{{"pulltrail_canary", "run", "tenant", "probe", "outcome"}},
	Tool:   func() evidence.Parser { return canary{} },
}

type canary struct{}

// Line reads one row:
//
//	{"pulltrail_canary":"pulltrail.canary-run/1","run":"20261130T160500Z-k7m2xw9t","id":"20261130T160500Z-k7m2xw9t-3","target":"gateway-eu","node":"client:llm.acme.example","gateway":true,
//	"model":"chat","tenant":"canary-a","probe":"marker","outcome":"whole","status":200,"sent_tokens":32010,"limit_tokens":131072,"prefill_rate":14000,"prompt_tokens":32011,
//	"cached_tokens_at_most":54,"output_tokens":31,"streamed":true,"start":"…","first_token":"…","end":"…","own_codes":"both","other_request":false,"other_tenants":[]}
func (canary) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	node, err := timeline.ParseSubject(v.get("node").text())
	start, end := v.get("start").stamp(o), v.get("end").stamp(o)
	c := timeline.Canary{
		Request: timeline.Request{
			Node: node, Gateway: v.get("gateway").isTrue(), Tenant: v.get("tenant").text(), Model: v.get("model").text(), ID: v.get("id").text(),
			Prompt: tokensOf(v.get("prompt_tokens")), Cached: tokensOf(v.get("cached_tokens_at_most")), Output: tokensOf(v.get("output_tokens")),
			Start: start.From, End: end.From, Streamed: v.get("streamed").isTrue(),
			Span: timeline.Span{From: start.From, To: end.From, Clock: start.Clock, Written: start.Written},
		},
		Run: v.get("run").text(), Target: v.get("target").text(), Probe: timeline.Probe(v.get("probe").text()), Sent: tokensOf(v.get("sent_tokens")),
		Limit: max(tokensOf(v.get("limit_tokens")), 0), Rate: max(tokensOf(v.get("prefill_rate")), 0), Status: max(tokensOf(v.get("status")), 0),
		Outcome: timeline.Ending(v.get("outcome").text()), Why: v.get("why").text(), Own: timeline.Marks(v.get("own_codes").text()),
		Stale: v.get("other_request").isTrue(),
	}
	for _, name := range v.get("other_tenants").texts() {
		c.Others = append(c.Others, strings.ReplaceAll(evidence.Redact(evidence.Clean(name)), " ", "-"))
	}
	probes := []timeline.Probe{timeline.SizeProbe, timeline.MarkerProbe, timeline.LongProbe}
	marks := []timeline.Marks{timeline.NoMarks, timeline.FirstMark, timeline.LastMark, timeline.BothMarks}
	if err != nil || start.Clock != timeline.Exact || end.Clock != timeline.Exact || end.From < start.From || c.Tenant == "" ||
		!slices.Contains(probes, c.Probe) || !c.Outcome.Known() || !slices.Contains(marks, c.Own) {
		o.Skip("a row of the canary that lacks its node, tenant, probe, outcome, codes or times")
		return evidence.Done
	}
	if first := v.get("first_token").stamp(o); first.Clock == timeline.Exact {
		c.First = first.From
	}
	c.Failed = c.Status != 200 || c.Outcome == timeline.TooLong || c.Outcome == timeline.Broken
	o.Canary(c)
	return evidence.Done
}

// End has nothing to do: each row stands alone.
func (canary) End(timeline.OpState, *evidence.Out) {}
