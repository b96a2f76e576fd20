package evidence

import (
	"slices"
	"strings"

	"pulltrail/timeline"
)

// engineOptions are the options of inference engines that incidents ask for, as
// SGLang and vLLM name them in their dumps and, with hyphens, on their command
// lines.
// https://docs.sglang.io/advanced_features/server_arguments.html
// https://docs.vllm.ai/en/latest/configuration/engine_args.html
var engineOptions = map[string]timeline.SettingName{
	"engine":                          timeline.EngineKind,
	"context_length":                  timeline.ContextTokens,
	"context_len":                     timeline.ContextTokens,
	"max_model_len":                   timeline.ContextTokens,
	"max_seq_len":                     timeline.ContextTokens,
	"max_total_num_tokens":            timeline.PoolTokens,
	"max_req_input_len":               timeline.InputTokens,
	"disaggregation_mode":             timeline.Topology,
	"disaggregation_transfer_backend": timeline.TransferBackend,
	"version":                         timeline.EngineVersion,
	"served_model_name":               timeline.ServedModel,
	"revision":                        timeline.ModelRevision,
	"trust_remote_code":               timeline.RemoteCode,
}

// engineOption returns what an option sets. "" is no setting that matters, or
// one that was left at what the engine decides itself.
func engineOption(key, value string) (timeline.SettingName, string) {
	value = strings.TrimSpace(value)
	name, known := engineOptions[key]
	if !known && ChecksumOption(key) {
		name = timeline.KVChecksum
	}
	switch name {
	case timeline.ContextTokens, timeline.PoolTokens, timeline.InputTokens:
		if !digitsOnly(value) {
			return "", ""
		}
	case timeline.Topology:
		switch value {
		case "prefill", "decode":
		case "null", "None", "":
			value = "single"
		default:
			return "", ""
		}
	case timeline.KVChecksum:
		switch strings.ToLower(value) {
		case "true", "on", "1", "":
			value = "on"
		case "false", "off", "0", "none":
			value = "off"
		}
	case timeline.ServedModel:
		value = strings.Trim(value, "[]'\"") // vLLM takes several names and prints a list
		value, _, _ = strings.Cut(value, "'")
	case timeline.RemoteCode:
		value = strings.ToLower(value)
	}
	return name, value
}

// EngineSettings are the settings of one engine, by the names that SGLang and
// vLLM give them.
type EngineSettings struct {
	values map[timeline.SettingName]string
}

// Set takes the value of an option. What no incident asks for is left out.
func (s *EngineSettings) Set(key, value string) {
	name, value := engineOption(key, value)
	if name == "" || value == "" {
		return
	}
	if s.values == nil {
		s.values = map[timeline.SettingName]string{}
	}
	s.values[name] = value
}

// Again records all that an engine says when it starts, whatever it said before.
func (s *EngineSettings) Again(news *EngineSettings, engine string, o *Out) {
	*s = EngineSettings{}
	s.More(news, engine, o)
}

// More records what an engine says on the current line and has not said before:
// each of its ranks, and each start-up line, says it again.
func (s *EngineSettings) More(news *EngineSettings, engine string, o *Out) {
	o.Seen("")
	if s.values == nil {
		s.values = map[timeline.SettingName]string{}
		news.Set("engine", engine)
	}
	for name, value := range news.values {
		if s.values[name] == value {
			delete(news.values, name)
		} else {
			s.values[name] = value
		}
	}
	news.emit(o, o.Mark())
}

// Value returns what was set, "" when nothing was.
func (s *EngineSettings) Value(name timeline.SettingName) string { return s.values[name] }

// emit records what was set on a line.
func (s *EngineSettings) emit(o *Out, at Mark) {
	if s.values[timeline.Topology] == "single" {
		delete(s.values, timeline.TransferBackend) // a default that nothing uses
	}
	for _, name := range []timeline.SettingName{
		timeline.EngineKind, timeline.EngineVersion, timeline.Topology, timeline.TransferBackend, timeline.ContextTokens, timeline.PoolTokens,
		timeline.InputTokens, timeline.KVChecksum, timeline.ServedModel, timeline.ModelRevision, timeline.RemoteCode,
	} {
		o.SettingAt(at, name, s.values[name])
	}
}

// EngineCommand records what the command that starts an engine sets, over the
// span in which it was started, that of the current line when it is zero; false
// for any other command.
//
//	python3 -m sglang.launch_server --model-path X --disaggregation-mode prefill
//	sglang serve --model-path X
//	vllm serve X --max-model-len 131072
//	python -m vllm.entrypoints.openai.api_server --model X
func (o *Out) EngineCommand(words []string, started timeline.Span) bool {
	engine, rest := engineStarted(words)
	if engine == "" {
		return false
	}
	s := EngineSettings{}
	if engine == "sglang" && !slices.Contains(rest, "--config") {
		s.Set("disaggregation_mode", "null") // unless an option says otherwise
	}
	for i, w := range rest {
		if !strings.HasPrefix(w, "--") {
			continue
		}
		key, value, given := strings.Cut(w[2:], "=")
		if !given {
			value = "true"
			if i+1 < len(rest) && !strings.HasPrefix(rest[i+1], "--") {
				value = rest[i+1]
			}
		}
		key = strings.ReplaceAll(key, "-", "_")
		if model := key == "model_path" || key == "model"; model && s.Value(timeline.ServedModel) == "" {
			key = "served_model_name" // unless the option of that name comes too
		}
		s.Set(key, value)
	}
	s.Set("engine", engine)
	m := o.Mark()
	if started != (timeline.Span{}) {
		m.span = o.Times.bound(started, m.ahead)
	}
	s.emit(o, m)
	return true
}

// engineStarted tells the engine that a command starts, and returns the words
// behind it. A shell may stand around it.
func engineStarted(words []string) (engine string, rest []string) {
	if len(words) > 0 && strings.Contains(words[len(words)-1], " ") {
		words = strings.Fields(strings.Join(words, " "))
	}
	for i, w := range words {
		base := w[strings.LastIndexByte(w, '/')+1:]
		serves := i+1 < len(words) && words[i+1] == "serve"
		switch {
		case w == "sglang.launch_server", base == "sglang" && serves:
			return "sglang", words[i+1:]
		case strings.HasPrefix(w, "vllm.entrypoints."), base == "vllm" && serves:
			return "vllm", words[i+1:]
		}
	}
	return "", nil
}

// Dump collects the options of a dump such as
// "ServerArgs(model_path='x', tp_size=8)"; whole is false when it is cut.
func (s *EngineSettings) Dump(dump []byte) (whole bool) {
	f := PythonFields(dump)
	model := ""
	for f.Next() {
		value := string(Unrepr(f.Value))
		switch string(f.Key) {
		case "model_path", "model":
			model = value
		case "disaggregation_mode":
			s.Set("disaggregation_mode", value) // None says that there is one node
		default:
			s.Set(string(f.Key), value)
		}
	}
	if s.values[timeline.ServedModel] == "" {
		s.Set("served_model_name", model)
	}
	return f.Whole()
}

func digitsOnly(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// ChecksumOption reports whether an option of an inference engine, in lower
// case, says whether transferred cache is checked. Releases and transfer
// backends name it differently.
func ChecksumOption(key string) bool {
	return strings.Contains(key, "checksum") &&
		(strings.Contains(key, "kv") || strings.Contains(key, "transfer") || strings.Contains(key, "disaggregation"))
}

// Setting records what an inference engine on the subject of the current line
// is set to. An empty value says nothing.
func (o *Out) Setting(name timeline.SettingName, value string) { o.SettingAt(o.Mark(), name, value) }

// SettingAt is Setting for a remembered line. Its excerpt is the setting alone:
// beside it may stand keys, templates of prompts, whatever an engine is given.
func (o *Out) SettingAt(m Mark, name timeline.SettingName, value string) {
	if value == "" {
		return
	}
	o.marks++
	o.claims(m.subject)
	m.origin.Text = Redact(Clean(string(name) + "=" + value))
	o.batch.Settings = append(o.batch.Settings, timeline.Setting{
		Subject: o.named(m.subject), Name: name, Value: Redact(Clean(value)), Span: written(corrected(m.span, m.ahead)), Origin: m.origin,
	})
	o.flush(flushRows)
}

// Canary records a request that pulltrail sent itself. Node and times are filled
// in by the parser: the sender knows them.
func (o *Out) Canary(c timeline.Canary) {
	o.marks++
	c.Node = o.named(c.Node)
	for _, text := range []*string{&c.Tenant, &c.Model, &c.ID, &c.Run, &c.Target, &c.Why} {
		*text = Redact(Clean(*text))
	}
	c.Origin = timeline.Origin{Path: o.path, Line: o.line.No, Offset: o.line.Off} // the row itself says it best
	o.batch.Canaries = append(o.batch.Canaries, c)
	o.flush(flushRows)
}

// Request records a request to an inference engine that the current line
// reports. Node, span and origin are filled in where the parser left them
// empty; no excerpt is kept, for the line may hold what was asked.
func (o *Out) Request(r timeline.Request) {
	o.marks++
	if r.Node.IsZero() {
		r.Node = o.Subject()
	}
	o.claims(r.Node)
	if r.Span == (timeline.Span{}) {
		r.Span = o.span()
	}
	ahead := o.ahead(r.Node)
	r.Node, r.Span = o.named(r.Node), written(corrected(o.Times.bound(r.Span, ahead), ahead))
	r.Tenant, r.Model, r.ID = Redact(Clean(r.Tenant)), Redact(Clean(r.Model)), Redact(Clean(r.ID))
	r.Origin = o.place()
	o.batch.Requests = append(o.batch.Requests, r)
	o.flush(flushRows)
}
