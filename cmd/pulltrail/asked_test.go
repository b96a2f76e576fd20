package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pulltrail/timeline"
)

// asked makes words that stand for what people asked, were answered, or may not
// tell: none looks like a secret, so that no redaction by shape hides it.
type asked struct{ words []string }

func (a *asked) word(what string) string {
	w := fmt.Sprintf("quokka%s%03dwombat", what, len(a.words))
	a.words = append(a.words, w)
	return w
}

// record is a JSON object on one line.
func record(fields map[string]any) string {
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// engineFiles are logs and answers of engines and gateways with what was asked
// in them, whole, cut, broken, too long, and in frames.
func engineFiles(a *asked) map[string]string {
	finish := func() string {
		return fmt.Sprintf("Finish: obj=GenerateReqInput(rid='r1', text='%s', stream=True), out={'text': '%s', 'meta_info': {'id': 'r1', 'finish_reason': {'type': 'stop'}, 'prompt_tokens': 900, 'completion_tokens': 12, 'cached_tokens': 64}}",
			a.word("prompt"), a.word("reply"))
	}
	sglang := strings.Join([]string{
		"[2026-09-01 08:00:01] server_args=ServerArgs(model_path='acme/chat', context_length=1048576, disaggregation_mode='prefill', disaggregation_transfer_backend='mooncake', chat_template='" + a.word("template") + "')",
		"[2026-09-01 08:00:02 TP0] max_total_num_tokens=681280, context_len=1048576",
		"[2026-09-01 08:14:00] Receive: obj=GenerateReqInput(rid='r1', text='" + a.word("prompt") + "')",
		"[2026-09-01 08:14:00] " + finish(),
		"[2026-09-01 08:14:01] Finish: obj=GenerateReqInput(rid='r2', text='" + a.word("cut"),
		"[2026-09-01 08:14:02] Finish: obj=GenerateReqInput(rid='r3', text='" + a.word("long") + strings.Repeat(" word", 300_000) + "'), out={}",
		a.word("secondline"),
	}, "\n") + "\n"
	spend := func() string {
		return record(map[string]any{
			"request_id": "c1", "call_type": "acompletion", "api_key": a.word("hash"), "startTime": "2026-09-01T08:00:00Z", "endTime": "2026-09-01T08:00:09Z", "model": "chat",
			"prompt_tokens": 700000, "completion_tokens": 2, "total_tokens": 700002, "messages": a.word("prompt"), "response": map[string]any{"text": a.word("reply")},
			"proxy_server_request": a.word("request"), "api_base": "http://u:" + a.word("key") + "@gpu-1:30000/" + a.word("path"),
			"metadata": map[string]any{"user_api_key_team_alias": "acme", "requester_metadata": a.word("note")}, "request_tags": []string{a.word("tag")},
		})
	}
	span := func(more map[string]any) string {
		attr := func(key, value string) map[string]any {
			return map[string]any{"key": key, "value": map[string]any{"stringValue": value}}
		}
		s := map[string]any{
			"name": "chat " + a.word("name"), "kind": 3, "startTimeUnixNano": "1788253200000000000", "endTimeUnixNano": "1788253260000000000",
			"attributes": []any{
				attr("gen_ai.operation.name", "chat"), attr("tenant.id", "acme"), attr("gen_ai.input.messages", a.word("prompt")), attr("gen_ai.output.messages", a.word("reply")),
				attr("gen_ai.prompt.0.content", a.word("prompt")), attr("input.value", a.word("prompt")), attr("http.request.header.authorization", a.word("key")),
				attr("server.address", "https://gpu-1:30000/"+a.word("path")),
				map[string]any{"key": "gen_ai.usage.input_tokens", "value": map[string]any{"intValue": "700000"}},
			},
			"events": []any{map[string]any{"name": "gen_ai.user.message", "attributes": []any{attr("content", a.word("event"))}}},
			"status": map[string]any{"message": a.word("status")},
		}
		for k, v := range more {
			s[k] = v
		}
		return record(map[string]any{"resourceSpans": []any{map[string]any{
			"resource":   map[string]any{"attributes": []any{attr("process.command_line", a.word("command"))}},
			"scopeSpans": []any{map[string]any{"scope": map[string]any{}, "spans": []any{s}}},
		}}})
	}
	reply := func(object, id string) string {
		return record(map[string]any{
			"id": id, "object": object, "created": 1788253200, "model": "chat", "usage": map[string]any{"prompt_tokens": 700000, "completion_tokens": 2},
			"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"content": a.word("reply")}, "delta": map[string]any{"content": a.word("reply")}}},
		})
	}
	vllm := "INFO 09-01 08:00:00 [logger.py:42] Received request cmpl-1: prompt: '" + a.word("prompt") + "', params: SamplingParams()\nINFO 09-01 08:00:01 [kv_cache_utils.py:864] GPU KV cache size: 681,280 tokens\nINFO 09-01 08:00:02 [x.py:1] non-default args: {'model': 'acme/chat', 'api_key': ['" + a.word("key") + "']\n"
	docker := ""
	for line := range strings.Lines(sglang) {
		docker += record(map[string]any{"log": line, "stream": "stdout", "time": "2026-09-01T08:00:00Z"}) + "\n"
	}
	return map[string]string{
		"sglang.log": sglang, "docker.json": docker, "vllm.log": vllm,
		"requests.jsonl": record(map[string]any{
			"timestamp": "2026-09-01T08:00:04Z", "event": "request.finished", "rid": "r9", "obj": map[string]any{"text": a.word("prompt")},
			"out": map[string]any{"text": a.word("reply"), "meta_info": map[string]any{"prompt_tokens": 900}},
		}) + "\n" + record(map[string]any{"event": "request.finished", "rid": "r8", "obj": a.word("prompt"), "out": a.word("reply")}) + "\n{\"event\":\"request.finished\",\"rid\":\"r7\",\"obj\":\"" + a.word("cut"),
		"spend.json": "[" + spend() + "," + record(map[string]any{"request_id": "c2", "call_type": "x", "startTime": nil, "endTime": nil, "prompt_tokens": 1, "messages": a.word("prompt")}) + ",{\"request_id\":\"" + a.word("broken") + "\"\n{\"a\":\"" + a.word("broken") + "\"}]",
		"spend.csv": "request_id,call_type,api_key,total_tokens,prompt_tokens,startTime,endTime,model,messages,metadata\n" +
			"c3,acompletion," + a.word("hash") + ",9,7,2026-09-01T09:00:00Z,2026-09-01T09:01:00Z,chat,\"" + a.word("prompt") + "\n" + a.word("nextline") + "\",{}\n" + "c4," + a.word("short") + "\nc5,\"" + a.word("open") + "\n",
		"spans.jsonl":   span(nil) + "\n" + span(map[string]any{"startTimeUnixNano": "0"}) + "\n{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"name\":\"" + a.word("cut"),
		"replies.jsonl": reply("chat.completion", "x1") + "\n" + reply("text_completion", "x2") + "\n" + record(map[string]any{"id": "x3", "usage": a.word("odd")}) + "\n" + a.word("stray") + "\n",
		"stream.log":    "data: " + reply("chat.completion.chunk", "x4") + "\n\ndata: {\"id\":\"x5\",\"object\":\"chat.completion.chunk\",\"usage\":{\"prompt_tokens\":1},\"choices\":[{\"delta\":{\"content\":\"" + a.word("cut") + "\ndata: [DONE]\n",
	}
}

// settingFiles say where traces are sent, with what may not be told beside it.
func settingFiles(a *asked) map[string]string {
	address := func() string {
		return "https://" + a.word("user") + ":" + a.word("key") + "@cloud.langfuse.com:443/" + a.word("path") + "?k=" + a.word("query")
	}
	header := func() string { return "authorization=Basic " + a.word("header") }
	return map[string]string{
		"app.env":            "LANGFUSE_HOST=" + address() + "\nOTEL_EXPORTER_OTLP_HEADERS=" + header() + "\nLANGFUSE_SECRET_KEY=" + a.word("key") + "\nLANGSMITH_PROJECT=" + a.word("project") + "\n",
		"environ":            "PATH=/bin\x00HOME=/root\x00OTEL_EXPORTER_OTLP_ENDPOINT=" + address() + "\x00DD_API_KEY=" + a.word("key") + "\x00",
		"docker-compose.yml": "services:\n  agent:\n    image: registry.acme.example/agent:1\n    environment:\n      - PHOENIX_COLLECTOR_ENDPOINT=" + address() + "\n      - OTEL_EXPORTER_OTLP_HEADERS=" + header() + "\n",
		"inspect.json":       `[{"Id": "bb06d49a8f4d8c3e5a0f1b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d3e4f506", "State": {"Running": true, "StartedAt": "2026-10-02T08:00:00Z"}, "Image": "sha256:577149231a20aa0b1c2d3e4f5061728394a5b6c7d8e9fa0b1c2d3e4f50617283", "Config": {"Image": "registry.acme.example/agent:1", "Env": ["LANGFUSE_HOST=` + address() + `", "HELICONE_API_KEY=` + a.word("key") + `"]}}]`,
		"agent.service":      "[Unit]\nDescription=x\n[Service]\nExecStart=/usr/bin/agent\nEnvironment=\"LANGSMITH_ENDPOINT=" + address() + "\"\n",
		"pods.json":          `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "agent"}, "spec": {"containers": [{"name": "agent", "image": "registry.acme.example/agent:1", "env": [{"name": "LANGFUSE_HOST", "value": "` + address() + `"}, {"name": "X", "value": "` + a.word("value") + `"}]}]}}`,
		"deployment.yaml":    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: agent}\nspec: {template: {spec: {containers: [{name: a, image: \"registry.acme.example/agent:1\", env: [{name: LANGFUSE_HOST, value: \"" + address() + "\"}]}]}}}\n",
		"config.yaml":        "model_list: []\nlitellm_settings:\n  success_callback: [langfuse]\n  callbacks: [\"" + a.word("callback") + ".handler\"]\nenvironment_variables:\n  LANGFUSE_HOST: \"" + address() + "\"\n",
		".gitlab-ci.yml":     "variables:\n  LANGFUSE_HOST: \"" + address() + "\"\ntest:\n  script: [make]\n",
		"collector.yaml":     "receivers: {otlp: {}}\nexporters: {otlphttp/traces: {endpoint: \"" + address() + "\", headers: {a: \"" + header() + "\"}}}\nservice: {pipelines: {traces: {exporters: [otlphttp/traces]}}}\n",
		"workflow.yml":       "on: push\njobs:\n  a:\n    runs-on: x\n    env:\n      LANGFUSE_HOST: \"" + address() + "\"\n    steps: [{run: make}]\n",
		"0_test.txt":         "2026-10-05T12:00:00.0000000Z ##[group]Run make\n2026-10-05T12:00:00.1000000Z \x1b[36;1mmake\x1b[0m\n2026-10-05T12:00:00.2000000Z shell: /usr/bin/bash -e {0}\n2026-10-05T12:00:00.3000000Z env:\n2026-10-05T12:00:00.4000000Z   LANGFUSE_HOST: " + address() + "\n2026-10-05T12:00:00.5000000Z ##[endgroup]\n",
	}
}

// TestNothingAskedIsKept reads what engines, gateways, agents and their settings
// leave, with a word of its own in each place that may not be kept: none may be in
// the files of the case, while it is open or afterwards, in what is printed or in
// a report.
func TestNothingAskedIsKept(t *testing.T) {
	a := &asked{}
	dir, home := t.TempDir(), filepath.Join(t.TempDir(), "case")
	for folder, files := range map[string]map[string]string{"engine": engineFiles(a), "settings": settingFiles(a)} {
		for name, text := range files {
			path := filepath.Join(dir, folder, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	look := func(what string, data []byte) {
		t.Helper()
		for _, w := range a.words {
			if i := bytes.Index(data, []byte(w)); i >= 0 {
				t.Errorf("%s holds %s: %q", what, w, data[max(0, i-100):i+len(w)])
			}
		}
	}
	said := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		run(t.Context(), append(args, "--case", home), strings.NewReader(""), &out, &out)
		look("pulltrail "+strings.Join(args, " "), out.Bytes())
		return out.String()
	}
	read := said("ingest", filepath.Join(dir, "engine"), "--subject", "host:gpu-1", "--zone", "UTC", "--covers", "2026-08-01T00:00:00Z/2026-10-01T00:00:00Z")
	if !strings.Contains(read, "\n9 files: ") || strings.Contains(read, "unread") {
		t.Errorf("not all files of engines were read: %s", read)
	}
	open, err := timeline.Open(home) // so that the log of the database stays
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if read = said("ingest", filepath.Join(dir, "settings"), "--subject", "host:app-1"); strings.Contains(read, "unread") {
		t.Errorf("settings: %s", read)
	}
	settings, err := open.Settings()
	if err != nil {
		t.Fatal(err)
	}
	hosts := 0
	for _, s := range settings {
		if strings.HasSuffix(s.Value, "=cloud.langfuse.com") {
			hosts++
		}
	}
	requests := 0
	if err := open.Requests(-1, func(*timeline.RequestRow) error { requests++; return nil }); err != nil {
		t.Fatal(err)
	}
	if hosts != len(settingFiles(&asked{})) || requests < 9 {
		t.Errorf("%d hosts and %d requests were read: too little was tried", hosts, requests)
	}
	for _, incident := range []string{"sglang-kv-isolation-2026-10", "warp-vendor-2026-10"} {
		for _, verb := range [][]string{{"match"}, {"match", "--json"}, {"coverage"}, {"report", "responder", "-o", "-", "--incident"}, {"report", "questionnaire", "--json", "-o", "-", "--incident"}, {"report", "rotation", "-o", "-", "--incident"}, {"explain", "host:gpu-1", "--incident"}, {"explain", "host:app-1", "--incident"}} {
			said(append(verb, incident)...)
		}
	}
	said("timeline")
	for _, view := range []string{"timeline", "settings", "requests", "gaps", "sources"} {
		if text := said("sql", "SELECT * FROM "+view); strings.Count(text, "\n") < 2 {
			t.Errorf("view %s is empty: too little was tried", view)
		}
	}
	files := 0
	err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		look(filepath.Base(path), data)
		return err
	})
	if err != nil || files < 3 {
		t.Error(files, err)
	}
}
