package document

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CircleCIJob is what the API says of jobs: those of a workflow or one job
// (version 2), or a job with its steps (version 1.1, which alone knows them).
// https://circleci.com/docs/api/v2/index.html
// https://circleci.com/docs/api/v1/index.html#single-job
var CircleCIJob = evidence.Format{
	Name:   "circleci-job",
	Shape:  evidence.DocumentShape,
	Title:  "CircleCI API: jobs of a workflow, one job, or a job with its steps",
	Proves: "that a job ran, and when: its steps must have output; commands of steps that printed nothing",
	Cannot: "what a step printed: its output_url gives that",
	Doc:    "https://circleci.com/docs/api/v2/index.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		if !ok {
			return false
		}
		for first := range v.get("items").elements() {
			v = first
			break
		}
		return circleJobKind(v) != nil
	},
	Read: readCircleCIJob,
}

// circleFields are those that a job of version 1.1 has; its steps may be long,
// and stand before any of them.
var circleFields = []string{"build_num", "vcs_url", "vcs_revision", "build_url", "all_commit_details", "previous_successful_build", "steps", "lifecycle", "reponame", "build_time_millis"}

// circleJobKind says how a record is read, nil for one that is no job.
func circleJobKind(v value) func(v value) circleJob {
	switch {
	case v.has("project_slug") && v.has("type") && v.has("status") && !v.has("pipeline_id"):
		return func(v value) circleJob {
			return circleJob{number: v.get("job_number"), project: circleProject(v.get("project_slug").text()), from: v.get("started_at"), to: v.get("stopped_at"), wait: v.get("type").text() != "build"}
		}
	case v.has("web_url") && v.has("number") && (v.has("parallel_runs") || v.has("latest_workflow")):
		return func(v value) circleJob {
			return circleJob{number: v.get("number"), project: circleProject(v.get("project", "slug").text()), from: v.get("started_at"), to: v.get("stopped_at")}
		}
	}
	n := 0
	for _, name := range circleFields {
		if v.has(name) {
			n++
		}
	}
	if n < 3 {
		return nil
	}
	return func(v value) circleJob {
		slug := v.get("vcs_type").text() + "/" + v.get("username").text() + "/" + v.get("reponame").text()
		return circleJob{number: v.get("build_num"), project: circleProject(slug), from: v.get("start_time"), to: v.get("stop_time")}
	}
}

// circleJob is what the kinds of records say of a job.
type circleJob struct {
	number, from, to value
	project          string // "" for none
	wait             bool   // it waits for a person, and runs nothing
}

// circleProject is what a project is called in the names of its jobs: that of
// its repository, where that is on GitHub.
//
//	gh/acme/api   bitbucket/acme/api   circleci/8c0f…/91d2…
func circleProject(slug string) string {
	vcs, name, _ := strings.Cut(slug, "/")
	if owner, repo, ok := strings.Cut(name, "/"); !ok || owner == "" || repo == "" {
		return ""
	}
	switch vcs {
	case "gh", "github", "":
		return name
	case "bb", "bitbucket":
		return "bb/" + name
	}
	return slug
}

// readCircleCIJob reads a page of jobs, or a job:
//
//	{"items": [{"job_number": 812, "started_at": "2026-10-21T12:04:51Z", "stopped_at": "…", "name": "build", "project_slug": "gh/acme/api", "status": "success", "type": "build"}], "next_page_token": null}
//	{"web_url": "https://app.circleci.com/…", "project": {"slug": "gh/acme/api"}, "number": 812, "started_at": "…", "stopped_at": "…", "parallel_runs": […]}
//	{"build_num": 812, "vcs_type": "github", "username": "acme", "reponame": "api", "start_time": "…", "stop_time": "…", "steps": [{"name": "…", "actions": […]}]}
func readCircleCIJob(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	if len(all) > 0 {
		o.Seen("")
	}
	circleItems(d, o, all, circleRecord)
	return err
}

// circleItems hands on the items of pages, and what is no page.
func circleItems(d *evidence.Doc, o *evidence.Out, all []value, each func(*evidence.Doc, *evidence.Out, value)) {
	for _, v := range all {
		if v.get("items").kind() != '[' {
			each(d, o, v)
			continue
		}
		for item := range v.get("items").elements() {
			each(d, o, item)
		}
		if v.get("next_page_token").text() != "" && !d.Page {
			o.Cut("it is one of several pages: fetch all, and ingest them as one file")
		}
	}
}

func circleRecord(d *evidence.Doc, o *evidence.Out, v value) {
	at(d, o, v)
	kind := circleJobKind(v)
	if kind == nil {
		o.Skip("no job of CircleCI")
		return
	}
	j := kind(v)
	if j.wait || j.from.text() == "" {
		return // it never began
	}
	at(d, o, j.number)
	number, err := strconv.ParseUint(string(bytes.TrimSpace(j.number.doc[j.number.off:j.number.end])), 10, 63)
	if err != nil || j.project == "" {
		o.Skip("a job without a number or a project")
		return
	}
	job := timeline.Subject{Kind: timeline.Job, ID: fmt.Sprintf("circleci:%s/jobs/%d", j.project, number)}
	o.Expect(timeline.Expected{
		Subject: job, Span: between(j.from.text(), j.to.text(), "completed"), Detail: fmt.Sprintf("job %d of %s", number, j.project),
	})
	for step := range v.get("steps").elements() {
		for action := range step.get("actions").elements() {
			circleAction(d, o, job, step, action)
		}
	}
}

// circleAction reads what a step did in one container. Of one that printed, the
// output says it, and begins with the command.
//
//	{"name": "pip install -q acme-eval", "bash_command": "#!/bin/bash -eo pipefail\npip install -q acme-eval", "index": 0, "step": 103,
//	 "start_time": "2026-10-21T12:04:55.120Z", "end_time": "…", "exit_code": 0, "has_output": false, "truncated": false}
func circleAction(d *evidence.Doc, o *evidence.Out, job timeline.Subject, step, action value) {
	command := action.get("bash_command")
	at(d, o, command)
	if action.get("truncated").isTrue() {
		o.Cut("CircleCI cut the output of the step “" + step.get("name").text() + "” short (truncated)")
	}
	if command.text() == "" || action.get("has_output").isTrue() || action.has("output_url") {
		return
	}
	stamp := evidence.Stamp{Text: []byte(action.get("start_time").text()), Read: evidence.ISOStamp}
	for line := range strings.SplitSeq(command.text(), "\n") {
		if !strings.HasPrefix(line, "#!") {
			o.Ran(job, stamp, []byte(line))
		}
	}
}
