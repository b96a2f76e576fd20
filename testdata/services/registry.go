package services

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Registry is a stand-in for an image registry, for its token service, and for
// the store on another host where its blobs are.
type Registry struct {
	API, Auth, Store *httptest.Server
	Login            string // USER:PASSWORD
	Basic            bool   // it takes the login itself, and has no token service
	PerPage          int
	Hidden           map[string]bool // repositories that the login may not see

	Before func(host string, r *http.Request) // told of each request; nil: nobody is

	mu    sync.Mutex
	repos map[string]map[string]string // tags and digests, to a digest
	blobs map[string]string            // by digest
	types map[string]string            // of manifests
	seen  []Seen
}

// Put puts content into a repository by a tag, "" for none, and returns its
// digest. A media type makes it a manifest.
func (g *Registry) Put(repo, tag, mediaType, content string) string {
	sum := sha256.Sum256([]byte(content))
	digest := "sha256:" + hex.EncodeToString(sum[:])
	if g.repos == nil {
		g.repos, g.blobs, g.types = map[string]map[string]string{}, map[string]string{}, map[string]string{}
	}
	if g.repos[repo] == nil {
		g.repos[repo] = map[string]string{}
	}
	g.repos[repo][digest], g.blobs[digest] = digest, content
	if mediaType != "" {
		g.types[digest] = mediaType
	}
	if tag != "" {
		g.repos[repo][tag] = digest
	}
	return digest
}

// Image puts an image with one layer into a repository, and returns the digests
// of its manifest and its config.
func (g *Registry) Image(repo, tag, command string) (manifest, config string) {
	config = g.Put(repo, "", "", fmt.Sprintf(`{"created":"2026-10-21T12:00:00Z","architecture":"amd64","os":"linux","config":{},`+
		`"rootfs":{"type":"layers","diff_ids":["sha256:%064x"]},"history":[{"created":"2026-10-21T12:00:00Z","created_by":"RUN /bin/sh -c %s # buildkit"}]}`, len(command), command))
	return g.Put(repo, tag, "application/vnd.oci.image.manifest.v1+json", fmt.Sprintf(
		`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":%q,"size":1},"layers":[]}`, config)), config
}

// Corrupt changes the bytes that a digest brings.
func (g *Registry) Corrupt(digest string) { g.blobs[digest] += " " }

// Start starts the servers.
func (g *Registry) Start() {
	g.Auth = httptest.NewServer(g.seeing("auth", g.token))
	g.Store = httptest.NewServer(g.seeing("store", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, g.blobs[strings.TrimPrefix(r.URL.Path, "/")])
	}))
	g.API = httptest.NewUnstartedServer(g.seeing("api", g.api)) // it hands out addresses of the others, and its own
	g.API.Start()
}

// Close stops them.
func (g *Registry) Close() {
	g.API.Close()
	g.Auth.Close()
	g.Store.Close()
}

// Host is what images of the registry are called by.
func (g *Registry) Host() string { return strings.TrimPrefix(g.API.URL, "http://") }

// Requests returns what each host saw since the last time.
func (g *Registry) Requests() []Seen {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := g.seen
	g.seen = nil
	return seen
}

func (g *Registry) seeing(host string, f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.seen = append(g.seen, Seen{host, r.Method, r.URL.String(), r.Header.Clone()})
		g.mu.Unlock()
		if g.Before != nil {
			g.Before(host, r)
		}
		f(w, r)
	}
}

func (g *Registry) basic() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(g.Login))
}

// token is the token service: a token says what it allows.
func (g *Registry) token(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != g.basic() {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	scope := r.URL.Query().Get("scope")
	for repo := range g.Hidden {
		if scope == "repository:"+repo+":pull" {
			scope = ""
		}
	}
	reply(w, map[string]any{"token": "bearer-of-" + url.QueryEscape(scope), "expires_in": 300})
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (g *Registry) api(w http.ResponseWriter, r *http.Request) {
	words := strings.Split(strings.TrimPrefix(r.URL.Path, "/v2/"), "/")
	n := len(words)
	var repo string
	scope := "registry:catalog:*"
	if n > 2 {
		repo = strings.Join(words[:n-2], "/")
		scope = "repository:" + repo + ":pull"
	}
	want, asks := "Bearer bearer-of-"+url.QueryEscape(scope), fmt.Sprintf(`Bearer realm="%s/token",service="registry",scope=%q`, g.Auth.URL, scope)
	if g.Basic {
		want, asks = g.basic(), `Basic realm="Registry"`
	}
	if r.Header.Get("Authorization") != want {
		w.Header().Set("WWW-Authenticate", asks)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch {
	case repo == "":
		g.page(w, r, "repositories", sorted(g.repos, func(string) bool { return true }))
	case words[n-2] == "tags" && g.repos[repo] != nil:
		g.page(w, r, "tags", sorted(g.repos[repo], func(s string) bool { return !strings.Contains(s, ":") }))
	case words[n-2] == "manifests" && g.repos[repo][words[n-1]] != "":
		digest := g.repos[repo][words[n-1]]
		w.Header().Set("Content-Type", g.types[digest])
		w.Header().Set("Docker-Content-Digest", digest)
		fmt.Fprint(w, g.blobs[digest])
	case words[n-2] == "blobs" && g.repos[repo][words[n-1]] != "":
		http.Redirect(w, r, g.Store.URL+"/"+words[n-1]+"?X-Amz-Signature=s3cr3t", http.StatusTemporaryRedirect)
	default:
		http.Error(w, `{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`, http.StatusNotFound)
	}
}

func sorted[V any](m map[string]V, keep func(string) bool) []string {
	var keys []string
	for k := range m {
		if keep(k) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// page answers a page of a list, and says in a header where the next one is.
func (g *Registry) page(w http.ResponseWriter, r *http.Request, name string, all []string) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	if g.PerPage > 0 {
		n = min(n, g.PerPage)
	}
	i, found := slices.BinarySearch(all, r.URL.Query().Get("last"))
	if found {
		i++
	}
	rest := all[i:]
	if n < len(rest) {
		rest = rest[:n]
		w.Header().Set("Link", fmt.Sprintf(`<%s?last=%s&n=%d>; rel="next"`, r.URL.Path, url.QueryEscape(rest[n-1]), n))
	}
	reply(w, map[string]any{name: rest})
}
