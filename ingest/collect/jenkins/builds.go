package jenkins

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// item is a folder, a job, or the configuration of a matrix project. Folders,
// among them multibranch projects and organizations, have jobs.
type item struct {
	Name           string `json:"name"`
	Jobs           []item `json:"jobs"`
	Configurations []item `json:"activeConfigurations"`
	Next           int64  `json:"nextBuildNumber"`
	First          *run   `json:"firstBuild"`
	Last           *run   `json:"lastBuild"`
	Builds         []run  `json:"allBuilds"`
}

// run is a build.
type run struct {
	Number   int64  `json:"number"`
	Begun    int64  `json:"timestamp"` // ms since 1970
	Duration int64  `json:"duration"`  // ms, 0 while it goes on
	Building bool   `json:"building"`
	Result   string `json:"result"`
}

func (r *run) begun() time.Time { return time.UnixMilli(r.Begun).UTC() }

// span is when the build was at work.
func (r *run) span() timeline.Span {
	s := timeline.Span{From: r.begun().UnixNano(), To: timeline.Forever, Clock: timeline.Section}
	if !r.Building {
		s.To = s.From + r.Duration*int64(time.Millisecond) + int64(time.Millisecond) - 1
	}
	return s
}

const (
	fields  = "name,nextBuildNumber,lastBuild[number,timestamp]"
	perPage = 100
)

// tree are the fields of an item and of those below it; of the lowest it only
// shows whether they are folders.
//
// https://www.jenkins.io/doc/book/using/remote-access-api/#RemoteaccessAPI-Depthcontrol
func tree(depth int) string {
	below := "name"
	if depth > 0 {
		below = tree(depth - 1)
	}
	return fields + ",activeConfigurations[" + fields + "],jobs[" + below + "]"
}

// depth is how many folders one call looks into.
const depth = 4

// root lists everything.
func (c *collector) root(ctx context.Context) error {
	var in item
	want := collect.Want{Kind: "jobs", Detail: "jobs of " + c.host}
	_, ok, err := c.s.Get(ctx, "/api/json", url.Values{"tree": {"jobs[" + tree(depth-1) + "]"}}, want, &in)
	if !ok || err != nil {
		return err
	}
	for i := range in.Jobs {
		c.item(place{}.job(in.Jobs[i].Name), &in.Jobs[i], depth-1)
	}
	return nil
}

// word lists a folder, or a job.
func (c *collector) word(ctx context.Context, at place) error {
	var in item
	want := collect.Want{Kind: "jobs", Detail: "folder or job " + strings.TrimPrefix(at.name, "/")}
	_, ok, err := c.s.Get(ctx, at.path+"/api/json", url.Values{"tree": {tree(depth)}}, want, &in)
	if !ok || err != nil {
		return err
	}
	c.item(at, &in, depth)
	return nil
}

// item collects what stands at a place; below is how deep its listing went, less
// than 0 when it only has its name.
func (c *collector) item(at place, it *item, below int) {
	switch {
	case it.Name == "":
		c.s.Say("something without a name is left out: %s", at.name)
	case below < 0:
		c.pool.Add(func(ctx context.Context) error { return c.word(ctx, at) })
	case it.Jobs != nil:
		c.store(at, "folder")
		for i := range it.Jobs {
			c.item(at.job(it.Jobs[i].Name), &it.Jobs[i], below-1)
		}
	default:
		c.job(at, it)
		for i := range it.Configurations {
			c.job(at.configuration(it.Configurations[i].Name), &it.Configurations[i])
		}
	}
}

// job lists the builds of a job, unless its last is of long before the window
// and nothing came after it.
func (c *collector) job(at place, it *item) {
	if it.Next <= 1 || it.Last != nil && it.Last.begun().Before(c.oldest()) && it.Last.Number == it.Next-1 {
		return
	}
	c.jobs.Add(1)
	c.pool.Add(func(ctx context.Context) error { return c.list(ctx, at) })
}

func (c *collector) oldest() time.Time { return c.from.Add(-c.opt.Lookback) }

// list goes through the builds of a job, newest first, until they are of long
// before the window. "builds" would hold 100 at most.
func (c *collector) list(ctx context.Context, at place) error {
	w := c.s.Window()
	want := collect.Want{
		Kind: "builds", Name: "builds.json", Reading: timeline.PageOf, Detail: "builds of " + strings.TrimPrefix(at.name, "/"), Span: w,
	}
	var all []run
	var it item
	for page := 0; ; page++ {
		query := url.Values{"tree": {fmt.Sprintf(
			"nextBuildNumber,firstBuild[number],allBuilds[number,timestamp,duration,building,result,builtOn]{%d,%d}", page*perPage, (page+1)*perPage)}}
		it = item{}
		_, ok, err := c.s.Get(ctx, at.path+"/api/json", query, want, &it)
		if !ok || err != nil {
			return err
		}
		for _, r := range it.Builds {
			if s := r.span(); r.Number > 0 && s.Overlaps(w.From, w.To) {
				c.log(at, r)
			}
		}
		all = append(all, it.Builds...)
		if len(it.Builds) < perPage || it.Builds[len(it.Builds)-1].begun().Before(c.oldest()) {
			break
		}
	}
	if c.dry {
		return nil
	}
	return c.gone(at, &it, all)
}

func (c *collector) subject(at place, number int64) timeline.Subject {
	return timeline.Subject{Kind: timeline.Job, ID: fmt.Sprintf("jenkins:%s%s/%d", c.host, at.name, number)}
}

// timed asks the Timestamper plugin for the log with times, in the form in which
// it prints them into logs.
//
//	[2026-10-21T12:04:51.123Z] + pip install litellm
//
// https://plugins.jenkins.io/timestamper/
var timed = url.Values{"time": {"'['yyyy-MM-dd'T'HH:mm:ss.SSS'Z]'"}, "timeZone": {"UTC"}, "appendLog": {"true"}}

// log gets the console log of a build: with times, else without, which then lie
// between its beginning and its end.
func (c *collector) log(at place, r run) {
	c.builds.Add(1)
	if c.dry {
		return
	}
	want := collect.Want{
		Kind: "logs", Name: "consoleText", Reading: timeline.Whole, Raw: true, Claim: c.subject(at, r.Number), Span: r.span(),
		Detail: fmt.Sprintf("build %d of %s", r.Number, strings.TrimPrefix(at.name, "/")),
	}
	if r.Building {
		c.unfinished.Add(1)
	} else {
		want.Reading, want.Version = timeline.Entire, fmt.Sprintf("%s %d", r.Result, r.Duration)
	}
	path := fmt.Sprintf("%s/%d", at.path, r.Number)
	c.pool.Add(func(ctx context.Context) error {
		known, err := c.s.Has(c.s.Base()+path+"/consoleText", want)
		if err != nil {
			return err
		}
		missing := false
		if !known && !c.untimed.Load() {
			times := want
			times.Begins, times.NoGap = "[2", []timeline.Reply{timeline.Absent, timeline.Denied, timeline.Expired, timeline.Failed}
			if !r.Building {
				times.Ends = "Finished: "
			}
			a, ok, err := c.s.Get(ctx, path+"/timestamps/", timed, times, nil)
			if ok || err != nil {
				return err
			}
			missing = a.Status == 404
		}
		_, ok, err := c.s.Get(ctx, path+"/consoleText", nil, want, nil)
		if ok && missing {
			c.untimed.Store(true)
		}
		return err
	})
}

// credentials are what is kept of a store: not names for people and
// descriptions, which may say more.
//
// https://plugins.jenkins.io/credentials/
type credentials struct {
	Domains map[string]struct {
		Credentials []struct {
			ID   string `json:"id"`
			Type string `json:"typeName"`
		} `json:"credentials"`
	} `json:"domains"`
}

// store asks for the ids of the credentials that a place keeps.
func (c *collector) store(at place, kind string) {
	c.stores.Add(1)
	if c.dry {
		return
	}
	want := collect.Want{
		Kind: "variables", Name: "credentials.json", Reading: timeline.PageOf, NoGap: []timeline.Reply{timeline.Absent, timeline.Denied},
		Keep:  collect.Only[credentials],
		Claim: timeline.Subject{Kind: timeline.Source, ID: "jenkins:" + c.host + at.name},
	}
	c.pool.Add(func(ctx context.Context) error {
		_, ok, err := c.s.Get(ctx, at.path+"/credentials/store/"+kind+"/api/json", url.Values{"depth": {"2"}}, want, nil)
		if err == nil && !ok {
			c.silent.Add(1)
		}
		return err
	})
}
