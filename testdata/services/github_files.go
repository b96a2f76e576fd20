package services

import (
	"crypto/sha1" //nolint:gosec // git's own ids
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// object is a file in a query: f0:object(expression:"COMMIT:PATH"){oid}
var object = regexp.MustCompile(`(f\d+):object\(expression:"([0-9a-f]+):([^"]+)"\)`)

var repository = regexp.MustCompile(`repository\(owner:"([^"]+)",name:"([^"]+)"\)`)

// graphql answers which contents files have.
func (g *GitHub) graphql(w http.ResponseWriter, r *http.Request) {
	var q struct{ Query string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || g.NoGraphQL {
		message(w, http.StatusForbidden, "Resource not accessible by personal access token")
		return
	}
	name := repository.FindStringSubmatch(q.Query)
	repo := g.repo(name[1] + "/" + name[2])
	if repo == nil {
		answer(w, Fault{}, map[string]any{"data": map[string]any{"repository": nil}, "errors": []map[string]any{{"type": "NOT_FOUND"}}})
		return
	}
	found := map[string]any{}
	for _, m := range object.FindAllStringSubmatch(q.Query, -1) {
		found[m[1]] = nil
		if text := repo.file(m[2], m[3]); text != "" {
			found[m[1]] = map[string]string{"oid": g.keepBlob(text)}
		}
	}
	answer(w, Fault{}, map[string]any{"data": map[string]any{"repository": found}})
}

func (r *Repo) file(commit, path string) string {
	if r.Files == nil {
		return ""
	}
	return r.Files(commit, path)
}

// keepBlob gives a content its id, as git does.
func (g *GitHub) keepBlob(text string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)) //nolint:gosec // git's own ids
	id := hex.EncodeToString(sum[:])
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.blobs == nil {
		g.blobs = map[string]string{}
	}
	g.blobs[id] = text
	return id
}

func (g *GitHub) blob(w http.ResponseWriter, repo, id string) {
	g.mu.Lock()
	text, ok := g.blobs[id]
	g.mu.Unlock()
	if !ok || g.repo(repo) == nil {
		message(w, http.StatusNotFound, "Not Found")
		return
	}
	raw(w, text)
}

func (g *GitHub) contents(w http.ResponseWriter, r *http.Request, name, path string) {
	repo := g.repo(name)
	if repo == nil || repo.file(r.URL.Query().Get("ref"), path) == "" {
		message(w, http.StatusNotFound, "Not Found")
		return
	}
	raw(w, repo.file(r.URL.Query().Get("ref"), path))
}

func raw(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8")
	send(w, Fault{}, []byte(text))
}

// audit pages by a cursor, and knows categories.
func (g *GitHub) audit(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	category, _, _ := strings.Cut(strings.TrimPrefix(q.Get("phrase"), "action:"), " ")
	var all []map[string]any
	for _, e := range g.Audit {
		if strings.HasPrefix(fmt.Sprint(e["action"]), category+".") {
			all = append(all, e)
		}
	}
	from, _ := strconv.Atoi(q.Get("after"))
	per, _ := strconv.Atoi(q.Get("per_page"))
	to := min(from+per, len(all))
	if to < len(all) {
		q.Set("after", strconv.Itoa(to))
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?%s>; rel="next"`, r.Host, r.URL.Path, q.Encode()))
	}
	answer(w, Fault{}, append([]map[string]any{}, all[from:to]...))
}

// packages lists container packages, and the versions of one.
func (g *GitHub) packages(w http.ResponseWriter, r *http.Request, words []string) {
	if g.Packages == nil {
		message(w, http.StatusForbidden, "You need at least read:packages scope to list packages.")
		return
	}
	if len(words) == 0 {
		var all []map[string]any
		for _, name := range slices.Sorted(maps.Keys(g.Packages)) {
			all = append(all, map[string]any{"name": name, "package_type": "container", "updated_at": g.Packages[name][0]["updated_at"]})
		}
		answer(w, Fault{}, page(w, r, all, everything))
		return
	}
	name, _ := url.PathUnescape(words[1])
	var all []map[string]any
	for i, v := range g.Packages[name] {
		v = maps.Clone(v)
		v["url"] = fmt.Sprintf("http://%s/orgs/%s/packages/container/%s/versions/%d", r.Host, g.Org, name, i)
		v["package_html_url"] = "https://github.example/orgs/" + g.Org + "/packages/container/package/" + name
		all = append(all, v)
	}
	answer(w, Fault{}, page(w, r, all, everything))
}
