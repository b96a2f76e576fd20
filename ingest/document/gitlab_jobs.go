package document

import (
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GitLabJobs is what the API says of jobs: one, or a list.
// https://docs.gitlab.com/api/jobs/
var GitLabJobs = evidence.Format{
	Name:   "gitlab-jobs",
	Shape:  evidence.DocumentShape,
	Title:  "GitLab API: jobs",
	Proves: "that a job ran, and when: it must have a trace",
	Cannot: "what the job did; jobs that were retried, unless include_retried was asked for",
	Doc:    "https://docs.gitlab.com/api/jobs/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		return ok && isGitLabJob(v)
	},
	Read: readGitLabJobs,
}

func isGitLabJob(v value) bool {
	return v.has("id") && v.has("status") && v.has("stage") && strings.Contains(v.get("web_url").text(), "/-/jobs/")
}

// readGitLabJobs reads jobs; the address of each names its project:
//
//	[{"id": 991, "status": "success", "stage": "test", "name": "unit", "started_at": "2026-10-21T12:01:00.000Z", "finished_at": "2026-10-21T12:05:00.000Z",
//	  "web_url": "https://gitlab.acme.example/acme/api/-/jobs/991"}]
func readGitLabJobs(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	for _, v := range all {
		at(d, o, v.get("id"))
		started := v.get("started_at").text()
		if !isGitLabJob(v) {
			o.Skip("no job of GitLab")
			continue
		}
		if started == "" {
			continue // it never began
		}
		u, parsed := url.Parse(v.get("web_url").text())
		if parsed != nil {
			o.Skip("a job whose address cannot be read")
			continue
		}
		project, number, ok := strings.Cut(strings.Trim(u.Path, "/"), "/-/jobs/")
		if !ok || project == "" || strings.Trim(number, "0123456789") != "" || number == "" {
			o.Skip("a job whose address names no project")
			continue
		}
		o.Expect(timeline.Expected{
			Subject: timeline.Subject{Kind: timeline.Job, ID: "gitlab:" + project + "/jobs/" + number},
			Span:    between(started, v.get("finished_at").text(), "completed"), Detail: "job " + v.get("name").text() + " of " + project,
		})
	}
	return err
}
