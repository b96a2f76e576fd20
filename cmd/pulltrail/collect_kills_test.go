package main

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

// victim is a service whose collections are killed.
type victim struct {
	args, env []string
	requests  func() []services.Seen // since the last time

	mu   sync.Mutex
	left int // requests until it kills
	who  *os.Process
}

// before kills the program with the request that it was told to.
func (v *victim) before(string, *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.left--; v.left == 0 && v.who != nil {
		_ = v.who.Kill() // it may have ended
	}
}

func (v *victim) fault(host string, r *http.Request, _ int) services.Fault {
	v.before(host, r)
	return services.Fault{}
}

// run collects into a case, and kills the program with the n-th request.
func (v *victim) run(t *testing.T, home string, n int) (code int, out string) {
	t.Helper()
	c := exec.Command("pulltrail", append(slices.Clone(v.args), "--case", home, "--parallel", "1")...)
	c.Env = append(os.Environ(), v.env...)
	var text strings.Builder
	c.Stdout, c.Stderr = &text, &text
	v.mu.Lock()
	err := c.Start()
	v.left, v.who = n, c.Process
	v.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the code says it
	return c.ProcessState.ExitCode(), text.String()
}

// asked counts the requests for each address that came with the login, and those
// to stores.
func (v *victim) asked() map[string]int {
	asked := map[string]int{}
	for _, seen := range v.requests() {
		login := seen.Header.Get("Authorization") != "" || seen.Header.Get("Private-Token") != "" || seen.Header.Get("Circle-Token") != ""
		address, _, _ := strings.Cut(seen.URL, "X-Amz-Signature=")
		if seen.Host == "store" || seen.Host == "api" && login {
			asked[seen.Host+" "+address]++
		}
	}
	return asked
}

// victims are the services, each with so many jobs.
func victims(t *testing.T, n int) map[string]*victim {
	t.Helper()
	at := func(k int) time.Time { return noon.Add(time.Duration(k) * time.Second) }
	incident := []string{"--incident", "litellm-1.107.0"}
	all := map[string]*victim{}

	v := &victim{}
	gl := &services.GitLab{Group: "acme", Token: servicesToken, Before: v.before, Projects: []*services.GitLabProject{{ID: 7, Path: "acme/api", Variables: []map[string]any{}}}}
	for k := range n {
		trace := fmt.Sprintf("%[1]s 00O Running with gitlab-runner 18.5.0 (bda84871)\n%[1]s 00O $ echo made %[2]d\n%[1]s 00O Job succeeded\n", at(k).Format("2006-01-02T15:04:05.000000Z"), k)
		gl.Projects[0].Jobs = append(gl.Projects[0].Jobs, &services.GitLabJob{ID: int64(900 - k), Created: at(k), Started: at(k), Finished: at(k + 60), Stored: k%2 == 0, Trace: trace})
	}
	gl.Start()
	t.Cleanup(gl.Close)
	v.args, v.env, v.requests = append([]string{"collect", "gitlab", "acme", "--api", gl.API.URL + "/api/v4"}, incident...), []string{"GITLAB_TOKEN=" + servicesToken}, gl.Requests
	all["gitlab"] = v

	v = &victim{}
	reg := &services.Registry{Login: "robot:EXAMPLEexample", Before: v.before}
	for k := range n {
		reg.Image("acme/api", fmt.Sprint("1.", k), "pip install idna=="+fmt.Sprint(k))
	}
	reg.Start()
	t.Cleanup(reg.Close)
	v.args, v.env, v.requests = []string{"collect", "registry", reg.Host()}, []string{"REGISTRY_CREDENTIAL=" + reg.Login}, reg.Requests
	all["registry"] = v

	v = &victim{}
	bk := &services.Buildkite{Hosts: services.Hosts{Token: servicesToken, Fault: v.fault}, Org: "acme"}
	for k := range n {
		job := &services.BuildkiteJob{ID: fmt.Sprint("job-", k), Started: at(k), Finished: at(k + 60), Stored: k%2 == 0, Log: fmt.Sprintf("\x1b_bk;t=%d\x07~~~ Running commands\r\n", at(k).UnixMilli())}
		bk.Builds = append(bk.Builds, &services.BuildkiteBuild{Pipeline: "api", Number: 900 - k, Created: at(k), Finished: at(k + 60), Jobs: []*services.BuildkiteJob{job}})
	}
	bk.Start()
	t.Cleanup(bk.Close)
	v.args, v.env, v.requests = append([]string{"collect", "buildkite", "acme", "--api", bk.API.URL}, incident...), []string{"BUILDKITE_API_TOKEN=" + servicesToken}, bk.Requests
	all["buildkite"] = v

	v = &victim{}
	cc := &services.CircleCI{Hosts: services.Hosts{Token: servicesToken, Fault: v.fault}, Org: "gh/acme"}
	for k := range n {
		job := &services.CircleJob{Number: int64(900 - k), Started: at(k), Stopped: at(k + 60), Steps: []services.CircleStep{{Name: "a", Command: "make a", Lines: []string{"a"}}, {Name: "b", Command: "make b", Lines: []string{"b"}}}}
		cc.Pipelines = append(cc.Pipelines, &services.CirclePipeline{ID: fmt.Sprint("p", k), Project: "gh/acme/api", Created: at(k), Workflows: []*services.CircleWorkflow{
			{ID: fmt.Sprint("w", k), Created: at(k), Stopped: at(k + 60), Jobs: []*services.CircleJob{job}},
		}})
	}
	cc.Start()
	t.Cleanup(cc.Close)
	v.args, v.env, v.requests = append([]string{"collect", "circleci", "gh/acme", "--api", cc.API.URL + "/api"}, incident...), []string{"CIRCLE_TOKEN=" + servicesToken}, cc.Requests
	all["circleci"] = v

	v = &victim{}
	api := &services.JenkinsItem{Name: "api", Next: int64(n) + 1}
	for k := range n {
		api.Builds = append(api.Builds, &services.JenkinsBuild{
			Number: int64(n - k), Begun: at(n - k), Lasted: time.Minute, Untimed: k%2 == 0, Lines: []string{"Started by timer", fmt.Sprint("made ", k), "Finished: SUCCESS"},
		})
	}
	jk := &services.Jenkins{Hosts: services.Hosts{Token: "mia:" + servicesToken, Fault: v.fault}, Root: services.JenkinsItem{Items: []*services.JenkinsItem{api}}}
	jk.Start()
	t.Cleanup(jk.Close)
	v.args, v.env, v.requests = append([]string{"collect", "jenkins", jk.API.URL + "/jenkins"}, incident...), []string{"JENKINS_CREDENTIAL=" + jk.Token}, jk.Requests
	all["jenkins"] = v
	return all
}

// TestKilledCollections kills collections from each service again and again, each
// time a few requests later: they go on where they stopped, end with what one
// that was left in peace has, and ask for nothing again but for what was on its
// way: a call, and the address that it led to.
func TestKilledCollections(t *testing.T) {
	jobs, kills := 12, 5
	if os.Getenv("PULLTRAIL_SOAK") != "" {
		jobs, kills = 140, 50
	}
	all := victims(t, jobs)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		peace, home := filepath.Join(t.TempDir(), "peace"), filepath.Join(t.TempDir(), "case")
		code, out := v.run(t, peace, -1)
		if code != exitOK && code != exitIncomplete {
			t.Fatalf("%s: it ends %d: %s", name, code, out)
		}
		want := v.asked()
		for i := range kills {
			if code, out := v.run(t, home, 3+i%3); code != -1 {
				t.Fatalf("%s: kill %d: it ended %d: %s", name, i, code, out)
			}
		}
		if again, out := v.run(t, home, -1); again != code {
			t.Fatalf("%s: it ends %d, want %d: %s", name, again, code, out)
		}
		got := v.asked()
		repeated := 0
		for address, n := range got {
			repeated += n - want[address]
		}
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			t.Errorf("%s: other addresses were asked for:\n%v\nwant\n%v", name, got, want)
		}
		t.Logf("%s: killed %d times, %d addresses, %d requests repeated", name, kills, len(got), repeated)
		if repeated > 2*kills {
			t.Errorf("%s: %d requests were made again after %d kills", name, repeated, kills)
		}
		if a, b := gathered(t, peace), gathered(t, home); a != b {
			t.Errorf("%s: the case holds\n%s\nwant\n%s", name, b, a)
		}
	}
}

// gathered is what a case holds, after it was checked.
func gathered(t *testing.T, home string) string {
	t.Helper()
	db, err := timeline.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if v, err := db.Verify(t.Context()); err != nil || v.Worst() != timeline.Good {
		t.Errorf("verify: %s, %v", v.Worst(), err)
	}
	all, err := db.Collections()
	if err != nil || len(all) != 1 || all[0].State == timeline.CollectionOpen {
		t.Errorf("collections: %+v, %v", all, err)
	}
	var b strings.Builder
	if err := db.Dump(&b); err != nil {
		t.Fatal(err)
	}
	// That a tag names a digest is of the moment of asking.
	return askedAt.ReplaceAllString(b.String(), "$1")
}

var askedAt = regexp.MustCompile(`(?m)^(link names \S+ \S+) \S+`)
