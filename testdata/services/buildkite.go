package services

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Buildkite is a stand-in for api.buildkite.com, and for the store on another
// host that it sends to for some logs.
type Buildkite struct {
	Hosts
	Org      string
	Builds   []*BuildkiteBuild // newest first
	Clusters []BuildkiteCluster
	Limit    int // calls in a minute; 0: no limit is told
	Now      func() time.Time

	spent int
	reset time.Time
}

// BuildkiteBuild is a build of a pipeline.
type BuildkiteBuild struct {
	Pipeline          string
	Number            int
	Created, Finished time.Time // zero: it goes on
	Env               map[string]string
	Jobs              []*BuildkiteJob
}

// BuildkiteJob is a job of a build.
type BuildkiteJob struct {
	ID                string
	Type              string // "": script
	Started, Finished time.Time
	Lost              bool // the agent was
	Retried           bool // it is listed only where that is asked for
	Log               string
	Stored            bool // the log is in the store
	Gone              int  // status in place of the log
}

// BuildkiteCluster is a cluster with its secrets.
type BuildkiteCluster struct {
	ID, Name string
	Secrets  []string
	Gone     int // status in place of the secrets
}

// Start starts both hosts.
func (b *Buildkite) Start() {
	if b.Now == nil {
		b.Now = time.Now
	}
	b.start(b.api, func(w http.ResponseWriter, r *http.Request) {
		if j := b.job(strings.TrimPrefix(r.URL.Path, "/")); j != nil {
			fmt.Fprint(w, j.Log)
		}
	})
}

func (b *Buildkite) job(id string) *BuildkiteJob {
	for _, build := range b.Builds {
		for _, j := range build.Jobs {
			if j.ID == id {
				return j
			}
		}
	}
	return nil
}

// spend counts a call against the limit, which is told in seconds from now.
// https://buildkite.com/docs/apis/rest-api/rate-limits
func (b *Buildkite) spend(w http.ResponseWriter) bool {
	if b.Limit == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.Now()
	if !now.Before(b.reset) {
		b.spent, b.reset = 0, now.Add(time.Minute)
	}
	ok := b.spent < b.Limit
	if ok {
		b.spent++
	}
	w.Header().Set("RateLimit-Limit", strconv.Itoa(b.Limit))
	w.Header().Set("RateLimit-Remaining", strconv.Itoa(b.Limit-b.spent))
	w.Header().Set("RateLimit-Reset", strconv.Itoa(int(b.reset.Sub(now).Seconds())))
	return ok
}

func (b *Buildkite) api(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+b.Token {
		refuse(w, http.StatusUnauthorized)
		return
	}
	if !b.spend(w) {
		refuse(w, http.StatusTooManyRequests)
		return
	}
	words := strings.Split(strings.TrimPrefix(r.URL.Path, "/v2/organizations/"), "/")
	if words[0] != b.Org || len(words) < 2 {
		refuse(w, http.StatusNotFound)
		return
	}
	switch words = words[1:]; {
	case len(words) == 1 && words[0] == "builds":
		b.builds(w, r, "")
	case len(words) == 3 && words[0] == "pipelines" && words[2] == "builds":
		b.builds(w, r, words[1])
	case len(words) == 7 && words[0] == "pipelines" && words[4] == "jobs" && words[6] == "log":
		b.log(w, r, b.job(words[5]))
	case len(words) == 1 && words[0] == "clusters":
		var all []map[string]any
		for _, c := range b.Clusters {
			all = append(all, map[string]any{"id": c.ID, "name": c.Name, "description": "s3cr3t"})
		}
		list(w, r, all)
	case len(words) == 3 && words[0] == "clusters" && words[2] == "secrets":
		b.secrets(w, r, words[1])
	default:
		refuse(w, http.StatusNotFound)
	}
}

// list answers a page; one without anything is [].
func list[T any](w http.ResponseWriter, r *http.Request, all []T) {
	out := page(w, r, all, everything)
	if out == nil {
		out = []T{}
	}
	reply(w, out)
}

func (b *Buildkite) builds(w http.ResponseWriter, r *http.Request, pipeline string) {
	q := r.URL.Query()
	at := func(name string) time.Time { t, _ := time.Parse(time.RFC3339, q.Get(name)); return t }
	var all []map[string]any
	known := pipeline == ""
	for _, build := range b.Builds {
		known = known || build.Pipeline == pipeline
		state := "passed"
		if build.Finished.IsZero() {
			state = "running"
		}
		switch {
		case pipeline != "" && build.Pipeline != pipeline:
		case q.Has("created_to") && !build.Created.Before(at("created_to")):
		case q.Has("created_from") && build.Created.Before(at("created_from")):
		case q.Has("finished_from") && (build.Finished.IsZero() || build.Finished.Before(at("finished_from"))):
		case len(q["state[]"]) > 0 && !slices.Contains(q["state[]"], state):
		default:
			all = append(all, b.record(build, state, q.Get("include_retried_jobs") == "true"))
		}
	}
	if !known {
		refuse(w, http.StatusNotFound)
		return
	}
	list(w, r, all)
}

// instant is a time as the API writes it, null for none.
func instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

func (b *Buildkite) record(build *BuildkiteBuild, state string, retried bool) map[string]any {
	jobs := []map[string]any{}
	for _, j := range build.Jobs {
		if j.Retried && !retried {
			continue
		}
		kind := j.Type
		if kind == "" {
			kind = "script"
		}
		exit := 0
		if j.Lost {
			exit = -1
		}
		jobs = append(jobs, map[string]any{
			"exit_status": exit, "id": j.ID, "type": kind, "state": "passed", "command": "deploy --password s3cr3t", "created_at": instant(build.Created),
			"started_at": instant(j.Started), "finished_at": instant(j.Finished), "retried": j.Retried, "agent": map[string]any{"hostname": "ci-" + j.ID, "meta_data": []string{"queue=default"}},
		})
	}
	return map[string]any{
		"url":    fmt.Sprintf("%s/v2/organizations/%s/pipelines/%s/builds/%d", b.API.URL, b.Org, build.Pipeline, build.Number),
		"number": build.Number, "state": state, "message": "s3cr3t", "env": build.Env, "meta_data": map[string]string{"k": "s3cr3t"},
		"created_at": instant(build.Created), "started_at": instant(build.Created), "finished_at": instant(build.Finished), "jobs": jobs,
		"pipeline": map[string]any{"slug": build.Pipeline, "env": build.Env},
	}
}

func (b *Buildkite) log(w http.ResponseWriter, r *http.Request, j *BuildkiteJob) {
	switch {
	case j == nil:
		refuse(w, http.StatusNotFound)
	case j.Gone != 0:
		refuse(w, j.Gone)
	case j.Stored:
		http.Redirect(w, r, b.Store.URL+"/"+j.ID+"?X-Amz-Signature=s3cr3t", http.StatusFound)
	case r.Header.Get("Accept") != "text/plain":
		reply(w, map[string]any{"url": "", "content": j.Log, "size": len(j.Log), "header_times": []int64{}})
	default:
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, j.Log)
	}
}

func (b *Buildkite) secrets(w http.ResponseWriter, r *http.Request, id string) {
	for _, c := range b.Clusters {
		switch {
		case c.ID != id:
			continue
		case c.Gone != 0:
			refuse(w, c.Gone)
			return
		}
		var all []map[string]any
		for i, key := range c.Secrets {
			all = append(all, map[string]any{
				"id": fmt.Sprintf("%s-%d", id, i), "key": key, "description": "s3cr3t", "policy": nil, "created_at": "2025-10-01T06:51:21.067Z", "updated_at": nil,
				"cluster_url": b.API.URL + "/v2/organizations/" + b.Org + "/clusters/" + id,
			})
		}
		list(w, r, all)
		return
	}
	refuse(w, http.StatusNotFound)
}
