package document

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// OpenAIUsage is what a server with the API of OpenAI answers: whole replies as
// JSON, and the frames of a stream, of which the last one has the counts.
// https://platform.openai.com/docs/api-reference/chat/object
// https://platform.openai.com/docs/api-reference/chat-streaming
var OpenAIUsage = evidence.Format{
	Name:   "openai-usage",
	Shape:  evidence.ToolShape,
	Title:  "usage of OpenAI-style replies (JSON, frames of server-sent events)",
	Proves: "each reply in tokens, with the cached ones where the server says so, and the second at which it was begun",
	Cannot: "the tenant, which node answered, when the first token came; a stream that broke off has no counts",
	Doc:    "https://platform.openai.com/docs/api-reference/chat-streaming",
	Sample: "written by hand after the documentation",
	Fields: [][]string{
		{"id", "object", "created", "model", "usage"}, {"id", "object", "created_at", "model", "usage"}, {"custom_id", "response"},
	},
	Starts: []string{"data: {", "data:{"},
	Looks:  func(text []byte) bool { return bytes.Contains(text, []byte(`"usage"`)) },
	Texts:  true,
	Tool:   func() evidence.Parser { return &openAIUsage{} },
}

// openAIUsage remembers replies whose counts were read: frames may repeat them.
type openAIUsage struct{ had map[string]bool }

// Line reads a reply, a row of the output of a batch, or a frame:
//
//	data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1788249600,"model":"chat","choices":[],"usage":{"prompt_tokens":700000,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":4096}}}
//	{"id":"batch_req_1","custom_id":"request-1","response":{"status_code":200,"body":{"id":"chatcmpl-2","object":"chat.completion",…}}}
//	data: {"type":"response.completed","response":{"id":"resp_1","object":"response","created_at":1788249600,…}}
func (u *openAIUsage) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	batch := v.has("custom_id")
	if rest, ok := bytes.CutPrefix(evidence.TrimIndent(l.Text), []byte("data:")); ok {
		v = value{rest, 0, len(rest)}
		if v.get("response").kind() == '{' {
			v = v.get("response")
		}
	} else if batch {
		v = v.get("response", "body")
	}
	usage := v.get("usage")
	r := timeline.Request{
		Gateway: true, ID: v.get("id").text(), Model: v.get("model").text(),
		Prompt: countOf(usage, "prompt_tokens", "input_tokens"), Output: countOf(usage, "completion_tokens", "output_tokens"),
		Cached: tokensOf(usage.get("prompt_tokens_details", "cached_tokens")), Failed: failedReply(v),
	}
	if r.Cached < 0 {
		r.Cached = tokensOf(usage.get("input_tokens_details", "cached_tokens"))
	}
	switch {
	case !batch && (v.get("object").text() == "" || r.ID == ""):
		return evidence.Miss
	case r.ID == "" || usage.kind() != '{' || r.Prompt < 0 || u.had[r.ID] || v.get("object").text() == "chat.completion.chunk" && !lastFrame(v):
		o.Seen("") // a frame on the way, or a request that failed
		return evidence.Done
	}
	if len(u.had) >= maxReplies || u.had == nil {
		u.had = map[string]bool{}
	}
	u.had[r.ID] = true
	begun, ok := v.get("created").integer()
	if !ok {
		begun, ok = v.get("created_at").integer()
	}
	if ok && begun > 0 && begun < 1<<33 { // whole seconds
		r.Span = timeline.Span{From: begun * 1e9, To: begun*1e9 + 1e9 - 1, Clock: timeline.Exact}
	}
	o.Request(r)
	return evidence.Done
}

// End has nothing to do: a stream that breaks off has no counts.
func (*openAIUsage) End(timeline.OpState, *evidence.Out) {}

// maxReplies bounds what is remembered of a log.
const maxReplies = 4096

// lastFrame reports whether a frame has the counts of the whole reply: servers
// may be asked to send what was counted so far with every frame.
func lastFrame(v value) bool {
	for choice := range v.get("choices").elements() {
		if choice.get("finish_reason").text() == "" {
			return false
		}
	}
	return true
}

// failedReply reports a reply that the engine broke off.
func failedReply(v value) bool {
	for choice := range v.get("choices").elements() {
		switch choice.get("finish_reason").text() {
		case "error", "abort":
			return true
		}
	}
	status := v.get("status").text()
	return status == "failed" || status == "cancelled"
}

// countOf is the first count that is not filled with zero: gateways add the
// names of another API without values.
func countOf(usage value, names ...string) int64 {
	n := int64(-1)
	for _, name := range names {
		if n = max(n, tokensOf(usage.get(name))); n > 0 {
			break
		}
	}
	return n
}
