package services

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// CircleCI is a stand-in for circleci.com, and for the store on another host
// where the output of steps is.
type CircleCI struct {
	Hosts
	Org       string              // gh/acme
	Pipelines []*CirclePipeline   // newest first
	Contexts  []CircleContext     // nil: the token may not see them
	Variables map[string][]string // of projects; none: the token may not see them
	PerPage   int
}

// CirclePipeline is a pipeline with its workflows.
type CirclePipeline struct {
	ID        string
	Project   string // gh/acme/api
	Created   time.Time
	Workflows []*CircleWorkflow
}

// CircleWorkflow is a workflow; one that was started again is another.
type CircleWorkflow struct {
	ID               string
	Created, Stopped time.Time // zero: it goes on
	Jobs             []*CircleJob
}

// CircleJob is a job.
type CircleJob struct {
	Number           int64
	Type             string // "": build
	Started, Stopped time.Time
	Steps            []CircleStep
	Status           string // "": success
	Gone             int    // status in place of its steps
}

// CircleStep is a step of a job.
type CircleStep struct {
	Name, Command string
	Lines         []string // what it printed
	Truncated     bool
	Gone          int  // status in place of its output
	Lost          bool // the service does not say where the output is
}

// CircleContext is a context with its variables.
type CircleContext struct {
	ID, Name  string
	Variables []string
}

// Start starts both hosts.
func (c *CircleCI) Start() {
	c.start(c.api, func(w http.ResponseWriter, r *http.Request) {
		var number, k int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d/%d", &number, &k); err != nil || r.URL.Query().Get("X-Amz-Signature") != "s3cr3t" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		j := c.job("", strconv.Itoa(number))
		if j.Steps[k].Gone != 0 {
			w.WriteHeader(j.Steps[k].Gone)
			return
		}
		pieces := []map[string]any{}
		for i, line := range append([]string{"#!/bin/bash -eo pipefail\n" + j.Steps[k].Command}, j.Steps[k].Lines...) {
			pieces = append(pieces, map[string]any{
				"message": line + "\r\n", "time": j.at(k).Add(time.Duration(i+1) * time.Second).UTC().Format("2006-01-02T15:04:05.000000Z"), "type": "out", "truncated": false,
			})
		}
		text, _ := json.Marshal(pieces)
		_, _ = w.Write(text) // the store knows no types
	})
}

// at is when a step began.
func (j *CircleJob) at(k int) time.Time { return j.Started.Add(time.Duration(k) * 10 * time.Second) }

func (c *CircleCI) job(project, number string) *CircleJob {
	for _, p := range c.Pipelines {
		for _, w := range p.Workflows {
			for _, j := range w.Jobs {
				if (project == "" || p.Project == project) && strconv.FormatInt(j.Number, 10) == number {
					return j
				}
			}
		}
	}
	return nil
}

func (c *CircleCI) api(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Circle-Token") != c.Token {
		refuse(w, http.StatusUnauthorized)
		return
	}
	words := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/"), "/")
	switch path := strings.Join(words, "/"); {
	case path == "v2/pipeline" && r.URL.Query().Get("org-slug") == c.Org:
		c.pipelines(w, r, "")
	case len(words) == 6 && words[1] == "project" && words[5] == "pipeline":
		c.pipelines(w, r, strings.Join(words[2:5], "/"))
	case len(words) == 6 && words[1] == "project" && words[5] == "envvar":
		c.variables(w, r, strings.Join(words[2:5], "/"))
	case len(words) == 4 && words[1] == "pipeline" && words[3] == "workflow":
		c.workflows(w, r, words[2])
	case len(words) == 4 && words[1] == "workflow" && words[3] == "job":
		c.jobs(w, r, words[2])
	case path == "v2/context" && r.URL.Query().Get("owner-slug") == c.Org && c.Contexts != nil:
		var all []any
		for _, x := range c.Contexts {
			all = append(all, map[string]any{"id": x.ID, "name": x.Name, "created_at": "2025-03-04T10:00:00Z"})
		}
		c.page(w, r, all)
	case len(words) == 4 && words[1] == "context" && words[3] == "environment-variable":
		c.context(w, r, words[2])
	case len(words) == 6 && words[0] == "v1.1" && words[1] == "project":
		c.steps(w, c.job(strings.Join(words[2:5], "/"), words[5]), words[2:5])
	default:
		refuse(w, http.StatusNotFound)
	}
}

// page answers a page of a list; its token is where the next one begins.
func (c *CircleCI) page(w http.ResponseWriter, r *http.Request, all []any) {
	n := c.PerPage
	if n == 0 {
		n = 20
	}
	i, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("page-token"), "AARLww"))
	rest := all[min(i, len(all)):]
	var next any
	if n < len(rest) {
		rest, next = rest[:n], fmt.Sprint("AARLww", i+n)
	}
	if rest == nil {
		rest = []any{}
	}
	reply(w, map[string]any{"items": rest, "next_page_token": next})
}

func (c *CircleCI) pipelines(w http.ResponseWriter, r *http.Request, project string) {
	var all []any
	for i, p := range c.Pipelines {
		if project == "" || p.Project == project {
			all = append(all, map[string]any{
				"id": p.ID, "project_slug": p.Project, "number": 1000 - i, "state": "created", "created_at": instant(p.Created), "updated_at": instant(p.Created),
				"trigger_parameters": map[string]any{"password": "s3cr3t"},
			})
		}
	}
	if all == nil && project != "" {
		refuse(w, http.StatusNotFound)
		return
	}
	c.page(w, r, all)
}

func (c *CircleCI) workflows(w http.ResponseWriter, r *http.Request, id string) {
	var all []any
	for _, p := range c.Pipelines {
		for _, f := range p.Workflows {
			if p.ID == id {
				all = append(all, map[string]any{
					"id": f.ID, "pipeline_id": p.ID, "project_slug": p.Project, "name": "ci", "status": circleStatus(f.Stopped), "created_at": instant(f.Created), "stopped_at": instant(f.Stopped),
				})
			}
		}
	}
	c.page(w, r, all)
}

func circleStatus(stopped time.Time) string {
	if stopped.IsZero() {
		return "running"
	}
	return "success"
}

func (c *CircleCI) jobs(w http.ResponseWriter, r *http.Request, id string) {
	var all []any
	for _, p := range c.Pipelines {
		for _, f := range p.Workflows {
			if f.ID != id {
				continue
			}
			for _, j := range f.Jobs {
				v := map[string]any{
					"id": fmt.Sprint("uuid-", j.Number), "name": "build", "type": "build", "status": circleStatus(j.Stopped), "project_slug": p.Project, "dependencies": []string{},
					"started_at": instant(j.Started), "stopped_at": instant(j.Stopped), "job_number": j.Number,
				}
				if j.Status != "" {
					v["status"] = j.Status
				}
				if j.Type != "" {
					v["type"] = j.Type
					delete(v, "job_number")
				}
				all = append(all, v)
			}
		}
	}
	c.page(w, r, all)
}

func (c *CircleCI) steps(w http.ResponseWriter, j *CircleJob, slug []string) {
	switch {
	case j == nil:
		refuse(w, http.StatusNotFound)
		return
	case j.Gone != 0:
		refuse(w, j.Gone)
		return
	}
	steps := []any{}
	for k, s := range j.Steps {
		v := map[string]any{
			"name": s.Name, "step": 100 + k, "index": 0, "bash_command": "#!/bin/bash -eo pipefail\n" + s.Command, "truncated": s.Truncated,
			"start_time": instant(j.at(k)), "end_time": instant(j.at(k).Add(9 * time.Second)), "has_output": s.Lines != nil,
		}
		if s.Lines != nil && !s.Lost {
			v["output_url"] = fmt.Sprintf("%s/%d/%d?X-Amz-Signature=s3cr3t", c.Store.URL, j.Number, k)
		}
		steps = append(steps, map[string]any{"name": s.Name, "actions": []any{v}})
	}
	reply(w, map[string]any{
		"build_num": j.Number, "vcs_type": "github", "username": slug[1], "reponame": slug[2], "vcs_url": "https://github.com/" + slug[1] + "/" + slug[2],
		"build_parameters": map[string]string{"PASSWORD": "s3cr3t"}, "lifecycle": "finished", "status": "success",
		"start_time": instant(j.Started), "stop_time": instant(j.Stopped), "steps": steps,
	})
}

func (c *CircleCI) variables(w http.ResponseWriter, r *http.Request, project string) {
	if c.Variables[project] == nil {
		refuse(w, http.StatusNotFound)
		return
	}
	var all []any
	for _, name := range c.Variables[project] {
		all = append(all, map[string]any{"name": name, "value": "xxxxs3cr3t", "created_at": nil})
	}
	c.page(w, r, all)
}

func (c *CircleCI) context(w http.ResponseWriter, r *http.Request, id string) {
	var all []any
	for _, x := range c.Contexts {
		for _, name := range x.Variables {
			if x.ID == id {
				all = append(all, map[string]any{"variable": name, "context_id": id, "created_at": "2025-03-04T10:00:00.000Z", "updated_at": "2026-01-10T08:00:00.000Z"})
			}
		}
	}
	c.page(w, r, all)
}
