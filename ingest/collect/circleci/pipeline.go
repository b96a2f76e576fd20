package circleci

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// list is a page of a list of which the case keeps a part.
type list[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next_page_token"`
}

// pipeline is what is kept of a pipeline: not its parameters.
type pipeline struct {
	ID      string    `json:"id"`
	Project string    `json:"project_slug"`
	Number  int64     `json:"number"`
	State   string    `json:"state"`
	Created time.Time `json:"created_at"`
}

type workflow struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Status  string     `json:"status"`
	Created time.Time  `json:"created_at"`
	Stopped *time.Time `json:"stopped_at"`
}

var uuid = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)

// list lists pipelines, newest first, until a page has only those that are too
// old.
//
// https://circleci.com/docs/api/v2/index.html#operation/listPipelines
func (c *collector) list(ctx context.Context, at string, query url.Values, name string) error {
	want := collect.Want{Kind: "pipelines", Keep: collect.Only[list[pipeline]], Detail: "pipelines of " + name}
	oldest := c.from.Add(-c.opt.Lookback)
	_, err := pages(ctx, c, at, query, want, func(in []pipeline) (enough bool) {
		enough = true
		for _, p := range in {
			enough = enough && p.Created.Before(oldest)
			if !p.Created.Before(oldest) && !p.Created.After(c.to) {
				c.pipeline(p)
			}
		}
		return enough
	})
	return err
}

func (c *collector) pipeline(p pipeline) {
	if !uuid.MatchString(p.ID) || !slug.MatchString(p.Project) || strings.Count(p.Project, "/") != 2 {
		c.s.Say("a pipeline without an id or a project is left out: %q %q", p.ID, p.Project)
		return
	}
	c.pipelines.Add(1)
	if fresh := c.first(p.Project); c.dry {
		return
	} else if fresh {
		c.pool.Add(func(ctx context.Context) error { return c.variables(ctx, p.Project) })
	}
	c.pool.Add(func(ctx context.Context) error {
		want := collect.Want{Kind: "workflows", Detail: fmt.Sprintf("workflows of pipeline %d of %s", p.Number, p.Project)}
		_, err := pages(ctx, c, "/v2/pipeline/"+p.ID+"/workflow", url.Values{}, want, func(in []workflow) bool {
			for _, w := range in {
				c.workflow(p.Project, w)
			}
			return false
		})
		return err
	})
}

// workflow lists the jobs of a workflow that was at work in the window. All of
// them: what came late in it may have got what came in the window.
//
// https://circleci.com/docs/api/v2/index.html#operation/listWorkflowJobs
func (c *collector) workflow(project string, w workflow) {
	if !uuid.MatchString(w.ID) || w.Created.After(c.to) || w.Stopped != nil && w.Stopped.Before(c.from) {
		return
	}
	want := collect.Want{Kind: "jobs", Name: "jobs.json", Reading: timeline.PageOf, Detail: fmt.Sprintf("jobs of workflow %s of %s", w.Name, project)}
	if w.Stopped != nil {
		want.Version = w.Status + " " + w.Stopped.UTC().Format(time.RFC3339)
	}
	c.pool.Add(func(ctx context.Context) error {
		_, err := pages(ctx, c, "/v2/workflow/"+w.ID+"/job", url.Values{}, want, func(in []job) bool {
			for _, j := range in {
				c.take(project, j)
			}
			return false
		})
		return err
	})
}

// notAll are the refusals of what not every token may see.
var notAll = []timeline.Reply{timeline.Absent, timeline.Denied}

// store is where the variables of an organization or project are kept: what the
// names of its jobs begin with.
func store(slug string) timeline.Subject {
	vcs, name, _ := strings.Cut(slug, "/")
	switch vcs {
	case "gh", "github":
	case "bb", "bitbucket":
		name = "bb/" + name
	default:
		name = slug
	}
	return timeline.Subject{Kind: timeline.Source, ID: "circleci:" + name}
}

// variable is what is kept of a project's variable: the API shows the end of its
// value.
//
// https://circleci.com/docs/api/v2/index.html#operation/listEnvVars
type variable struct {
	Name  string `json:"name"`
	Value masked `json:"value"`
}

// masked stands for a value that is not kept.
type masked struct{}

// UnmarshalJSON drops the value.
func (*masked) UnmarshalJSON([]byte) error { return nil }

// MarshalJSON writes what the API puts before the end of a value.
func (masked) MarshalJSON() ([]byte, error) { return []byte(`"xxxx"`), nil }

// variables asks for the names of a project's variables.
func (c *collector) variables(ctx context.Context, project string) error {
	want := collect.Want{
		Kind: "variables", Name: "variables.json", Reading: timeline.PageOf, NoGap: notAll, Keep: collect.Only[list[variable]], Claim: store(project),
	}
	return c.silently(pages(ctx, c, "/v2/project/"+project+"/envvar", url.Values{}, want, func([]variable) bool { return false }))
}

// contexts asks for the names of the variables of an organization's contexts.
//
// https://circleci.com/docs/api/v2/index.html#tag/Context
func (c *collector) contexts(ctx context.Context, owner string) error {
	query := url.Values{"owner-slug": {owner}}
	if id, ok := strings.CutPrefix(owner, "circleci/"); ok {
		query = url.Values{"owner-id": {id}}
	}
	want := collect.Want{Kind: "contexts", NoGap: notAll}
	return c.silently(pages(ctx, c, "/v2/context", query, want, func(in []struct{ ID, Name string }) bool {
		for _, x := range in {
			if !uuid.MatchString(x.ID) {
				continue
			}
			c.pool.Add(func(ctx context.Context) error {
				// The format takes the name of the context from that of the folder.
				want := collect.Want{
					Kind: "variables", Name: path.Join(strings.ReplaceAll(x.Name, "/", "_"), "variables.json"), Reading: timeline.PageOf, NoGap: notAll, Claim: store(owner),
				}
				return c.silently(pages(ctx, c, "/v2/context/"+x.ID+"/environment-variable", url.Values{}, want, func([]struct{}) bool { return false }))
			})
		}
		return false
	}))
}

// silently counts lists that were refused and are no gap.
func (c *collector) silently(had bool, err error) error {
	if err == nil && !had {
		c.silent.Add(1)
	}
	return err
}
