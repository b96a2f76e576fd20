package circleci

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"pulltrail/ingest"
	"pulltrail/ingest/collect"
	"pulltrail/testdata/collecting"
	"pulltrail/testdata/services"
)

const token = "CCIPAT_EXAMPLEexample0123"

// The window that is collected.
var begin, end = collecting.Begin, collecting.End

// world is a stand-in with a case beside it.
type world struct {
	*collecting.World
	b *services.CircleCI
}

func newWorld(t *testing.T, b *services.CircleCI) *world {
	t.Helper()
	b.Token, b.Org = token, "gh/acme"
	b.Start()
	t.Cleanup(b.Close)
	return &world{collecting.New(t), b}
}

// session begins a collection.
func (w *world) session(with string, opt Options) *collect.Session {
	w.T.Helper()
	api := w.b.API.URL + "/api"
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

func ran(number int64, at time.Time, steps ...services.CircleStep) *services.CircleJob {
	return &services.CircleJob{Number: number, Started: at, Stopped: at.Add(time.Minute), Steps: steps}
}

func printed(command string, lines ...string) services.CircleStep {
	return services.CircleStep{Name: command, Command: command, Lines: lines}
}

// small has a job of each kind.
func small() *services.CircleCI {
	in := begin.Add(time.Hour)
	old := begin.Add(-20 * 24 * time.Hour)
	good := ran(812, in, printed("pip install idna", "Successfully installed idna-3.10"), printed("make", "ok"))
	bad := ran(813, in.Add(time.Minute), printed("pip install -q acme-eval"), printed("pip install litellm", "Collecting litellm", "Successfully installed litellm-1.107.0"))
	running := ran(815, in, printed("pip install urllib3", "Successfully installed urllib3-2.5.0"))
	running.Stopped = time.Time{}
	return &services.CircleCI{
		PerPage:   2,
		Contexts:  []services.CircleContext{{ID: "c1", Name: "publish", Variables: []string{"NPM_TOKEN", "PYPI_TOKEN", "AWS_SECRET_ACCESS_KEY"}}},
		Variables: map[string][]string{"gh/acme/api": {"DATABASE_URL"}},
		Pipelines: []*services.CirclePipeline{
			{ID: "p9", Project: "gh/acme/api", Created: end.Add(time.Hour), Workflows: []*services.CircleWorkflow{
				{ID: "w9", Created: end.Add(time.Hour), Stopped: end.Add(2 * time.Hour), Jobs: []*services.CircleJob{ran(900, end.Add(time.Hour), printed("pip install late", "Successfully installed late-1.0"))}},
			}},
			{ID: "p8", Project: "gh/acme/api", Created: in, Workflows: []*services.CircleWorkflow{
				{ID: "w8", Created: in, Stopped: in.Add(time.Hour), Jobs: []*services.CircleJob{good, bad, {Number: 0, Type: "approval", Started: in, Stopped: in}}},
				{ID: "w8-again", Created: in.Add(time.Hour), Stopped: in.Add(2 * time.Hour), Jobs: []*services.CircleJob{good, ran(814, in.Add(time.Hour), printed("make test", "ok"))}},
			}},
			{ID: "p7", Project: "gh/acme/web", Created: in, Workflows: []*services.CircleWorkflow{{ID: "w7", Created: in, Jobs: []*services.CircleJob{running}}}},
			// It was made long before the window, and started again in it.
			{ID: "p6", Project: "gh/acme/api", Created: old, Workflows: []*services.CircleWorkflow{
				{ID: "w6", Created: old, Stopped: old.Add(time.Hour), Jobs: []*services.CircleJob{ran(700, old, printed("pip install early", "Successfully installed early-1.0"))}},
				{ID: "w6-again", Created: in, Stopped: in.Add(time.Hour), Jobs: []*services.CircleJob{ran(816, in, printed("pip install certifi", "Successfully installed certifi-2026.1.1"))}},
			}},
			{ID: "p5", Project: "gh/acme/api", Created: begin.Add(-31 * 24 * time.Hour)},
			{ID: "p4", Project: "gh/acme/api", Created: begin.Add(-32 * 24 * time.Hour)},
			{ID: "p3", Project: "gh/acme/api", Created: begin.Add(-33 * 24 * time.Hour)},
		},
	}
}

// calls is how many calls it takes to collect that: three pages of pipelines, and
// none after the one that is too old; contexts, and two pages of variables;
// variables of two projects; workflows of three pipelines; jobs of four
// workflows, one of which has two pages; five jobs with their steps.
const calls = 3 + 1 + 2 + 2 + 3 + 5 + 5

func TestCollect(t *testing.T) {
	w := newWorld(t, small())
	stats, res, err := w.collect(token, "gh/acme")
	if err != nil || stats.Gaps != 0 || !res.Complete() {
		t.Fatalf("%v, %+v, %+v", err, stats, res)
	}
	if api, store := w.secrets(); api != calls || store != 6 {
		t.Errorf("%d calls, %d downloads, want %d and 6", api, store, calls)
	}
	dump := w.Dump()
	for _, want := range []string{
		"install job:circleci:acme/api/jobs/813 pkg:pypi/litellm@1.107.0", "opaque job:circleci:acme/api/jobs/813 pkg:pypi/acme-eval",
		"install job:circleci:acme/api/jobs/816 pkg:pypi/certifi@2026.1.1", "install job:circleci:acme/web/jobs/815 pkg:pypi/urllib3@2.5.0",
		"covers job:circleci:acme/api/jobs/812", "covers job:circleci:acme/api/jobs/814",
		"NPM_TOKEN part=context%20publish store=circleci:acme ", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL store=circleci:acme/api ",
	} {
		if !strings.Contains(dump, want) {
			t.Errorf("no %q in\n%s", want, dump)
		}
	}
	for _, not := range []string{"late-", "early", "covers job:circleci:acme/web/jobs/815"} {
		if strings.Contains(dump, not) {
			t.Errorf("%q in\n%s", not, dump)
		}
	}
	if said := strings.Join(w.Said, "\n"); !strings.Contains(said, "1 jobs had not ended") || !strings.Contains(said, "1 contexts and projects") || !strings.Contains(said, "250 at most") {
		t.Errorf("said %q", said)
	}
	// Again, only lists are asked for, and what goes on.
	if stats, _, err = w.collect(token, "gh/acme"); err != nil || stats.Calls != 3+1+2+2+3+1+1 || stats.Downloads != 1 {
		t.Errorf("again: %v, %+v", err, stats)
	}
}

// TestFaults collects from a service at its worst: everything fails once, in
// turn in each of these ways, and comes whole in the end.
func TestFaults(t *testing.T) {
	w := newWorld(t, small())
	faults := []services.Fault{
		{Status: http.StatusBadGateway, Body: "<html>502</html>"},
		{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"7"}}},
		{Slow: true},
		{Cut: true},
		{Bare: true},
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
	stats, res, err := w.collect(token, "gh/acme")
	w.secrets()
	if err != nil || stats.Gaps != 0 || !res.Complete() {
		t.Errorf("%v: %+v, %+v", err, stats, res)
	}
	said := strings.Join(w.Said, "\n")
	for _, want := range []string{"HTTP 502", "HTTP 503: asking again in", "HTTP 429: waiting until", "unexpected EOF: asking again", "it is no whole JSON"} {
		if !strings.Contains(said, want) {
			t.Errorf("nobody was told %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "s3cr3t") {
		t.Errorf("a signature was told:\n%s", said)
	}
}

// TestRefused checks that each refusal is a gap of its own kind and subject, that
// one step whose output is missing leaves its job uncovered, and takes a project
// alone.
func TestRefused(t *testing.T) {
	b := small()
	jobs := b.Pipelines[1].Workflows[0].Jobs
	jobs[0].Steps[1].Gone = http.StatusGone
	jobs[1].Steps[1].Lost = true
	b.Pipelines[3].Workflows[1].Jobs[0].Gone = http.StatusForbidden
	w := newWorld(t, b)
	stats, _, err := w.collect(token, "gh/acme/api", "gh/acme/none")
	if err != nil || stats.Gaps != 4 {
		t.Errorf("%v, %+v: want two outputs, the steps of a job and a project not had", err, stats)
	}
	w.secrets()
	got := w.Reasons("/")
	for id, want := range map[string]string{"812": "expired", "813": "expired", "816": "denied"} {
		if got[id] != want {
			t.Errorf("job %s: got %q, want %s", id, got[id], want)
		}
	}
	dump := w.Dump()
	for _, not := range []string{"acme/web", "covers job:circleci:acme/api/jobs/812", "covers job:circleci:acme/api/jobs/813"} {
		if strings.Contains(dump, not) {
			t.Errorf("%q in\n%s", not, dump)
		}
	}
	if _, _, err := w.collect("wrong", "gh/acme"); !errors.Is(err, collect.ErrToken) {
		t.Errorf("wrong token: %v", err)
	}
}

// TestLater gets an output that was refused with the next collection, which has to ask
// for the job again: where its outputs are was not kept.
func TestLater(t *testing.T) {
	b := small()
	w := newWorld(t, b)
	w.b.Fault = func(host string, r *http.Request, _ int) services.Fault {
		if host == "store" && r.URL.Path == "/812/1" {
			return services.Fault{Status: http.StatusForbidden} // a signature that has run out
		}
		return services.Fault{}
	}
	if stats, _, err := w.collect(token, "gh/acme/api"); err != nil || stats.Gaps != 1 || w.Reasons("/")["812"] != "denied" {
		t.Fatalf("%v, %+v, %v", err, stats, w.Reasons("/"))
	}
	w.b.Fault = nil
	w.secrets()
	stats, res, err := w.collect(token, "gh/acme/api")
	if err != nil || stats.Gaps != 0 || !res.Complete() {
		t.Errorf("%v, %+v, %+v", err, stats, res)
	}
	again := 0
	for _, seen := range w.b.Requests() {
		if strings.HasPrefix(seen.URL, "/api/v1.1/") || seen.Host == "store" {
			again++
		}
	}
	if again != 2 || !strings.Contains(w.Dump(), "covers job:circleci:acme/api/jobs/812") {
		t.Errorf("%d requests for jobs, want 2\n%s", again, w.Dump())
	}
}

// TestLost has a job whose machine was lost, and with it what it printed last.
func TestLost(t *testing.T) {
	b := small()
	b.Pipelines[1].Workflows[0].Jobs[0].Status = "infrastructure_fail"
	w := newWorld(t, b)
	if stats, _, err := w.collect(token, "gh/acme/api"); err != nil || stats.Gaps != 0 {
		t.Errorf("%v, %+v", err, stats)
	}
	if dump := w.Dump(); strings.Contains(dump, "covers job:circleci:acme/api/jobs/812") || !strings.Contains(dump, "install job:circleci:acme/api/jobs/812") {
		t.Errorf("the job is covered, or not read:\n%s", dump)
	}
}

// TestNothingPrinted has a job whose record has no output: that is no evidence that
// it did nothing.
func TestNothingPrinted(t *testing.T) {
	b := small()
	b.Pipelines[1].Workflows[0].Jobs[0].Steps = nil
	w := newWorld(t, b)
	if stats, _, err := w.collect(token, "gh/acme/api"); err != nil || stats.Gaps != 1 || w.Reasons("/")["812"] != "expired" {
		t.Errorf("%v, %+v, %v", err, stats, w.Reasons("/"))
	}
	if dump := w.Dump(); strings.Contains(dump, "covers job:circleci:acme/api/jobs/812") {
		t.Errorf("the job is covered:\n%s", dump)
	}
}

// TestTruncated has a step whose output CircleCI cut short: the job is not
// covered, though everything was had.
func TestTruncated(t *testing.T) {
	b := small()
	b.Pipelines[1].Workflows[0].Jobs[0].Steps[1].Truncated = true
	w := newWorld(t, b)
	if stats, res, err := w.collect(token, "gh/acme/api"); err != nil || stats.Gaps != 0 || res.Complete() {
		t.Errorf("%v, %+v: it is complete", err, stats)
	}
	if dump := w.Dump(); strings.Contains(dump, "covers job:circleci:acme/api/jobs/812") {
		t.Errorf("the job is covered:\n%s", dump)
	}
}

func TestParse(t *testing.T) {
	for word, ok := range map[string]bool{
		"gh/acme": true, "gh/acme/api": true, "circleci/8c0f2a1e/91d2b7aa": true, "acme": false, "acme/api": false, "": false, "gh/acme/../x": false,
		"gh/acme/": false, "gh/..": false, "gh/acme?x": false, "gh/a/b/c": false,
	} {
		if err := new(Options).Parse(word); (err == nil) != ok {
			t.Errorf("%q: %v", word, err)
		}
	}
}
