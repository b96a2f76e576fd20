package registry

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"pulltrail/ingest/collect"
)

// helperPatience is how long a login helper may take.
const helperPatience = 10 * time.Second

// transport answers the challenges of a registry: with the login, or with a
// token that its token service gives for the login. The login goes to the
// registry, or to the token service that the registry names over https, and
// nowhere else.
//
// https://distribution.github.io/distribution/spec/auth/token/
type transport struct {
	next http.RoundTripper
	base *url.URL
	say  func(string)

	mu     sync.Mutex
	basic  bool // the registry takes the login itself
	proved bool // and has taken it
	tokens map[string]bearer
	told   map[string]bool
}

// bearer is a token for one scope.
type bearer struct {
	value string
	until time.Time
}

// RoundTrip makes a request; the session has put the login into it.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != t.base.Host || r.URL.Scheme != t.base.Scheme {
		return t.next.RoundTrip(r) // a store, to which the session says nothing of the login
	}
	login := r.Header.Get("Authorization")
	scope := scopeOf(r.URL.Path)
	sent := t.known(login, scope)
	resp, err := t.with(r, sent)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.took(sent, login, err)
		return resp, err
	}
	kind, params := challenge(resp.Header.Get("WWW-Authenticate"))
	var answer string
	switch {
	case kind == "basic" && login != "" && sent != login:
		t.mu.Lock()
		t.basic = true
		t.mu.Unlock()
		answer = login
	case kind == "bearer" && !strings.HasPrefix(login, "Bearer "):
		if answer, err = t.fetch(r, login, scope, params); err != nil {
			resp.Body.Close()
			return nil, err
		}
	}
	if answer == "" {
		return t.denied(resp, sent, login)
	}
	resp.Body.Close()
	if resp, err = t.with(r, answer); err == nil && resp.StatusCode == http.StatusUnauthorized {
		return t.denied(resp, answer, login)
	}
	t.took(answer, login, err)
	return resp, err
}

// took remembers that the registry has taken the login.
func (t *transport) took(sent, login string, err error) {
	if err == nil && sent == login && login != "" {
		t.mu.Lock()
		t.proved = true
		t.mu.Unlock()
	}
}

// denied tells a login that the registry does not know from a repository that
// it may not see.
func (t *transport) denied(resp *http.Response, sent, login string) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if login != "" && sent == login && !t.proved {
		resp.Body.Close()
		return nil, collect.ErrToken
	}
	return resp, nil
}

// with makes the request with an Authorization.
func (t *transport) with(r *http.Request, authorization string) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return t.next.RoundTrip(r)
}

// known is what the registry is known to want, "" before it said so.
func (t *transport) known(login, scope string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.basic || strings.HasPrefix(login, "Bearer ") {
		return login
	}
	if b, ok := t.tokens[scope]; ok && time.Now().Before(b.until) {
		return "Bearer " + b.value
	}
	return ""
}

// fetch gets a token from the token service that a challenge names; "" when it
// gives none to who is not logged in.
func (t *transport) fetch(r *http.Request, login, scope string, params map[string]string) (string, error) {
	realm, err := url.Parse(params["realm"])
	if err != nil || realm.Host == "" || realm.User != nil {
		return "", fmt.Errorf("the token service that %s names is no address", t.base.Host)
	}
	if realm.Scheme != "https" && !(realm.Scheme == "http" && collect.Loopback(realm.Hostname()) && collect.Loopback(t.base.Hostname())) {
		return "", fmt.Errorf("the token service %s://%s is not https: not asked", realm.Scheme, realm.Host)
	}
	if params["scope"] != "" {
		scope = params["scope"]
	}
	q := realm.Query()
	q.Set("scope", scope)
	if s := params["service"]; s != "" {
		q.Set("service", s)
	}
	realm.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, realm.String(), http.NoBody)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", r.Header.Get("User-Agent"))
	if login != "" {
		req.Header.Set("Authorization", login)
	}
	t.tell(realm.Host)
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return "", fmt.Errorf("token service %s: %w", realm.Host, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusUnauthorized && login != "":
		return "", fmt.Errorf("token service %s: %w", realm.Host, collect.ErrToken)
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return "", nil
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("token service %s: HTTP %d", realm.Host, resp.StatusCode)
	}
	return t.keep(resp.Body, realm.Host, scopeOf(r.URL.Path))
}

// keep reads what a token service says, and keeps the token while it lasts.
//
//	{"token":"eyJ…","access_token":"eyJ…","expires_in":300,"issued_at":"2026-10-21T12:00:00Z"}
func (t *transport) keep(body io.Reader, host, scope string) (string, error) {
	var got struct {
		Token   string `json:"token"`
		Access  string `json:"access_token"`
		Seconds int    `json:"expires_in"`
	}
	if err := json.NewDecoder(io.LimitReader(body, 1<<20)).Decode(&got); err != nil {
		return "", fmt.Errorf("token service %s: its answer is no JSON", host)
	}
	if got.Token == "" {
		got.Token = got.Access
	}
	if got.Token == "" {
		return "", fmt.Errorf("token service %s: its answer has no token", host)
	}
	if got.Seconds <= 0 {
		got.Seconds = 60 // what the specification says
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens[scope] = bearer{got.Token, time.Now().Add(time.Duration(got.Seconds-min(10, got.Seconds/2)) * time.Second)}
	return "Bearer " + got.Token, nil
}

// tell says once which token service is asked.
func (t *transport) tell(host string) {
	t.mu.Lock()
	news := !t.told[host]
	t.told[host] = true
	t.mu.Unlock()
	if news && host != t.base.Host {
		t.say(t.base.Host + " gives tokens at " + host)
	}
}

// scopeOf is what a token has to allow for a request:
//
//	/v2/acme/api/manifests/1.4, /v2/_catalog
func scopeOf(path string) string {
	name := strings.TrimPrefix(path, "/v2/")
	for _, part := range []string{"/manifests/", "/blobs/", "/tags/", "/referrers/"} {
		if i := strings.LastIndex(name, part); i > 0 {
			return "repository:" + name[:i] + ":pull"
		}
	}
	return "registry:catalog:*"
}

// challenge takes a challenge apart:
//
//	Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:acme/api:pull"
//
// https://www.rfc-editor.org/rfc/rfc9110#name-www-authenticate
func challenge(text string) (kind string, params map[string]string) {
	kind, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	params = map[string]string{}
	for rest != "" {
		name, after, ok := strings.Cut(rest, "=")
		if !ok {
			break
		}
		var value string
		if quoted, is := strings.CutPrefix(after, `"`); is {
			value, rest, _ = strings.Cut(quoted, `"`)
			_, rest, _ = strings.Cut(rest, ",")
		} else {
			value, rest, _ = strings.Cut(after, ",")
		}
		params[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	return strings.ToLower(kind), params
}
