package tool

import (
	"bytes"
	"fmt"
	"strconv"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// SGLang is what an SGLang server says of itself and of its requests. Texts of
// requests and replies are not kept.
// https://docs.sglang.io/advanced_features/server_arguments.html
var SGLang = evidence.Format{
	Name:   "sglang",
	Shape:  evidence.ToolShape,
	Title:  "SGLang server lines",
	Proves: "settings of the engine (topology, transfer backend, context, cache pool), its prefill rate, finished and refused requests in tokens",
	Cannot: "that a package or image came over; the tenant of a request",
	Doc:    "https://docs.sglang.io/advanced_features/server_arguments.html",
	Sample: "written by hand after lines in public reports",
	Starts: []string{
		"server_args=", "max_total_num_tokens=", "KV Cache is allocated", "Prefill batch", "Decode batch", "Finish: ", "Receive: ",
		"SGLang Generating!", "The server is fired up", "ValueError: The input (", "[Error]Input length (", "Input length (",
		`{"object":"error","message":"The input (`,
	},
	Texts: true,
	Tool:  func() evidence.Parser { return &sglang{} },
}

type sglang struct {
	decode bool
	said   evidence.EngineSettings
	rates  rates
}

// Line reads one line. It answers nothing that a package tool asks.
func (s *sglang) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := l.Text
	switch {
	case bytes.HasPrefix(text, []byte("server_args=")):
		return s.arguments(text[len("server_args="):], o)
	case bytes.HasPrefix(text, []byte("max_total_num_tokens=")):
		return s.pool(text, o)
	case bytes.HasPrefix(text, []byte("KV Cache is allocated")):
		// KV Cache is allocated. dtype: torch.bfloat16, #tokens: 159552, K size: 1.83 GB, V size: 1.83 GB
		set := evidence.EngineSettings{}
		set.Set("max_total_num_tokens", count(after(text, "#tokens: ")))
		s.said.More(&set, "sglang", o)
	case bytes.HasPrefix(text, []byte("Prefill batch")):
		s.prefill(text, o)
	case bytes.HasPrefix(text, []byte("Finish: ")):
		return s.finished(text[len("Finish: "):], o)
	case bytes.Contains(text, []byte("nput length (")) || bytes.Contains(text, []byte("The input (")):
		return refused(text, o)
	}
	o.Seen("")
	return evidence.Done
}

// arguments reads the dump of the options at the start:
//
//	server_args=ServerArgs(model_path='Qwen/Qwen3-8B', tokenizer_path='Qwen/Qwen3-8B', context_length=None, disaggregation_mode='null', …)
func (s *sglang) arguments(dump []byte, o *evidence.Out) evidence.Result {
	set := evidence.EngineSettings{}
	whole := set.Dump(dump)
	s.decode = set.Value(timeline.Topology) == "decode"
	s.said.Again(&set, "sglang", o)
	if !whole {
		o.Skip("the dump of the server's arguments is cut off")
	}
	return evidence.Done
}

// pool reads what the cache holds and what the server takes:
//
//	max_total_num_tokens=681280, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=2048, context_len=1048576, available_gpu_mem=9.71 GB
func (s *sglang) pool(text []byte, o *evidence.Out) evidence.Result {
	set := evidence.EngineSettings{}
	for part := range bytes.SplitSeq(text, []byte(", ")) {
		key, value, _ := bytes.Cut(part, []byte{'='})
		set.Set(string(key), string(value))
	}
	s.said.More(&set, "sglang", o)
	return evidence.Done
}

// prefill reads one batch. Each rank prints its own line of the same batch:
//
//	Prefill batch, #new-seq: 1, #new-token: 8192, #cached-token: 0, token usage: 0.97, #running-req: 3, #queue-req: 5, cuda graph: False, input throughput (token/s): 1732.68
//	Prefill batch. #new-seq: 1, #new-token: 2062, #cached-token: 0, cache hit rate: 0.00%, token usage: 0.00, #running-req: 0, #queue-req: 0
func (s *sglang) prefill(text []byte, o *evidence.Out) {
	o.Seen("")
	if rate, err := strconv.ParseFloat(string(bytes.TrimSpace(after(text, "input throughput (token/s): "))), 64); err == nil {
		s.rates.add(rate, o.Mark())
	}
}

// finished reads a request that was logged at its end, in Python's notation:
//
//	Finish: obj=GenerateReqInput(rid='bf89…', stream=True, …), out={'meta_info': {'id': 'bf89…', 'finish_reason': {'type': 'stop'}, 'prompt_tokens': 32472, …}}
func (s *sglang) finished(text []byte, o *evidence.Out) evidence.Result {
	r := timeline.Request{Prompt: -1, Cached: -1, Output: -1, Decode: s.decode}
	f := evidence.PythonFields(append([]byte("Finish("), append(text, ')')...))
	for f.Next() {
		switch string(f.Key) {
		case "obj":
			obj := evidence.PythonFields(f.Value)
			for obj.Next() {
				if string(obj.Key) == "stream" {
					r.Streamed = string(obj.Value) == "True"
				}
			}
		case "out":
			out := evidence.PythonFields(f.Value)
			for out.Next() {
				if string(out.Key) == "meta_info" {
					metaInfo(evidence.PythonFields(out.Value), &r)
				}
			}
		}
	}
	if r.Prompt < 0 {
		o.Skip("a finished request without its counts: the line is cut off, or of an unknown form")
		return evidence.Done
	}
	if r.Start > 0 && r.End >= r.Start {
		// The server's own wall clock, in seconds since 1970.
		r.Span = timeline.Span{From: r.Start, To: r.End, Clock: timeline.Exact}
	}
	o.Request(r)
	return evidence.Done
}

// metaInfo reads the figures of a request. received_time and inference_time are
// of a monotonic clock and left alone.
func metaInfo(f evidence.Repr, r *timeline.Request) {
	for f.Next() {
		value := string(evidence.Unrepr(f.Value))
		switch string(f.Key) {
		case "id":
			r.ID = value
		case "prompt_tokens":
			r.Prompt = tokens(value)
		case "cached_tokens":
			r.Cached = tokens(value)
		case "completion_tokens":
			r.Output = tokens(value)
		case "request_received_ts":
			r.Start = evidence.UnixSeconds(value)
		case "response_sent_to_client_ts":
			r.First = evidence.UnixSeconds(value)
		case "request_finished_ts":
			r.End = evidence.UnixSeconds(value)
		case "finish_reason":
			reason := evidence.PythonFields(f.Value)
			for reason.Next() {
				if string(reason.Key) == "type" {
					r.Failed = string(evidence.Unrepr(reason.Value)) == "abort"
				}
			}
		}
	}
}

// tokens reads a count, -1 for anything else.
func tokens(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// refused reads the refusal of a request that was too long. It proves that the
// limit was enforced:
//
//	ValueError: The input (85050 tokens) is longer than the model's context length (32768 tokens).
//	[Error]Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).
func refused(text []byte, o *evidence.Out) evidence.Result {
	first := after(text, "nput (")
	name, limit := timeline.ContextTokens, count(after(text, "context length ("))
	if first == nil {
		first, name, limit = after(text, "nput length ("), timeline.InputTokens, count(after(text, "allowed length ("))
	}
	prompt := tokens(count(first))
	if prompt < 0 || limit == "" {
		return evidence.Miss
	}
	o.Setting(name, limit)
	o.Request(timeline.Request{Prompt: prompt, Cached: -1, Output: -1, Failed: true})
	return evidence.Done
}

// End records the rate that lasted.
func (s *sglang) End(_ timeline.OpState, o *evidence.Out) { s.rates.emit(o) }

// rates finds the highest rate that lasted: the lowest of three lines in a row,
// so that one short burst or one line after a pause does not count.
type rates struct {
	last [3]float64
	n    int
	best float64
	at   evidence.Mark
}

func (r *rates) add(rate float64, at evidence.Mark) {
	r.last[r.n%len(r.last)] = rate
	r.n++
	if r.n < len(r.last) {
		return
	}
	if low := min(r.last[0], r.last[1], r.last[2]); low > r.best {
		r.best, r.at = low, at
	}
}

func (r *rates) emit(o *evidence.Out) {
	if r.best > 0 {
		o.SettingAt(r.at, timeline.PrefillRate, fmt.Sprintf("%.0f", r.best))
	}
	*r = rates{}
}

// count reads the digits at the start of text, commas between thousands left
// out; "" when there are none.
func count(text []byte) string {
	var b []byte
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			b = append(b, c)
		case c == ',' && i > 0 && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
		default:
			return string(b)
		}
	}
	return string(b)
}

// after returns what stands behind a word in text, nil when it is not there.
func after(text []byte, word string) []byte {
	if i := bytes.Index(text, []byte(word)); i >= 0 {
		return text[i+len(word):]
	}
	return nil
}
