package github

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// file is a workflow file at a commit.
type file struct{ path, commit string }

// use is an attempt whose workflow, or called workflow, a file is.
type use struct {
	attempt timeline.Subject
	kind    string // workflow, called
	name    string // by which the workflow calls it
}

// files are the workflow files that are wanted, by repository.
type files struct {
	mu sync.Mutex
	of map[string]map[file][]use
}

func (f *files) add(repo string, at file, u use) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[string]map[file][]use{}
	}
	if f.of[repo] == nil {
		f.of[repo] = map[file][]use{}
	}
	f.of[repo][at] = append(f.of[repo][at], u)
}

// workflowDir is where GitHub looks for workflows.
const workflowDir = ".github/workflows/"

// want notes the workflow files of a run: its own, at the commit that ran, and
// those that it calls, at the commit that the record names.
func (r *workflowRun) want(run *runRecord) {
	own, _, _ := strings.Cut(run.Path, "@")
	if !inWorkflowDir(own) || !commit(run.GetHeadSHA()) {
		return // GitHub's own, such as dynamic/dependabot
	}
	repo := r.owner + "/" + r.repo
	for attempt := 1; attempt <= r.attempts; attempt++ {
		who := r.subject(attempt)
		r.c.files.add(repo, file{own, run.GetHeadSHA()}, use{who, "workflow", own})
		for _, ref := range run.ReferencedWorkflows {
			// acme/shared/.github/workflows/deploy.yml@v1
			full, _, _ := strings.Cut(ref.GetPath(), "@")
			words := strings.SplitN(full, "/", 3)
			if len(words) < 3 || !plain(words[0]) || !plain(words[1]) || !inWorkflowDir(words[2]) || !commit(ref.GetSHA()) {
				continue
			}
			name := full
			if words[0]+"/"+words[1] == repo {
				name = words[2]
			}
			r.c.files.add(words[0]+"/"+words[1], file{words[2], ref.GetSHA()}, use{who, "called", name})
		}
	}
}

// commit reports whether a word is the hash of a commit, and so stands in a
// query as it is.
func commit(s string) bool { return len(s) >= 40 && strings.Trim(s, "0123456789abcdef") == "" }

// batch is how many files one query asks after.
const batch = 100

// workflows gets the files that are wanted. Most commits have the same workflow:
// queries of a hundred commits each tell which content each has, and each
// content is got once.
func (c *collector) workflows(ctx context.Context) error {
	return collect.Run(ctx, c.s.Workers(), func(_ context.Context, p *collect.Pool) error {
		for _, repo := range slices.Sorted(maps.Keys(c.files.of)) {
			uses := c.files.of[repo]
			all := slices.SortedFunc(maps.Keys(uses), func(a, b file) int {
				return strings.Compare(a.commit+a.path, b.commit+b.path)
			})
			p.Add(func(ctx context.Context) error { return c.contents(ctx, repo, all, uses) })
		}
		return nil
	})
}

// contents gets the files of one repository.
func (c *collector) contents(ctx context.Context, repo string, all []file, uses map[file][]use) error {
	blobs := map[string]*collect.Answer{}
	for part := range slices.Chunk(all, batch) {
		ids, err := c.blobs(ctx, repo, part)
		if err != nil {
			return err
		}
		for _, f := range part {
			if ids != nil && ids[f] == "" {
				c.absent.Add(1)
				continue
			}
			a, known := blobs[ids[f]]
			if !known {
				if a, err = c.content(ctx, repo, f, ids[f]); err != nil {
					return err
				}
				if ids[f] != "" {
					blobs[ids[f]] = a
				}
			}
			if a == nil || a.Reply != timeline.Obtained {
				continue
			}
			for _, u := range uses[f] {
				if err := c.used(repo, f, u, a); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// used records that a file is evidence of an attempt.
func (c *collector) used(repo string, f file, u use, a *collect.Answer) error {
	want := collect.Want{Kind: u.kind, Name: u.name, Claim: u.attempt, Version: collect.Lasting, Reading: timeline.NoReading}
	if u.kind == "workflow" {
		want.Reading = timeline.Whole
	}
	address := c.s.Base() + "/" + contentsOf(repo, f) + "#" + u.attempt.ID
	return c.s.Also(a, strings.ReplaceAll(address, "!", "%21"), want)
}

// contentsOf is where the API has a file.
func contentsOf(repo string, f file) string {
	u := url.URL{Path: path.Join("repos", repo, "contents", f.path)}
	return u.EscapedPath() + "?ref=" + f.commit
}

// inWorkflowDir reports whether a path is that of a workflow file, and leads
// nowhere else.
func inWorkflowDir(p string) bool { return strings.HasPrefix(p, workflowDir) && path.Clean(p) == p }

// blobs asks which content files have, by one query: none for a file that is not
// there. It is nil where the query is refused.
//
// https://docs.github.com/en/graphql/reference/objects#blob
func (c *collector) blobs(ctx context.Context, repo string, part []file) (map[file]string, error) {
	owner, name, _ := strings.Cut(repo, "/")
	var q strings.Builder
	fmt.Fprintf(&q, "query{repository(owner:%q,name:%q){", owner, name)
	for i, f := range part {
		fmt.Fprintf(&q, "f%d:object(expression:%s){oid}", i, quote(f.commit+":"+f.path))
	}
	q.WriteString("}}")
	address := "graphql"
	if strings.HasSuffix(c.s.Base(), "/api/v3") {
		address = "../graphql"
	}
	req, err := c.api.NewRequest(http.MethodPost, address, map[string]string{"query": q.String()})
	if err != nil {
		return nil, err
	}
	a, err := c.s.Ask(req.WithContext(ctx), collect.Want{
		Kind: "blobs", Version: collect.Lasting, NoGap: []timeline.Reply{timeline.Absent, timeline.Denied, timeline.Failed},
	})
	if err != nil || a.Reply != timeline.Obtained {
		return nil, err
	}
	in, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var got struct {
		Data struct {
			Repository map[string]*struct {
				OID string `json:"oid"`
			} `json:"repository"`
		} `json:"data"`
	}
	if err := json.NewDecoder(in).Decode(&got); err != nil {
		return nil, nil //nolint:nilerr // another service than GitHub's: each file is asked for
	}
	ids := map[file]string{}
	for i, f := range part {
		if o := got.Data.Repository[fmt.Sprintf("f%d", i)]; o != nil && commit(o.OID) {
			ids[f] = o.OID
		}
	}
	return ids, nil
}

// quote is a string of GraphQL.
func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

// content gets a file by its content's id, else by its name.
//
// https://docs.github.com/en/rest/git/blobs
func (c *collector) content(ctx context.Context, repo string, f file, id string) (*collect.Answer, error) {
	address := path.Join("repos", repo, "git", "blobs", id)
	if id == "" {
		address = contentsOf(repo, f)
	}
	req, err := c.api.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/vnd.github.raw+json")
	return c.s.Ask(req.WithContext(ctx), collect.Want{
		Kind: "file", Raw: true, Version: collect.Lasting, NoGap: []timeline.Reply{timeline.Absent, timeline.Denied}, Detail: f.path + " at " + f.commit,
	})
}
