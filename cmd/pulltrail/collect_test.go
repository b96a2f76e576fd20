package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pulltrail/ingest/collect"
	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

// servicesToken is the one that the stand-ins know.
const servicesToken = "ghp_EXAMPLEexampleEXAMPLEexample0123456"

// servicesWorkflow is the workflow of their repositories.
const servicesWorkflow = `on: push
jobs:
  build:
    runs-on: ubuntu-24.04
    steps:
      - run: twine upload dist/*
        env: {TWINE_PASSWORD: "${{ secrets.PYPI_TOKEN }}"}
  test:
    runs-on: ubuntu-24.04
    strategy: {matrix: {python: ["3.11"]}}
    steps: [{run: pytest, env: {KEY: "${{ secrets.TEST_KEY }}"}}]
  nightly: {runs-on: ubuntu-24.04, steps: []}
  plan: {runs-on: ubuntu-24.04, steps: []}
`

// startGitHub starts a stand-in for GitHub and puts its address into $API and a token
// into $GITHUB_ENTERPRISE_TOKEN, until the story ends.
func startGitHub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: github")
	}
	at := time.Date(2026, 10, 21, 12, 0, 0, 0, time.UTC)
	run := func(id int64, start time.Time, attempts ...*services.Attempt) *services.Run {
		return &services.Run{ID: id, Created: start, Updated: start.Add(10 * time.Minute), Path: ".github/workflows/ci.yml", SHA: "5f2c0e7d3f5b6a19c3a9a6d2e88e70b4a6c1d9f0", Attempts: attempts}
	}
	job := func(id int64, name string, start time.Time, lines ...string) *services.Job {
		return &services.Job{ID: id, Name: name, Started: start, Seconds: 300, Lines: lines}
	}
	g := &services.GitHub{Org: "acme", Token: servicesToken, Limit: 5000, Repos: []*services.Repo{
		{Name: "acme/api", Files: func(string, string) string { return servicesWorkflow }, Runs: []*services.Run{
			run(812, at, &services.Attempt{Jobs: []*services.Job{
				job(1, "build", at, "Successfully installed litellm-1.107.0"), job(2, "test (3.11)", at, "Successfully installed idna-3.10"),
			}}),
			run(813, at.Add(time.Hour), &services.Attempt{Gone: http.StatusGone, Jobs: []*services.Job{job(3, "nightly", at.Add(time.Hour))}}),
		}},
		{Name: "acme/secret-plans", Files: func(string, string) string { return servicesWorkflow }, Runs: []*services.Run{
			run(900, at, &services.Attempt{Gone: http.StatusForbidden, Jobs: []*services.Job{job(4, "plan", at)}}),
		}},
		{Name: "acme/hidden", Gone: http.StatusForbidden},
	}}
	g.Start()
	ts.Defer(g.Close)
	ts.Defer(func() { tokenStays(ts, g) })
	ts.Setenv("API", g.API.URL)
	ts.Setenv("GH_ENTERPRISE_TOKEN", servicesToken)
}

// tokenStays checks what every host saw.
func tokenStays(ts *testscript.TestScript, g *services.GitHub) {
	for _, seen := range g.Requests() {
		for name, values := range seen.Header {
			if seen.Host != "api" && strings.Contains(strings.Join(values, " "), servicesToken) {
				ts.Fatalf("%s saw the token in %s", seen.Host, name)
			}
		}
		if strings.Contains(seen.URL, servicesToken) {
			ts.Fatalf("the token stands in %s", seen.URL)
		}
	}
}

// TestWindow checks which window the flags mean, and that a collection goes on
// where the last one ended.
func TestWindow(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	last := func(state timeline.CollectionState) *timeline.Collection {
		span, err := timeline.ParseSpan("2026-11-02T10:00:00Z/2026-11-02T11:00:00Z")
		if err != nil {
			t.Fatal(err)
		}
		return &timeline.Collection{Span: span, State: state}
	}
	unreached := last(timeline.CollectionPartial)
	unreached.Unreached = true
	for _, c := range []struct {
		flags collecting
		last  *timeline.Collection
		want  string // "" for a usage error
	}{
		{collecting{from: "2026-10-21", to: "2026-10-21"}, nil, "2026-10-21T00:00:00Z/2026-10-21T23:59:59Z"},
		{collecting{from: "2026-10-21T11:39:00+02:00"}, nil, "2026-10-21T09:39:00Z/2026-11-02T12:00:00Z"},
		{collecting{incident: "litellm-1.107.0"}, nil, "2026-10-21T11:39:00Z/2026-10-21T14:20:59.999999999Z"},
		{collecting{sinceLast: true}, nil, "2026-11-01T12:00:00Z/2026-11-02T12:00:00Z"},
		{collecting{sinceLast: true, from: "2026-10-21"}, nil, "2026-10-21T00:00:00Z/2026-11-02T12:00:00Z"},
		{collecting{sinceLast: true}, last(timeline.CollectionDone), "2026-11-02T10:50:00Z/2026-11-02T12:00:00Z"},
		{collecting{sinceLast: true}, last(timeline.CollectionPartial), "2026-11-02T10:50:00Z/2026-11-02T12:00:00Z"},
		{collecting{sinceLast: true}, last(timeline.CollectionOpen), "2026-11-02T10:00:00Z/2026-11-02T11:00:00Z"},
		{collecting{sinceLast: true}, unreached, "2026-11-02T10:00:00Z/2026-11-02T11:00:00Z"},
		{collecting{from: "2026-11-02T10:00:00Z"}, last(timeline.CollectionOpen), "2026-11-02T10:00:00Z/2026-11-02T11:00:00Z"},
		{collecting{now: true}, last(timeline.CollectionDone), "2026-11-02T12:00:00Z"},
		{collecting{now: true}, last(timeline.CollectionOpen), "2026-11-02T10:00:00Z/2026-11-02T11:00:00Z"},
		{collecting{}, nil, ""},
		{collecting{from: "yesterday"}, nil, ""},
		{collecting{from: "2026-10-22", to: "2026-10-21"}, nil, ""},
		{collecting{from: "2026-10-21", incident: "litellm-1.107.0"}, nil, ""},
		{collecting{sinceLast: true, to: "2026-10-21"}, nil, ""},
		{collecting{incident: "no-such-thing"}, nil, ""},
	} {
		span, err := (&app{}).window(&c.flags, c.last, now)
		switch {
		case c.want == "" && !errors.Is(err, errUsage):
			t.Errorf("%+v: got %s, %v, want a usage error", c.flags, span, err)
		case c.want != "" && (err != nil || span.String() != c.want):
			t.Errorf("%+v: got %s, %v, want %s", c.flags, span, err, c.want)
		}
	}
}

// TestUnreached tells a service that answered nothing from one that refused
// something.
func TestUnreached(t *testing.T) {
	for _, c := range []struct {
		stats collect.Stats
		want  bool
	}{
		{collect.Stats{}, false},
		{collect.Stats{Replies: map[timeline.Reply]int{timeline.Failed: 1}}, true},
		{collect.Stats{Replies: map[timeline.Reply]int{timeline.Failed: 1}, Known: 1}, false},
		{collect.Stats{Replies: map[timeline.Reply]int{timeline.Failed: 2, timeline.Denied: 1}}, false},
		{collect.Stats{Replies: map[timeline.Reply]int{timeline.Failed: 2, timeline.Obtained: 1}}, false},
		{collect.Stats{Replies: map[timeline.Reply]int{timeline.Absent: 1}}, false},
	} {
		if got := unreached(c.stats); got != c.want {
			t.Errorf("%+v: got %t", c.stats, got)
		}
	}
}
