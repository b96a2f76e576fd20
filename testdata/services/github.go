// Package services holds stand-ins for the services that collectors speak with:
// in-process servers that page, cap, limit, sign, expire and fail like the real
// ones, and remember every header that they saw.
package services

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// GitHub is a stand-in for api.github.com, and for the store on another host
// that it sends to for logs.
type GitHub struct {
	API, Store *httptest.Server
	Org        string
	Repos      []*Repo
	Token      string // the one that is known
	Now        func() time.Time

	// Limit is how many calls an hour allows; 0: no limit is told.
	Limit int
	// Fault is asked before each request; a status other than 0 is answered in
	// place of what was asked for. n is the number of the request to that address.
	Fault func(host string, r *http.Request, n int) Fault

	NoGraphQL bool                        // it is refused
	Audit     []map[string]any            // nil: the organisation has none
	Packages  map[string][]map[string]any // container packages with their versions; nil: the token may not see them

	mu    sync.Mutex
	blobs map[string]string
	spent int
	reset time.Time
	seen  []Seen
	asked map[string]int
	ids   map[string]*Repo
}

// Seen is a request that some host got.
type Seen struct {
	Host   string // api or store
	Method string
	URL    string
	Header http.Header
}

// Fault is what goes wrong with an answer.
type Fault struct {
	Status int         // answered in its place
	Header http.Header // with these
	Body   string
	Cut    bool // half of the body comes, and the connection ends
	Slow   bool // the body comes in small pieces
	Bare   bool // the body has half its bytes, and nothing says so
}

// Repo is a repository.
type Repo struct {
	Name  string // owner/name
	Gone  int    // status in place of its list of runs
	Runs  []*Run
	Files func(commit, path string) string // what a commit has; "" for nothing
}

// Run is a workflow run with all its attempts.
type Run struct {
	ID               int64
	Created, Updated time.Time
	Status           string // "": completed
	Conclusion       string // "": success
	Path             string
	SHA              string
	Attempts         []*Attempt
	Calls            []Called // reusable workflows
}

// Called is a reusable workflow that a run called.
type Called struct{ Path, Ref, SHA string }

// Attempt is one attempt of a run.
type Attempt struct {
	Jobs []*Job
	Gone int // status in place of its log archive
}

// Job is a job of an attempt.
type Job struct {
	ID         int64
	Name       string
	Started    time.Time
	Seconds    int
	Conclusion string // "": success
	Labels     []string
	Runner     string
	Lines      []string // what it printed
	Gone       int      // status in place of its log
	Alone      bool     // the archive of the attempt lacks it
}

// Start starts both hosts. Close ends them.
func (g *GitHub) Start() *GitHub {
	if g.Now == nil {
		g.Now = time.Now
	}
	g.asked = map[string]int{}
	g.Store = httptest.NewServer(http.HandlerFunc(g.store))
	g.API = httptest.NewUnstartedServer(http.HandlerFunc(g.api)) // it hands out addresses of the store, and its own
	g.API.Start()
	return g
}

// Close ends both hosts.
func (g *GitHub) Close() {
	g.API.Close()
	g.Store.Close()
}

// Requests returns what both hosts saw.
func (g *GitHub) Requests() []Seen {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.seen)
}

// Forget forgets what was seen.
func (g *GitHub) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = nil
}

// note remembers a request and returns what goes wrong with it.
func (g *GitHub) note(host string, r *http.Request) Fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, Seen{host, r.Method, r.URL.String(), r.Header.Clone()})
	g.asked[host+r.URL.Path]++
	if g.Fault == nil {
		return Fault{}
	}
	return g.Fault(host, r, g.asked[host+r.URL.Path])
}

// api answers as the API does.
func (g *GitHub) api(w http.ResponseWriter, r *http.Request) {
	fault := g.note("api", r)
	if fault.Status != 0 {
		for k, v := range fault.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(fault.Status)
		fmt.Fprint(w, fault.Body)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+g.Token {
		message(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	if r.Method == http.MethodPost { // GraphQL is counted apart
		w.Header().Set("X-RateLimit-Resource", "graphql")
		w.Header().Set("X-RateLimit-Limit", "5000")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", "4102444800")
	} else if !g.spend(w) {
		message(w, http.StatusForbidden, "API rate limit exceeded for user ID 1.")
		return
	}
	words := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/api/v3"), "/"), "/")
	switch {
	case len(words) == 3 && words[0] == "orgs" && words[2] == "repos":
		g.list(w, r, words[1])
	case len(words) == 3 && words[0] == "orgs" && words[2] == "audit-log" && g.Audit != nil:
		g.audit(w, r)
	case len(words) >= 3 && words[0] == "orgs" && words[2] == "packages":
		g.packages(w, r, words[3:])
	case r.Method == http.MethodPost && words[len(words)-1] == "graphql":
		g.graphql(w, r)
	case len(words) == 6 && words[0] == "repos" && words[3] == "git" && words[4] == "blobs":
		g.blob(w, words[1]+"/"+words[2], words[5])
	case len(words) > 4 && words[0] == "repos" && words[3] == "contents":
		g.contents(w, r, words[1]+"/"+words[2], strings.Join(words[4:], "/"))
	case len(words) >= 5 && words[0] == "repos" && words[3] == "actions":
		g.actions(w, r, fault, g.repo(words[1]+"/"+words[2]), words[4:])
	default:
		message(w, http.StatusNotFound, "Not Found")
	}
}

// spend counts a call against the limit.
func (g *GitHub) spend(w http.ResponseWriter) bool {
	if g.Limit == 0 {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := g.Now(); !now.Before(g.reset) {
		g.spent, g.reset = 0, now.Add(time.Hour).Truncate(time.Second)
	}
	ok := g.spent < g.Limit
	if ok {
		g.spent++
	}
	w.Header().Set("X-RateLimit-Limit", strconv.Itoa(g.Limit))
	w.Header().Set("X-RateLimit-Resource", "core")
	w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(g.Limit-g.spent))
	w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(g.reset.Unix(), 10))
	return ok
}

func message(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":%q,"documentation_url":"https://docs.github.com/rest","status":"%d"}`, text, status)
}

// page cuts one page out of a list, and says where the next one is.
func page[T any](w http.ResponseWriter, r *http.Request, all []T, most int) []T {
	q := r.URL.Query()
	per, err := strconv.Atoi(q.Get("per_page"))
	if err != nil || per < 1 {
		per = 30
	}
	per = min(per, 100)
	n, err := strconv.Atoi(q.Get("page"))
	if err != nil || n < 1 {
		n = 1
	}
	last := min(len(all), most)
	from, to := min((n-1)*per, last), min(n*per, last)
	if to < last {
		next := *r.URL
		next.Scheme, next.Host = "http", r.Host
		q.Set("page", strconv.Itoa(n+1))
		next.RawQuery = q.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, &next))
	}
	return all[from:to]
}

const everything = 1 << 40

func answer(w http.ResponseWriter, fault Fault, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	send(w, fault, data)
}

// send writes a body, and does to it what goes wrong.
func send(w http.ResponseWriter, fault Fault, data []byte) {
	if fault.Bare {
		data = data[:len(data)/2]
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	switch {
	case fault.Cut:
		_, _ = w.Write(data[:len(data)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case fault.Slow:
		for len(data) > 0 {
			n := min(len(data), 7+len(data)/9)
			_, _ = w.Write(data[:n])
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Millisecond)
			data = data[n:]
		}
	default:
		_, _ = w.Write(data)
	}
}

func (g *GitHub) list(w http.ResponseWriter, r *http.Request, org string) {
	if org != g.Org {
		message(w, http.StatusNotFound, "Not Found")
		return
	}
	var all []map[string]any
	for i, repo := range g.Repos {
		all = append(all, map[string]any{"id": i + 1, "name": repo.Name[strings.Index(repo.Name, "/")+1:], "full_name": repo.Name})
	}
	answer(w, Fault{}, page(w, r, all, everything))
}

func (g *GitHub) repo(name string) *Repo {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ids == nil {
		g.ids = map[string]*Repo{}
		for _, r := range g.Repos {
			g.ids[r.Name] = r
		}
	}
	return g.ids[name]
}

func (g *GitHub) actions(w http.ResponseWriter, r *http.Request, fault Fault, repo *Repo, words []string) {
	if repo == nil {
		message(w, http.StatusNotFound, "Not Found")
		return
	}
	if len(words) == 1 && words[0] == "runs" {
		if repo.Gone != 0 {
			message(w, repo.Gone, http.StatusText(repo.Gone))
			return
		}
		g.runs(w, r, fault, repo)
		return
	}
	if words[0] == "jobs" && len(words) == 3 {
		for _, run := range repo.Runs {
			for _, a := range run.Attempts {
				for _, j := range a.Jobs {
					if strconv.FormatInt(j.ID, 10) == words[1] {
						g.sign(w, r, j.Gone)
						return
					}
				}
			}
		}
	}
	i := slices.IndexFunc(repo.Runs, func(run *Run) bool { return len(words) > 2 && strconv.FormatInt(run.ID, 10) == words[1] })
	switch {
	case i < 0:
		message(w, http.StatusNotFound, "Not Found")
	case len(words) == 3 && words[2] == "jobs":
		g.jobs(w, r, fault, repo, repo.Runs[i])
	case len(words) == 5 && words[2] == "attempts" && words[4] == "logs":
		n, _ := strconv.Atoi(words[3])
		if n < 1 || n > len(repo.Runs[i].Attempts) {
			message(w, http.StatusNotFound, "Not Found")
			return
		}
		g.sign(w, r, repo.Runs[i].Attempts[n-1].Gone)
	default:
		message(w, http.StatusNotFound, "Not Found")
	}
}

// runs lists runs, newest first; a query with a filter gives 1,000 at most.
func (g *GitHub) runs(w http.ResponseWriter, r *http.Request, fault Fault, repo *Repo) {
	from, to, filtered := strings.Cut(r.URL.Query().Get("created"), "..")
	var all []*Run
	for _, run := range repo.Runs {
		at := run.Created.UTC().Format(time.RFC3339)
		if !filtered || at >= from && at <= to {
			all = append(all, run)
		}
	}
	slices.SortFunc(all, func(a, b *Run) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID)) })
	most := everything
	if filtered {
		most = 1000
	}
	var out []map[string]any
	for _, run := range page(w, r, all, most) {
		out = append(out, g.run(r, repo, run))
	}
	if out == nil {
		out = []map[string]any{}
	}
	answer(w, fault, map[string]any{"total_count": len(all), "workflow_runs": out})
}

func (g *GitHub) run(r *http.Request, repo *Repo, run *Run) map[string]any {
	base := "http://" + r.Host + "/repos/" + repo.Name + "/actions/runs/" + strconv.FormatInt(run.ID, 10)
	status := cmp.Or(run.Status, "completed")
	v := map[string]any{
		"id": run.ID, "name": "ci", "head_sha": run.SHA, "path": run.Path, "run_number": run.ID % 1000, "event": "push",
		"status": status, "conclusion": nil, "workflow_id": 9, "url": base, "html_url": "https://github.example/" + repo.Name + "/actions/runs/" + strconv.FormatInt(run.ID, 10),
		"created_at": stamp(run.Created), "updated_at": stamp(run.Updated), "run_attempt": len(run.Attempts), "run_started_at": stamp(run.started()),
		"repository": map[string]any{"id": 7, "full_name": repo.Name},
	}
	var calls []map[string]string
	for _, c := range run.Calls {
		calls = append(calls, map[string]string{"path": c.Path + "@" + c.Ref, "sha": c.SHA, "ref": c.Ref})
	}
	v["referenced_workflows"] = calls
	if status == "completed" {
		v["conclusion"] = cmp.Or(run.Conclusion, "success")
	}
	return v
}

// started is when the last attempt began.
func (run *Run) started() time.Time {
	if jobs := run.Attempts[len(run.Attempts)-1].Jobs; len(run.Attempts) > 1 && len(jobs) > 0 {
		return jobs[0].Started
	}
	return run.Created
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// jobs lists the jobs of the latest attempt, or of all.
func (g *GitHub) jobs(w http.ResponseWriter, r *http.Request, fault Fault, repo *Repo, run *Run) {
	var all []map[string]any
	for n, a := range run.Attempts {
		if r.URL.Query().Get("filter") != "all" && n < len(run.Attempts)-1 {
			continue
		}
		for _, j := range a.Jobs {
			base := "http://" + r.Host + "/repos/" + repo.Name + "/actions/"
			v := map[string]any{
				"id": j.ID, "run_id": run.ID, "run_url": base + "runs/" + strconv.FormatInt(run.ID, 10), "run_attempt": n + 1,
				"url": base + "jobs/" + strconv.FormatInt(j.ID, 10), "name": j.Name, "status": "completed", "conclusion": cmp.Or(j.Conclusion, "success"),
				"created_at": stamp(j.Started), "started_at": stamp(j.Started), "completed_at": stamp(j.Started.Add(time.Duration(j.Seconds) * time.Second)),
				"labels": j.Labels, "runner_name": cmp.Or(j.Runner, "GitHub Actions 7"),
				"steps": []map[string]any{{"name": "Set up job", "number": 1, "status": "completed", "conclusion": "success"}},
			}
			if n == len(run.Attempts)-1 && cmp.Or(run.Status, "completed") != "completed" {
				v["status"], v["conclusion"], v["completed_at"] = run.Status, nil, nil
			}
			all = append(all, v)
		}
	}
	out := page(w, r, all, everything)
	if out == nil {
		out = []map[string]any{}
	}
	answer(w, fault, map[string]any{"total_count": len(all), "jobs": out})
}
