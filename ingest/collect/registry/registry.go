// Package registry collects what an image registry holds: tags, the indexes and
// manifests that they name, configs with their history, what refers to them, and
// where it is wanted the layers.
//
// It asks the registry itself: five kinds of GET, whose bytes are kept as they
// came, so that anybody can hash them. A client library would parse them first.
//
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md
package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// dockerHub is the host in the names of images that Docker Hub holds, and
// dockerHubAPI the one that answers.
const (
	dockerHub    = "docker.io"
	dockerHubAPI = "registry-1.docker.io"
)

// Options say what to collect.
type Options struct {
	Host  string   // as it stands in names of images
	Repos []string // none: all that the registry lists

	Content bool // the layers of images too
}

var (
	hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)
	// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests
	repoName = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagName  = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`)
)

// Parse adds what a word of the command line means: HOST, or HOST/REPO.
func (o *Options) Parse(word string) error {
	host, repo, one := strings.Cut(word, "/")
	switch {
	case !hostName.MatchString(host) || one && !repoName.MatchString(repo):
		return fmt.Errorf("%q: want a registry, such as registry.acme.example, or a repository in it, such as registry.acme.example/acme/api", word)
	case o.Host != "" && o.Host != host:
		return fmt.Errorf("%q is of another registry than %s: collect one at a time", word, o.Host)
	case o.Host != "" && (!one || len(o.Repos) == 0):
		return fmt.Errorf("%q: name the registry alone, or repositories in it", word)
	}
	o.Host = host
	if one {
		if host == dockerHub && !strings.Contains(repo, "/") {
			repo = "library/" + repo
		}
		o.Repos = append(o.Repos, repo)
	}
	return nil
}

// Target names what is collected, for the ledger.
func (o Options) Target() string {
	return collect.TargetOf(o.Host, o.Repos)
}

// Connect are the options of a session with the registry but for the token and
// the case. say tells people which token service is asked.
func Connect(o Options, say func(string)) collect.Options {
	base := url.URL{Scheme: "https", Host: o.Host}
	if collect.Loopback(base.Hostname()) {
		base.Scheme = "http" // as docker does
	}
	if o.Host == dockerHub {
		base.Host = dockerHubAPI
	}
	return collect.Options{
		Collector: "registry", Target: o.Target(), Base: base.String(), Authorize: authorize, Denies: true,
		Dial: &transport{next: collect.Network(), base: &base, say: say, tokens: map[string]bearer{}, told: map[string]bool{}},
	}
}

// Plan is what a dry run found.
type Plan struct {
	Repos int64
	Tags  int64
	Calls int64 // that the collection takes at least, beside those of the dry run
	Bytes int64 // of layers, with Content
}

type collector struct {
	s    *collect.Session
	opt  Options
	pool *collect.Pool
	dry  bool
	done sync.Map // what was asked for by digest

	repos, tags, layers, bytes atomic.Int64
}

// Collect asks for everything that the registry holds now.
func Collect(ctx context.Context, s *collect.Session, opt Options) error {
	return (&collector{s: s, opt: opt}).run(ctx)
}

// DryRun lists repositories and tags; with Content it asks for manifests, which
// say how large the layers are.
func DryRun(ctx context.Context, s *collect.Session, opt Options) (Plan, error) {
	c := &collector{s: s, opt: opt, dry: true}
	err := c.run(ctx)
	repos, tags := c.repos.Load(), c.tags.Load()
	return Plan{Repos: repos, Tags: tags, Calls: repos + 3*tags + c.layers.Load(), Bytes: c.bytes.Load()}, err
}

func (c *collector) run(ctx context.Context) error {
	known, err := c.s.Hashes("config", layerKind)
	if err != nil {
		return err
	}
	for _, hash := range known {
		c.first("", "sha256:"+hash) // perhaps by the name of another repository
	}
	return collect.Run(ctx, c.s.Workers(), func(ctx context.Context, p *collect.Pool) error {
		c.pool = p
		if len(c.opt.Repos) == 0 {
			return c.catalog(ctx)
		}
		for _, repo := range c.opt.Repos {
			c.repo(repo, true)
		}
		return nil
	})
}

// ask makes a request and reads a JSON answer of a list, or of a manifest; ok
// is false when it was refused, which the ledger has.
func (c *collector) ask(ctx context.Context, at string, query url.Values, want collect.Want, accept string, into any) (a *collect.Answer, ok bool, err error) {
	want.Accept = accept
	if a, ok, err = c.s.Get(ctx, at, query, want, nil); !ok || err != nil || into == nil {
		return a, ok, err
	}
	if err := a.Decode(into); errors.Is(err, collect.ErrMalformed) {
		c.s.Say("%v", err)
		return a, false, nil
	} else if err != nil {
		return nil, false, err
	}
	return a, true, nil
}

// pages goes through a list whose next page a Link header names.
//
//	Link: </v2/_catalog?last=acme%2Fweb&n=100>; rel="next"
//
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#listing-tags
func (c *collector) pages(ctx context.Context, at string, want collect.Want, page func(in *listing)) error {
	query := url.Values{"n": {"1000"}}
	for seen := map[string]bool{}; query != nil; {
		if seen[query.Encode()] {
			return errors.New(c.s.Base() + at + ": the pages of the list go in a circle: it cannot be had whole")
		}
		seen[query.Encode()] = true
		var in listing
		a, ok, err := c.ask(ctx, at, query, want, "application/json", &in)
		if !ok || err != nil {
			return err
		}
		page(&in)
		query = next(a)
	}
	return nil
}

// listing is a page of a list.
//
//	{"repositories":["acme/api","acme/web"]}
//	{"name":"acme/api","tags":["1.4","latest"]}
type listing struct {
	Repositories []string `json:"repositories"`
	Tags         []string `json:"tags"`
}

// next is the query of the next page, nil for none. Where it leads is not
// believed, only where in the list.
func next(a *collect.Answer) url.Values {
	var head http.Header
	if err := json.Unmarshal([]byte(a.Head), &head); err != nil {
		return nil
	}
	for _, link := range head["Link"] {
		target, rel, _ := strings.Cut(link, ">")
		if u, err := url.Parse(strings.TrimPrefix(strings.TrimSpace(target), "<")); err == nil && strings.Contains(rel, "next") {
			return u.Query()
		}
	}
	return nil
}

// catalog lists the repositories of the registry.
func (c *collector) catalog(ctx context.Context) error {
	return c.pages(ctx, "/v2/_catalog", collect.Want{Kind: "repositories", Detail: "the repositories of " + c.opt.Host}, func(in *listing) {
		for _, repo := range in.Repositories {
			c.repo(repo, false)
		}
	})
}

// repo lists the tags of a repository. One that the registry lists and then
// does not know had all its tags deleted.
func (c *collector) repo(repo string, named bool) {
	if !repoName.MatchString(repo) {
		c.s.Say("%s: %q is no name of a repository: it is left out", c.opt.Host, repo)
		return
	}
	c.repos.Add(1)
	want := collect.Want{Kind: "tags", Detail: "the tags of " + c.opt.Host + "/" + repo}
	if !named {
		want.NoGap = []timeline.Reply{timeline.Absent}
	}
	c.pool.Add(func(ctx context.Context) error {
		return c.pages(ctx, "/v2/"+repo+"/tags/list", want, func(in *listing) {
			c.tags.Add(int64(len(in.Tags)))
			for _, tag := range in.Tags {
				if (!c.dry || c.opt.Content) && tagName.MatchString(tag) {
					c.pool.Add(func(ctx context.Context) error { return c.tag(ctx, repo, tag) })
				}
			}
		})
	})
}
