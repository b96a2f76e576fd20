package matchers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pulltrail/timeline"
)

// rounds writes rounds of the canary at an engine that is known to be exposed,
// each a change of a request that shows nothing wrong.
func rounds(t *testing.T, changes ...func(*timeline.Canary)) *timeline.DB {
	t.Helper()
	db, err := timeline.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	node := timeline.Subject{Kind: timeline.Host, ID: "gpu-1"}
	for i, change := range append([]func(*timeline.Canary){func(*timeline.Canary) {}}, changes...) {
		start := time.Date(2026, 11, 1+i, 9, 0, 0, 0, time.UTC).UnixNano()
		c := timeline.Canary{
			Request: timeline.Request{
				Node: node, Tenant: "canary-a", Model: "chat", ID: fmt.Sprintf("r%d-1", i), Prompt: 32_000, Cached: 60, Output: 20,
				Start: start, First: start + 4e9, End: start + 5e9, Span: timeline.Span{From: start, To: start + 5e9, Clock: timeline.Exact}, Streamed: true,
				Origin: timeline.Origin{Path: "canary", Line: int64(i + 1)},
			},
			Run: fmt.Sprint("r", i), Target: "eu", Probe: timeline.MarkerProbe, Sent: 32_000, Limit: 131_072, Rate: 14_000, Status: 200,
			Outcome: timeline.ToItsEnd, Own: timeline.BothMarks,
		}
		change(&c)
		b := &timeline.Batch{Canaries: []timeline.Canary{c}}
		if i == 0 {
			for name, value := range map[timeline.SettingName]string{
				timeline.EngineKind: "sglang", timeline.EngineVersion: "0.5.20", timeline.Topology: "prefill", timeline.TransferBackend: "nixl",
			} {
				b.Settings = append(b.Settings, timeline.Setting{Subject: node, Name: name, Value: value, Span: timeline.Always(), Origin: timeline.Origin{Path: "log", Line: 1}})
			}
		}
		w, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		info := timeline.SourceInfo{SHA256: fmt.Sprintf("%064d", i), Path: fmt.Sprint("canary-", i), Format: "canary", State: timeline.Read, First: timeline.Beginning, Last: timeline.Forever}
		if _, err := w.Finish(info); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// TestCanaryRounds asks what several rounds come to in an incident: an accusation
// stays, the last round says the rest, and no canary makes an engine clear.
func TestCanaryRounds(t *testing.T) {
	inc, err := Find("sglang-kv-isolation-2026-10")
	if err != nil {
		t.Fatal(err)
	}
	cross := func(c *timeline.Canary) { c.Others = []string{"canary-b"} }
	fast := func(c *timeline.Canary) { c.First = c.Start + 1e8 }
	busy := func(c *timeline.Canary) { c.Status, c.Outcome, c.Failed = 429, timeline.Limited, true }
	well := func(*timeline.Canary) {}
	for _, test := range []struct {
		rounds  []func(*timeline.Canary)
		verdict Verdict // of the tenant
		because string
		victim  Verdict
		gap     bool
	}{
		{nil, Clear, "first token came after 4.000 s for 31940 tokens", "", false},
		{[]func(*timeline.Canary){busy}, Unknown, "(HTTP 429)", "", true},
		{[]func(*timeline.Canary){busy, well}, Clear, "own codes", "", false},
		{[]func(*timeline.Canary){fast, well}, Possible, "0.100 s", "", false},
		{[]func(*timeline.Canary){cross, well, busy}, Exposed, "the marker of canary-b", Exposed, true},
	} {
		res, err := Match(rounds(t, test.rounds...), inc)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]Finding{}
		for _, f := range res.Findings {
			found[f.Subject.String()] = f
		}
		got := found["client:tenant/canary-a"]
		if got.Verdict != test.verdict || !strings.Contains(got.Because, test.because) || found["client:tenant/canary-b"].Verdict != test.victim {
			t.Errorf("%s: %s; canary-b %q; want %s: %s; %q", got.Verdict, got.Because, found["client:tenant/canary-b"].Verdict, test.verdict, test.because, test.victim)
		}
		if node := found["host:gpu-1"]; node.Verdict != Exposed || node.Rule == "own-marker" {
			t.Errorf("the engine is %s by %s", node.Verdict, node.Rule)
		}
		gap := false
		for _, g := range res.Gaps {
			gap = gap || g.Reason == "not-shown" && g.Fix != ""
		}
		if gap != test.gap {
			t.Errorf("%s: a gap %t, want %t", test.because, gap, test.gap)
		}
	}
}

// TestTargets reads targets files that lack something: each is told with its
// line, and no key is repeated.
func TestTargets(t *testing.T) {
	const whole = `schema: pulltrail.canary-targets/1
limits: {max_tokens: 500000, max_prompt_tokens: 150000, max_requests: 10}
targets:
  - name: eu
    url: https://llm.acme.example/v1
    model: chat
    prompt_tokens: 32000
    limit_tokens: 131072
    timeout: 90s
    tenants:
      - {name: canary-a, token_env: A_KEY}
      - {name: canary-b, token_file: b.key}
`
	if got, err := ParseTargets("t.yaml", []byte(whole)); err != nil || got.Targets[0].Timeout != 90*time.Second || got.Targets[0].ReplyTokens != defaultReply {
		t.Fatal(got, err)
	}
	for _, test := range [][3]string{
		{"max_requests: 10", "x: 1", "t.yaml:2: limits: max_requests is missing"},
		{"max_tokens: 500000", "max_tokens: many", "want a whole number from 1"},
		{"token_env: A_KEY", "token_env: sk-0123456789abcdef", "t.yaml:11: targets[0].tenants[0].token_env: want the name of a variable"},
		{"token_env: A_KEY", "token: A_KEY", `unknown key "token"`},
		{", token_env: A_KEY", "", "want token_env or token_file, one of them"},
		{"name: canary-b", "name: canary-a", `tenant "canary-a" stands in the list twice`},
		{"      - {name: canary-b, token_file: b.key}\n", "", "want two at least"},
		{"prompt_tokens: 32000", "prompt_tokens: 500", "want a whole number from 10000"},
		{"prompt_tokens: 32000", "prompt_tokens: 131000", "do not fit into limit_tokens"},
		{"timeout: 90s", "timeout: soon", "want a time such as 90s"},
		{"model: chat", "subject: gpu-1\n    model: chat", "want KIND:ID"},
	} {
		_, err := ParseTargets("t.yaml", []byte(strings.Replace(whole, test[0], test[1], 1)))
		if err == nil || !strings.Contains(err.Error(), test[2]) || strings.Contains(err.Error(), "sk-") {
			t.Errorf("%s: got %v, want …%s…", test[1], err, test[2])
		}
	}
}
