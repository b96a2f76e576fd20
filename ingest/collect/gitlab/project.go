package gitlab

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// project is a project in short; in whole it would show the token of its
// runners.
type project struct {
	ID   int64  `json:"id"`
	Path string `json:"path_with_namespace"`
}

// variable is what is kept of a CI/CD variable: not its value, and not its
// description, which may say it.
//
// https://docs.gitlab.com/api/project_level_variables/
type variable struct {
	Type      string `json:"variable_type"`
	Key       string `json:"key"`
	Protected bool   `json:"protected"`
	Masked    bool   `json:"masked"`
	Hidden    bool   `json:"hidden"`
	Scope     string `json:"environment_scope"`
}

// job is a job; one that was started again is another.
//
// https://docs.gitlab.com/api/jobs/
type job struct {
	ID       int64      `json:"id"`
	Status   string     `json:"status"`
	Created  time.Time  `json:"created_at"`
	Started  *time.Time `json:"started_at"`
	Finished *time.Time `json:"finished_at"`
}

// notAll are the refusals of what not everybody may see, or is switched off.
var notAll = []timeline.Reply{timeline.Absent, timeline.Denied}

// word collects a group with its subgroups, else a project.
func (c *collector) word(ctx context.Context, word string) error {
	want := collect.Want{Kind: "projects", NoGap: []timeline.Reply{timeline.Absent}, Keep: collect.Only[[]project]}
	query := url.Values{"include_subgroups": {"true"}, "with_shared": {"false"}, "simple": {"true"}, "order_by": {"id"}, "sort": {"asc"}}
	group, err := pages(ctx, c, "/groups/"+url.PathEscape(word)+"/projects", query, want, func(in []project) bool {
		for _, p := range in {
			c.project(p)
		}
		return false
	})
	switch {
	case err != nil:
		return err
	case group && !c.dry:
		return c.variables(ctx, "/groups/"+url.PathEscape(word), word)
	case group:
		return nil
	}
	var p project
	want = collect.Want{Kind: "projects", Keep: collect.Only[project], Detail: "group or project " + word}
	if _, ok, err := c.s.Get(ctx, "/projects/"+url.PathEscape(word), nil, want, &p); !ok || err != nil {
		return err
	}
	c.project(p)
	return nil
}

func (c *collector) project(p project) {
	if p.ID <= 0 || !fullPath.MatchString(p.Path) {
		c.s.Say("a project without a number or a name is left out: %d %q", p.ID, p.Path)
		return
	}
	c.projects.Add(1)
	at := fmt.Sprintf("/projects/%d", p.ID)
	c.pool.Add(func(ctx context.Context) error { return c.list(ctx, at, p) })
	if c.dry {
		return
	}
	c.pool.Add(func(ctx context.Context) error { return c.variables(ctx, at, p.Path) })
	c.pool.Add(func(ctx context.Context) error {
		want := collect.Want{Kind: "images", NoGap: notAll}
		_, err := pages(ctx, c, at+"/registry/repositories", url.Values{"tags": {"true"}}, want, func([]json.RawMessage) bool { return false })
		return err
	})
}

// variables asks for the names of variables, whose values come with them and
// are not kept. They are claimed for the store that holds them.
func (c *collector) variables(ctx context.Context, at, store string) error {
	want := collect.Want{
		Kind: "variables", Name: "variables.json", Reading: timeline.PageOf, NoGap: notAll, Keep: collect.Only[[]variable],
		Claim: timeline.Subject{Kind: timeline.Source, ID: "gitlab:" + store},
	}
	had, err := pages(ctx, c, at+"/variables", url.Values{}, want, func([]variable) bool { return false })
	if err == nil && !had {
		c.silent.Add(1)
	}
	return err
}

// list lists the jobs of a project, newest first, also those that were started
// again and those of child pipelines, which lists of pipelines leave out. It
// costs a call for 100 jobs, where pipelines cost one each.
func (c *collector) list(ctx context.Context, at string, p project) error {
	query := url.Values{"pagination": {"keyset"}, "order_by": {"id"}, "sort": {"desc"}}
	want := collect.Want{Kind: "jobs", Detail: "jobs of " + p.Path}
	_, err := pages(ctx, c, at+"/jobs", query, want, func(in []job) (enough bool) {
		for _, j := range in {
			c.take(at, p, j)
			enough = j.Created.Before(c.from.Add(-c.opt.Lookback))
		}
		return enough
	})
	return err
}

// take collects a job that was at work in the window.
func (c *collector) take(at string, p project, j job) {
	if j.ID <= 0 || j.Started == nil || j.Started.After(c.to) || j.Finished != nil && j.Finished.Before(c.from) {
		return
	}
	c.jobs.Add(1)
	want := collect.Want{
		Kind: "logs", Name: "trace.log", Reading: timeline.Whole, Signed: true, Raw: true,
		Claim:  timeline.Subject{Kind: timeline.Job, ID: fmt.Sprintf("gitlab:%s/jobs/%d", p.Path, j.ID)},
		Span:   timeline.Span{From: j.Started.UnixNano(), To: timeline.Forever, Clock: timeline.Exact},
		Detail: fmt.Sprintf("job %d of %s", j.ID, p.Path),
	}
	if j.Finished != nil {
		want.Span.To = j.Finished.UnixNano()
		want.Version = j.Status + " " + j.Finished.UTC().Format(time.RFC3339)
	} else {
		c.unfinished.Add(1)
	}
	if c.dry {
		return
	}
	c.pool.Add(func(ctx context.Context) error {
		_, _, err := c.s.Get(ctx, fmt.Sprintf("%s/jobs/%d/trace", at, j.ID), nil, want, nil)
		return err
	})
}
