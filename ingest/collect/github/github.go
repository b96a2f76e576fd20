// Package github collects what GitHub, or GitHub Enterprise Server, knows of
// the workflow runs of a window: the runs and all their attempts, their jobs and
// logs.
//
// https://docs.github.com/en/rest/actions
package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	gh "github.com/google/go-github/v60/github"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// API is the address of github.com's own API. That of a GitHub Enterprise
// Server is https://HOST/api/v3.
const API = "https://api.github.com"

// Lookback is how long before the window a run may have been created that was
// still at work in it: a run lasts 35 days at most, and can be started again for
// 30 days.
//
// https://docs.github.com/en/actions/reference/limits
const Lookback = 65 * 24 * time.Hour

// Options say what to collect.
type Options struct {
	Owners   []string      // organisations or users: all their repositories
	Repos    []string      // owner/name
	Lookback time.Duration // 0: Lookback
}

// Target names what is collected, for the ledger.
func (o Options) Target(api string) string {
	return collect.TargetOf(api, slices.Concat(o.Owners, o.Repos))
}

// Parse adds what a word of the command line means: an owner, or owner/name.
func (o *Options) Parse(word string) error {
	owner, name, repo := strings.Cut(word, "/")
	if !plain(owner) || repo && !plain(name) {
		return fmt.Errorf("%q: want an organisation or user, or a repository as owner/name", word)
	}
	if repo {
		o.Repos = append(o.Repos, word)
	} else {
		o.Owners = append(o.Owners, word)
	}
	return nil
}

// plain reports whether a word may be a name of GitHub, and so stand in a path.
func plain(s string) bool {
	return s != "" && s != "." && s != ".." && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}) < 0
}

// Connect are the options of a session with GitHub but for the token, the case
// and the window.
func Connect(api string) collect.Options {
	return collect.Options{
		Collector: "github", Base: api, Limited: limited,
		PerMinute: 900, // of the secondary limits, the one that a collector meets
	}
}

// Tokens are the places where a token for the host may be.
func Tokens(api, file string) collect.Places {
	p := collect.Places{File: file, Env: []string{"GITHUB_TOKEN", "GH_TOKEN"}, Helper: []string{"gh", "auth", "token"}}
	if u, err := url.Parse(api); err == nil && api != API {
		p.Env = []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
		p.Helper = append(p.Helper, "--hostname", u.Host)
	}
	return p
}

// limited knows the secondary limits too, of which some answers say so in words
// alone.
//
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
func limited(r *http.Response, body []byte, now time.Time) (until time.Time, hit bool) {
	if until, hit = collect.RateLimit(r, body, now); hit {
		return until, hit
	}
	if r.StatusCode == http.StatusForbidden && strings.Contains(string(body), "secondary rate limit") {
		return now.Add(time.Minute), true
	}
	return until, false
}

// Plan is what a dry run found.
type Plan struct {
	Repos int64 // repositories
	Runs  int64 // runs that are listed, those that began earlier included
	Calls int64 // that the collection takes at least, beside those of the dry run
}

// collector is one collection.
type collector struct {
	s    *collect.Session
	opt  Options
	api  *gh.Client
	pool *collect.Pool
	from time.Time
	to   time.Time
	dry  bool

	repos, runs, unfinished, absent atomic.Int64
	files                           files
}

// runRecord is a run; the library leaves the path of its workflow out.
type runRecord struct {
	gh.WorkflowRun
	Path string `json:"path"`
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
	if err := c.workflows(ctx); err != nil {
		return err
	}
	if n := c.unfinished.Load(); n > 0 {
		s.Say("%d runs had not ended: collect again when they have", n)
	}
	if n := c.absent.Load(); n > 0 {
		s.Say("%d workflow files are not in the commits that ran: which secrets those jobs held is not known", n)
	}
	return nil
}

// DryRun counts what a collection would ask for. It lists the repositories, and
// the first page of the runs of each.
func DryRun(ctx context.Context, s *collect.Session, opt Options) (Plan, error) {
	c, err := newCollector(s, opt)
	if err != nil {
		return Plan{}, err
	}
	c.dry = true
	err = c.run(ctx)
	repos, runs := c.repos.Load(), c.runs.Load()
	return Plan{Repos: repos, Runs: runs, Calls: repos/perPage + repos + runs/perPage + 2*runs}, err
}

func newCollector(s *collect.Session, opt Options) (*collector, error) {
	if opt.Lookback == 0 {
		opt.Lookback = Lookback
	}
	base, err := url.Parse(s.Base() + "/")
	if err != nil {
		return nil, err
	}
	from, to, err := s.Bounds()
	if err != nil {
		return nil, err
	}
	c := &collector{s: s, opt: opt, api: gh.NewClient(s.Client()), from: from, to: to}
	c.api.BaseURL = base
	return c, nil
}

func (c *collector) run(ctx context.Context) error {
	return collect.Run(ctx, c.s.Workers(), func(_ context.Context, p *collect.Pool) error {
		c.pool = p
		for _, owner := range c.opt.Owners {
			p.Add(func(ctx context.Context) error { return c.owner(ctx, owner) })
		}
		for _, repo := range c.opt.Repos {
			c.repo(repo)
		}
		return nil
	})
}

// perPage is the most that GitHub puts on a page.
const perPage = 100

// owner lists the repositories of an organisation, else of a user; archived
// ones too.
func (c *collector) owner(ctx context.Context, owner string) error {
	org := &gh.RepositoryListByOrgOptions{Type: "all", ListOptions: gh.ListOptions{PerPage: perPage}}
	want := collect.Want{Kind: "repositories", NoGap: []timeline.Reply{timeline.Absent}}
	found, err := c.repositories(owner, func(page int) ([]*gh.Repository, *gh.Response, error) {
		org.Page = page
		return c.api.Repositories.ListByOrg(collect.For(ctx, want), owner, org)
	})
	if found && !c.dry {
		for _, category := range []string{"workflows", "packages"} {
			c.pool.Add(func(ctx context.Context) error { return c.audit(ctx, owner, category) })
		}
		c.pool.Add(func(ctx context.Context) error { return c.packages(ctx, owner) })
	}
	if found || err != nil {
		return err
	}
	user := &gh.RepositoryListByUserOptions{Type: "owner", ListOptions: gh.ListOptions{PerPage: perPage}}
	want.NoGap = nil
	_, err = c.repositories(owner, func(page int) ([]*gh.Repository, *gh.Response, error) {
		user.Page = page
		return c.api.Repositories.ListByUser(collect.For(ctx, want), owner, user)
	})
	return err
}

// repositories goes through the pages of a list; found is false when there is
// no such owner.
func (c *collector) repositories(owner string, list func(page int) ([]*gh.Repository, *gh.Response, error)) (found bool, err error) {
	for page := 1; page != 0; {
		repos, resp, err := list(page)
		switch status, err := refusal(err); {
		case err != nil:
			return false, err
		case status == http.StatusNotFound && page == 1:
			return false, nil
		case status != 0:
			c.s.Say("%s: its repositories cannot be listed: HTTP %d", owner, status)
			return true, nil
		}
		for _, r := range repos {
			c.repo(r.GetFullName())
		}
		page = resp.NextPage
	}
	return true, nil
}

// refusal tells an answer that is a refusal, which the ledger has, from an
// error that ends the collection: it is the status, 0 for what was obtained.
func refusal(err error) (status int, fatal error) {
	var refused *gh.ErrorResponse
	if errors.As(err, &refused) {
		return refused.Response.StatusCode, nil
	}
	return 0, err
}

func (c *collector) repo(name string) {
	owner, repo, ok := strings.Cut(name, "/")
	if !ok || !plain(owner) || !plain(repo) {
		return // it would lead elsewhere
	}
	c.repos.Add(1)
	c.pool.Add(func(ctx context.Context) error { return c.list(ctx, owner, repo) })
}

// maxPages is how many pages GitHub gives of one query: 1,000 results.
const maxPages = 10

// list goes through the runs of a repository that were created up to the end of
// the window, and not so long before it that they cannot have lasted until then.
// They come newest first; where a query reaches its cap, the next one ends where
// it stopped, so no page is asked for in vain.
func (c *collector) list(ctx context.Context, owner, repo string) error {
	seen := map[int64]bool{}
	for to := c.to; ; {
		last, more, err := c.query(ctx, owner, repo, to, seen)
		if err != nil || !more {
			return err
		}
		if !last.Before(to) {
			last = to.Add(-time.Second)
			c.s.Say("%s/%s: more than 1,000 runs were created at %s: not all can be listed", owner, repo, to.Format(time.RFC3339))
		}
		to = last
	}
}

// query lists the runs that were created up to a time; more tells that there
// are others, created at last or before.
func (c *collector) query(ctx context.Context, owner, repo string, to time.Time, seen map[int64]bool) (last time.Time, more bool, err error) {
	const stamp = "2006-01-02T15:04:05Z"
	q := url.Values{
		"created":               {c.from.Add(-c.opt.Lookback).Format(stamp) + ".." + to.Format(stamp)},
		"exclude_pull_requests": {"true"}, "per_page": {strconv.Itoa(perPage)},
	}
	for page := 1; page <= maxPages; page++ {
		if page > 1 {
			q.Set("page", strconv.Itoa(page))
		}
		req, err := c.api.NewRequest(http.MethodGet, "repos/"+owner+"/"+repo+"/actions/runs?"+q.Encode(), nil)
		if err != nil {
			return last, false, err
		}
		want := collect.Want{Kind: "runs", Name: "runs.json", Reading: timeline.PageOf, Detail: "runs of " + owner + "/" + repo}
		var runs struct {
			Total int64        `json:"total_count"`
			Runs  []*runRecord `json:"workflow_runs"`
		}
		resp, err := c.api.Do(collect.For(ctx, want), req, &runs)
		if status, err := refusal(err); status != 0 || err != nil {
			return last, false, err
		}
		if c.dry {
			c.runs.Add(runs.Total)
			return last, false, nil
		}
		for _, run := range runs.Runs {
			if !seen[run.GetID()] {
				seen[run.GetID()] = true
				c.take(owner, repo, run)
			}
			last = run.GetCreatedAt().UTC()
		}
		if resp.NextPage == 0 && page < maxPages || len(runs.Runs) == 0 {
			return last, false, nil
		}
	}
	return last, true, nil
}

// take collects a run that was at work in the window.
func (c *collector) take(owner, repo string, run *runRecord) {
	done := run.GetStatus() == "completed"
	if done && run.GetUpdatedAt().Before(c.from) {
		return
	}
	c.runs.Add(1)
	if !done {
		c.unfinished.Add(1)
	}
	r := &workflowRun{c: c, owner: owner, repo: repo, id: run.GetID(), attempts: max(1, min(run.GetRunAttempt(), maxAttempts)), done: done}
	r.version = fmt.Sprintf("attempt %d, %s, %s", r.attempts, run.GetStatus(), run.GetUpdatedAt().UTC().Format(time.RFC3339))
	switch run.GetConclusion() {
	case "skipped", "startup_failure", "action_required":
		return // no job began
	}
	c.pool.Add(r.collect)
	r.want(run)
}

// maxAttempts bounds what a broken record can make us ask for.
const maxAttempts = 1000

// subject is the identity of a run's attempt.
func (r *workflowRun) subject(attempt int) timeline.Subject {
	return timeline.Subject{Kind: timeline.Job, ID: fmt.Sprintf("github:%s/%s/runs/%d/attempts/%d", r.owner, r.repo, r.id, attempt)}
}

// path is below the run in the API.
func (r *workflowRun) path(words ...string) string {
	return path.Join(append([]string{"repos", r.owner, r.repo, "actions"}, words...)...)
}
