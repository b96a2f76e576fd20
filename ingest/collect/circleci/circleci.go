// Package circleci collects what CircleCI knows of the jobs of a window: their
// steps, what each printed, and the names of the variables of contexts and
// projects.
//
// It asks the REST API itself: pipelines, workflows and jobs of version 2, and
// the steps of a job of version 1.1, which alone knows where their output is.
//
// https://circleci.com/docs/api/v2/index.html
// https://circleci.com/docs/api/v1/index.html
package circleci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pulltrail/ingest/collect"
)

// API is the address of CircleCI's API; that of a server of one's own is
// https://HOST/api.
const API = "https://circleci.com/api"

// Lookback is how long before the window a pipeline may have been made whose
// workflows were at work in it: they wait for approval, and are started again.
const Lookback = 30 * 24 * time.Hour

// Options say what to collect.
type Options struct {
	Organizations []string // gh/acme
	Projects      []string // gh/acme/api
	Lookback      time.Duration
}

// https://circleci.com/docs/guides/toolkit/api-developers-guide/#getting-started-with-the-api
var slug = regexp.MustCompile(`^(gh|github|bb|bitbucket|circleci)/[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)?$`)

// Parse adds what a word of the command line means: an organization, or a
// project of one.
func (o *Options) Parse(word string) error {
	switch {
	case !slug.MatchString(word):
		return fmt.Errorf("%q: want an organization as gh/NAME, or a project as gh/NAME/PROJECT (bb/… for Bitbucket, circleci/ID/ID for those of its own)", word)
	case strings.Count(word, "/") == 1:
		o.Organizations = append(o.Organizations, word)
	default:
		o.Projects = append(o.Projects, word)
	}
	return nil
}

// Target names what is collected, for the ledger.
func (o Options) Target(api string) string {
	return collect.TargetOf(api, slices.Concat(o.Organizations, o.Projects))
}

// Connect are the options of a session with CircleCI but for the token, the case
// and the window.
func Connect(api string) collect.Options {
	return collect.Options{
		Collector: "circleci", Base: api,
		Authorize: func(h http.Header, token string) { h.Set("Circle-Token", token) },
	}
}

// Tokens are the places where a token may be.
func Tokens(file string) collect.Places {
	return collect.Places{File: file, Env: []string{"CIRCLE_TOKEN", "CIRCLECI_TOKEN", "CIRCLECI_CLI_TOKEN"}}
}

// Plan is what a dry run found.
type Plan struct {
	Pipelines int64 // that were made since the lookback
	Calls     int64 // that the collection takes at least, beside those of the dry run
}

type collector struct {
	s        *collect.Session
	opt      Options
	pool     *collect.Pool
	from, to time.Time
	dry      bool

	pipelines, jobs, unfinished, silent atomic.Int64

	mu   sync.Mutex
	seen map[string]bool // projects, and jobs: a workflow that is started again lists those that did well once more
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
	if len(opt.Organizations) > 0 {
		s.Say("an organization's list holds the projects that the token's owner follows, 250 at most: name others as VCS/NAME/PROJECT")
	}
	if n := c.unfinished.Load(); n > 0 {
		s.Say("%d jobs had not ended, or had only just: collect again later", n)
	}
	if n := c.silent.Load(); n > 0 {
		s.Say("%d contexts and projects do not tell this token which variables they have", n)
	}
	return nil
}

// DryRun lists pipelines.
func DryRun(ctx context.Context, s *collect.Session, opt Options) (Plan, error) {
	c, err := newCollector(s, opt)
	if err != nil {
		return Plan{}, err
	}
	c.dry = true
	err = c.run(ctx)
	n := c.pipelines.Load()
	return Plan{Pipelines: n, Calls: n + int64(len(c.seen)) + int64(len(opt.owners()))}, err
}

func newCollector(s *collect.Session, opt Options) (*collector, error) {
	if opt.Lookback == 0 {
		opt.Lookback = Lookback
	}
	from, to, err := s.Bounds()
	if err != nil {
		return nil, err
	}
	return &collector{s: s, opt: opt, from: from, to: to, seen: map[string]bool{}}, nil
}

// owners are the organizations, and those of the projects.
func (o Options) owners() []string {
	owners := slices.Clone(o.Organizations)
	for _, p := range o.Projects {
		owners = append(owners, p[:strings.LastIndexByte(p, '/')])
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}

func (c *collector) run(ctx context.Context) error {
	return collect.Run(ctx, c.s.Workers(), func(_ context.Context, p *collect.Pool) error {
		c.pool = p
		if !c.dry {
			for _, owner := range c.opt.owners() {
				p.Add(func(ctx context.Context) error { return c.contexts(ctx, owner) })
			}
		}
		for _, org := range c.opt.Organizations {
			p.Add(func(ctx context.Context) error {
				return c.list(ctx, "/v2/pipeline", url.Values{"org-slug": {org}}, org)
			})
		}
		for _, project := range c.opt.Projects {
			p.Add(func(ctx context.Context) error {
				return c.list(ctx, "/v2/project/"+project+"/pipeline", url.Values{}, project)
			})
		}
		return nil
	})
}

// first reports whether something was not met before.
func (c *collector) first(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	had := c.seen[what]
	c.seen[what] = true
	return !had
}

// pages goes through a list until page has enough; had tells that its first page
// was obtained.
//
//	{"items": […], "next_page_token": "AARLwwV6L…"}
//
// https://circleci.com/docs/guides/toolkit/api-developers-guide/#pagination
func pages[T any](ctx context.Context, c *collector, at string, query url.Values, want collect.Want, page func(items []T) (enough bool)) (had bool, err error) {
	for seen := map[string]bool{}; ; had = true {
		var in struct {
			Items []T    `json:"items"`
			Next  string `json:"next_page_token"`
		}
		_, ok, err := c.s.Get(ctx, at, query, want, &in)
		if !ok || err != nil {
			return had, err
		}
		if page(in.Items) || in.Next == "" {
			return true, nil
		}
		if seen[in.Next] {
			return true, errors.New(c.s.Base() + at + ": the pages of the list go in a circle: it cannot be had whole")
		}
		seen[in.Next] = true
		query.Set("page-token", in.Next)
	}
}
