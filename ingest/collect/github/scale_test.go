package github

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"pulltrail/ingest/collect"
	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

// organisation makes repositories with so many runs, of which every 40th was
// started again, and every 50th has more jobs than a page. least is the lowest
// number of calls that can bring all of it: a page of a list holds 100, there is
// one list of runs for each repository, one list of jobs for each run, one
// archive of logs for each attempt, and a query asks after the workflows of 100
// commits.
func organisation(repos, runs int) (gh *services.GitHub, least, downloads int) {
	gh = &services.GitHub{Org: "acme"}
	least = pages(repos) + 3 // the audit log of workflows and of packages, the images
	id := int64(0)
	next := func() int64 { id++; return id }
	for r := range repos {
		repo := &services.Repo{Name: fmt.Sprintf("acme/repo-%03d", r), Files: func(commit, _ string) string {
			if commit[39]%2 == 0 {
				return "# an earlier one\n" + ci
			}
			return ci
		}}
		n := runs / repos
		if r == 0 {
			n += runs % repos
		}
		for k := range n {
			at := begin.Add(time.Duration(k) * 9 * time.Second)
			one := attempt(job(next(), "build", at, "Successfully installed idna-3.10"))
			if k%50 == 49 {
				for m := range 120 {
					one.Jobs = append(one.Jobs, &services.Job{ID: next(), Name: fmt.Sprintf("shard (%d)", m), Started: at, Seconds: 1, Conclusion: "skipped"})
				}
			}
			all := []*services.Attempt{one}
			if k%40 == 39 {
				all = append(all, attempt(job(next(), "build", at.Add(time.Hour), "Successfully installed idna-3.10")))
			}
			repo.Runs = append(repo.Runs, run(next(), at, all...))
			jobs := len(one.Jobs) + len(all) - 1
			least += pages(jobs) + len(all)
			downloads += len(all)
		}
		least += pages(n) + pages(n) + 2 // the workflows of each commit, of which there are two
		gh.Repos = append(gh.Repos, repo)
	}
	return gh, least, downloads
}

func pages(n int) int { return max(1, (n+perPage-1)/perPage) }

// TestFewestCalls collects an organisation with as few calls as there can be.
// PULLTRAIL_SOAK takes 200 repositories with 20,000 runs.
func TestFewestCalls(t *testing.T) {
	repos, runs := 3, 180
	if os.Getenv("PULLTRAIL_SOAK") != "" {
		repos, runs = 200, 20000
	}
	gh, least, downloads := organisation(repos, runs)
	w := newWorld(t, gh)
	var mu sync.Mutex
	s := w.session(func(o *collect.Options) {
		o.Parallel = 8
		o.Say = func(text string) { mu.Lock(); defer mu.Unlock(); w.said = append(w.said, text) }
	})
	started := time.Now()
	if err := s.Finish(Collect(context.Background(), s, w.opt)); err != nil {
		t.Fatal(err)
	}
	api, store := w.calls()
	t.Logf("%d repositories, %d runs: %d calls (%d at least), %d downloads, %s", repos, runs, api, least, store, time.Since(started).Round(time.Millisecond))
	if api != least || store != downloads {
		t.Errorf("%d calls and %d downloads, want %d and %d", api, store, least, downloads)
	}
	if st := s.Stats(); st.Gaps != 0 || len(w.said) != 0 {
		t.Errorf("%d gaps, said %q", st.Gaps, w.said)
	}
	w.secrets()
	ledger, err := w.db.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range ledger {
		if r.Reply != timeline.Obtained && r.Kind != "audit" && r.Kind != "packages" {
			t.Errorf("%s: %s", r.URL, r.Reply)
		}
	}
	if len(ledger) != least+downloads { // each attempt has its workflow
		t.Errorf("%d rows in the ledger, want %d", len(ledger), least+downloads)
	}
}

// TestCap lists more runs than one query gives, some of them of one second, and
// asks for no page in vain.
func TestCap(t *testing.T) {
	gh := &services.GitHub{Org: "acme", Repos: []*services.Repo{{Name: "acme/busy"}}}
	for k := range int64(2345) {
		r := run(k+1, begin.Add(time.Duration(k/3)*time.Second), attempt())
		r.Conclusion = "skipped"
		gh.Repos[0].Runs = append(gh.Repos[0].Runs, r)
	}
	w := newWorld(t, gh)
	stats, res := w.collect()
	// 2,345 runs are 24 pages; where a query ends in the middle of a second, its
	// runs come again.
	if api, _ := w.calls(); api != 1+3+24 {
		t.Errorf("%d calls, want 28", api)
	}
	var n int
	for _, f := range res.Files {
		if f.State != timeline.Read {
			t.Errorf("%s: %s", f.Path, f.Why)
		}
		n++
	}
	if stats.Gaps != 0 || n != 24 || len(w.said) != 0 {
		t.Errorf("%d gaps, %d pages, said %q", stats.Gaps, n, w.said)
	}
	ids := map[int64]bool{}
	c, err := newCollector(w.session(nil), w.opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := collect.Run(context.Background(), 1, func(ctx context.Context, p *collect.Pool) error {
		c.pool = p
		for to := c.to; ; {
			last, more, err := c.query(ctx, "acme", "busy", to, ids)
			if err != nil || !more {
				return err
			}
			to = last
		}
	}); err != nil || len(ids) != 2345 {
		t.Errorf("%d runs, want 2345: %v", len(ids), err)
	}
}
