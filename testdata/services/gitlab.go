package services

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// GitLab is a stand-in for the API of GitLab, and for the store on another host
// that it sends to for some traces.
type GitLab struct {
	API, Store *httptest.Server
	Group      string
	Projects   []*GitLabProject
	Token      string
	PerPage    int
	Busy       int // so many requests are answered with 429 first

	Before func(host string, r *http.Request) // told of each request; nil: nobody is

	mu   sync.Mutex
	seen []Seen
}

// GitLabProject is a project.
type GitLabProject struct {
	ID        int64
	Path      string
	Variables []map[string]any // nil: the token may not see them
	Jobs      []*GitLabJob     // newest first
}

// GitLabJob is a job.
type GitLabJob struct {
	ID                         int64
	Created, Started, Finished time.Time // zero: not yet
	Trace                      string
	Stored                     bool // the trace is in the store
	Gone                       int  // status in place of the trace
}

// Start starts the servers.
func (g *GitLab) Start() {
	g.Store = httptest.NewServer(g.seeing("store", func(w http.ResponseWriter, r *http.Request) {
		for _, p := range g.Projects {
			for _, j := range p.Jobs {
				if r.URL.Path == fmt.Sprint("/", j.ID) {
					fmt.Fprint(w, j.Trace)
				}
			}
		}
	}))
	g.API = httptest.NewUnstartedServer(g.seeing("api", g.api)) // it hands out addresses of the store, and its own
	g.API.Start()
}

// Close stops them.
func (g *GitLab) Close() {
	g.API.Close()
	g.Store.Close()
}

// Requests returns what each host saw since the last time.
func (g *GitLab) Requests() []Seen {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := g.seen
	g.seen = nil
	return seen
}

func (g *GitLab) seeing(host string, f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.seen = append(g.seen, Seen{host, r.Method, r.URL.String(), r.Header.Clone()})
		busy := host == "api" && g.Busy > 0
		if busy {
			g.Busy--
		}
		g.mu.Unlock()
		if g.Before != nil {
			g.Before(host, r)
		}
		if busy {
			w.Header().Set("Retry-After", "30")
			http.Error(w, "Retry later", http.StatusTooManyRequests)
			return
		}
		f(w, r)
	}
}

func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":"%d %s"}`, status, http.StatusText(status))
}

func (g *GitLab) api(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("PRIVATE-TOKEN") != g.Token {
		refuse(w, http.StatusUnauthorized)
		return
	}
	words := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/api/v4/"), "/")
	if len(words) == 3 && words[0] == "groups" && words[1] == url.PathEscape(g.Group) {
		g.group(w, r, words[2])
		return
	}
	for _, p := range g.Projects {
		if words[0] == "projects" && (words[1] == fmt.Sprint(p.ID) || words[1] == url.PathEscape(p.Path)) {
			g.project(w, r, p, words[2:])
			return
		}
	}
	refuse(w, http.StatusNotFound)
}

// record is a project in whole.
func (p *GitLabProject) record() map[string]any {
	return map[string]any{"id": p.ID, "path_with_namespace": p.Path, "runners_token": "GR1348941s3cr3t"}
}

func (g *GitLab) group(w http.ResponseWriter, r *http.Request, what string) {
	switch what {
	case "projects":
		var all []any
		for _, p := range g.Projects {
			all = append(all, p.record())
		}
		g.page(w, r, all)
	default:
		g.page(w, r, []any{map[string]any{"variable_type": "env_var", "key": "GROUP_TOKEN", "value": "s3cr3t-of-the-group", "protected": true, "masked": true, "environment_scope": "*"}})
	}
}

func (g *GitLab) project(w http.ResponseWriter, r *http.Request, p *GitLabProject, words []string) {
	switch what := strings.Join(words, "/"); {
	case what == "":
		reply(w, p.record())
	case what == "variables" && p.Variables == nil:
		refuse(w, http.StatusForbidden)
	case what == "variables":
		var all []any
		for _, v := range p.Variables {
			all = append(all, v)
		}
		g.page(w, r, all)
	case what == "registry/repositories":
		g.page(w, r, []any{map[string]any{"id": 1, "path": p.Path, "tags": []any{map[string]any{"name": "1.4"}}}})
	case what == "jobs":
		var all []any
		for _, j := range p.Jobs {
			all = append(all, j.record())
		}
		g.page(w, r, all)
	case len(words) == 3 && words[2] == "trace":
		for _, j := range p.Jobs {
			if words[1] == fmt.Sprint(j.ID) {
				g.trace(w, r, j)
			}
		}
	default:
		refuse(w, http.StatusNotFound)
	}
}

func (j *GitLabJob) record() map[string]any {
	at := func(t time.Time) any {
		if t.IsZero() {
			return nil
		}
		return t
	}
	return map[string]any{"id": j.ID, "status": "success", "created_at": at(j.Created), "started_at": at(j.Started), "finished_at": at(j.Finished)}
}

func (g *GitLab) trace(w http.ResponseWriter, r *http.Request, j *GitLabJob) {
	switch {
	case j.Gone != 0:
		refuse(w, j.Gone)
	case j.Stored:
		http.Redirect(w, r, fmt.Sprintf("%s/%d?X-Amz-Signature=s3cr3t", g.Store.URL, j.ID), http.StatusFound)
	default:
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, j.Trace)
	}
}

// page answers a page of a list; its cursor is where the next one begins.
func (g *GitLab) page(w http.ResponseWriter, r *http.Request, all []any) {
	q := r.URL.Query()
	n, _ := strconv.Atoi(q.Get("per_page"))
	if g.PerPage > 0 {
		n = min(n, g.PerPage)
	}
	at, _ := base64.RawURLEncoding.DecodeString(q.Get("cursor"))
	i, _ := strconv.Atoi(string(at))
	rest := all[min(i, len(all)):]
	if n < len(rest) {
		rest = rest[:n]
		q.Set("cursor", base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprint(i+n))))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next", <%s/first>; rel="first"`, g.API.URL, r.URL.EscapedPath(), q.Encode(), g.API.URL))
	}
	if rest == nil {
		rest = []any{}
	}
	reply(w, rest)
}
