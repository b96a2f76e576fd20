package buildkite

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

// build is what is kept of a build: of its variables the names, and nothing that
// people wrote.
//
// https://buildkite.com/docs/apis/rest-api/builds
type build struct {
	URL      string             `json:"url"`
	Number   int                `json:"number"`
	State    string             `json:"state"`
	Created  time.Time          `json:"created_at"`
	Started  *time.Time         `json:"started_at"`
	Finished *time.Time         `json:"finished_at"`
	Env      map[string]nothing `json:"env"`
	Jobs     []job              `json:"jobs"`
}

// job is a job of a build; one that was retried is another.
//
// https://buildkite.com/docs/apis/rest-api/jobs
type job struct {
	ID       string     `json:"id"`
	Type     string     `json:"type"`
	State    string     `json:"state"`
	Created  *time.Time `json:"created_at"`
	Started  *time.Time `json:"started_at"`
	Finished *time.Time `json:"finished_at"`
	Exit     *int       `json:"exit_status"` // -1: the agent was lost, and with it what it printed last
	Retried  bool       `json:"retried"`
	Agent    *struct {
		Hostname string `json:"hostname"`
	} `json:"agent"`
}

// nothing stands for a value that is not kept.
type nothing struct{}

// UnmarshalJSON drops the value.
func (*nothing) UnmarshalJSON([]byte) error { return nil }

// MarshalJSON writes an empty text.
func (nothing) MarshalJSON() ([]byte, error) { return []byte(`""`), nil }

var (
	uuid     = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)
	buildURL = regexp.MustCompile(`/organizations/([A-Za-z0-9_-]+)/pipelines/([A-Za-z0-9_-]+)/builds/([0-9]+)$`)
)

// take collects the logs of the jobs of a build. All of them: what came late in
// it may have got what came in the window.
func (c *collector) take(b *build) {
	at := buildURL.FindStringSubmatch(b.URL)
	if at == nil {
		c.s.Say("a build without an address that is one is left out: %q", b.URL)
		return
	}
	c.builds.Add(1)
	for i := range b.Jobs {
		if j := &b.Jobs[i]; j.Type == "script" && j.Started != nil && (j.Finished == nil || !j.Finished.Before(c.from)) {
			c.log(at, j)
		}
	}
}

// log gets the log of a job as text, which it is as JSON too.
//
// https://buildkite.com/docs/apis/rest-api/jobs#get-a-jobs-log-output
func (c *collector) log(at []string, j *job) {
	if !uuid.MatchString(j.ID) {
		c.s.Say("a job without an id that is one is left out: %q", j.ID)
		return
	}
	c.jobs.Add(1)
	name := at[1] + "/" + at[2] + "/builds/" + at[3]
	want := collect.Want{
		Kind: "logs", Name: "job.log", Reading: timeline.Whole, Signed: true, Raw: true,
		Claim:  timeline.Subject{Kind: timeline.Job, ID: "buildkite:" + name + "/jobs/" + j.ID},
		Span:   timeline.Span{From: j.Started.UnixNano(), To: timeline.Forever, Clock: timeline.Section},
		Detail: "job " + j.ID + " of " + name,
	}
	if j.Finished != nil && c.s.Settled(*j.Finished) {
		want.Version, want.Span.To = j.State+" "+stamp(*j.Finished), j.Finished.UnixNano()
		if j.Exit != nil && *j.Exit >= 0 {
			want.Reading = timeline.Entire
		}
	} else {
		c.unfinished.Add(1)
	}
	if c.dry {
		return
	}
	c.pool.Add(func(ctx context.Context) error {
		_, _, err := c.s.Get(ctx, fmt.Sprintf("/v2/organizations/%s/pipelines/%s/builds/%s/jobs/%s/log", at[1], at[2], at[3], j.ID), nil, want, nil)
		return err
	})
}

// cluster is a cluster in short.
//
// https://buildkite.com/docs/apis/rest-api/clusters
type cluster struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// secret is what is kept of a secret: not its description, which may say it.
//
// https://buildkite.com/docs/apis/rest-api/clusters/secrets
type secret struct {
	Key      string  `json:"key"`
	Policy   *string `json:"policy"`
	Created  *string `json:"created_at"`
	Updated  *string `json:"updated_at"`
	LastRead *string `json:"last_read_at"`
	Cluster  string  `json:"cluster_url"`
}

// notAll are the refusals of what not every token may see.
var notAll = []timeline.Reply{timeline.Absent, timeline.Denied}

// secrets asks for the names of the secrets of each cluster.
func (c *collector) secrets(ctx context.Context, org string) error {
	at := "/v2/organizations/" + org + "/clusters"
	want := collect.Want{Kind: "clusters", NoGap: notAll, Keep: collect.Only[[]cluster]}
	had, err := pages(ctx, c, at, want, func(in []cluster) {
		for _, cl := range in {
			if !uuid.MatchString(cl.ID) {
				continue
			}
			c.clusters.Add(1)
			if c.dry {
				continue
			}
			c.pool.Add(func(ctx context.Context) error {
				// The format takes the name of the cluster from that of the folder.
				folder := strings.ReplaceAll(cl.Name, "/", "_")
				want := collect.Want{
					Kind: "variables", Name: path.Join(folder, "secrets.json"), Reading: timeline.PageOf, NoGap: notAll, Keep: collect.Only[[]secret],
					Claim: timeline.Subject{Kind: timeline.Source, ID: "buildkite:" + org},
				}
				return c.silently(pages(ctx, c, at+"/"+cl.ID+"/secrets", want, func([]secret) {}))
			})
		}
	})
	return c.silently(had, err)
}

// silently counts lists that were refused and are no gap.
func (c *collector) silently(had bool, err error) error {
	if err == nil && !had {
		c.silent.Add(1)
	}
	return err
}

// pages goes through a list; had tells that its first page was obtained.
//
// https://buildkite.com/docs/apis/rest-api#pagination
func pages[T any](ctx context.Context, c *collector, at string, want collect.Want, each func(in []T)) (had bool, err error) {
	query := url.Values{"per_page": {fmt.Sprint(perPage)}}
	for page := ""; ; had = true {
		var in []T
		a, ok, err := c.s.Get(ctx, at, query, want, &in)
		if !ok || err != nil {
			return had, err
		}
		each(in)
		next := a.Next().Get("page")
		if next == "" || next == page || len(in) == 0 {
			return true, nil
		}
		page = next
		query.Set("page", page)
	}
}
