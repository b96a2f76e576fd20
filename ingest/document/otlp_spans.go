package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// OTLPSpans is traces as OTLP writes them in JSON: one batch a line in what the
// file exporter of the OpenTelemetry Collector writes. Of spans that are no call
// of a model nothing is taken.
// https://github.com/open-telemetry/opentelemetry-collector-contrib/tree/main/exporter/fileexporter
// https://github.com/open-telemetry/semantic-conventions/blob/v1.37.0/docs/gen-ai/gen-ai-spans.md
var OTLPSpans = evidence.Format{
	Name:   "otlp-spans",
	Shape:  evidence.ToolShape,
	Title:  "OpenTelemetry spans of calls to models (OTLP JSON, the collector's file exporter)",
	Proves: "each call of a model: tokens, start, first token where the span has it, end, model, address of the server, alias of the tenant",
	Cannot: "which engine behind the address answered; calls that were not sampled; a tenant that the instrumentation does not name",
	Doc:    "https://github.com/open-telemetry/semantic-conventions/blob/v1.37.0/docs/gen-ai/gen-ai-spans.md",
	Sample: "calls.jsonl, older.jsonl: written by the JavaScript instrumentations of OpenTelemetry 0.21 and Traceloop 0.27 and 0.12 through pdata 1.71, which the file exporter uses, addresses replaced; more.jsonl: written by hand after the documentation",
	Fields: [][]string{{"resource", "scopeSpans"}, {"scopeSpans"}},
	Lists:  []string{"resourceSpans"},
	Texts:  true,
	// The collector writes batches of thousands of spans on a line, with what was
	// asked in them.
	Largest: 32 << 20,
	Tool:    func() evidence.Parser { return otlpSpans{} },
}

type otlpSpans struct{}

// Line reads the spans of one resource.
//
//	{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"agent"}},{"key":"host.name","value":{"stringValue":"app-1"}}]},"scopeSpans":[{"scope":{…},"spans":[…]}]}
func (otlpSpans) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	o.Seen("")
	host := attributesOf(v.get("resource", "attributes")).text("host.name")
	for scope := range v.get("scopeSpans").elements() {
		for span := range scope.get("spans").elements() {
			modelCall(span, host, o)
		}
	}
	return evidence.Done
}

// End has nothing to do: each span stands alone.
func (otlpSpans) End(timeline.OpState, *evidence.Out) {}

// modelCall records a span that is one call of a model:
//
//	{"name":"chat chat","kind":3,"startTimeUnixNano":"1796054519924000000","endTimeUnixNano":"1796054520151783026","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},
//	{"key":"server.address","value":{"stringValue":"gpu-1.acme.example"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"700000"}}],"status":{}}
func modelCall(span value, host string, o *evidence.Out) {
	a := attributesOf(span.get("attributes"))
	if !a.isCall() {
		return
	}
	start, _ := span.get("startTimeUnixNano").integer()
	end, _ := span.get("endTimeUnixNano").integer()
	if start <= 0 {
		o.Skip("a call of a model without its start")
		return
	}
	r := timeline.Request{
		Gateway: true, ID: a.text("gen_ai.response.id", "gen_ai.request.id"), Tenant: a.text(tenantNames...),
		Model:  a.text("gen_ai.request.model", "gen_ai.response.model", "llm.model_name"),
		Prompt: a.count(inputNames...), Cached: a.count(cachedNames...), Output: a.count(outputNames...),
		Start: start, End: max(end, start), Failed: failedSpan(span, a),
		Span: timeline.Span{From: start, To: max(end, start), Clock: timeline.Exact},
	}
	if wait := firstToken(span, a, start); wait > 0 {
		r.First, r.Streamed = start+wait, true
	}
	if server := serverOf(a); server != "" {
		r.Node = timeline.Subject{Kind: timeline.Client, ID: server}
	}
	if kind := span.get("kind"); a.has("gen_ai.latency.e2e", "gen_ai.latency.time_to_first_token") && (string(kind.raw()) == "2" || kind.text() == "SPAN_KIND_SERVER") {
		r.Gateway, r.Node = false, timeline.Subject{} // the engine's own word of itself
		if host != "" {
			r.Node = timeline.Subject{Kind: timeline.Host, ID: host}
		}
	}
	o.Request(r)
}

// The names of what is counted, the newest convention first. What was read from
// a cache is part of the input.
var (
	inputNames = []string{
		"gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens", "llm.token_count.prompt",
	}
	outputNames = []string{
		"gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens", "llm.token_count.completion",
	}
	cachedNames = []string{
		"gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.cached_tokens",
		"gen_ai.usage.input_tokens.cached", "llm.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read",
	}
	tenantNames = []string{
		"metadata.user_api_key_team_alias", "metadata.user_api_key_alias", "metadata.user_api_key_end_user_id", // LiteLLM
		"tenant.id", "traceloop.association.properties.tenant_id", "traceloop.association.properties.customer_id",
		"metadata.user_api_key_user_id", "enduser.id", "user.id", "llm.user",
	}
	firstNames = []string{"gen_ai.response.time_to_first_chunk", "gen_ai.latency.time_to_first_token", "gen_ai.response.time_to_first_token"} // seconds
	otherNames = []string{
		"gen_ai.operation.name", "llm.request.type", "openinference.span.kind", "gen_ai.response.id", "gen_ai.request.id", "gen_ai.request.model",
		"gen_ai.response.model", "llm.model_name", "gen_ai.latency.e2e", "ai.response.msToFirstChunk", "error.type", "server.address",
		"net.peer.name", "gen_ai.openai.api_base", "host.name", "http.response.status_code",
	}
	spanNames = func() map[string]bool {
		all := map[string]bool{}
		for _, list := range [][]string{inputNames, outputNames, cachedNames, tenantNames, firstNames, otherNames} {
			for _, name := range list {
				all[name] = true
			}
		}
		return all
	}()
)

// operations of a span that are one call of a model; others (invoke_agent,
// execute_tool, a workflow) sum up calls that have spans of their own. The names
// with an a are those of LiteLLM.
var operations = map[string]bool{
	"chat": true, "text_completion": true, "generate_content": true, "completion": true, "acompletion": true,
	"atext_completion": true, "responses": true, "aresponses": true, "anthropic_messages": true,
}

// attributes are those of a span or resource that are read; what was asked and
// answered stands in others.
type attributes map[string]value

func attributesOf(list value) attributes {
	a := attributes{}
	for e := range list.elements() {
		if key := e.get("key").text(); spanNames[key] {
			for _, field := range e.get("value").fields() {
				a[key] = field // stringValue, intValue, doubleValue or boolValue
			}
		}
	}
	return a
}

func (a attributes) has(names ...string) bool {
	for _, name := range names {
		if a[name].kind() != 0 {
			return true
		}
	}
	return false
}

// text is the first that is a text.
func (a attributes) text(names ...string) string {
	for _, name := range names {
		if text := a[name].text(); text != "" && text != "None" {
			return text
		}
	}
	return ""
}

// count is the first count that is there and not filled with zero, 0 when all
// are, -1 when there is none.
func (a attributes) count(names ...string) int64 {
	n := int64(-1)
	for _, name := range names {
		if n = max(n, tokensOf(a[name])); n > 0 {
			return n
		}
	}
	return n
}

// isCall reports whether the span is one call of a model: it says so, or has the
// name of a single reply or an engine's own figures.
func (a attributes) isCall() bool {
	switch operation := a.text("gen_ai.operation.name", "llm.request.type"); {
	case operation != "":
		return operations[operation]
	case a.has("openinference.span.kind"):
		return a.text("openinference.span.kind") == "LLM"
	}
	return a.has(inputNames...) && a.has("gen_ai.response.id", "gen_ai.latency.e2e", "gen_ai.latency.time_to_first_token")
}

// failedSpan reports a call that ended with an error. A status without a code
// is unset, which is none.
func failedSpan(span value, a attributes) bool {
	code := span.get("status", "code")
	status, _ := a["http.response.status_code"].integer()
	return string(code.raw()) == "2" || code.text() == "STATUS_CODE_ERROR" || a.has("error.type") || status >= 400
}

// firstToken is how long the first token took in nanoseconds, 0 when the span
// does not say: an attribute, or the event of the first piece of a stream.
func firstToken(span value, a attributes, start int64) int64 {
	for _, name := range firstNames {
		if s, ok := a[name].number(); ok && s > 0 {
			return int64(s * 1e9)
		}
	}
	if ms, ok := a["ai.response.msToFirstChunk"].number(); ok && ms > 0 {
		return int64(ms * 1e6)
	}
	for e := range span.get("events").elements() {
		switch e.get("name").text() {
		case "First Token Stream Event", "llm.content.completion.chunk", "gen_ai.content.completion.chunk":
			at, _ := e.get("timeUnixNano").integer()
			return at - start
		}
	}
	return 0
}

// serverOf is the host of the server that was called, "" when none is named.
func serverOf(a attributes) string {
	for _, name := range []string{"server.address", "net.peer.name", "gen_ai.openai.api_base"} {
		text := a.text(name)
		if host := apiHost(text); host != "" {
			return host
		}
		if text != "" && !strings.ContainsAny(text, "/?#@ ") {
			return strings.ToLower(text)
		}
	}
	return ""
}
