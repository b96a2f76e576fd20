// Package jenkins collects what a Jenkins controller knows of the builds of a
// window: their console logs, with times where the Timestamper plugin answers,
// and the ids of credentials. Builds that were deleted are named.
//
// It asks the remote access API itself: GETs of JSON, each for the fields that it
// names, and of text.
//
// https://www.jenkins.io/doc/book/using/remote-access-api/
package jenkins

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"pulltrail/ingest/collect"
)

// Lookback is how long before the window a build may have begun that was at work
// in it.
const Lookback = 7 * 24 * time.Hour

// Options say what to collect.
type Options struct {
	Jobs     [][]string // names of folders and jobs from the root on; none: all
	Lookback time.Duration
}

// Parse adds what a word of the command line means: a folder, or a job in
// folders.
func (o *Options) Parse(word string) error {
	names := strings.Split(word, "/")
	for _, n := range names {
		if n == "" || n == "." || n == ".." || strings.ContainsAny(n, "?#\\") {
			return fmt.Errorf("%q: want a folder or a job as FOLDER/JOB; a branch as FOLDER/JOB/BRANCH, with %%2F for a slash in its name", word)
		}
	}
	o.Jobs = append(o.Jobs, names)
	return nil
}

// Target names what is collected, for the ledger.
func (o Options) Target(api string) string {
	if len(o.Jobs) == 0 {
		return api
	}
	var words []string
	for _, names := range o.Jobs {
		words = append(words, strings.Join(names, "/"))
	}
	return collect.TargetOf(api, words)
}

// Connect are the options of a session with Jenkins but for the login, the case
// and the window. A GET needs no crumb.
//
// https://www.jenkins.io/doc/book/system-administration/authenticating-scripted-clients/
func Connect(api string) collect.Options {
	return collect.Options{
		Collector: "jenkins", Base: api,
		Authorize: func(h http.Header, token string) {
			h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(token)))
		},
	}
}

// Tokens are the places where a login may be, as USER:TOKEN; two variables are
// those of Jenkins' own client.
//
// https://www.jenkins.io/doc/book/managing/cli/
func Tokens(file string) collect.Places {
	return collect.Places{
		File: file, Env: []string{"JENKINS_CREDENTIAL"},
		Login: func(context.Context) (string, error) {
			user, token := strings.TrimSpace(os.Getenv("JENKINS_USER_ID")), strings.TrimSpace(os.Getenv("JENKINS_API_TOKEN"))
			if user == "" || token == "" {
				return "", nil
			}
			return user + ":" + token, nil
		},
		Where: "$JENKINS_USER_ID with $JENKINS_API_TOKEN",
	}
}

// Plan is what a dry run found.
type Plan struct {
	Jobs   int64 // that have builds
	Builds int64 // at work in the window
	Calls  int64 // that the collection takes, beside those of the dry run
}

type collector struct {
	s        *collect.Session
	opt      Options
	pool     *collect.Pool
	from, to time.Time
	host     string // what the names of builds begin with
	dry      bool

	jobs, builds, stores, unfinished, silent, deleted atomic.Int64

	untimed atomic.Bool // there is no Timestamper
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
		s.Say("%d builds had not ended: collect again when they have", n)
	}
	if n := c.deleted.Load(); n > 0 {
		s.Say("%d builds that may have been at work in the window were deleted", n)
	}
	if n := c.silent.Load(); n > 0 {
		s.Say("%d stores do not tell this login which credentials they have: the permission Credentials/View shows their ids", n)
	}
	return nil
}

// DryRun lists jobs and builds.
func DryRun(ctx context.Context, s *collect.Session, opt Options) (Plan, error) {
	c, err := newCollector(s, opt)
	if err != nil {
		return Plan{}, err
	}
	c.dry = true
	err = c.run(ctx)
	builds := c.builds.Load()
	return Plan{Jobs: c.jobs.Load(), Builds: builds, Calls: builds + c.stores.Load()}, err
}

func newCollector(s *collect.Session, opt Options) (*collector, error) {
	if opt.Lookback == 0 {
		opt.Lookback = Lookback
	}
	from, to, err := s.Bounds()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(s.Base())
	if err != nil {
		return nil, err
	}
	return &collector{s: s, opt: opt, from: from, to: to, host: u.Host + u.Path}, nil
}

func (c *collector) run(ctx context.Context) error {
	return collect.Run(ctx, c.s.Workers(), func(_ context.Context, p *collect.Pool) error {
		c.pool = p
		c.store(place{}, "system")
		if len(c.opt.Jobs) == 0 {
			p.Add(func(ctx context.Context) error { return c.root(ctx) })
		}
		above := map[string]bool{}
		for _, names := range c.opt.Jobs {
			at := place{}
			for _, name := range names[:len(names)-1] {
				if at = at.job(name); !above[at.path] { // what lies above may hold credentials for it
					above[at.path] = true
					c.store(at, "folder")
				}
			}
			at = at.job(names[len(names)-1])
			p.Add(func(ctx context.Context) error { return c.word(ctx, at) })
		}
		return nil
	})
}

// place is where an item stands: in the API, and by name.
type place struct {
	path string // /job/team/job/api
	name string // /team/api
}

func (p place) job(name string) place {
	return place{p.path + "/job/" + url.PathEscape(name), p.name + "/" + name}
}

// configuration is a cell of a matrix project.
func (p place) configuration(name string) place {
	return place{p.path + "/" + url.PathEscape(name), p.name + "/" + name}
}
