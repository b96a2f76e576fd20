package document

import (
	"fmt"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// BuildkiteBuild is what the REST API says of builds: one, or a list; or of one
// job.
// https://buildkite.com/docs/apis/rest-api/builds
var BuildkiteBuild = evidence.Format{
	Name:   "buildkite-build",
	Shape:  evidence.DocumentShape,
	Title:  "Buildkite API: builds with their jobs",
	Proves: "that a job ran, when, and on which agent's host: it must have a log; names of variables that hold secrets",
	Cannot: "what the job did; jobs that were retried, unless include_retried_jobs was asked for",
	Doc:    "https://buildkite.com/docs/apis/rest-api/builds",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		return ok && (isBuildkiteBuild(v) || isBuildkiteJob(v))
	},
	Read: readBuildkiteBuild,
}

// isBuildkiteBuild wants the address that a build has in the API:
//
//	https://api.buildkite.com/v2/organizations/acme/pipelines/api/builds/27
func isBuildkiteBuild(v value) bool {
	return v.has("state") && v.has("number") && buildkiteName(v.get("url").text()) != ""
}

func isBuildkiteJob(v value) bool {
	return v.has("type") && v.has("state") && buildkiteName(v.get("build_url").text()) != ""
}

// buildkiteName reads ORGANIZATION/PIPELINE/builds/NUMBER out of the address of
// a build, "" for another one.
func buildkiteName(url string) string {
	_, rest, ok := strings.Cut(url, "/organizations/")
	words := strings.Split(rest, "/")
	if !ok || len(words) < 5 || words[0] == "" || words[1] != "pipelines" || words[2] == "" || words[3] != "builds" {
		return ""
	}
	if _, err := strconv.ParseUint(words[4], 10, 63); err != nil {
		return ""
	}
	return words[0] + "/" + words[2] + "/builds/" + words[4]
}

// readBuildkiteBuild reads builds, or jobs:
//
//	[{"url": "https://api.buildkite.com/v2/organizations/acme/pipelines/api/builds/27", "number": 27, "state": "passed", "env": {"NPM_TOKEN": "…"},
//	  "jobs": [{"id": "0190…", "type": "script", "state": "passed", "started_at": "2026-10-21T12:04:51.000Z", "finished_at": "2026-10-21T12:09:02.000Z",
//	            "agent": {"hostname": "ci-7"}, "retried": false}]}]
func readBuildkiteBuild(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	if len(all) > 0 {
		o.Seen("")
	}
	for _, v := range all {
		at(d, o, v)
		switch {
		case isBuildkiteBuild(v):
			build := buildkiteName(v.get("url").text())
			for job := range v.get("jobs").elements() {
				buildkiteJob(d, o, build, job, v.get("env"))
			}
		case isBuildkiteJob(v):
			buildkiteJob(d, o, buildkiteName(v.get("build_url").text()), v, value{})
		default:
			o.Skip("neither a build nor a job of Buildkite: its address is not known")
		}
	}
	return err
}

// buildkiteJob expects the log of a job that began, and of the one that it is a
// retry of. What waits, blocks or triggers another build has none.
func buildkiteJob(d *evidence.Doc, o *evidence.Out, build string, v, env value) {
	at(d, o, v.get("id"))
	if kind := v.get("type").text(); kind != "script" {
		return
	}
	id := v.get("id").text()
	if id == "" {
		o.Skip("a job without an id")
		return
	}
	job := func(id string) timeline.Subject {
		return timeline.Subject{Kind: timeline.Job, ID: "buildkite:" + build + "/jobs/" + id}
	}
	detail := func(id string) string { return fmt.Sprintf("job %s of %s", id, build) }
	if before := v.get("retry_source", "job_id").text(); before != "" {
		span := between("", v.get("created_at").text(), "completed")
		o.Expect(timeline.Expected{Subject: job(before), Span: span, Detail: detail(before)})
	}
	started := v.get("started_at").text()
	if started == "" {
		return
	}
	span := between(started, v.get("finished_at").text(), "completed")
	o.Expect(timeline.Expected{Subject: job(id), Span: span, Detail: detail(id)})
	if host := v.get("agent", "hostname").text(); host != "" {
		o.LinkOver(span, timeline.On, job(id).String(), timeline.Subject{Kind: timeline.Host, ID: host}.String())
	}
	for name, val := range env.fields() {
		if holdsSecret(name, val.text()) {
			about(o, job(id), func() { o.Hold(name) })
		}
	}
}
