package jenkins

import (
	"context"
	"encoding/base64"
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
	"pulltrail/timeline"
)

const token = "mia:11EXAMPLEexample0123"

// The window that is collected.
var begin, end = collecting.Begin, collecting.End

// world is a stand-in with a case beside it.
type world struct {
	*collecting.World
	b *services.Jenkins
}

func newWorld(t *testing.T, b *services.Jenkins) *world {
	t.Helper()
	b.Token = token
	b.Start()
	t.Cleanup(b.Close)
	return &world{collecting.New(t), b}
}

// session begins a collection.
func (w *world) session(with string, opt Options) *collect.Session {
	w.T.Helper()
	api := w.b.API.URL + "/jenkins"
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
	return w.Secrets(w.b.Requests(), token, base64.StdEncoding.EncodeToString([]byte(token)))
}

func ran(number int64, at time.Time, lines ...string) *services.JenkinsBuild {
	lines = append(append([]string{"Started by timer", "Running on agent-7 in /var/lib/jenkins/workspace/x"}, lines...), "Finished: SUCCESS")
	return &services.JenkinsBuild{Number: number, Begun: at, Lasted: time.Minute, Lines: lines}
}

// small has a build of each kind.
func small() *services.Jenkins {
	in := begin.Add(time.Hour)
	long := ran(40, begin.Add(-3*24*time.Hour), "Successfully installed idna-3.10") // it began before the window
	long.Lasted = in.Sub(long.Begun)
	untimed := ran(41, in, "Successfully installed certifi-2026.1.1")
	untimed.Untimed = true
	running := ran(1, in, "Successfully installed urllib3-2.5.0")
	running.Lasted, running.Lines = 0, running.Lines[:3]
	return &services.Jenkins{Root: services.JenkinsItem{Credentials: []string{"pypi-token"}, Items: []*services.JenkinsItem{
		{Name: "team", Credentials: []string{"nexus"}, Items: []*services.JenkinsItem{
			{Name: "api", Next: 44, Builds: []*services.JenkinsBuild{
				ran(43, end.Add(time.Hour), "Successfully installed late-1.0"),
				ran(42, in, "Collecting litellm", "Successfully installed litellm-1.107.0"),
				untimed, long,
				ran(39, begin.Add(-9*24*time.Hour), "Successfully installed early-1.0"),
			}},
			{Name: "web", Items: []*services.JenkinsItem{ // a multibranch project
				{Name: "feature%2Flogin", Next: 2, Builds: []*services.JenkinsBuild{running}},
				{Name: "old", Next: 8, Builds: []*services.JenkinsBuild{ran(7, begin.Add(-90*24*time.Hour), "Successfully installed early-1.0")}},
				{Name: "never", Next: 1},
			}},
		}},
		{Name: "matrix", Next: 2, Builds: []*services.JenkinsBuild{ran(1, in)}, Configurations: []*services.JenkinsItem{
			{Name: "PY=3.13", Next: 2, Builds: []*services.JenkinsBuild{ran(1, in, "Successfully installed six-1.17.0")}},
		}},
	}}}
}

func TestCollect(t *testing.T) {
	w := newWorld(t, small())
	stats, res, err := w.collect(token)
	if err != nil || stats.Gaps != 0 {
		t.Fatalf("%v, %+v, %+v", err, stats, res)
	}
	// Jobs; credentials of the controller and of two folders; builds of four jobs; six
	// logs, one of them a second time, for it has no times.
	if api, _ := w.secrets(); api != 1+3+4+6+1 {
		t.Errorf("%d calls, want 15", api)
	}
	dump := w.Dump()
	host := strings.TrimPrefix(w.b.API.URL, "http://") + "/jenkins"
	for _, want := range []string{
		"event 2026-10-21T12:39:03Z install job:jenkins:" + host + "/team/api/42 pkg:pypi/litellm@1.107.0", "install job:jenkins:" + host + "/team/api/40 pkg:pypi/idna@3.10",
		"event 2026-10-21T12:39:00Z/2026-10-21T12:40:00.000999999Z install job:jenkins:" + host + "/team/api/41 pkg:pypi/certifi@2026.1.1",
		"install job:jenkins:" + host + "/team/web/feature%2Flogin/1 pkg:pypi/urllib3@2.5.0", "install job:jenkins:" + host + "/matrix/PY=3.13/1 pkg:pypi/six@1.17.0",
		"covers job:jenkins:" + host + "/team/api/42", "covers job:jenkins:" + host + "/team/api/41", "on job:jenkins:" + host + "/team/api/42 host:agent-7",
		"pypi-token store=jenkins:" + host + " ", "nexus store=jenkins:" + host + "/team ",
	} {
		if !strings.Contains(dump, want) {
			t.Errorf("no %q in\n%s", want, dump)
		}
	}
	for _, not := range []string{"late-", "early", "covers job:jenkins:" + host + "/team/web"} {
		if strings.Contains(dump, not) {
			t.Errorf("%q in\n%s", not, dump)
		}
	}
	if said := strings.Join(w.Said, "\n"); !strings.Contains(said, "1 builds had not ended") || !strings.Contains(said, "1 stores do not tell") {
		t.Errorf("said %q", said)
	}
	// Again, only lists are asked for, and what goes on.
	if stats, _, err = w.collect(token); err != nil || stats.Calls != 1+3+4+1 {
		t.Errorf("again: %v, %+v", err, stats)
	}
}

// TestEndedLater collects a build that goes on, and again when it has ended: the
// whole log stands for what there was of it.
func TestEndedLater(t *testing.T) {
	b := small()
	w := newWorld(t, b)
	if _, res, err := w.collect(token, "team/web"); err != nil || res.Complete() {
		t.Errorf("%v: it is complete", err)
	}
	run := b.Root.Items[0].Items[1].Items[0].Builds[0]
	run.Lasted, run.Lines = time.Hour, append(run.Lines, "Finished: SUCCESS")
	if _, res, err := w.collect(token, "team/web"); err != nil || !res.Complete() {
		t.Errorf("%v, %+v", err, res)
	}
	dump := w.Dump()
	if strings.Contains(dump, " partial ") || strings.Count(dump, "install job:") != 1 || !strings.Contains(dump, "/team/web/feature%2Flogin/1 * ") {
		t.Errorf("the case holds\n%s", dump)
	}
	if v, err := w.DB.Verify(context.Background()); err != nil || v.Worst() != timeline.Good {
		t.Errorf("verify: %v, %+v", err, v)
	}
}

// TestUntimed collects from a controller without the Timestamper plugin, which is
// asked for once.
func TestUntimed(t *testing.T) {
	b := small()
	b.Untimed = true
	w := newWorld(t, b)
	if _, _, err := w.collect(token); err != nil {
		t.Fatal(err)
	}
	if api, _ := w.secrets(); api != 1+3+4+6+1 {
		t.Errorf("%d calls, want 15", api)
	}
}

// TestDeleted has builds whose numbers are missing: those that may have been at
// work in the window are known, and no log that was had before is lost to it.
func TestDeleted(t *testing.T) {
	b := small()
	api := b.Root.Items[0].Items[0]
	w := newWorld(t, b)
	if _, _, err := w.collect(token, "team/api"); err != nil {
		t.Fatal(err)
	}
	w.secrets()
	api.Builds = []*services.JenkinsBuild{api.Builds[0], api.Builds[2]} // 43, 41
	gone := &services.JenkinsItem{Name: "gone", Next: 3}
	b.Root.Items = append(b.Root.Items, gone)
	stats, _, err := w.collect(token, "team/api", "gone")
	got := w.Reasons("/jenkins/")
	// Two had been collected, and those before the older one began before it did.
	if err != nil || stats.Gaps != 2 || got["gone/1"] != "expired" || got["gone/2"] != "expired" || len(got) != 2 {
		t.Errorf("%v, %+v, %v", err, stats, got)
	}
	if got["team/api/42"] != "" || got["team/api/40"] != "" || !strings.Contains(w.Dump(), "team/api/42 pkg:pypi/litellm@1.107.0") {
		t.Errorf("what was collected before counts as deleted: %v", got)
	}
	api.Next, api.Builds = 400, nil
	stats, _, err = w.collect(token, "team/api")
	ledger, _ := w.DB.Ledger()
	if text := fmt.Sprint(ledger); err != nil || !strings.Contains(text, "builds 1 to 299 of team/api are not in the list: they were deleted") {
		t.Errorf("%v, %+v: %s", err, stats, text)
	}
}

// TestRotated has a job that keeps few builds: what was had before they were
// deleted tells how old those are that came before.
func TestRotated(t *testing.T) {
	job := &services.JenkinsItem{Name: "busy"}
	w := newWorld(t, &services.Jenkins{Root: services.JenkinsItem{Items: []*services.JenkinsItem{job}}})
	for k := range int64(500) {
		job.Builds = append([]*services.JenkinsBuild{ran(k+1, begin.Add(time.Duration(k-400)*time.Hour))}, job.Builds...)
	}
	job.Next = 501
	w.From = begin.Add(-30 * time.Hour)
	if stats, _, err := w.collect(token); err != nil || stats.Gaps != 0 {
		t.Fatalf("%v, %+v", err, stats)
	}
	w.From, job.Builds = begin, job.Builds[:99] // the first is of the window's second hour
	if stats, _, err := w.collect(token); err != nil || stats.Gaps != 0 {
		t.Errorf("%v, %+v", err, stats)
	}
	other := newWorld(t, w.b)
	if stats, _, err := other.collect(token); err != nil || stats.Gaps != 101 || other.Reasons("/jenkins/")["busy/401"] != "expired" {
		t.Errorf("%v, %+v: want 100 builds by name, and one gap of the rest", err, stats)
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
	stats, _, err := w.collect(token)
	w.secrets()
	if err != nil || stats.Gaps != 0 || !strings.Contains(w.Dump(), "covers job:jenkins:"+strings.TrimPrefix(w.b.API.URL, "http://")+"/jenkins/team/api/42") {
		t.Errorf("%v: %+v", err, stats)
	}
	said := strings.Join(w.Said, "\n")
	for _, want := range []string{"HTTP 502", "HTTP 503: asking again in", "HTTP 429: waiting until", "unexpected EOF: asking again"} {
		if !strings.Contains(said, want) {
			t.Errorf("nobody was told %q:\n%s", want, said)
		}
	}
}

// TestRefused checks that each refusal is a gap of its own kind and subject, that
// a log without its end is no whole one, and that a redirect gets no login.
func TestRefused(t *testing.T) {
	b := small()
	builds := b.Root.Items[0].Items[0].Builds
	builds[1].Gone, builds[2].Gone = http.StatusForbidden, http.StatusNotFound
	builds[3].Lines = builds[3].Lines[:3]
	b.Root.Items[0].Items[1].Gone = http.StatusNotFound
	w := newWorld(t, b)
	w.b.Fault = func(_ string, r *http.Request, _ int) services.Fault {
		if strings.Contains(r.URL.Path, "/job/matrix/") {
			return services.Fault{Status: http.StatusFound, Header: http.Header{"Location": {w.b.Store.URL}}}
		}
		return services.Fault{}
	}
	stats, res, err := w.collect(token, "team/api", "team/web", "matrix", "none")
	if err != nil || stats.Gaps != 5 || res.Complete() {
		t.Errorf("%v, %+v: want two logs, two folders and a job not had", err, stats)
	}
	if _, store := w.secrets(); store != 0 {
		t.Errorf("a redirect was followed")
	}
	got := w.Reasons("/jenkins/")
	for name, want := range map[string]string{"team/api/42": "denied", "team/api/41": "absent"} {
		if got[name] != want {
			t.Errorf("build %s: got %q, want %s", name, got[name], want)
		}
	}
	if dump := w.Dump(); strings.Contains(dump, "covers job:jenkins:") {
		t.Errorf("a build is covered:\n%s", dump)
	}
	if _, _, err := w.collect("mia:wrong"); !errors.Is(err, collect.ErrToken) {
		t.Errorf("wrong login: %v", err)
	}
}

// TestMany goes through the pages of a list, and no further than it has to.
func TestMany(t *testing.T) {
	job := &services.JenkinsItem{Name: "busy", Next: 1001}
	for k := range int64(1000) {
		at := end.Add(-time.Duration(k) * time.Hour)
		job.Builds = append(job.Builds, ran(1000-k, at))
	}
	w := newWorld(t, &services.Jenkins{Root: services.JenkinsItem{Items: []*services.JenkinsItem{job}}})
	opt := Options{}
	plan, err := DryRun(context.Background(), w.session(token, opt), opt)
	if err != nil || plan.Jobs != 1 || plan.Builds != 3 || plan.Calls != 3+1 {
		t.Errorf("%v, %+v", err, plan)
	}
	if api, _ := w.secrets(); api != 1+2 { // a week, and the hours of the window
		t.Errorf("%d calls, want 3", api)
	}
}

// TestDeepFolders asks once more for what lies deeper than one call looks.
func TestDeepFolders(t *testing.T) {
	at := &services.JenkinsItem{Name: "job", Next: 2, Builds: []*services.JenkinsBuild{ran(1, begin, "Successfully installed idna-3.10")}}
	for range 6 {
		at = &services.JenkinsItem{Name: "f", Items: []*services.JenkinsItem{at}}
	}
	w := newWorld(t, &services.Jenkins{Root: services.JenkinsItem{Items: []*services.JenkinsItem{at}}})
	if _, _, err := w.collect(token); err != nil || !strings.Contains(w.Dump(), "/f/f/f/f/f/f/job/1 pkg:pypi/idna@3.10") {
		t.Errorf("%v\n%s", err, w.Dump())
	}
}

func TestParse(t *testing.T) {
	for word, ok := range map[string]bool{"team": true, "team/web/feature%2Flogin": true, "": false, "team/../x": false, "/team": false, "team?x": false, "team/": false, "..": false} {
		if err := new(Options).Parse(word); (err == nil) != ok {
			t.Errorf("%q: %v", word, err)
		}
	}
}
