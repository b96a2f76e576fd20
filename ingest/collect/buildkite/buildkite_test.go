package buildkite

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pulltrail/ingest"
	"pulltrail/ingest/collect"
	"pulltrail/testdata/collecting"
	"pulltrail/testdata/services"
)

const token = "bkua_EXAMPLEexample0123456"

// The window that is collected.
var begin, end = collecting.Begin, collecting.End

// world is a stand-in with a case beside it.
type world struct {
	*collecting.World
	b *services.Buildkite
}

func newWorld(t *testing.T, b *services.Buildkite) *world {
	t.Helper()
	w := &world{collecting.New(t), b}
	b.Token, b.Org = token, "acme"
	b.Now = func() time.Time { return w.Now }
	b.Start()
	t.Cleanup(b.Close)
	return w
}

// session begins a collection.
func (w *world) session(with string, opt Options) *collect.Session {
	w.T.Helper()
	api := w.b.API.URL
	return w.Session(Connect(api), opt.Target(api), with, func(file string) collect.Places { return Tokens(file) })
}

// collect does a collection and reads it.
func (w *world) collect(with string, words ...string) (collect.Stats, ingest.Result, error) {
	w.T.Helper()
	var opt Options
	for _, word := range words {
		if err := opt.Parse(word); err != nil {
			w.T.Fatal(err)
		}
	}
	s := w.session(with, opt)
	return w.Read(s, Collect(context.Background(), s, opt))
}

// secrets fails when a host saw what is not for it, or the case holds a value.
func (w *world) secrets() (api, store int) {
	w.T.Helper()
	return w.Secrets(w.b.Requests(), token)
}

// log is what a job printed.
func log(at time.Time, line string) string {
	var b strings.Builder
	for i, text := range []string{"~~~ Running commands", "$ pip install -r requirements.txt", line} {
		fmt.Fprintf(&b, "\x1b_bk;t=%d\x07%s\r\n", at.Add(time.Duration(i)*time.Second).UnixMilli(), text)
	}
	return b.String()
}

func ran(id string, at time.Time, line string) *services.BuildkiteJob {
	return &services.BuildkiteJob{ID: id, Started: at, Finished: at.Add(time.Minute), Log: log(at, line)}
}

// small has a build of each kind.
func small() *services.Buildkite {
	in := begin.Add(time.Hour)
	stored := ran("j3", in, "Successfully installed litellm-1.107.0")
	stored.Stored = true
	retried := ran("j2", in, "Successfully installed certifi-2026.1.1")
	retried.Retried = true
	running := &services.BuildkiteJob{ID: "j5", Started: in, Log: log(in, "Successfully installed urllib3-2.5.0")}
	return &services.Buildkite{
		Clusters: []services.BuildkiteCluster{{ID: "c1", Name: "Main", Secrets: []string{"NPM_TOKEN"}}, {ID: "c2", Name: "Hidden", Gone: http.StatusForbidden}},
		Builds: []*services.BuildkiteBuild{
			{Pipeline: "api", Number: 9, Created: end.Add(time.Hour), Finished: end.Add(2 * time.Hour), Jobs: []*services.BuildkiteJob{ran("late", end.Add(time.Hour), "Successfully installed late-1.0")}},
			{Pipeline: "api", Number: 8, Created: in, Finished: in.Add(time.Hour), Env: map[string]string{"PYPI_TOKEN": "s3cr3t-value", "LOG_LEVEL": "s3cr3t"}, Jobs: []*services.BuildkiteJob{
				retried, stored, {ID: "w1", Type: "waiter"}, {ID: "broken"},
			}},
			{Pipeline: "web", Number: 3, Created: in, Jobs: []*services.BuildkiteJob{running}}, // it goes on
			// It began long before the window.
			{Pipeline: "api", Number: 7, Created: begin.Add(-50 * 24 * time.Hour), Finished: in, Jobs: []*services.BuildkiteJob{ran("j1", begin.Add(-time.Minute/2), "Successfully installed idna-3.10")}},
			{Pipeline: "api", Number: 6, Created: begin.Add(-3 * time.Hour), Finished: begin.Add(-2 * time.Hour), Jobs: []*services.BuildkiteJob{ran("early", begin.Add(-3*time.Hour), "Successfully installed early-1.0")}},
		},
	}
}

func TestCollect(t *testing.T) {
	w := newWorld(t, small())
	stats, res, err := w.collect(token, "acme")
	if err != nil || stats.Gaps != 0 || !res.Complete() {
		t.Fatalf("%v, %+v, %+v", err, stats, res)
	}
	// Builds that ended and those that go on; clusters and the secrets of both;
	// four logs, one of them from the store.
	if api, store := w.secrets(); api != 2+3+4 || store != 1 {
		t.Errorf("%d calls, %d downloads, want 9 and 1", api, store)
	}
	dump := w.Dump()
	for _, want := range []string{
		"install job:buildkite:acme/api/builds/8/jobs/j3 pkg:pypi/litellm@1.107.0", "install job:buildkite:acme/api/builds/7/jobs/j1 pkg:pypi/idna@3.10",
		"install job:buildkite:acme/web/builds/3/jobs/j5 pkg:pypi/urllib3@2.5.0", "covers job:buildkite:acme/api/builds/8/jobs/j2",
		"NPM_TOKEN part=cluster%20Main store=buildkite:acme", "hold job:buildkite:acme/api/builds/8/jobs/j2 secret:PYPI_TOKEN",
	} {
		if !strings.Contains(dump, want) {
			t.Errorf("no %q in\n%s", want, dump)
		}
	}
	for _, not := range []string{"late", "early", "LOG_LEVEL", "covers job:buildkite:acme/web/builds/3"} {
		if strings.Contains(dump, not) {
			t.Errorf("%q in\n%s", not, dump)
		}
	}
	if said := strings.Join(w.Said, "\n"); !strings.Contains(said, "1 jobs had not ended") || !strings.Contains(said, "1 lists of secrets") {
		t.Errorf("said %q", said)
	}
	// Again, only lists are asked for, and the log that goes on.
	if stats, _, err = w.collect(token, "acme"); err != nil || stats.Calls != 2+3+1 || stats.Downloads != 0 {
		t.Errorf("again: %v, %+v", err, stats)
	}
}

// TestLost has a job whose agent was lost, and with it what it printed last.
func TestLost(t *testing.T) {
	b := small()
	b.Builds[1].Jobs[1].Lost = true
	w := newWorld(t, b)
	if _, _, err := w.collect(token, "acme/api"); err != nil {
		t.Fatal(err)
	}
	if dump := w.Dump(); strings.Contains(dump, "covers job:buildkite:acme/api/builds/8/jobs/j3") || !strings.Contains(dump, "install job:buildkite:acme/api/builds/8/jobs/j3") {
		t.Errorf("the job is covered, or not read:\n%s", dump)
	}
}

// TestJustEnded collects a job that has only just ended: the service may not have
// all that it printed, so it is asked again.
func TestJustEnded(t *testing.T) {
	b := small()
	w := newWorld(t, b)
	w.Now = b.Builds[1].Jobs[1].Finished.Add(time.Minute)
	if _, _, err := w.collect(token, "acme/api"); err != nil || strings.Contains(w.Dump(), "covers job:buildkite:acme/api/builds/8/jobs/j3") {
		t.Errorf("%v: the job is covered\n%s", err, w.Dump())
	}
	w.Now = end
	if _, _, err := w.collect(token, "acme/api"); err != nil || !strings.Contains(w.Dump(), "covers job:buildkite:acme/api/builds/8/jobs/j3") {
		t.Errorf("%v: the job is not covered\n%s", err, w.Dump())
	}
}

// TestFaults collects from a service at its worst: everything fails once, in
// turn in each of these ways, and comes whole in the end.
func TestFaults(t *testing.T) {
	w := newWorld(t, small())
	faults := []services.Fault{
		{Status: http.StatusBadGateway, Body: "<html>502</html>"},
		{Status: http.StatusTooManyRequests, Header: http.Header{"Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {"17"}}},
		{Slow: true},
		{Cut: true},
		{Status: http.StatusServiceUnavailable},
	}
	k := 0
	w.b.Fault = func(_ string, _ *http.Request, n int) services.Fault {
		if n > 1 {
			return services.Fault{}
		}
		k++
		return faults[k%len(faults)]
	}
	stats, res, err := w.collect(token, "acme")
	w.secrets()
	if err != nil || stats.Gaps != 0 || !res.Complete() || len(res.Files) != 2+1+4 {
		t.Errorf("%v: %+v, %d sources", err, stats, len(res.Files))
	}
	said := strings.Join(w.Said, "\n")
	for _, want := range []string{"HTTP 502", "HTTP 503: asking again in", "HTTP 429: waiting until", "unexpected EOF: asking again"} {
		if !strings.Contains(said, want) {
			t.Errorf("nobody was told %q:\n%s", want, said)
		}
	}
}

// TestLimit checks that a limit that is told in seconds from now is never run
// against.
func TestLimit(t *testing.T) {
	b := small()
	b.Limit = 4
	w := newWorld(t, b)
	before := w.Now
	if stats, _, err := w.collect(token, "acme"); err != nil || stats.Gaps != 0 || stats.Calls != 9 || stats.Limit != 4 {
		t.Errorf("%v: got %+v, want 9 calls", err, stats)
	}
	if waited := w.Now.Sub(before); waited < 2*time.Minute || waited > 3*time.Minute || !strings.Contains(strings.Join(w.Said, "\n"), "0 of 4 calls left: waiting until") {
		t.Errorf("it waited %s and said %q", waited, w.Said)
	}
}

// TestRefused checks that each refusal is a gap of its own kind and subject, and
// takes a pipeline alone.
func TestRefused(t *testing.T) {
	b := small()
	jobs := b.Builds[1].Jobs
	jobs[0].Gone, jobs[1].Gone, b.Builds[3].Jobs[0].Gone = http.StatusForbidden, http.StatusNotFound, http.StatusGone
	w := newWorld(t, b)
	stats, _, err := w.collect(token, "acme/api", "acme/none")
	if err != nil || stats.Gaps != 5 {
		t.Errorf("%v, %+v: want 3 logs and two lists of a pipeline not had", err, stats)
	}
	w.secrets()
	got := w.Reasons("/")
	for id, want := range map[string]string{"j2": "denied", "j3": "absent", "j1": "expired"} {
		if got[id] != want {
			t.Errorf("job %s: got %q, want %s", id, got[id], want)
		}
	}
	if dump := w.Dump(); strings.Contains(dump, "acme/web") {
		t.Errorf("another pipeline in\n%s", dump)
	}
	if _, _, err := w.collect("wrong", "acme"); !errors.Is(err, collect.ErrToken) {
		t.Errorf("wrong token: %v", err)
	}
}

// TestRedirect checks that a log that leads to http elsewhere is not followed,
// and that an empty one is no evidence that the job did nothing.
func TestRedirect(t *testing.T) {
	b := small()
	b.Builds[1].Jobs[0].Log = ""
	w := newWorld(t, b)
	w.b.Fault = func(_ string, r *http.Request, _ int) services.Fault {
		if strings.HasSuffix(r.URL.Path, "/jobs/j3/log") {
			return services.Fault{Status: http.StatusFound, Header: http.Header{"Location": {"http://logs.acme.example/x"}}}
		}
		return services.Fault{}
	}
	stats, res, err := w.collect(token, "acme")
	if err != nil || stats.Gaps != 1 || res.Complete() || w.Reasons("/")["j3"] != "failed" {
		t.Errorf("%v, %+v, %v", err, stats, w.Reasons("/"))
	}
	if dump := w.Dump(); strings.Contains(dump, "covers job:buildkite:acme/api/builds/8/jobs/j2") {
		t.Errorf("an empty log covers its job:\n%s", dump)
	}
}

// TestDeep lists more builds than one query may give.
func TestDeep(t *testing.T) {
	b := &services.Buildkite{}
	for k := range 1234 {
		at := end.Add(-time.Duration(k) * time.Second)
		b.Builds = append(b.Builds, &services.BuildkiteBuild{Pipeline: "api", Number: 2000 - k, Created: at, Finished: at.Add(2 * time.Hour)})
	}
	w := newWorld(t, b)
	opt := Options{Organizations: []string{"acme"}}
	plan, err := DryRun(context.Background(), w.session(token, opt), opt)
	if err != nil || plan.Builds != 1234 {
		t.Errorf("%v, %+v: want 1234 builds", err, plan)
	}
	if api, _ := w.secrets(); api != 10+3+1+1 { // the last build of the first query comes again
		t.Errorf("%d calls, want 15", api)
	}
}

func TestParse(t *testing.T) {
	for word, ok := range map[string]bool{"acme": true, "acme/web-2": true, "": false, "acme/../x": false, "/acme": false, "acme?x": false, "acme/": false, "..": false, "a/b/c": false} {
		if err := new(Options).Parse(word); (err == nil) != ok {
			t.Errorf("%q: %v", word, err)
		}
	}
}
