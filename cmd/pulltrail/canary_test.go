package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pulltrail/ingest"
	"pulltrail/ingest/canary"
	"pulltrail/ingest/collect"
	"pulltrail/matchers"
	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

// canaryKeys are those of the two test tenants, and what an endpoint says in
// errors and replies: none of them may be kept.
var canaryKeys = map[string]string{"CANARY_A": "sk-canaryexampleA0123456789", "CANARY_B": "sk-canaryexampleB0123456789"}

const canarySecret = "tell-nobody-what-was-said-0815"

// standIn is an endpoint in this process that misbehaves in a way.
func standIn(mode string) *services.LLM {
	return &services.LLM{
		Keys: map[string]string{canaryKeys["CANARY_A"]: "canary-a", canaryKeys["CANARY_B"]: "canary-b"}, Mode: mode, Context: 12_000, Rate: 8000,
		Elsewhere: "https://elsewhere.example", Secret: canarySecret,
	}
}

// newCanary makes a runner that asks the endpoint in its own time.
func newCanary(t *testing.T, g http.RoundTripper, change func(*canary.Target, *canary.Limits)) (*canary.Runner, error) {
	t.Helper()
	for name, key := range canaryKeys {
		t.Setenv(name, key)
	}
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	var asked atomic.Int64
	target := canary.Target{
		Name: "eu", Base: "https://llm.acme.example/v1", Model: "chat", Prompt: 10_000, Limit: 12_000, Rate: 8000, Reply: 64, Timeout: time.Minute,
		Tenants: []canary.Tenant{{Name: "canary-a", Tokens: collect.Places{Env: []string{"CANARY_A"}}}, {Name: "canary-b", Tokens: collect.Places{Env: []string{"CANARY_B"}}}},
	}
	limits := canary.Limits{Tokens: 1 << 40, Prompt: 20_000, Requests: 1 << 40}
	if change != nil {
		change(&target, &limits)
	}
	return canary.New(t.Context(), canary.Options{
		Targets: []canary.Target{target}, Dial: g, Watch: services.Stopwatch, Program: "test",
		Now: func() time.Time { return at.Add(time.Duration(asked.Add(1)) * time.Second) },
	}, limits)
}

// showed is what a round shows of each subject, and the row that decided.
func showed(t *testing.T, dir string, r *canary.Runner) map[string]matchers.CanaryAnswer {
	t.Helper()
	rep, err := r.Round(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	db, err := timeline.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var printed strings.Builder
	a := &app{out: &printed, err: &printed}
	answers, err := a.keepRound(t.Context(), db, rep)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := rep.Lines() // what is kept as evidence
	if err == nil {
		err = a.printCanary(rep, answers, r)
	}
	if err != nil {
		t.Fatal(err)
	}
	silent(t, "the report", string(lines))
	silent(t, "what is printed", printed.String())
	out := map[string]matchers.CanaryAnswer{}
	for _, got := range answers {
		out[strings.TrimPrefix(got.Subject.String(), "client:")] = got
	}
	return out
}

// TestCanaryMisbehaviour lets an endpoint misbehave in each way, which has to be
// seen and said; and no prompt, reply or key may be kept.
func TestCanaryMisbehaviour(t *testing.T) {
	const a, b, endpoint = "tenant/canary-a", "tenant/canary-b", "llm.acme.example"
	for _, test := range []struct {
		mode    string
		subject string
		verdict matchers.Verdict
		because string
	}{
		{"", a, matchers.Clear, "named its own codes and no other tenant's"},
		{"", endpoint, matchers.Clear, "was refused for its length"},
		{"refuses-in-stream", a, matchers.Clear, "was refused for its length"},
		{"cross-talk", a, matchers.Exposed, "its marker came in a reply to canary-b: its data reached another tenant"},
		{"cross-talk", b, matchers.Exposed, "named the marker of canary-a"},
		{"cross-talk", endpoint, matchers.Exposed, "To canary-b: the reply named the marker of canary-a"},
		{"stale", a, matchers.Possible, "a code of another request of the same tenant"},
		{"too-fast", b, matchers.Possible, "the first token came 0.003 s after a prompt with"},
		{"cached", b, matchers.Possible, "the first token came 0.003 s after a prompt with"},
		{"truncates", a, matchers.Possible, "was answered (HTTP 200) as if it had 12000: it was cut without a word"},
		{"halves", b, matchers.Possible, "counted: the prompt was cut without a word"},
		{"takes-any", a, matchers.Exposed, "was answered (HTTP 200), where at most 12000 may be taken"},
		{"takes-any", b, matchers.Clear, "named its own codes"},
		{"takes-any", endpoint, matchers.Exposed, "was answered (HTTP 200), where at most 12000 may be taken"},
		{"slow", a, matchers.Unknown, "no token within 1m0s"},
		{"cut", b, matchers.Unknown, "the stream ended without its end mark"},
		{"breaks", b, matchers.Unknown, "the stream ended without its end mark"},
		{"gives-up", a, matchers.Unknown, "the server gave the reply up"},
		{"busy", a, matchers.Unknown, "asked to come back later (HTTP 429, to be asked again in 30 s)"},
		{"busy", b, matchers.Unknown, "not sent (the request before it brought no reply: rate-limited"},
		{"html", a, matchers.Unknown, "was not streamed (HTTP 200, its content type is text/html)"},
		{"json", b, matchers.Unknown, "was not streamed (HTTP 200, its content type is application/json)"},
		{"no-usage", a, matchers.Unknown, "gave no counts of tokens"},
		{"no-usage", endpoint, matchers.Unknown, "to canary-a: the server gave no counts of tokens"},
		{"redirect", a, matchers.Unknown, "nobody followed with the key (HTTP 307, to another host, which got nothing)"},
		{"one-piece", a, matchers.Unknown, "came in one piece"},
		{"mute", b, matchers.Unknown, "named none of its own codes"},
		{"late", b, matchers.Unknown, "named only the last of its two codes"},
		{"denies", a, matchers.Unknown, "refused the key (HTTP 401)"},
		{"rejects", a, matchers.Unknown, "refused, and not for its length (HTTP 400)"},
		{"fails", a, matchers.Unknown, "the endpoint failed (HTTP 500)"},
		{"errs-in-stream", b, matchers.Unknown, "an error in the stream, before any token"},
	} {
		t.Run(test.mode+" "+test.subject, func(t *testing.T) {
			g, dir := standIn(test.mode), filepath.Join(t.TempDir(), "case")
			r, err := newCanary(t, g, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := showed(t, dir, r)[test.subject]
			if !ok || got.Verdict != test.verdict || !strings.Contains(strings.ToLower(got.Because), strings.ToLower(test.because)) {
				t.Errorf("%s: %s: %s\nwant %s: …%s…", test.subject, got.Verdict, got.Because, test.verdict, test.because)
			}
			if (got.Fix == "") != (got.Verdict == matchers.Clear) {
				t.Errorf("next: %q", got.Fix)
			}
			holdsNothing(t, dir)
		})
	}
}

// holdsNothing checks that neither a prompt, a reply nor a key is in a case.
func holdsNothing(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		silent(t, path, string(data))
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("%d files, %v", files, err)
	}
}

// silent checks that a text holds nothing of prompts, replies and keys.
func silent(t *testing.T, what, text string) {
	t.Helper()
	for _, secret := range []string{canarySecret, "river", "first code", "CUDA", "cannot help", "key=", canaryKeys["CANARY_A"], canaryKeys["CANARY_B"]} {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds %q", what, secret)
		}
	}
}

// TestCanaryClear asks an endpoint that behaves a thousand times: every answer
// of every round is clear.
func TestCanaryClear(t *testing.T) {
	const rounds = 1000
	g := standIn("")
	g.Context = 9300
	r, err := newCanary(t, g, func(target *canary.Target, _ *canary.Limits) { target.Prompt, target.Limit = 8700, 9300 })
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for range rounds {
		rep, err := r.Round(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lines, err := rep.Lines()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, lines...)
	}
	file := filepath.Join(t.TempDir(), "rounds.jsonl")
	if err := os.WriteFile(file, all, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := timeline.Create(filepath.Join(t.TempDir(), "case"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if res, err := ingest.Run(t.Context(), db, []string{file}, ingest.Options{}); err != nil || !res.Complete() {
		t.Fatal(res, err)
	}
	answers, err := matchers.Canary(db, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(answers) != 3*rounds {
		t.Errorf("%d answers of %d rounds, two tenants and an endpoint", len(answers), rounds)
	}
	if bad := answers[0]; bad.Verdict != matchers.Clear {
		t.Errorf("%s: %s: %s", bad.Subject, bad.Verdict, bad.Because)
	}
}

// TestCanaryMeasures lets nobody state how fast the engine reads: it is measured
// in other rounds, and only a first token that came far sooner is told.
func TestCanaryMeasures(t *testing.T) {
	g, dir := standIn(""), filepath.Join(t.TempDir(), "case")
	r, err := newCanary(t, g, func(target *canary.Target, _ *canary.Limits) { target.Rate = 0 })
	if err != nil {
		t.Fatal(err)
	}
	want := func(round int, verdict matchers.Verdict, because string) {
		t.Helper()
		if got := showed(t, dir, r)["tenant/canary-a"]; got.Verdict != verdict || !strings.Contains(strings.ToLower(got.Because), because) {
			t.Errorf("round %d: %s: %s", round, got.Verdict, got.Because)
		}
	}
	for i := range 3 {
		want(i, matchers.Unknown, "nothing says how fast the engine reads") // four replies of two other rounds are too few
	}
	want(3, matchers.Clear, "as measured in other rounds")
	g.Rate *= 8
	want(4, matchers.Clear, "as measured in other rounds")
	g.Mode = "too-fast"
	want(5, matchers.Possible, "as measured in other rounds")
	want(6, matchers.Possible, "as measured in other rounds") // the one before is no measure
}

// TestCanaryLimits checks that nothing is sent that may not be.
func TestCanaryLimits(t *testing.T) {
	for _, test := range []struct {
		change func(*canary.Target, *canary.Limits)
		want   string
	}{
		{func(_ *canary.Target, l *canary.Limits) { l.Requests = 4 }, "takes up to 5 requests, and max_requests allows 4"},
		{func(_ *canary.Target, l *canary.Limits) { l.Tokens = 30_000 }, "tokens in prompts and replies, and max_tokens allows 30000"},
		{func(_ *canary.Target, l *canary.Limits) { l.Prompt = 12_000 }, "tokens in its longest prompt, and max_prompt_tokens allows 12000"},
		{func(o *canary.Target, _ *canary.Limits) { o.Base = "http://llm.acme.example/v1" }, "want https"},
		{func(o *canary.Target, _ *canary.Limits) { o.Base = "https://me:sk-hidden@llm.acme.example/v1" }, `"https://llm.acme.example/v1": want https://HOST/PATH, without a name`},
		{func(o *canary.Target, _ *canary.Limits) { o.Tenants[1].Tokens.Env = []string{"CANARY_C"} }, "tenant canary-b: no key: set $CANARY_C"},
		{func(o *canary.Target, _ *canary.Limits) { o.Tenants[1].Tokens.Env = []string{"CANARY_A"} }, "have the same key"},
	} {
		g := standIn("")
		_, err := newCanary(t, g, test.change)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "sk-") {
			t.Errorf("got %v, want …%s…", err, test.want)
		}
		if n := len(g.Requests()); n > 0 {
			t.Errorf("%s: %d requests were sent", test.want, n)
		}
	}
}

// TestCanarySpends has the server count what the limits allow: never more, in
// however many rounds.
func TestCanarySpends(t *testing.T) {
	g := standIn("takes-any") // the prompt that is too long costs most
	r, err := newCanary(t, g, func(_ *canary.Target, l *canary.Limits) { l.Tokens, l.Requests = 120_000, 50 })
	if err != nil {
		t.Fatal(err)
	}
	rounds, total := 0, int64(0)
	for ; rounds < 50; rounds++ {
		rep, err := r.Round(t.Context())
		if err != nil {
			break
		}
		for _, row := range rep.Rows {
			total += max(row.Prompt, 0) + max(row.Output, 0)
		}
	}
	requests, tokens := r.Spent()
	if rounds < 2 || rounds > 3 || total > 120_000 || tokens != total || requests != int64(5*rounds) {
		t.Errorf("%d rounds, %d requests; %d tokens were spent, %d are said", rounds, requests, total, tokens)
	}
}

// stopper ends a run when so many requests are sent.
type stopper struct {
	g    *services.LLM
	left int
	stop context.CancelFunc
}

func (s *stopper) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.left--; s.left == 0 {
		s.stop()
		return nil, r.Context().Err()
	}
	return s.g.RoundTrip(r)
}

// TestCanaryInterrupt ends a run in the middle: what was sent is on record, and
// so is what was not.
func TestCanaryInterrupt(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := newCanary(t, &stopper{standIn(""), 2, stop}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := r.Round(ctx)
	if !errors.Is(err, context.Canceled) || rep == nil || len(rep.Rows) != 5 {
		t.Fatal(rep, err)
	}
	var got []string
	for _, row := range rep.Rows {
		got = append(got, string(row.Outcome))
	}
	if want := "whole interrupted not-sent not-sent not-sent"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCanaryKilled interrupts the program while an endpoint keeps it waiting: it
// ends by itself, and what was sent is in the case.
func TestCanaryKilled(t *testing.T) {
	for name, key := range canaryKeys {
		t.Setenv(name, key)
	}
	g := standIn("hangs")
	server := httptest.NewServer(g)
	defer server.Close()
	dir := t.TempDir()
	file, home := filepath.Join(dir, "t.yaml"), filepath.Join(dir, "case")
	if err := os.WriteFile(file, fmt.Appendf(nil, `schema: pulltrail.canary-targets/1
limits: {max_tokens: 60000, max_prompt_tokens: 15000, max_requests: 5}
targets: [{name: eu, url: %q, model: chat, prompt_tokens: 10000, limit_tokens: 12000, timeout: 1h,
  tenants: [{name: canary-a, token_env: CANARY_A}, {name: canary-b, token_env: CANARY_B}]}]
`, server.URL+"/v1"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("pulltrail", "canary", "run", "--targets", file, "--once", "--case", home)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	for range 3000 {
		if len(g.Requests()) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("exit code %d, want %d: %v", c.ProcessState.ExitCode(), exitInterrupted, err)
	}
	out, err := exec.Command("pulltrail", "sql", "SELECT probe, outcome FROM canaries", "--case", home).CombinedOutput()
	if want := "probe\toutcome\nsize\tinterrupted\nmarker\tnot-sent\nmarker\tnot-sent\nover-length\tnot-sent\n"; err != nil || string(out) != want {
		t.Errorf("got %s, %v; want %s", out, err, want)
	}
}

// TestCanaryHelp loads the targets file that the help shows.
func TestCanaryHelp(t *testing.T) {
	_, file, ok := strings.Cut(canaryHelp, "  schema: ")
	file, _, end := strings.Cut("  schema: "+file, "\n\nBy the hour")
	if !ok || !end {
		t.Fatal("no targets file is in the help")
	}
	targets, err := matchers.ParseTargets("help.yaml", []byte(strings.ReplaceAll("\n"+file, "\n  ", "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(len(targets.Targets), targets.MaxRequests, targets.Targets[0].LimitTokens, targets.Targets[0].Tenants); got != "1 10 131072 [{canary-a CANARY_A_KEY } {canary-b  /etc/pulltrail/canary-b}]" {
		t.Error(got)
	}
}
