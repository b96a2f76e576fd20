package tool

import (
	"bytes"
	"strconv"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// VLLM is what a vLLM server says of itself.
// https://docs.vllm.ai/en/latest/configuration/engine_args.html
var VLLM = evidence.Format{
	Name:   "vllm",
	Shape:  evidence.ToolShape,
	Title:  "vLLM server lines",
	Proves: "version and settings of the engine, what its cache holds, its prompt rate as an average of ten seconds",
	Cannot: "single requests; that a package or image came over",
	Doc:    "https://docs.vllm.ai/en/latest/configuration/engine_args.html",
	Sample: "written by hand after lines in public reports",
	Starts: []string{
		"GPU KV cache size: ", "Maximum concurrency for ", "Engine 0", "Avg prompt throughput: ", "vLLM API server version ",
		"non-default args: ", "Initializing an LLM engine (v", "Initializing a V1 LLM engine (v", "Using max model len ",
	},
	Texts: true,
	Tool:  func() evidence.Parser { return &vllm{} },
}

type vllm struct {
	said  evidence.EngineSettings
	rates rates
}

// Line reads one line:
//
//	GPU KV cache size: 2,042,016 tokens
//	Maximum concurrency for 2,048 tokens per request: 997.08x
//	Engine 000: Avg prompt throughput: 12068.8 tokens/s, Avg generation throughput: 734.9 tokens/s, Running: 18 reqs, …
//	vLLM API server version 0.10.1
//	non-default args: {'model': 'Qwen/Qwen3-8B', 'max_model_len': 131072}
//	Initializing a V1 LLM engine (v0.10.1) with config: model='Qwen/Qwen3-8B', …, max_seq_len=131072, …
func (v *vllm) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := l.Text
	set := evidence.EngineSettings{}
	switch {
	case bytes.HasPrefix(text, []byte("GPU KV cache size: ")):
		set.Set("max_total_num_tokens", count(after(text, "size: ")))
	case bytes.HasPrefix(text, []byte("Maximum concurrency for ")):
		set.Set("max_model_len", count(after(text, "for ")))
	case bytes.HasPrefix(text, []byte("Using max model len ")):
		set.Set("max_model_len", count(after(text, "len ")))
	case bytes.HasPrefix(text, []byte("vLLM API server version ")):
		set.Set("version", firstWord(string(after(text, "version "))))
	case bytes.HasPrefix(text, []byte("non-default args: ")):
		set.Dump(after(text, "args: "))
	case bytes.HasPrefix(text, []byte("Initializing ")):
		version, config, ok := bytes.Cut(after(text, "engine (v"), []byte(") with config: "))
		if !ok {
			return evidence.Miss
		}
		set.Set("version", string(version))
		set.Dump(append([]byte("Config("), append(config, ')')...))
	default:
		return v.throughput(text, o)
	}
	v.said.More(&set, "vllm", o)
	return evidence.Done
}

// throughput reads the average of ten seconds over all requests.
func (v *vllm) throughput(text []byte, o *evidence.Out) evidence.Result {
	rest := after(text, "Avg prompt throughput: ")
	if rest == nil {
		return evidence.Miss
	}
	o.Seen("")
	if rate, err := strconv.ParseFloat(firstWord(string(rest)), 64); err == nil {
		v.rates.add(rate, o.Mark())
	}
	return evidence.Done
}

// End records the rate that lasted.
func (v *vllm) End(_ timeline.OpState, o *evidence.Out) { v.rates.emit(o) }
