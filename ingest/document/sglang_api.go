package document

import (
	"strconv"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// SGLangInfo is what an SGLang server answers when it is asked what it is:
// /get_server_info, /get_model_info, GetModelInfo over gRPC.
// https://docs.sglang.io/basic_usage/native_api.html
var SGLangInfo = evidence.Format{
	Name:   "sglang-server-info",
	Shape:  evidence.ToolShape,
	Title:  "SGLang server and model info",
	Proves: "version and settings of the engine at the time of the answer",
	Cannot: "when the answer was given: state it with --covers",
	Doc:    "https://docs.sglang.io/basic_usage/native_api.html",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"model_path", "max_req_input_len"}, {"model_path", "disaggregation_mode"}, {"model_path", "is_generation"}},
	Tool:   func() evidence.Parser { return sglangInfo{} },
}

type sglangInfo struct{}

// Line reads one answer. max_context_length is left alone: servers put the size
// of their pool there.
//
//	{"model_path":"Qwen/Qwen3-8B","disaggregation_mode":"prefill","disaggregation_transfer_backend":"mooncake","max_total_num_tokens":681280,"max_req_input_len":1048570,"context_length":1048576,"version":"0.5.20"}
func (sglangInfo) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	if v.get("model_path").text() == "" {
		return evidence.Miss
	}
	o.Setting(timeline.EngineKind, "sglang")
	o.Setting(timeline.EngineVersion, v.get("version").text())
	if mode := v.get("disaggregation_mode"); mode.kind() != 0 {
		switch text := mode.text(); text {
		case "prefill", "decode":
			o.Setting(timeline.Topology, text)
			o.Setting(timeline.TransferBackend, v.get("disaggregation_transfer_backend").text())
		case "null", "":
			o.Setting(timeline.Topology, "single")
		}
	}
	for _, f := range []struct {
		field string
		name  timeline.SettingName
	}{
		{"context_length", timeline.ContextTokens},
		{"max_total_num_tokens", timeline.PoolTokens},
		{"max_req_input_len", timeline.InputTokens},
	} {
		if n, ok := v.get(f.field).integer(); ok && n > 0 {
			o.Setting(f.name, strconv.FormatInt(n, 10))
		}
	}
	for key, field := range v.fields() {
		if evidence.ChecksumOption(key) {
			o.Setting(timeline.KVChecksum, onOff(field.isTrue()))
		}
	}
	name := v.get("served_model_name").text()
	if name == "" {
		name = v.get("model_path").text()
	}
	o.Setting(timeline.ServedModel, name)
	o.Setting(timeline.ModelRevision, v.get("revision").text())
	if v.get("trust_remote_code").isTrue() {
		o.Setting(timeline.RemoteCode, "true")
	}
	return evidence.Done
}

// End has nothing to do: an answer stands alone.
func (sglangInfo) End(timeline.OpState, *evidence.Out) {}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// SGLangRequests is SGLang's log of requests in its JSON form
// (--log-requests-format json).
// https://docs.sglang.io/advanced_features/server_arguments.html
var SGLangRequests = evidence.Format{
	Name:   "sglang-requests",
	Shape:  evidence.ToolShape,
	Title:  "SGLang request log (JSON)",
	Proves: "each finished request in tokens, with the server's wall clock at its start, first token and end",
	Cannot: "the tenant of a request",
	Doc:    "https://docs.sglang.io/advanced_features/server_arguments.html",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"event", "rid", "out"}, {"event", "rid", "obj"}},
	Texts:  true,
	Tool:   func() evidence.Parser { return sglangRequests{} },
}

type sglangRequests struct{}

// Line reads one event; what was asked and answered is not looked at.
//
//	{"timestamp":"2026-09-01T08:00:04.5","event":"request.finished","rid":"bf89…","obj":{"stream":true},"out":{"meta_info":{"prompt_tokens":32472,"cached_tokens":32320,"completion_tokens":17,
//	"request_received_ts":1788249600.1,"response_sent_to_client_ts":1788249602.9,"request_finished_ts":1788249604.5,"finish_reason":{"type":"stop"}}}}
func (sglangRequests) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	switch v.get("event").text() {
	case "request.received":
		o.Seen("")
		return evidence.Done
	case "request.finished":
	default:
		return evidence.Miss
	}
	meta := v.get("out", "meta_info")
	r := timeline.Request{
		ID: v.get("rid").text(), Streamed: v.get("obj", "stream").isTrue(),
		Prompt: tokensOf(meta.get("prompt_tokens")), Cached: tokensOf(meta.get("cached_tokens")), Output: tokensOf(meta.get("completion_tokens")),
		Start: unixSeconds(meta.get("request_received_ts")), First: unixSeconds(meta.get("response_sent_to_client_ts")), End: unixSeconds(meta.get("request_finished_ts")),
		Failed: meta.get("finish_reason", "type").text() == "abort",
	}
	if r.Prompt < 0 {
		o.Skip("a finished request without its tokens")
		return evidence.Done
	}
	r.Span = v.get("timestamp").stamp(o)
	if r.Start > 0 && r.End >= r.Start {
		r.Span = timeline.Span{From: r.Start, To: r.End, Clock: timeline.Exact}
	}
	o.Request(r)
	return evidence.Done
}

// End has nothing to do: each event stands alone.
func (sglangRequests) End(timeline.OpState, *evidence.Out) {}

// unixSeconds reads seconds since 1970, 0 for what is no wall clock.
func unixSeconds(v value) int64 { return evidence.UnixSeconds(string(v.raw())) }
