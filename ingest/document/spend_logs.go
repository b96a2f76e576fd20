package document

import (
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// SpendLogs is the requests that a LiteLLM proxy keeps in its table
// LiteLLM_SpendLogs, as its API and its exports print them.
// https://docs.litellm.ai/docs/proxy/cost_tracking
var SpendLogs = evidence.Format{
	Name:   "litellm-spend-logs",
	Shape:  evidence.ToolShape,
	Title:  "LiteLLM spend logs (API, JSON and CSV exports, the database of the proxy)",
	Proves: "each request through the gateway: alias of its team or key, model, tokens, start, first token and end",
	Cannot: "which engine node answered; rows whose request_id was empty were lost in 1.50",
	Doc:    "https://docs.litellm.ai/docs/proxy/cost_tracking",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"request_id", "call_type", "startTime", "endTime", "prompt_tokens"}, {"request_id", "call_type", "startTime", "endTime", "total_tokens"}, {"schema", "spend_logs", "missing"}},
	Texts:  true,
	Tool:   func() evidence.Parser { return spendLogs{} },
}

type spendLogs struct{}

// Line reads one row, or the head of what 'collect litellm' writes. cache_hit is a text, metadata is JSON in a text. The hash
// of the key, messages and replies stand in it too and are not looked at:
//
//	{"request_id":"chatcmpl-2283…","call_type":"acompletion","api_key":"","cache_hit":"None","startTime":"2026-10-21 09:20:46.847371","endTime":"2026-10-21 09:20:48.851954",
//	"completionStartTime":"2026-10-21 09:20:47.1","model":"gpt-4o","team_id":"","metadata":"{\"user_api_key_alias\": \"acme-web\"}","prompt_tokens":10,"completion_tokens":20,"api_base":"http://gpu-1:30000/v1","status":"success"}
func (spendLogs) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	if v.has("spend_logs") {
		o.Seen("")
		if gone := v.get("missing").texts(); len(gone) > 0 {
			o.Cut("the database did not give " + strings.Join(gone, ", ") + ": it is not there, or may not be read")
		}
		return evidence.Done
	}
	meta := v.get("metadata")
	if text := meta.text(); text != "" {
		meta = value{[]byte(text), 0, len(text)}
	}
	r := timeline.Request{
		Gateway: true, ID: v.get("request_id").text(), Model: v.get("model").text(),
		Prompt: tokensOf(v.get("prompt_tokens")), Output: tokensOf(v.get("completion_tokens")),
		Cached: tokensOf(meta.get("usage_object", "prompt_tokens_details", "cached_tokens")),
		Stored: strings.EqualFold(v.get("cache_hit").text(), "true"),
		Failed: v.get("status").text() == "failure" || meta.get("status").text() == "failure",
	}
	if r.Cached < 0 {
		r.Cached = tokensOf(meta.get("additional_usage_values", "cache_read_input_tokens"))
	}
	for _, name := range []string{"user_api_key_team_alias", "user_api_key_alias", "user_api_key_end_user_id", "user_api_key_user_id"} {
		if r.Tenant == "" {
			r.Tenant = meta.get(name).text()
		}
	}
	for _, name := range []string{"team_id", "end_user", "user"} {
		if r.Tenant == "" {
			r.Tenant = v.get(name).text()
		}
	}
	if host := apiHost(v.get("api_base").text()); host != "" {
		r.Node = timeline.Subject{Kind: timeline.Client, ID: host}
	}
	start, end := v.get("startTime").stamp(o), v.get("endTime").stamp(o)
	if start == (timeline.Span{}) {
		o.Skip("a request without its start")
		return evidence.Done
	}
	r.Span = start
	if end.To > start.To {
		r.Span.To = end.To
	}
	r.Start, r.First, r.End = wallClock(v.get("startTime")), wallClock(v.get("completionStartTime")), wallClock(v.get("endTime"))
	// Where the first token's time is that of the end, the reply was not streamed
	// or the time was never taken; for /v1/messages the start was taken when the
	// reply's headers came, so that nothing can be said of the wait.
	r.Streamed = r.First > r.Start && r.First < r.End && v.get("call_type").text() != "anthropic_messages"
	o.Request(r)
	return evidence.Done
}

// End has nothing to do: each row stands alone.
func (spendLogs) End(timeline.OpState, *evidence.Out) {}

// apiHost is the host of the engine behind the gateway, "" for a provider that
// the row does not name.
func apiHost(base string) string {
	_, rest, ok := strings.Cut(base, "://")
	if !ok {
		return ""
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	rest, _, _ = strings.Cut(rest, "/")
	host, _, _ := strings.Cut(rest, ":")
	return strings.ToLower(host)
}

// wallClock reads a time as nanoseconds since 1970, as UTC when it names no
// zone: only differences of times of the same row are taken. 0 is none.
func wallClock(v value) int64 {
	utc := evidence.Times{Zone: time.UTC}
	if s := evidence.ISOStamp([]byte(v.text()), &utc); s.Clock == timeline.Exact {
		return s.From
	}
	return 0
}

// tokensOf reads a count, -1 when there is none.
func tokensOf(v value) int64 {
	if n, ok := v.integer(); ok && n >= 0 {
		return n
	}
	return -1
}
