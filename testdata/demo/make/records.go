package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"time"
)

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// runRecord is what the API says of the run.
// https://docs.github.com/en/rest/actions/workflow-runs#get-a-workflow-run
func (r *run) runRecord(end time.Time) []byte {
	url := fmt.Sprintf("https://api.github.com/repos/%s/actions/runs/%d", r.repo, r.id)
	var previous any
	if r.attempt > 1 {
		previous = fmt.Sprintf("%s/attempts/%d", url, r.attempt-1)
	}
	return indented(struct {
		ID           int64          `json:"id"`
		Name         string         `json:"name"`
		Branch       string         `json:"head_branch"`
		SHA          string         `json:"head_sha"`
		Path         string         `json:"path"`
		Title        string         `json:"display_title"`
		Number       int64          `json:"run_number"`
		Event        string         `json:"event"`
		Status       string         `json:"status"`
		Conclusion   string         `json:"conclusion"`
		WorkflowID   int64          `json:"workflow_id"`
		URL          string         `json:"url"`
		HTMLURL      string         `json:"html_url"`
		CreatedAt    string         `json:"created_at"`
		UpdatedAt    string         `json:"updated_at"`
		Attempt      int            `json:"run_attempt"`
		RunStartedAt string         `json:"run_started_at"`
		JobsURL      string         `json:"jobs_url"`
		LogsURL      string         `json:"logs_url"`
		Previous     any            `json:"previous_attempt_url"`
		Commit       map[string]any `json:"head_commit"`
		Repository   map[string]any `json:"repository"`
	}{
		r.id, "ci", "main", r.commit(), ".github/workflows/ci.yml", r.subject, r.id % 997, "push", "completed", r.conclusion(), 9000 + r.id%7,
		url, fmt.Sprintf("https://github.com/%s/actions/runs/%d", r.repo, r.id),
		stamp(r.created()), stamp(end.Add(4 * time.Second)), r.attempt, stamp(r.at()), url + "/jobs", url + "/logs", previous,
		map[string]any{"id": r.commit(), "message": r.subject},
		map[string]any{"id": 78, "name": path.Base(r.repo), "full_name": r.repo, "private": true},
	})
}

// created is when the run was made; a later attempt keeps that time.
func (r *run) created() time.Time {
	return r.at().Add(-time.Duration(r.attempt-1) * 50 * time.Minute)
}

func (r *run) conclusion() string {
	for _, j := range r.jobs {
		if j.failed {
			return "failure"
		}
	}
	return "success"
}

type stepRecord struct {
	Name        string `json:"name"`
	Status      string `json:"status"`
	Conclusion  string `json:"conclusion"`
	Number      int    `json:"number"`
	StartedAt   string `json:"started_at"`
	CompletedAt string `json:"completed_at"`
}

type jobRecord struct {
	ID          int64        `json:"id"`
	RunID       int64        `json:"run_id"`
	Attempt     int          `json:"run_attempt"`
	Workflow    string       `json:"workflow_name"`
	SHA         string       `json:"head_sha"`
	Name        string       `json:"name"`
	Status      string       `json:"status"`
	Conclusion  string       `json:"conclusion"`
	StartedAt   string       `json:"started_at"`
	CompletedAt string       `json:"completed_at"`
	Steps       []stepRecord `json:"steps"`
	HTMLURL     string       `json:"html_url"`
	Labels      []string     `json:"labels"`
	Runner      string       `json:"runner_name"`
	Group       string       `json:"runner_group_name"`
}

// jobsRecord is what the API says of the jobs of the attempt.
// https://docs.github.com/en/rest/actions/workflow-jobs#list-jobs-for-a-workflow-run-attempt
func (r *run) jobsRecord(a *archive) []byte {
	out := struct {
		Total int         `json:"total_count"`
		Jobs  []jobRecord `json:"jobs"`
	}{Total: len(a.jobs)}
	for i, t := range a.jobs {
		id := r.id*3 + int64(r.attempt*10+i)
		j := jobRecord{
			id, r.id, r.attempt, "ci", r.commit(), t.name, "completed", "success", stamp(t.from.Add(-time.Second)), stamp(t.to.Add(time.Second)), nil,
			fmt.Sprintf("https://github.com/%s/actions/runs/%d/job/%d", r.repo, r.id, id),
			[]string{"ubuntu-24.04"},
			runner(r, i), "GitHub Actions",
		}
		if t.failed {
			j.Conclusion = "failure"
		}
		for n, s := range t.steps {
			c := "success"
			if t.failed && n == len(t.steps)-3 {
				c = "failure"
			}
			j.Steps = append(j.Steps, stepRecord{s.name, "completed", c, n + 1, stamp(s.from), stamp(s.to)})
		}
		out.Jobs = append(out.Jobs, j)
	}
	return indented(out)
}

func indented(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		panic(err) // plain values
	}
	return b.Bytes()
}
