package gitlab

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

const token = "glpat-EXAMPLEexample012345"

// The window that is collected.
var begin, end = collecting.Begin, collecting.End

// world is a stand-in with a case beside it.
type world struct {
	*collecting.World
	g *services.GitLab
}

func newWorld(t *testing.T, g *services.GitLab) *world {
	t.Helper()
	g.Token = token
	g.Start()
	t.Cleanup(g.Close)
	return &world{collecting.New(t), g}
}

// session begins a collection.
func (w *world) session(with string, opt Options) *collect.Session {
	w.T.Helper()
	api := w.g.API.URL + "/api/v4"
	return w.Session(Connect(api), opt.Target(api), with, func(file string) collect.Places { return Tokens(api, file) })
}

// collect does a collection and reads it.
func (w *world) collect(with string, words ...string) (collect.Stats, ingest.Result, error) {
	w.T.Helper()
	opt := Options{Words: words}
	s := w.session(with, opt)
	return w.Read(s, Collect(context.Background(), s, opt))
}

// secrets fails when a host saw what is not for it, or the case holds a value.
func (w *world) secrets() (api, store int) {
	w.T.Helper()
	return w.Secrets(w.g.Requests(), token)
}

// trace is what a job printed.
func trace(at time.Time, line string) string {
	var b strings.Builder
	for i, text := range []string{"Running with gitlab-runner 18.5.0 (bda84871)", "$ true", line, "Job succeeded"} {
		fmt.Fprintf(&b, "%s 00O %s\n", at.Add(time.Duration(i)*time.Second).Format("2006-01-02T15:04:05.000000Z"), text)
	}
	return b.String()
}

func ran(id int64, at time.Time, line string) *services.GitLabJob {
	return &services.GitLabJob{ID: id, Created: at, Started: at, Finished: at.Add(time.Minute), Trace: trace(at, line)}
}

// small is a group with a job of each kind.
func small() *services.GitLab {
	in := begin.Add(time.Hour)
	long := ran(91, begin.Add(-2*time.Hour), "Successfully installed idna-3.10") // it began before the window
	long.Finished = in
	stored := ran(93, in, "Successfully installed litellm-1.107.0")
	stored.Stored = true
	return &services.GitLab{Group: "acme", PerPage: 2, Projects: []*services.GitLabProject{
		{ID: 7, Path: "acme/api", Variables: []map[string]any{
			{"variable_type": "env_var", "key": "PYPI_TOKEN", "value": "s3cr3t-value", "protected": true, "masked": true, "environment_scope": "*", "description": "s3cr3t too"},
			{"variable_type": "env_var", "key": "LOG_LEVEL", "value": "debug", "protected": false, "masked": false, "environment_scope": "*"},
		}, Jobs: []*services.GitLabJob{
			ran(95, end.Add(time.Hour), "Successfully installed late-1.0"),
			{ID: 94, Created: in}, // it was never started
			stored,
			ran(92, in, "Successfully installed certifi-2026.1.1"),
			long,
			ran(90, begin.Add(-40*24*time.Hour), "Successfully installed early-1.0"),
			ran(89, begin.Add(-41*24*time.Hour), "Successfully installed early-1.0"),
			ran(88, begin.Add(-42*24*time.Hour), "Successfully installed early-1.0"),
		}},
		{ID: 8, Path: "acme/team/web"},
	}}
}

func TestCollect(t *testing.T) {
	g := small()
	g.Busy = 1
	w := newWorld(t, g)
	stats, res, err := w.collect(token, "acme")
	if err != nil || stats.Gaps != 0 || !res.Complete() {
		t.Fatalf("%v, %+v, %+v", err, stats, res)
	}
	// One that was answered with 429; projects and variables of the group; of the
	// first project three pages of jobs, and none after the one that is too old; a
	// page of jobs of the other; variables and images of both; three traces.
	if _, store := w.secrets(); stats.Calls != 1+2+3+1+4+3 || stats.Downloads != 1 || store != 1 {
		t.Errorf("%d calls, %d downloads, want 14 and 1", stats.Calls, stats.Downloads)
	}
	dump := w.Dump()
	for _, want := range []string{
		"install job:gitlab:acme/api/jobs/93 pkg:pypi/litellm@1.107.0", "install job:gitlab:acme/api/jobs/91 pkg:pypi/idna@3.10",
		"covers job:gitlab:acme/api/jobs/92", "PYPI_TOKEN store=gitlab:acme/api", "GROUP_TOKEN store=gitlab:acme ",
	} {
		if !strings.Contains(dump, want) {
			t.Errorf("no %q in\n%s", want, dump)
		}
	}
	for _, not := range []string{"late", "early", "LOG_LEVEL"} {
		if strings.Contains(dump, not) {
			t.Errorf("%q in\n%s", not, dump)
		}
	}
	// Again, only lists are asked for.
	stats, res, err = w.collect(token, "acme")
	if err != nil || stats.Calls != 2+3+1+4 || stats.Downloads != 0 || len(res.Files) != 0 {
		t.Errorf("again: %v, %+v, %d sources", err, stats, len(res.Files))
	}
}

// TestEmptyTrace has a trace that was erased: the service answers with nothing,
// which is no evidence that the job did nothing.
func TestEmptyTrace(t *testing.T) {
	g := small()
	g.Projects[0].Jobs[3].Trace = ""
	w := newWorld(t, g)
	if _, res, err := w.collect(token, "acme"); err != nil || res.Complete() {
		t.Errorf("%v: a trace without a line was read", err)
	}
	if dump := w.Dump(); strings.Contains(dump, "covers job:gitlab:acme/api/jobs/92") || !strings.Contains(dump, "subject job:gitlab:acme/api/jobs/92") {
		t.Errorf("the job is covered, or not known:\n%s", dump)
	}
}

// TestRefused checks that each refusal is a gap of its own kind and subject, and
// takes a project alone.
func TestRefused(t *testing.T) {
	g := small()
	jobs := g.Projects[0].Jobs
	jobs[2].Gone, jobs[3].Gone, jobs[4].Gone = http.StatusForbidden, http.StatusNotFound, http.StatusGone
	w := newWorld(t, g)
	stats, _, err := w.collect(token, "acme/api", "acme/none")
	if err != nil || stats.Gaps != 4 {
		t.Errorf("%v, %+v: want 3 traces and a project not had", err, stats)
	}
	w.secrets()
	all, err := w.DB.Expectations()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, x := range all {
		got[x.Subject.ID] = x.Reason
	}
	for id, want := range map[string]string{"93": "denied", "92": "absent", "91": "expired"} {
		if got["gitlab:acme/api/jobs/"+id] != want {
			t.Errorf("job %s: got %q, want %s", id, got["gitlab:acme/api/jobs/"+id], want)
		}
	}
	if _, _, err := w.collect("wrong", "acme"); !errors.Is(err, collect.ErrToken) {
		t.Errorf("wrong token: %v", err)
	}
}

func TestParse(t *testing.T) {
	for word, ok := range map[string]bool{"acme": true, "acme/team/web": true, "": false, "acme/../x": false, "/acme": false, "acme?x": false, "acme/": false, "..": false} {
		if err := new(Options).Parse(word); (err == nil) != ok {
			t.Errorf("%q: %v", word, err)
		}
	}
}
