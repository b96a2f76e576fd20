package github

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"pulltrail/ingest/collect"
	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

// TestFaults collects from a service at its worst: everything fails once, in
// turn in each of these ways, and comes whole in the end.
func TestFaults(t *testing.T) {
	w := newWorld(t, small())
	faults := []services.Fault{
		{Status: http.StatusBadGateway, Body: "<html>502</html>"},
		{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"7"}}},
		{Status: http.StatusForbidden, Header: http.Header{"Retry-After": {"30"}}, Body: `{"message":"You have exceeded a secondary rate limit."}`},
		{Status: http.StatusForbidden, Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`},
		{Bare: true},
		{Cut: true},
		{Slow: true},
		{Status: http.StatusServiceUnavailable},
	}
	k := 0
	w.gh.Fault = func(host string, _ *http.Request, n int) services.Fault {
		if n > 1 || host == "store" && faults[k%len(faults)].Status == http.StatusForbidden {
			return services.Fault{}
		}
		k++
		return faults[k%len(faults)]
	}
	before := w.now
	stats, res := w.collect()
	w.secrets()
	if stats.Gaps != 0 || !res.Complete() || len(res.Files) != 13 {
		t.Errorf("not complete: %+v, %+v", stats, res)
	}
	said := strings.Join(w.said, "\n")
	for _, want := range []string{"HTTP 502", "HTTP 503: asking again in", "HTTP 429: waiting until", "secondary rate limit.: waiting until", "unexpected EOF: asking again", "it is no whole JSON"} {
		if !strings.Contains(said, want) {
			t.Errorf("nobody was told %q:\n%s", want, said)
		}
	}
	if waited := w.now.Sub(before); waited < time.Minute || waited > time.Hour {
		t.Errorf("it waited %s", waited)
	}
}

// TestDown checks that a service that stays down is a gap, and the rest is had.
func TestDown(t *testing.T) {
	w := newWorld(t, small())
	w.gh.Fault = func(host string, r *http.Request, _ int) services.Fault {
		switch {
		case strings.HasSuffix(r.URL.Path, "/runs/812/attempts/1/logs") && host == "store":
			return services.Fault{Bare: true} // and nothing says that it is half
		case strings.HasSuffix(r.URL.Path, "/jobs/2/logs"):
			return services.Fault{Status: http.StatusInternalServerError}
		}
		return services.Fault{}
	}
	stats, _ := w.collect()
	if stats.Gaps != 1 {
		t.Errorf("%d gaps, want that of one job: %+v", stats.Gaps, stats)
	}
	all, err := w.db.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Gap && (r.Claim != "job:github:acme/api/runs/812/attempts/1/jobs/test (3.11)" || r.Reply != timeline.Failed || r.Detail != "HTTP 500, 5 times") {
			t.Errorf("gap: %+v", r)
		}
	}
	// When it is up again, the same command gets what is missing and no more.
	w.gh.Fault = nil
	w.gh.Forget()
	if stats, _ = w.collect(); stats.Gaps != 0 {
		t.Errorf("still %+v", stats)
	}
	if api, _ := w.calls(); api != 6+1 {
		t.Errorf("%d calls, want the lists and the archive", api)
	}
}

// TestLimit checks that a limit is never run against: the wait comes before the
// call that would be refused, and is seen.
func TestLimit(t *testing.T) {
	gh := small()
	gh.Limit = 3
	w := newWorld(t, gh)
	stats, _ := w.collect()
	if stats.Gaps != 0 || stats.Calls != 15 || stats.Left != 1 || stats.Limit != 3 {
		t.Errorf("got %+v, want 15 calls and 1 of 3 left", stats)
	}
	if len(w.said) != 4 || !strings.Contains(w.said[0], "0 of 3 calls left: waiting until 15:20:00 UTC") {
		t.Errorf("said %q", w.said)
	}
}

// TestToken checks where a token may come from, and where it may go.
func TestToken(t *testing.T) {
	file := t.TempDir() + "/token"
	if err := os.WriteFile(file, []byte("abc\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Tokens(API, file).Find(t.Context()); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read: %v", err)
	}
	t.Setenv("GITHUB_TOKEN", "from-the-environment")
	got, err := Tokens(API, "").Find(t.Context())
	if err != nil || got.From != "$GITHUB_TOKEN" || strings.Contains(got.String()+got.GoString(), "from-the-environment") {
		t.Errorf("got %v, %v", got, err)
	}
	for _, base := range []string{"http://github.acme.example", "https://user:pw@github.acme.example", "ftp://github.acme.example", "https:///x", "https://a.example/?token=x"} {
		if _, err := collect.Begin(nil, collect.Options{Base: base}); err == nil {
			t.Errorf("%s was taken", base)
		}
	}
}

// TestRedirects checks that a service cannot send the token, or us, elsewhere.
func TestRedirects(t *testing.T) {
	for to, want := range map[string]string{
		"http://logs.acme.example/x": "which is not https: not followed",
		"":                           "sent no address",
	} {
		w := newWorld(t, small())
		w.gh.Fault = func(host string, r *http.Request, _ int) services.Fault {
			switch {
			case host == "api" && strings.HasSuffix(r.URL.Path, "/runs/700/attempts/1/logs"):
				return services.Fault{Status: http.StatusFound, Header: http.Header{"Location": {to}}}
			case host == "api" && strings.Contains(r.URL.Path, "acme/empty"):
				return services.Fault{Status: http.StatusMovedPermanently, Header: http.Header{"Location": {w.gh.Store.URL}}}
			}
			return services.Fault{}
		}
		w.gh.Repos[0].Runs[1].Attempts[0].Jobs[0].Gone = http.StatusGone
		stats, _ := w.collect()
		w.secrets()
		all, err := w.db.Ledger()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range all {
			if r.Reply != timeline.Obtained && r.Kind != "audit" && r.Kind != "packages" {
				got += strconv.Itoa(r.Status) + " " + r.Detail + "\n"
			}
		}
		if stats.Gaps != 2 || !strings.Contains(got, want) || !strings.Contains(got, "it has moved, and the token does not follow") {
			t.Errorf("%q: %d gaps: %s", to, stats.Gaps, got)
		}
		if api, store := w.calls(); store != 3 || api < 10 {
			t.Errorf("%q: %d calls, %d downloads", to, api, store)
		}
	}
}
