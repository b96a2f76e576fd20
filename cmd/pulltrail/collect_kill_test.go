package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

// killer is a service that kills the program that speaks with it.
type killer struct {
	*services.GitHub
	mu    sync.Mutex
	left  int // requests until then
	who   *os.Process
	with  os.Signal
	kills int
}

// newKiller has an organisation with so many runs.
func newKiller(t *testing.T, runs int) *killer {
	k := &killer{with: os.Kill, GitHub: &services.GitHub{Org: "acme", Token: servicesToken}}
	repo := &services.Repo{Name: "acme/api"}
	for i := range int64(runs) {
		at := time.Date(2026, 10, 21, 12, 0, int(i), 0, time.UTC)
		repo.Runs = append(repo.Runs, &services.Run{ID: i + 1, Created: at, Updated: at.Add(time.Minute), Attempts: []*services.Attempt{
			{Jobs: []*services.Job{{ID: 1000 + i, Name: "build", Started: at, Seconds: 50, Lines: []string{"Successfully installed idna-3.10"}}}},
		}})
	}
	k.Repos = []*services.Repo{repo}
	k.Fault = func(string, *http.Request, int) services.Fault {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.left--; k.left == 0 && k.who != nil {
			_ = k.who.Signal(k.with) // it may have ended
			k.kills++
		}
		return services.Fault{}
	}
	k.Start()
	t.Cleanup(k.Close)
	return k
}

// run collects into a case, and kills the program with the n-th request.
func (k *killer) run(t *testing.T, home string, n int, parallel string) (code int, out string) {
	t.Helper()
	c := exec.Command("pulltrail", "collect", "github", "acme", "--api", k.API.URL, "--incident", "litellm-1.107.0", "--case", home, "--parallel", parallel)
	c.Env = append(os.Environ(), "GH_ENTERPRISE_TOKEN="+servicesToken)
	var text strings.Builder
	c.Stdout, c.Stderr = &text, &text
	k.mu.Lock()
	err := c.Start()
	k.left, k.who = n, c.Process
	k.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the code says it
	return c.ProcessState.ExitCode(), text.String()
}

// TestKilledCollection kills a collection again and again, each time a few
// requests later: it goes on where it stopped, and asks for nothing again but
// for what was on its way.
func TestKilledCollection(t *testing.T) {
	runs, kills := 12, 8
	if os.Getenv("PULLTRAIL_SOAK") != "" {
		runs, kills = 60, 50
	}
	for _, parallel := range []string{"1", "4"} {
		k := newKiller(t, runs)
		home := filepath.Join(t.TempDir(), "case")
		for i := range kills {
			if code, out := k.run(t, home, 2+i%3, parallel); code != -1 {
				t.Fatalf("kill %d: it ended %d: %s", i, code, out)
			}
		}
		code, out := k.run(t, home, -1, parallel)
		if code != exitOK {
			t.Fatalf("it ends %d: %s", code, out)
		}
		asked := map[string]int{}
		for _, seen := range k.Requests() {
			address, _, _ := strings.Cut(seen.URL, "?se=")
			asked[seen.Host+" "+address]++
		}
		repeated, api := 0, 0
		for address, n := range asked {
			repeated += n - 1
			if strings.HasPrefix(address, "api") {
				api++
			}
		}
		// With one request at once, a kill has one on its way: a log is two, the
		// call and the address that it leads to.
		most := map[string]int{"1": 2, "4": 8}[parallel] * k.kills
		t.Logf("parallel %s: killed %d times, %d calls, %d requests repeated", parallel, k.kills, api, repeated)
		if want := 5 + 2*runs; api != want || repeated > most {
			t.Errorf("parallel %s: %d calls, want %d; %d requests were made again after %d kills", parallel, api, want, repeated, k.kills)
		}
		k.whole(t, home, runs)
	}
}

// TestInterruptedCollection interrupts a collection: it ends in good order, the
// case says that it is not complete, and the same command goes on.
func TestInterruptedCollection(t *testing.T) {
	k := newKiller(t, 6)
	k.with = os.Interrupt
	home := filepath.Join(t.TempDir(), "case")
	if code, out := k.run(t, home, 9, "1"); code != exitInterrupted || !strings.Contains(out, "the same command again goes on where it stopped") {
		t.Errorf("it ends %d: %s", code, out)
	}
	out, _ := exec.Command("pulltrail", "coverage", "litellm-1.107.0", "--case", home).CombinedOutput() // the exit code is 3
	if text := string(out); !strings.Contains(text, "interrupted: a collection did not come to its end") || !strings.Contains(text, "pulltrail collect github acme") {
		t.Errorf("coverage says %s", text)
	}
	k.with = os.Kill
	if code, out := k.run(t, home, -1, "1"); code != exitOK {
		t.Errorf("it ends %d: %s", code, out)
	}
	k.whole(t, home, 6)
}

// whole checks that nothing is missing and everything holds.
func (k *killer) whole(t *testing.T, home string, runs int) {
	t.Helper()
	db, err := timeline.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	v, err := db.Verify(t.Context())
	if err != nil || v.Worst() != timeline.Good || len(v.Sources) != 1+2*runs {
		t.Errorf("verify: %s, %v, %d sources, want %d", v.Worst(), err, len(v.Sources), 1+2*runs)
	}
	all, err := db.Collections()
	if err != nil || len(all) != 1 || all[0].State != timeline.CollectionDone {
		t.Errorf("collections: %+v, %v", all, err)
	}
}
