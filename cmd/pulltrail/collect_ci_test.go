package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pulltrail/testdata/services"
)

// noon lies in the window of the incident that the stories ask about.
var noon = time.Date(2026, 10, 21, 12, 0, 0, 0, time.UTC)

// strangers fails the story when a secret was seen that is not for everybody.
func strangers(ts *testscript.TestScript, h *services.Hosts, secret string) {
	for _, where := range services.Secrets(h.Requests(), secret) {
		ts.Fatalf("the token was seen: %s", where)
	}
}

// startBuildkite starts a stand-in for Buildkite and puts its address into $API
// and a token into $BUILDKITE_API_TOKEN, until the story ends.
func startBuildkite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: buildkite")
	}
	job := func(id string, gone int, lines ...string) *services.BuildkiteJob {
		var log strings.Builder
		for i, line := range append([]string{"~~~ Running commands"}, lines...) {
			fmt.Fprintf(&log, "\x1b_bk;t=%d\x07%s\r\n", noon.Add(time.Duration(i)*time.Second).UnixMilli(), line)
		}
		return &services.BuildkiteJob{ID: id, Started: noon, Finished: noon.Add(time.Minute), Gone: gone, Stored: gone == 0, Log: log.String()}
	}
	retried := job("0190-retried", http.StatusGone)
	retried.Retried = true
	b := &services.Buildkite{
		Hosts: services.Hosts{Token: servicesToken}, Org: "acme",
		Clusters: []services.BuildkiteCluster{{ID: "0190-c", Name: "Main", Secrets: []string{"PYPI_TOKEN"}}},
		Builds: []*services.BuildkiteBuild{{
			Pipeline: "api", Number: 27, Created: noon, Finished: noon.Add(time.Hour), Env: map[string]string{"DEPLOY_TOKEN": "s3cr3t"},
			Jobs: []*services.BuildkiteJob{retried, job("0190-bad", 0, "Successfully installed litellm-1.107.0"), job("0190-good", 0, "$ pip install idna", "Successfully installed idna-3.10")},
		}},
	}
	b.Start()
	ts.Defer(b.Close)
	ts.Defer(func() { strangers(ts, &b.Hosts, servicesToken) })
	ts.Setenv("API", b.API.URL)
	ts.Setenv("BUILDKITE_API_TOKEN", servicesToken)
}

// startCircleCI starts a stand-in for CircleCI and puts its address into $API and
// a token into $CIRCLE_TOKEN, until the story ends.
func startCircleCI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: circleci")
	}
	job := func(number int64, gone int, command string, lines ...string) *services.CircleJob {
		return &services.CircleJob{Number: number, Started: noon, Stopped: noon.Add(time.Minute), Steps: []services.CircleStep{
			{Name: "Checkout", Command: "true"}, {Name: "Install", Command: command, Lines: lines, Gone: gone},
		}}
	}
	c := &services.CircleCI{
		Hosts: services.Hosts{Token: servicesToken}, Org: "gh/acme",
		Contexts:  []services.CircleContext{{ID: "c1", Name: "publish", Variables: []string{"PYPI_TOKEN"}}},
		Variables: map[string][]string{"gh/acme/api": {"DATABASE_URL"}},
		Pipelines: []*services.CirclePipeline{{ID: "p1", Project: "gh/acme/api", Created: noon, Workflows: []*services.CircleWorkflow{
			{ID: "w1", Created: noon, Stopped: noon.Add(time.Hour), Jobs: []*services.CircleJob{
				job(812, 0, "pip install litellm", "Successfully installed litellm-1.107.0"),
				job(813, http.StatusGone, "pip install idna", "gone"),
				job(814, 0, "pip install idna", "Successfully installed idna-3.10"),
			}},
		}}},
	}
	c.Start()
	ts.Defer(c.Close)
	ts.Defer(func() { strangers(ts, &c.Hosts, servicesToken) })
	ts.Setenv("API", c.API.URL+"/api")
	ts.Setenv("CIRCLE_TOKEN", servicesToken)
}

// startJenkins starts a stand-in for a Jenkins controller and puts its address
// into $URL and a login into $JENKINS_CREDENTIAL, until the story ends.
func startJenkins(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: jenkins")
	}
	build := func(number int64, gone int, lines ...string) *services.JenkinsBuild {
		lines = append(append([]string{"Started by timer", "[Pipeline] Start of Pipeline"}, lines...), "[Pipeline] End of Pipeline", "Finished: SUCCESS")
		return &services.JenkinsBuild{Number: number, Begun: noon.Add(time.Duration(number) * time.Minute), Lasted: time.Minute, Gone: gone, Lines: lines}
	}
	j := &services.Jenkins{
		Hosts: services.Hosts{Token: "mia:" + servicesToken},
		Root: services.JenkinsItem{Credentials: []string{"pypi-token"}, Items: []*services.JenkinsItem{
			{Name: "team", Credentials: []string{"nexus"}, Items: []*services.JenkinsItem{{Name: "api", Next: 6, Builds: []*services.JenkinsBuild{
				build(5, 0, "Masking supported pattern matches of $TWINE_PASSWORD", "Successfully installed litellm-1.107.0"),
				build(4, http.StatusForbidden),
				build(2, 0, "+ pip install idna", "Successfully installed idna-3.10"),
				build(1, 0, "+ make"),
			}}}},
		}},
	}
	j.Start()
	ts.Defer(j.Close)
	ts.Defer(func() { strangers(ts, &j.Hosts, base64.StdEncoding.EncodeToString([]byte(j.Token))) })
	ts.Setenv("URL", j.API.URL+"/jenkins")
	ts.Setenv("JENKINS_CREDENTIAL", j.Token)
}
