// Package gitlab collects what GitLab knows of the jobs of a window: their
// traces, the names of the variables that they held, and the images that their
// projects keep.
//
// It asks the REST API itself: five kinds of GET. A client library would want
// the answers whole, with the values of variables in them.
//
// https://docs.gitlab.com/api/rest/
package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"sync/atomic"
	"time"

	"pulltrail/ingest/collect"
)

// API is the address of gitlab.com's own API; that of another server is
// https://HOST/api/v4.
const API = "https://gitlab.com/api/v4"

// Lookback is how long before the window a job may have been created that was
// at work in it: one that waits for a hand may be started at any time.
const Lookback = 30 * 24 * time.Hour

// Options say what to collect.
type Options struct {
	Words    []string      // paths of groups, and of projects
	Lookback time.Duration // 0: Lookback
}

// https://docs.gitlab.com/user/reserved_names/#limitations-on-usernames-project-and-group-names-and-slugs
var fullPath = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]*[A-Za-z0-9_-])*$`)

// Parse adds what a word of the command line means: a group, or a project.
func (o *Options) Parse(word string) error {
	if !fullPath.MatchString(word) {
		return fmt.Errorf("%q: want a group, or a project as group/project", word)
	}
	o.Words = append(o.Words, word)
	return nil
}

// Target names what is collected, for the ledger.
func (o Options) Target(api string) string {
	return collect.TargetOf(api, o.Words)
}

// Connect are the options of a session with GitLab but for the token, the case
// and the window.
func Connect(api string) collect.Options {
	return collect.Options{
		Collector: "gitlab", Base: api,
		Authorize: func(h http.Header, token string) { h.Set("PRIVATE-TOKEN", token) },
	}
}

// Tokens are the places where a token for the host may be.
func Tokens(api, file string) collect.Places {
	p := collect.Places{File: file, Env: []string{"GITLAB_TOKEN"}}
	if u, err := url.Parse(api); err == nil {
		p.Helper = []string{"glab", "config", "get", "token", "--host", u.Host}
	}
	return p
}

// Plan is what a dry run found.
type Plan struct {
	Projects int64
	Jobs     int64 // at work in the window
	Calls    int64 // that the collection takes, beside those of the dry run
}

type collector struct {
	s        *collect.Session
	opt      Options
	pool     *collect.Pool
	from, to time.Time
	dry      bool

	projects, jobs, unfinished, silent atomic.Int64
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
		s.Say("%d jobs had not ended: collect again when they have", n)
	}
	if n := c.silent.Load(); n > 0 {
		s.Say("%d projects and groups do not tell this token which variables they have: a maintainer's may read their names", n)
	}
	return nil
}

// DryRun lists projects and jobs.
func DryRun(ctx context.Context, s *collect.Session, opt Options) (Plan, error) {
	c, err := newCollector(s, opt)
	if err != nil {
		return Plan{}, err
	}
	c.dry = true
	err = c.run(ctx)
	projects, jobs := c.projects.Load(), c.jobs.Load()
	return Plan{Projects: projects, Jobs: jobs, Calls: 2*projects + jobs}, err
}

func newCollector(s *collect.Session, opt Options) (*collector, error) {
	if opt.Lookback == 0 {
		opt.Lookback = Lookback
	}
	from, to, err := s.Bounds()
	if err != nil {
		return nil, err
	}
	return &collector{s: s, opt: opt, from: from, to: to}, nil
}

func (c *collector) run(ctx context.Context) error {
	return collect.Run(ctx, c.s.Workers(), func(_ context.Context, p *collect.Pool) error {
		c.pool = p
		for _, word := range c.opt.Words {
			p.Add(func(ctx context.Context) error { return c.word(ctx, word) })
		}
		return nil
	})
}

// pages goes through a list until page has enough; had tells that its first
// page was obtained.
//
// https://docs.gitlab.com/api/rest/#pagination
func pages[T any](ctx context.Context, c *collector, at string, query url.Values, want collect.Want, page func(in []T) (enough bool)) (had bool, err error) {
	query.Set("per_page", "100")
	for seen := map[string]bool{}; query != nil; had = true {
		if seen[query.Encode()] {
			return had, errors.New(c.s.Base() + at + ": the pages of the list go in a circle: it cannot be had whole")
		}
		seen[query.Encode()] = true
		var in []T
		a, ok, err := c.s.Get(ctx, at, query, want, &in)
		if !ok || err != nil {
			return had, err
		}
		if page(in) {
			return true, nil
		}
		query = a.Next()
	}
	return had, nil
}
