package matchers

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"pulltrail/timeline"
)

// TestFleet plants 155 replies to prompts that no node of a fleet can hold
// among requests that are hard to tell from them: prompts up to the last token
// of the pool, long cached prefixes, bursts, stored replies, refusals, clocks
// that are set back. Exactly the planted ones are found.
func TestFleet(t *testing.T) {
	total := 50_000
	if os.Getenv("PULLTRAIL_SOAK") != "" {
		total = 1_000_000
	}
	const planted, pool, context, nodes, rate = 155, 681_280, 1_048_576, 8, 12_000
	db, err := timeline.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	b := &timeline.Batch{}
	node := func(i int) timeline.Subject {
		return timeline.Subject{Kind: timeline.Host, ID: fmt.Sprintf("gpu-%d", i)}
	}
	for i := range nodes {
		for name, value := range map[timeline.SettingName]string{
			timeline.EngineKind: "sglang", timeline.EngineVersion: "0.5.20", timeline.Topology: "prefill", timeline.TransferBackend: "mooncake",
			timeline.PoolTokens: fmt.Sprint(pool), timeline.ContextTokens: fmt.Sprint(context), timeline.PrefillRate: fmt.Sprint(rate),
		} {
			b.Settings = append(b.Settings, timeline.Setting{
				Subject: node(i), Name: name, Value: value, Span: timeline.Span{From: begin, To: begin, Clock: timeline.Exact},
				Origin: timeline.Origin{Path: fmt.Sprintf("gpu-%d.log", i), Line: 1},
			})
		}
	}
	r := rand.New(rand.NewPCG(681, 280))
	every := total / planted
	want := map[string]bool{}
	for i := range total {
		q := request(r, i, begin+int64(i)*int64(time.Second), pool, rate)
		if i%every == every/2 && len(want) < planted {
			q.Prompt = pool + 1 + r.Int64N(context-pool)
			q.Cached = r.Int64N(q.Prompt)
			q.Tenant, q.Failed, q.Stored = fmt.Sprintf("hit-%d", i), false, false
			want["tenant/"+q.Tenant] = true
		}
		q.Node = node(i % nodes)
		q.Path, q.Line = q.Node.ID+".log", int64(i+2)
		q.Span = timeline.Span{From: q.Start, To: q.End, Clock: timeline.Exact}
		if b.Requests = append(b.Requests, q); len(b.Requests) == 1000 {
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			b = &timeline.Batch{}
		}
	}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(timeline.SourceInfo{SHA256: "fleet", Path: "fleet", State: timeline.Read}); err != nil {
		t.Fatal(err)
	}
	inc, err := Find("sglang-kv-isolation-2026-10")
	if err != nil {
		t.Fatal(err)
	}
	res, err := Match(db, inc)
	if err != nil {
		t.Fatal(err)
	}
	replies := 0
	for _, f := range res.Findings {
		if f.Subject.Kind != timeline.Client {
			continue
		}
		if replies++; !want[f.Subject.ID] || f.Verdict != Exposed {
			t.Errorf("%s is %s: %s", f.Subject, f.Verdict, f.Because)
		}
		delete(want, f.Subject.ID)
	}
	if replies != planted || len(want) > 0 {
		t.Errorf("%d replies were found, want %d; missed %v", replies, planted, want)
	}
}

// request makes an innocent request that looks like a guilty one.
func request(r *rand.Rand, i int, at, pool, rate int64) timeline.Request {
	q := timeline.Request{ID: fmt.Sprint(i), Tenant: fmt.Sprintf("t%d", r.IntN(200)), Prompt: 1 + r.Int64N(30_000), Streamed: true, Start: at}
	speed := float64(rate) * (0.2 + r.Float64())
	switch r.IntN(12) {
	case 0:
		q.Prompt = pool - r.Int64N(3) // the last that fit
	case 1: // a long prefix is in the cache
		q.Prompt = 400_000 + r.Int64N(200_000)
		q.Cached = q.Prompt - r.Int64N(2000)
	case 2: // a burst
		q.Prompt = 60_000
		speed = float64(rate) * 3.5
	case 3: // given from a store: no model ran
		q.Prompt, q.Stored, speed = pool+r.Int64N(300_000), true, 1e9
	case 4: // refused
		q.Prompt, q.Failed, speed = pool+r.Int64N(300_000), true, 1e9
	case 5: // the first token's time was never taken
		q.Prompt, q.Streamed = 100_000, false
		speed = 1e9
	case 6: // the log does not say what was cached
		q.Prompt, q.Cached, speed = 500_000, -1, 1e8
	}
	read := max(q.Prompt-max(q.Cached, 0), 1)
	q.First = at + int64(float64(read)/speed*1e9) + 1
	q.End = q.First + int64(time.Second)*2
	if r.IntN(5000) == 0 { // the clock is set back while the prompt is read
		q.Prompt = 300_000
		q.First, q.End = q.Start+int64(time.Millisecond), q.Start-int64(time.Minute)
	}
	return q
}
