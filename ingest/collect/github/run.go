package github

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	gh "github.com/google/go-github/v60/github"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// workflowRun is one run on its way.
type workflowRun struct {
	c           *collector
	owner, repo string
	id          int64
	attempts    int
	done        bool
	version     string
}

// collect lists the jobs of all attempts, and gets the logs of each attempt.
func (r *workflowRun) collect(ctx context.Context) error {
	jobs, err := r.jobs(ctx)
	if err != nil {
		return err
	}
	for attempt := 1; attempt <= r.attempts; attempt++ {
		if attempt == r.attempts && !r.done {
			continue // there is no log before the end
		}
		if len(jobs[attempt]) > 0 && !began(jobs[attempt]) {
			continue
		}
		r.c.pool.Add(func(ctx context.Context) error { return r.logs(ctx, attempt, jobs[attempt]) })
	}
	return nil
}

// began reports whether a job of an attempt ran: what never began has no log.
func began(jobs []*gh.WorkflowJob) bool {
	for _, j := range jobs {
		if ran(j) {
			return true
		}
	}
	return false
}

func ran(j *gh.WorkflowJob) bool {
	return j.GetConclusion() != "skipped" && (j.GetConclusion() != "cancelled" || j.GetRunnerName() != "" || len(j.Steps) > 0)
}

// jobs lists the jobs by attempt, nil when the list was refused. One list holds
// those of all attempts.
//
// https://docs.github.com/en/rest/actions/workflow-jobs#list-jobs-for-a-workflow-run
func (r *workflowRun) jobs(ctx context.Context) (map[int][]*gh.WorkflowJob, error) {
	want := collect.Want{
		Kind: "jobs", Name: "jobs.json", Reading: timeline.PageOf, Version: r.version,
		About: r.subject(r.attempts), Detail: "its list of jobs",
	}
	opt := &gh.ListWorkflowJobsOptions{Filter: "all", ListOptions: gh.ListOptions{PerPage: perPage}}
	all := map[int][]*gh.WorkflowJob{}
	for {
		jobs, resp, err := r.c.api.Actions.ListWorkflowJobs(collect.For(ctx, want), r.owner, r.repo, r.id, opt)
		if status, err := refusal(err); status != 0 || err != nil {
			return nil, err
		}
		for _, j := range jobs.Jobs {
			attempt := max(1, int(j.GetRunAttempt()))
			all[attempt] = append(all[attempt], j)
		}
		if resp.NextPage == 0 {
			return all, nil
		}
		opt.Page = resp.NextPage
	}
}

// logs gets the archive of an attempt's logs. Where there is none, or it cannot
// be had whole, the log of each job is asked for, and where it lacks one, that;
// what has expired, and what we may not see, is so for all of them.
//
// https://docs.github.com/en/rest/actions/workflow-runs#download-workflow-run-attempt-logs
func (r *workflowRun) logs(ctx context.Context, attempt int, jobs []*gh.WorkflowJob) error {
	want := collect.Want{
		Kind: "logs", Name: "logs.zip", Reading: timeline.Whole, Version: collect.Lasting, Claim: r.subject(attempt), Signed: true, Zip: true,
	}
	if len(jobs) > 0 {
		want.NoGap = []timeline.Reply{timeline.Absent, timeline.Failed}
	}
	path := r.path("runs", strconv.FormatInt(r.id, 10), "attempts", strconv.Itoa(attempt), "logs")
	a, err := r.c.get(ctx, path, want)
	if err != nil || a.Gap {
		return err
	}
	for _, j := range jobs {
		if ran(j) && (a.Reply != timeline.Obtained || lacks(a.Members(), jobs, j)) {
			r.c.pool.Add(func(ctx context.Context) error { return r.jobLog(ctx, attempt, j) })
		}
	}
	return nil
}

// lacks reports whether an archive that has fewer logs than jobs ran lacks that
// of a job:
//
//	0_build.txt
//	3_test (3.11).txt
func lacks(members []string, jobs []*gh.WorkflowJob, j *gh.WorkflowJob) bool {
	all := 0
	for _, other := range jobs {
		if ran(other) {
			all++
		}
	}
	if members == nil || len(members) >= all {
		return false
	}
	want := letters(j.GetName())
	return !slices.ContainsFunc(members, func(m string) bool {
		_, name, _ := strings.Cut(strings.TrimSuffix(m, ".txt"), "_")
		return letters(name) == want
	})
}

// letters is a name without what may not stand in the name of a file.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, s)
}

// jobLog gets the log of one job.
//
// https://docs.github.com/en/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
func (r *workflowRun) jobLog(ctx context.Context, attempt int, j *gh.WorkflowJob) error {
	who := r.subject(attempt)
	who.ID += "/jobs/" + j.GetName()
	span := timeline.Always()
	if j.StartedAt != nil && j.CompletedAt != nil && !j.GetCompletedAt().Before(j.GetStartedAt().Time) {
		span = timeline.Span{From: j.GetStartedAt().UnixNano(), To: j.GetCompletedAt().UnixNano(), Clock: timeline.Section}
	}
	_, err := r.c.get(ctx, r.path("jobs", strconv.FormatInt(j.GetID(), 10), "logs"), collect.Want{
		Kind: "log", Name: "log.txt", Reading: timeline.Whole, Version: collect.Lasting, Claim: who, Span: span, Signed: true,
	})
	return err
}

// get asks for what no service of the library returns as it is.
func (c *collector) get(ctx context.Context, path string, want collect.Want) (*collect.Answer, error) {
	req, err := c.api.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return c.s.Ask(req.WithContext(ctx), want)
}
