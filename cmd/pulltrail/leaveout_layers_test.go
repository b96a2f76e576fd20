package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// layerFile is one piece of evidence of an engine or of what sends traces.
type layerFile struct{ name, subject, text string }

// layerFiles are a fleet of which each node is told by several files: what one
// says alone would clear some of them.
var layerFiles = []layerFile{
	{"gpu-1.log", "host:gpu-1", "[2026-09-01 08:00:01] server_args=ServerArgs(model_path='acme/chat', context_length=1048576, disaggregation_mode='prefill', disaggregation_transfer_backend='mooncake')\n"},
	{"gpu-1-pool.log", "host:gpu-1", "[2026-09-01 08:00:09 TP0] max_total_num_tokens=681280, context_len=1048576\n"},
	{"gpu-1-pip.log", "host:gpu-1", "2026-08-30T08:00:00Z Successfully installed sglang-0.5.20\n"},
	{"gpu-2.log", "host:gpu-2", "[2026-09-01 08:00:01] server_args=ServerArgs(model_path='acme/small', context_length=131072, disaggregation_mode='null')\n"},
	{"gpu-2-pip.log", "host:gpu-2", "2026-08-30T08:00:00Z Successfully installed sglang-0.5.20\n"},
	{"gpu-3-pip.log", "host:gpu-3", "2026-08-30T08:00:00Z Successfully installed sglang-0.5.21\n"},
	{"gpu-3.log", "host:gpu-3", "[2026-09-01 08:00:01] server_args=ServerArgs(model_path='acme/chat', disaggregation_mode='decode', disaggregation_transfer_backend='nixl')\n"},
	{"gpu-4.json", "host:gpu-4", `{"model_path":"acme/chat","disaggregation_mode":"prefill","disaggregation_transfer_backend":"mooncake","max_total_num_tokens":681280,"context_length":1048576}`},
	{"spend.json", "host:gateway", `[{"request_id":"c1","call_type":"acompletion","startTime":"2026-09-01T09:00:00Z","endTime":"2026-09-01T09:01:00Z","prompt_tokens":700000,"completion_tokens":2,"metadata":{"user_api_key_team_alias":"acme"},"api_base":"http://gpu-1:30000/v1"}]`},
	{"spans.jsonl", "host:agents", `{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{},"spans":[{"name":"chat","kind":3,"startTimeUnixNano":"1788253400000000000","endTimeUnixNano":"1788253460000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"tenant.id","value":{"stringValue":"beta"}},{"key":"server.address","value":{"stringValue":"gpu-1"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"690000"}}]}]}]}]}` + "\n"},
	{"app-1.env", "host:app-1", "LANGFUSE_HOST=https://cloud.langfuse.com\n"},
	{"app-1-pip.log", "host:app-1", "2026-10-05T12:04:56Z Successfully installed langfuse-3.1.0\n"},
	{"app-2-pip.log", "host:app-2", "2026-10-05T12:04:56Z Successfully installed requests-2.32.3\n"},
	{"app-3.env", "host:app-3", "OTEL_EXPORTER_OTLP_ENDPOINT=http://otel-collector:4318\n"},
	{"proxy.log", "host:proxy", "1791619200.000    200 10.0.0.7 TCP_MISS/200 5120 GET http://cloud.langfuse.com/api/public/health - HIER_DIRECT/192.0.2.1 text/html\n"},
}

// tracebox is an incident of a vendor with an address.
const tracebox = `schema: pulltrail.incident/1
id: tracebox
title: Traces kept by Langfuse were read
kind: vendor-breach
aliases: []
published: 2026-10-27
summary: A made-up breach of a trace store.
references: ["https://advisory.acme.example/tracebox"]
channels: []
vendors: [{name: Langfuse, domains: [langfuse.com], what: traces of agents, windows: [{from: 2026-10-01T00:00:00Z, to: 2026-10-20T00:00:00Z, precision: second, basis: stated, source: 0}], source: 0}]
packages: []
images: []
actions: []
indicators: []
complete: {versions: true, tags: true, digests: true, commits: true}
response_order: []
rotation: []
not_affected: []
disagreements: []
unknown: [which projects were read]
hits: ["possible: 2026-10-10T08:00:00Z contact host:a domain:eu.langfuse.com"]
misses: ["2026-10-21T08:00:00Z contact host:a domain:eu.langfuse.com"]
`

// caseWithout reads all files but one into a new case.
func caseWithout(t *testing.T, dir, left string) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "case")
	for _, f := range layerFiles {
		if f.name == left {
			continue
		}
		var out strings.Builder
		if code := run(t.Context(), []string{"ingest", filepath.Join(dir, f.name), "--subject", f.subject, "--zone", "UTC", "--case", home}, strings.NewReader(""), &out, &out); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", f.name, code, out.String())
		}
	}
	return home
}

// verdicts matches an incident; it returns the exit code and the verdicts by
// subject.
func verdicts(t *testing.T, home, incident string) (int, map[string]string) {
	t.Helper()
	var out strings.Builder
	code := run(t.Context(), []string{"match", incident, "--json", "--case", home}, strings.NewReader(""), &out, io.Discard)
	var answer struct {
		Findings []struct {
			Subject struct{ Kind, ID string }
			Verdict string
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &answer); err != nil {
		t.Fatal(err)
	}
	by := map[string]string{}
	for _, f := range answer.Findings {
		by[f.Subject.Kind+":"+f.Subject.ID] = f.Verdict
	}
	return code, by
}

// TestLeaveOneOutOfLayers takes evidence of engines and of trace stores away, one
// file at a time: nobody becomes clear, and the answer is never complete.
func TestLeaveOneOutOfLayers(t *testing.T) {
	dir := t.TempDir()
	for _, f := range layerFiles {
		if err := os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	vendor := filepath.Join(t.TempDir(), "tracebox.yaml")
	if err := os.WriteFile(vendor, []byte(tracebox), 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	home := caseWithout(t, dir, "")
	for incident, want := range map[string]map[string]string{
		"sglang-kv-isolation-2026-10": {
			"host:gpu-1": "exposed", "host:gpu-2": "clear", "host:gpu-3": "exposed", "host:gpu-4": "exposed",
			"client:tenant/acme": "exposed", "client:tenant/beta": "exposed", "host:gateway": "unknown", "host:app-1": "unknown",
		},
		vendor: {
			"client:10.0.0.7": "exposed", "host:app-1": "possible", "host:app-2": "unknown", "host:app-3": "unknown", "host:gpu-1": "unknown",
		},
		"warp-vendor-2026-10": {"client:10.0.0.7": "unknown", "host:app-1": "unknown", "host:app-3": "unknown", "host:gpu-1": "unknown"},
	} {
		_, all[incident] = verdicts(t, home, incident)
		for who, verdict := range want {
			if all[incident][who] != verdict {
				t.Errorf("%s: %s is %q, want %q", filepath.Base(incident), who, all[incident][who], verdict)
			}
		}
	}
	for _, f := range layerFiles {
		home := caseWithout(t, dir, f.name)
		for incident, before := range all {
			code, left := verdicts(t, home, incident)
			if code == exitOK {
				t.Errorf("%s without %s: exit code 0", filepath.Base(incident), f.name)
			}
			for who, verdict := range left {
				if verdict == "clear" && before[who] != "clear" {
					t.Errorf("%s without %s: %s is clear, was %q", filepath.Base(incident), f.name, who, before[who])
				}
			}
		}
	}
}

// flaw is an incident of an engine without channels: nothing but the nodes is to
// be covered.
const flaw = `schema: pulltrail.incident/1
id: flaw
title: An engine mixed requests
kind: engine-flaw
aliases: []
published: 2026-10-26
summary: A made-up flaw.
references: ["https://advisory.acme.example/flaw"]
channels: []
engines:
  - {purl: "pkg:pypi/sglang", affected: ">=0.4.0,<0.5.22", when: {disaggregation: true, transfer_backends: [mooncake]}, fixed: {mooncake: "0.5.22"}, checks: [], source: 0}
packages: []
images: []
actions: []
indicators: []
complete: {versions: true, tags: true, digests: true, commits: true}
response_order: []
rotation: []
not_affected: []
disagreements: []
unknown: []
hits: ["possible: 2026-09-01T08:00:00Z run host:a pkg:pypi/sglang@0.5.20"]
misses: ["2026-09-01T08:00:00Z run host:a pkg:pypi/sglang@0.5.22"]
`

// TestEngineReplaced takes away what a node ran before it got the fixed version:
// the answer says that the time before is not known, and is not complete.
func TestEngineReplaced(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"flaw.yaml":  flaw,
		"before.log": "2026-09-01T08:00:00Z Successfully installed sglang-0.5.20\n2026-09-01T08:05:00Z [2026-09-01 08:05:00] server_args=ServerArgs(model_path='acme/chat', disaggregation_mode='prefill', disaggregation_transfer_backend='mooncake')\n",
		"after.log":  "2026-10-28T08:00:00Z Successfully installed sglang-0.5.22\n2026-10-28T08:05:00Z [2026-10-28 08:05:00] server_args=ServerArgs(model_path='acme/chat', disaggregation_mode='prefill', disaggregation_transfer_backend='mooncake')\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		files   []string
		verdict string
		code    int
	}{{[]string{"before.log", "after.log"}, "exposed", exitExposed}, {[]string{"after.log"}, "clear", exitIncomplete}} {
		home := filepath.Join(t.TempDir(), "case")
		for _, name := range c.files {
			var out strings.Builder
			if code := run(t.Context(), []string{"ingest", filepath.Join(dir, name), "--subject", "host:gpu-1", "--zone", "UTC", "--case", home}, strings.NewReader(""), &out, &out); code != exitOK {
				t.Fatalf("%s: exit code %d: %s", name, code, out.String())
			}
		}
		code, by := verdicts(t, home, filepath.Join(dir, "flaw.yaml"))
		if code != c.code || by["host:gpu-1"] != c.verdict {
			t.Errorf("%v: exit code %d and %q, want %d and %q", c.files, code, by["host:gpu-1"], c.code, c.verdict)
		}
	}
}
