package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pulltrail/testdata/services"
)

// startGitLab starts a stand-in for GitLab and puts its address into $API and a
// token into $GITLAB_TOKEN, until the story ends.
func startGitLab(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: gitlab")
	}
	at := time.Date(2026, 10, 21, 12, 0, 0, 0, time.UTC)
	job := func(id int64, gone int, line string) *services.GitLabJob {
		stamp := func(s int) string {
			return at.Add(time.Duration(s) * time.Second).Format("2006-01-02T15:04:05.000000Z")
		}
		return &services.GitLabJob{ID: id, Created: at, Started: at, Finished: at.Add(time.Minute), Gone: gone, Stored: gone == 0, Trace: fmt.Sprintf(
			"%s 00O Running with gitlab-runner 18.5.0 (bda84871)\n%s 00O $ echo built\n%s 00O %s\n%s 00O Job succeeded\n", stamp(0), stamp(1), stamp(2), line, stamp(3))}
	}
	g := &services.GitLab{Group: "acme", Token: servicesToken, Projects: []*services.GitLabProject{{
		ID: 7, Path: "acme/api", Jobs: []*services.GitLabJob{job(93, 0, "Successfully installed litellm-1.107.0"), job(92, http.StatusGone, "")},
		Variables: []map[string]any{{"variable_type": "env_var", "key": "PYPI_TOKEN", "value": "s3cr3t", "protected": true, "masked": true, "environment_scope": "*"}},
	}}}
	g.Start()
	ts.Defer(g.Close)
	ts.Defer(func() { noSecret(ts, g.Requests(), servicesToken) })
	ts.Setenv("API", g.API.URL+"/api/v4")
	ts.Setenv("GITLAB_TOKEN", servicesToken)
}

// startRegistry starts a stand-in for an image registry and puts its host into
// $REGISTRY and a login into $REGISTRY_CREDENTIAL, until the story ends.
func startRegistry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: registry")
	}
	g := &services.Registry{Login: "robot:EXAMPLEexample", Hidden: map[string]bool{"acme/hidden": true}}
	g.Image("acme/api", "1.4", "pip install litellm==1.107.0")
	g.Image("acme/hidden", "1", "true")
	g.Start()
	ts.Defer(g.Close)
	ts.Defer(func() { noSecret(ts, g.Requests(), base64.StdEncoding.EncodeToString([]byte(g.Login))) })
	ts.Setenv("REGISTRY", g.Host())
	ts.Setenv("REGISTRY_CREDENTIAL", g.Login)
}

// startObjects starts a stand-in for the store of S3 and one for a server with
// signed addresses, and puts what leads to them into the environment, until the
// story ends.
func startObjects(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: objects")
	}
	trail := `{"Records":[{"eventTime":"2026-10-21T12:10:00Z","eventSource":"ecr.amazonaws.com","eventName":"BatchGetImage","awsRegion":"eu-central-1","sourceIPAddress":"10.0.4.7",` +
		`"requestParameters":{"repositoryName":"litellm","imageIds":[{"imageTag":"v1.107.0"}],"registryId":"123456789012"},"responseElements":null,"eventID":"%d","eventType":"AwsApiCall","recipientAccountId":"123456789012"}]}`
	o := &services.Objects{Kind: "s3", Bucket: "acme-trail", Key: "AKIDACME", Secret: "EXAMPLEexampleEXAMPLE", PerPage: 2, Code: "AccessDenied", Keys: map[string]string{
		"AWSLogs/1.json": fmt.Sprintf(trail, 1), "AWSLogs/2.json": fmt.Sprintf(trail, 2), "AWSLogs/3.json": "", "logs/build.log": "Successfully installed litellm-1.107.0\n",
	}, Status: map[string]int{"AWSLogs/3.json": http.StatusForbidden}}
	web := &services.Objects{Kind: "https", SAS: "X-Amz-Signature=s3cr3t", Keys: map[string]string{"archive/pip.log": "2026-10-21T12:04:49,419 Using pip 23.2.1 from /srv/lib/python3.11/site-packages/pip (python 3.11)\n2026-10-21T12:04:51,123 Successfully installed litellm-1.107.0\n"}}
	o.Start()
	web.Start()
	ts.Defer(o.Close)
	ts.Defer(web.Close)
	ts.Defer(func() { noSecret(ts, append(o.Requests(), web.Requests()...), o.Secret) })
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": o.Key, "AWS_SECRET_ACCESS_KEY": o.Secret, "AWS_REGION": "eu-central-1", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ENDPOINT_URL_S3": o.API.URL, "WEB": web.API.URL,
	} {
		ts.Setenv(name, value)
	}
}

// startLLM MODE FILE starts a stand-in for an inference endpoint that misbehaves
// in that way ("well": not), puts its address in place of {LLM} in FILE and the
// keys of two tenants into the environment, until the story ends.
func startLLM(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: llm MODE FILE")
	}
	g := standIn(strings.TrimSuffix(args[0], "well"))
	var followed atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	g.Elsewhere = elsewhere.URL
	server := httptest.NewServer(g)
	ts.Defer(func() {
		server.Close()
		elsewhere.Close()
		if followed.Load() {
			ts.Fatalf("a redirect was followed")
		}
	})
	file := ts.MkAbs(args[1])
	ts.Check(os.WriteFile(file, []byte(strings.ReplaceAll(ts.ReadFile(args[1]), "{LLM}", server.URL+"/v1")), 0o600))
	for name, key := range canaryKeys {
		ts.Setenv(name, key)
	}
}

// noSecret checks what every store saw.
func noSecret(ts *testscript.TestScript, requests []services.Seen, secret string) {
	for _, seen := range requests {
		if strings.Contains(seen.URL, secret) || seen.Host == "store" && strings.Contains(fmt.Sprint(seen.Header), secret) {
			ts.Fatalf("%s saw the token: %s", seen.Host, seen.URL)
		}
	}
}
