// Package buildkite collects what Buildkite knows of the builds of a window: the
// logs of their jobs, those that were retried too, and the names of the secrets
// of clusters.
//
// It asks the REST API itself: four kinds of GET, of whose answers the case keeps
// no values of variables.
//
// https://buildkite.com/docs/apis/rest-api
package buildkite

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// API is the address of Buildkite's API.
const API = "https://api.buildkite.com"

// Options say what to collect.
type Options struct {
	Organizations []string // slugs: all their pipelines
	Pipelines     []string // organization/pipeline
}

// https://buildkite.com/docs/apis/rest-api/pipelines: slugs
var slug = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?$`)

// Parse adds what a word of the command line means: an organization, or a
// pipeline of one.
func (o *Options) Parse(word string) error {
	org, pipeline, one := strings.Cut(word, "/")
	switch {
	case !slug.MatchString(org) || one && !slug.MatchString(pipeline):
		return fmt.Errorf("%q: want an organization, or a pipeline as organization/pipeline", word)
	case one:
		o.Pipelines = append(o.Pipelines, word)
	default:
		o.Organizations = append(o.Organizations, word)
	}
	return nil
}

// Target names what is collected, for the ledger.
func (o Options) Target(api string) string {
	return collect.TargetOf(api, slices.Concat(o.Organizations, o.Pipelines))
}

// Connect are the options of a session with Buildkite but for the token, the
// case and the window.
//
// https://buildkite.com/docs/apis/rest-api/rate-limits
func Connect(api string) collect.Options {
	return collect.Options{Collector: "buildkite", Base: api, PerMinute: 180} // of 200, which all users of an organization share
}

// Tokens are the places where a token may be.
func Tokens(file string) collect.Places {
	return collect.Places{File: file, Env: []string{"BUILDKITE_API_TOKEN", "BUILDKITE_TOKEN"}}
}

// Plan is what a dry run found.
type Plan struct {
	Builds int64
	Jobs   int64 // that have a log
	Calls  int64 // that the collection takes, beside those of the dry run
}

type collector struct {
	s        *collect.Session
	opt      Options
	pool     *collect.Pool
	from, to time.Time
	dry      bool

	builds, jobs, clusters, unfinished, silent atomic.Int64
}

// Collect asks for everything of the session's window.
func Collect(ctx context.Context, s *collect.Session, opt Options) error {
	c, err := newCollector(s, opt)
	if err != nil {
		return err
	}
	if err := c.run(ctx); err != nil {
		return err
	}
	if n := c.unfinished.Load(); n > 0 {
		s.Say("%d jobs had not ended, or had only just: collect again later", n)
	}
	if n := c.silent.Load(); n > 0 {
		s.Say("%d lists of secrets are not for this token: the scopes read_clusters and read_secrets_details show their names", n)
	}
	return nil
}

// DryRun lists builds and clusters.
func DryRun(ctx context.Context, s *collect.Session, opt Options) (Plan, error) {
	c, err := newCollector(s, opt)
	if err != nil {
		return Plan{}, err
	}
	c.dry = true
	err = c.run(ctx)
	jobs := c.jobs.Load()
	return Plan{Builds: c.builds.Load(), Jobs: jobs, Calls: jobs + c.clusters.Load()}, err
}

func newCollector(s *collect.Session, opt Options) (*collector, error) {
	from, to, err := s.Bounds()
	if err != nil {
		return nil, err
	}
	return &collector{s: s, opt: opt, from: from, to: to}, nil
}

func (c *collector) run(ctx context.Context) error {
	return collect.Run(ctx, c.s.Workers(), func(_ context.Context, p *collect.Pool) error {
		c.pool = p
		orgs := slices.Clone(c.opt.Organizations)
		for _, org := range c.opt.Organizations {
			c.lists("/v2/organizations/"+org, org)
		}
		for _, word := range c.opt.Pipelines {
			org, pipeline, _ := strings.Cut(word, "/")
			orgs = append(orgs, org)
			c.lists("/v2/organizations/"+org+"/pipelines/"+pipeline, word)
		}
		slices.Sort(orgs)
		for _, org := range slices.Compact(orgs) {
			p.Add(func(ctx context.Context) error { return c.secrets(ctx, org) })
		}
		return nil
	})
}

// lists lists the builds that were at work in the window: those that ended in it
// or later, and those that go on.
func (c *collector) lists(at, name string) {
	ended := url.Values{"finished_from": {stamp(c.from)}}
	open := url.Values{"state[]": {"running", "scheduled", "failing", "canceling", "blocked"}}
	for _, query := range []url.Values{ended, open} {
		query.Set("include_retried_jobs", "true")
		c.pool.Add(func(ctx context.Context) error { return c.list(ctx, at+"/builds", name, query) })
	}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

const (
	perPage  = 100
	maxPages = 10 // of one query: the service refuses to list deeper
)

// list goes through a list of builds, newest first. Where a query gets deep, the
// next one ends where it stopped.
func (c *collector) list(ctx context.Context, at, name string, query url.Values) error {
	seen := map[string]bool{}
	for to := c.to.Add(time.Millisecond); ; { // it takes what was created before
		query.Set("created_to", stamp(to))
		last, more, err := c.query(ctx, at, name, query, seen)
		if err != nil || !more {
			return err
		}
		if last = last.Add(time.Millisecond); !last.Before(to) {
			c.s.Say("%s: more than %d builds were created at %s: not all can be listed", name, perPage*maxPages, stamp(to))
			last = to.Add(-time.Millisecond)
		}
		to = last
	}
}

// query lists the builds of one query; more tells that there are others, created
// at last or before.
func (c *collector) query(ctx context.Context, at, name string, query url.Values, seen map[string]bool) (last time.Time, more bool, err error) {
	want := collect.Want{
		Kind: "builds", Name: "builds.json", Reading: timeline.PageOf, Keep: collect.Only[[]build], Detail: "builds of " + name,
	}
	q := url.Values{}
	for k, v := range query {
		q[k] = v
	}
	q.Set("per_page", fmt.Sprint(perPage))
	for page := 1; page <= maxPages; page++ {
		var in []build
		a, ok, err := c.s.Get(ctx, at, q, want, &in)
		if !ok || err != nil {
			return last, false, err
		}
		for i := range in {
			if last = in[i].Created; !seen[in[i].URL] {
				seen[in[i].URL] = true
				c.take(&in[i])
			}
		}
		next := a.Next().Get("page")
		if next == "" || len(in) == 0 {
			return last, false, nil
		}
		q.Set("page", next)
	}
	return last, true, nil
}
