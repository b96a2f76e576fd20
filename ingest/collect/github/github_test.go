package github

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pulltrail/ingest"
	"pulltrail/ingest/collect"
	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

const token = "ghp_EXAMPLEexampleEXAMPLEexample0123456"

var (
	begin = time.Date(2026, 10, 21, 11, 39, 0, 0, time.UTC)
	end   = time.Date(2026, 10, 21, 14, 20, 0, 0, time.UTC)
)

// world is a stand-in with a case beside it, and a clock that waits in no time.
type world struct {
	t    *testing.T
	gh   *services.GitHub
	dir  string
	db   *timeline.DB
	now  time.Time
	said []string
	opt  Options
}

func newWorld(t *testing.T, gh *services.GitHub) *world {
	t.Helper()
	w := &world{t: t, gh: gh, dir: filepath.Join(t.TempDir(), "case"), now: end.Add(24 * time.Hour)}
	gh.Token = token
	gh.Now = func() time.Time { return w.now }
	gh.Start()
	t.Cleanup(gh.Close)
	if gh.Org != "" {
		w.opt.Owners = []string{gh.Org}
	}
	w.db = w.open()
	return w
}

func (w *world) open() *timeline.DB {
	w.t.Helper()
	db, err := timeline.Create(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { db.Close() })
	return db
}

// session begins a collection of the window; change may alter how.
func (w *world) session(change func(*collect.Options)) *collect.Session {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	opt := Connect(w.gh.API.URL)
	tok, err := Tokens(w.gh.API.URL, file).Find(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	opt.Token, opt.Target, opt.Command, opt.Program, opt.PerMinute = tok, w.opt.Target(w.gh.API.URL), "pulltrail collect github", "test", 0
	opt.Window = timeline.Span{From: begin.UnixNano(), To: end.UnixNano()}
	opt.Say = func(s string) { w.said = append(w.said, s) }
	opt.Parallel = 1
	opt.Now = func() time.Time { return w.now }
	opt.Sleep = func(ctx context.Context, until time.Time) error {
		if until.After(w.now) {
			w.now = until
		}
		return ctx.Err()
	}
	if change != nil {
		change(&opt)
	}
	s, err := collect.Begin(w.db, opt)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// collect does a whole collection and reads it.
func (w *world) collect() (collect.Stats, ingest.Result) {
	w.t.Helper()
	s := w.session(nil)
	if err := s.Finish(Collect(context.Background(), s, w.opt)); err != nil {
		w.t.Fatal(err)
	}
	res, err := ingest.Collected(context.Background(), w.db, ingest.Options{Parser: "test", Command: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Stats(), res
}

// secrets fails when a host but the API saw the token, or anything saw it in an
// address.
func (w *world) secrets() {
	w.t.Helper()
	for _, seen := range w.gh.Requests() {
		all := fmt.Sprint(seen.Header)
		switch {
		case strings.Contains(seen.URL, token):
			w.t.Errorf("the token stands in %s", seen.URL)
		case seen.Host == "api" && !strings.Contains(all, token):
			w.t.Errorf("%s went without a token", seen.URL)
		case seen.Host != "api" && (strings.Contains(all, token) || strings.Contains(all, "Authorization") || strings.Contains(all, "Cookie")):
			w.t.Errorf("%s of another host saw %s", seen.URL, all)
		}
	}
}

// calls counts what the hosts were asked for.
func (w *world) calls() (api, store int) {
	for _, seen := range w.gh.Requests() {
		if seen.Host == "api" {
			api++
		} else {
			store++
		}
	}
	return api, store
}

func job(id int64, name string, at time.Time, lines ...string) *services.Job {
	return &services.Job{ID: id, Name: name, Started: at, Seconds: 60, Lines: lines}
}

func run(id int64, created time.Time, attempts ...*services.Attempt) *services.Run {
	updated := created
	for _, a := range attempts {
		for _, j := range a.Jobs {
			if done := j.Started.Add(time.Duration(j.Seconds) * time.Second); done.After(updated) {
				updated = done
			}
		}
	}
	return &services.Run{ID: id, Created: created, Updated: updated, Path: ".github/workflows/ci.yml", SHA: fmt.Sprintf("%040x", id), Attempts: attempts}
}

func attempt(jobs ...*services.Job) *services.Attempt { return &services.Attempt{Jobs: jobs} }

// ci is a workflow file.
const ci = `on: push
permissions:
  contents: read
env:
  SENTRY_DSN: https://public@sentry.acme.example/1
jobs:
  build:
    runs-on: ubuntu-24.04
    permissions: {id-token: write}
    environment: production
    steps:
      - run: twine upload dist/*
        env: {TWINE_PASSWORD: "${{ secrets.PYPI_TOKEN }}"}
  test:
    strategy: {matrix: {python: ["3.11"]}}
    runs-on: ubuntu-24.04
    steps:
      - run: pytest
  flaky:
    runs-on: ubuntu-24.04
    steps:
      - run: "curl -H 'X: ${{ secrets.FLAKY_KEY }}' acme.example"
  slow:
    runs-on: ubuntu-24.04
    steps: []
`

func withCI(string, string) string { return ci }

// small is an organisation with a run of each kind.
func small() *services.GitHub {
	in := begin.Add(time.Hour)
	return &services.GitHub{Org: "acme", Repos: []*services.Repo{
		{Name: "acme/api", Files: withCI, Runs: []*services.Run{
			run(812, in, attempt(job(1, "build", in.Add(time.Second), "Successfully installed litellm-1.106.2"), job(2, "test (3.11)", in.Add(2*time.Second)))),
			// It began before the window and was still at work in it.
			run(700, begin.Add(-3*time.Hour), attempt(&services.Job{ID: 3, Name: "slow", Started: begin.Add(-3 * time.Hour), Seconds: 4 * 3600})),
			// It was over before the window.
			run(600, begin.Add(-30*time.Hour), attempt(job(4, "early", begin.Add(-30*time.Hour)))),
			// It was over before the window, and started again in it.
			run(500, begin.Add(-40*time.Hour), attempt(job(5, "flaky", begin.Add(-40*time.Hour))), attempt(job(6, "flaky", in.Add(time.Minute), "Successfully installed idna-3.10"))),
			// It is of after the window.
			run(900, end.Add(time.Hour), attempt(job(7, "late", end.Add(time.Hour)))),
		}},
		{Name: "acme/empty"},
	}}
}

func TestCollect(t *testing.T) {
	w := newWorld(t, small())
	stats, res := w.collect()
	w.secrets()
	// The list of repositories, a list of runs for each, and of the three runs
	// that were at work the jobs and the logs of four attempts; one query for the
	// workflows of three commits, which have one content; and three for audit log
	// and packages, which this organisation does not have.
	if api, store := w.calls(); api != 1+2+3+4+2+3 || store != 4 {
		t.Errorf("%d calls and %d downloads, want 15 and 4", api, store)
	}
	if stats.Gaps != 0 || !res.Complete() {
		t.Errorf("not complete: %+v, %+v", stats, res)
	}
	var dump strings.Builder
	if err := w.db.Dump(&dump); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"job:github:acme/api/runs/812/attempts/1/jobs/build pkg:pypi/litellm@1.106.2",
		"job:github:acme/api/runs/500/attempts/2/jobs/flaky pkg:pypi/idna@3.10",
		"covers job:github:acme/api/runs/700/attempts/1/jobs/slow",
		"covers job:github:acme/api/runs/500/attempts/1/jobs/flaky",
		"hold job:github:acme/api/runs/812/attempts/1/jobs/build secret:PYPI_TOKEN",
		"hold job:github:acme/api/runs/812/attempts/1/jobs/build secret:SENTRY_DSN",
		"hold job:github:acme/api/runs/812/attempts/1/jobs/build secret:ACTIONS_ID_TOKEN_REQUEST_TOKEN",
		"hold job:github:acme/api/runs/500/attempts/2/jobs/flaky secret:FLAKY_KEY",
		"uses job:github:acme/api/runs/812/attempts/1/jobs/build environment:production",
	} {
		if !strings.Contains(dump.String(), want) {
			t.Errorf("no %q in\n%s", want, dump.String())
		}
	}
	for _, not := range []string{"jobs/early", "jobs/late", "test%20(3.11) secret:PYPI", "jobs/flaky secret:PYPI", token, "s3cr3t"} {
		if strings.Contains(dump.String(), not) {
			t.Errorf("%q in\n%s", not, dump.String())
		}
	}
	// Again: only lists are asked for anew, nothing is read twice.
	w.gh.Forget()
	_, res = w.collect()
	if api, store := w.calls(); api != 3+3 || store != 0 || len(res.Files) != 0 {
		t.Errorf("again: %d calls, %d downloads, %d sources, want 6, 0, 0", api, store, len(res.Files))
	}
	v, err := w.db.Verify(context.Background())
	if err != nil || v.Worst() == timeline.Mismatch || v.Worst() == timeline.Unchecked {
		t.Errorf("verify: %v, %+v", err, v.Checks)
	}
}

// TestOrganisation checks what an organisation has beside its repositories.
func TestOrganisation(t *testing.T) {
	gh := small()
	for i := range 130 {
		gh.Audit = append(gh.Audit, map[string]any{
			"@timestamp": begin.Add(time.Hour).UnixMilli(), "_document_id": fmt.Sprint(i), "action": "workflows.prepared_workflow_job", "org": "acme", "repo": "acme/api",
			"workflow_run_id": 812, "run_attempt": 1, "job_name": "build", "secrets_passed": []string{fmt.Sprintf("SECRET_%d", i)}, "is_hosted_runner": true,
		}, map[string]any{"@timestamp": begin.UnixMilli(), "_document_id": fmt.Sprint("o", i), "action": "org.add_member", "org": "acme"})
	}
	version := func(digit, tag string, at time.Time) map[string]any {
		return map[string]any{"name": "sha256:" + strings.Repeat(digit, 64), "created_at": at, "updated_at": at, "metadata": map[string]any{"package_type": "container", "container": map[string]any{"tags": []string{tag}}}}
	}
	gh.Packages = map[string][]map[string]any{"api": {version("a", "1.4", begin)}, "old": {version("b", "1", begin.Add(-time.Hour))}}
	w := newWorld(t, gh)
	stats, res := w.collect()
	w.secrets()
	// Two pages of the audit log of workflows, one of packages; the packages, and
	// the versions of the one that changed.
	if api, _ := w.calls(); api != 12+3+2 || stats.Gaps != 0 || !res.Complete() {
		t.Errorf("%d calls, want 17; %+v", api, stats)
	}
	var dump strings.Builder
	if err := w.db.Dump(&dump); err != nil {
		t.Fatal(err)
	}
	host := "containers." + strings.TrimPrefix(gh.API.URL, "http://")
	for _, want := range []string{"secret:SECRET_0 ", "secret:SECRET_129 ", "link names " + host + "/acme/api:1.4 sha256:aaaa"} {
		if !strings.Contains(dump.String(), want) {
			t.Errorf("no %q in\n%s", want, dump.String())
		}
	}
}

// TestArchiveLacksJob has an archive without the log of a job: it is got alone.
func TestArchiveLacksJob(t *testing.T) {
	gh := small()
	gh.Repos[0].Runs[0].Attempts[0].Jobs[1].Alone = true
	w := newWorld(t, gh)
	stats, res := w.collect()
	if api, store := w.calls(); api != 15+1 || store != 5 || stats.Gaps != 0 || !res.Complete() {
		t.Errorf("%d calls, %d downloads, want 16 and 5: %+v", api, store, stats)
	}
	var dump strings.Builder
	if err := w.db.Dump(&dump); err != nil || !strings.Contains(dump.String(), "covers job:github:acme/api/runs/812/attempts/1/jobs/test%20(3.11)") {
		t.Errorf("the log of the job was not read: %v\n%s", err, dump.String())
	}
}

// TestRefused checks that each refusal is a gap of its own kind and subject.
func TestRefused(t *testing.T) {
	gh := small()
	runs := gh.Repos[0].Runs
	runs[0].Attempts[0].Gone = http.StatusGone
	runs[1].Attempts[0].Gone = http.StatusForbidden
	runs[3].Attempts[0].Gone, runs[3].Attempts[0].Jobs[0].Gone = http.StatusNotFound, http.StatusNotFound
	runs[3].Attempts[1].Gone = http.StatusNotFound // its job's log is there
	gh.Repos[1].Gone = http.StatusForbidden
	w := newWorld(t, gh)
	stats, _ := w.collect()
	w.secrets()
	if stats.Gaps != 4 {
		t.Errorf("%d gaps, want 4: %+v", stats.Gaps, stats)
	}
	all, err := w.db.Expectations()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, x := range all {
		if x.Reason != "" {
			got[x.Subject.ID] = x.Reason + " " + x.Detail
		}
	}
	want := map[string]string{
		"github:acme/api/runs/812/attempts/1":            "expired HTTP 410: Gone",
		"github:acme/api/runs/700/attempts/1":            "denied HTTP 403: Forbidden",
		"github:acme/api/runs/500/attempts/1/jobs/flaky": "absent HTTP 404: Not Found",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var dump strings.Builder
	if err := w.db.Dump(&dump); err != nil || !strings.Contains(dump.String(), "job:github:acme/api/runs/500/attempts/2/jobs/flaky pkg:pypi/idna@3.10") {
		t.Errorf("the log of the job alone was not read: %v\n%s", err, dump.String())
	}
}
