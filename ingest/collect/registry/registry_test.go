package registry

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pulltrail/ingest"
	"pulltrail/ingest/collect"
	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

const login = "robot:EXAMPLEexample0123456"

// world is a stand-in with a case beside it.
type world struct {
	t  *testing.T
	g  *services.Registry
	db *timeline.DB
}

func newWorld(t *testing.T, g *services.Registry) *world {
	t.Helper()
	g.Login = login
	g.Start()
	t.Cleanup(g.Close)
	db, err := timeline.Create(filepath.Join(t.TempDir(), "case"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &world{t, g, db}
}

// collect does a collection and reads it.
func (w *world) collect(with string, repos ...string) (collect.Stats, ingest.Result, error) {
	w.t.Helper()
	opt := Options{Host: w.g.Host(), Repos: repos}
	file := filepath.Join(w.t.TempDir(), "login")
	if err := os.WriteFile(file, []byte(with), 0o600); err != nil {
		w.t.Fatal(err)
	}
	o := Connect(opt, func(string) {})
	if with != "" {
		tok, err := Tokens(opt.Host, file).Find(context.Background())
		if err != nil {
			w.t.Fatal(err)
		}
		o.Token = tok
	}
	o.Command, o.Program, o.Window = "pulltrail collect registry", "test", timeline.Span{From: 1, To: 1}
	s, err := collect.Begin(w.db, o)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := s.Finish(Collect(context.Background(), s, opt)); err != nil {
		return s.Stats(), ingest.Result{}, err
	}
	res, err := ingest.Collected(context.Background(), w.db, ingest.Options{Parser: "test", Command: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Stats(), res, nil
}

func (w *world) dump() string {
	w.t.Helper()
	var b strings.Builder
	if err := w.db.Dump(&b); err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}

// secrets fails when a host saw what is not for it, and counts the requests of
// each.
func (w *world) secrets() map[string]int {
	w.t.Helper()
	basic := base64.StdEncoding.EncodeToString([]byte(login))
	n := map[string]int{}
	for _, seen := range w.g.Requests() {
		n[seen.Host]++
		all := fmt.Sprint(seen.Header)
		switch {
		case strings.Contains(seen.URL, "EXAMPLE"), strings.Contains(seen.URL, "bearer-of"):
			w.t.Errorf("a secret stands in %s", seen.URL)
		case seen.Host == "api" && !w.g.Basic && strings.Contains(all, basic):
			w.t.Errorf("%s saw the login, which is for the token service", seen.URL)
		case seen.Host == "store" && strings.Contains(all, "Authorization"):
			w.t.Errorf("the store saw %s", all)
		}
	}
	if d := w.dump(); strings.Contains(d, "s3cr3t") || strings.Contains(d, basic) || strings.Contains(d, login) {
		w.t.Errorf("a secret stands in\n%s", d)
	}
	return n
}

// fill puts three repositories into a registry: an index of two platforms with an
// attestation, tags of one digest, and a chart.
func fill(g *services.Registry) (index, amd, config string) {
	amd, config = g.Image("acme/api", "", "pip install litellm==1.107.0")
	arm, _ := g.Image("acme/api", "", "pip install litellm==1.107.0 idna")
	const kind = "application/vnd.oci.image.index.v1+json"
	index = g.Put("acme/api", "1.4", kind, fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":%q,"size":1},`+
		`{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":%q,"size":1},{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%064x","size":1,"annotations":{"vnd.docker.reference.type":"attestation-manifest"}}]}`, kind, amd, arm, 7))
	for _, tag := range []string{"a", "b", "c"} {
		g.Image("acme/web", tag, "true")
	}
	g.Put("charts/api", "2", "application/vnd.oci.image.manifest.v1+json", fmt.Sprintf(`{"schemaVersion":2,"config":{"mediaType":"application/vnd.cncf.helm.config.v1+json","digest":"sha256:%064x","size":1},"layers":[]}`, 8))
	return index, amd, config
}

func TestCollect(t *testing.T) {
	for _, basic := range []bool{false, true} {
		g := &services.Registry{Basic: basic, PerPage: 2}
		index, amd, config := fill(g)
		w := newWorld(t, g)
		stats, res, err := w.collect(login)
		if err != nil || stats.Gaps != 0 || !res.Complete() {
			t.Fatalf("%v, %+v, %+v", err, stats, res)
		}
		// Two pages of repositories; 1, 2 and 1 pages of tags; 5 tags of 3 digests
		// with their referrers; 2 manifests below; 3 configs.
		if stats.Calls != 2+4+5+3+2+3 || stats.Downloads != 3 {
			t.Errorf("%d calls, %d downloads, want 19 and 3", stats.Calls, stats.Downloads)
		}
		n := w.secrets()
		if n["store"] != 3 || !basic && n["auth"] == 0 || basic && n["auth"] != 0 {
			t.Errorf("the hosts saw %v", n)
		}
		dump := w.dump()
		host := g.Host()
		for _, want := range []string{
			"names " + host + "/acme/api:1.4 " + index, "names " + host + "/acme/web:a ", "names " + host + "/acme/web:c ",
			"holds " + index + " " + amd, "holds " + amd + " " + config, "opaque image:" + config + " pkg:pypi/litellm",
		} {
			if !strings.Contains(dump, want) {
				t.Errorf("no %q in\n%s", want, dump)
			}
		}
		// Again, only lists and tags are asked for, and nothing is read twice.
		stats, res, err = w.collect(login)
		if err != nil || stats.Calls != 2+4+5+3 || stats.Downloads != 0 || len(res.Files) != 0 {
			t.Errorf("again: %v, %+v, %d sources", err, stats, len(res.Files))
		}
	}
}

// TestRefused has repositories that the login may not see, or that are not
// there, and bytes that are not what their digest says.
func TestRefused(t *testing.T) {
	g := &services.Registry{Hidden: map[string]bool{"acme/web": true}}
	_, amd, _ := fill(g)
	g.Corrupt(amd)
	w := newWorld(t, g)
	stats, _, err := w.collect(login, "acme/api", "acme/web", "acme/none")
	if err != nil || stats.Gaps != 3 || stats.Replies[timeline.Denied] != 1 || stats.Replies[timeline.Failed] != 1 {
		t.Errorf("%v, %+v: want acme/web denied, acme/none absent, and a manifest failed", err, stats)
	}
	w.secrets()
	dump := w.dump()
	if !strings.Contains(dump, "image:"+amd) || strings.Contains(dump, "holds "+amd) {
		t.Errorf("the manifest whose bytes are others is no gap, or was read:\n%s", dump)
	}
}

// TestLogin checks what comes of a wrong login, and of none.
func TestLogin(t *testing.T) {
	for _, basic := range []bool{false, true} {
		g := &services.Registry{Basic: basic}
		fill(g)
		w := newWorld(t, g)
		if _, _, err := w.collect("robot:wrong"); !errors.Is(err, collect.ErrToken) {
			t.Errorf("wrong login, basic %v: %v", basic, err)
		}
		if stats, _, err := w.collect(""); err != nil || stats.Gaps != 1 || stats.Replies[timeline.Denied] != 1 {
			t.Errorf("no login, basic %v: %v, %+v", basic, err, stats)
		}
	}
}

// TestDockerLogin reads what 'docker login' leaves.
func TestDockerLogin(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	t.Setenv("REGISTRY_CREDENTIAL", "")
	t.Setenv("PATH", dir)
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("docker-credential-box", "#!/bin/sh\nread server\necho \"{\\\"Username\\\":\\\"$server\\\",\\\"Secret\\\":\\\"pw\\\"}\"\n", 0o700)
	write("config.json", `{"auths":{"a.example":{"auth":"`+base64.StdEncoding.EncodeToString([]byte(login))+`"}},"credHelpers":{"b.example":"box","docker.io":"x","https://index.docker.io/v1/":"box"}}`, 0o600)
	for host, want := range map[string]string{"a.example": login, "b.example": "b.example:pw", dockerHub: "https://index.docker.io/v1/:pw", "c.example": ""} {
		if got, err := dockerLogin(context.Background(), host); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", host, got, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	for words, want := range map[string]string{
		"r.acme.example": "at r.acme.example", "r.acme.example:5000/acme/api r.acme.example:5000/acme/web": "acme/api acme/web at r.acme.example:5000",
		"docker.io/redis": "library/redis at docker.io", "r.acme.example/../x": "", "r.acme.example/a r.acme.example": "", "r.acme.example/a s.acme.example/a": "", "https://r.acme.example": "", "r.acme.example/Acme": "",
	} {
		var o Options
		var err error
		for word := range strings.FieldsSeq(words) {
			err = errors.Join(err, o.Parse(word))
		}
		if want == "" != (err != nil) || err == nil && o.Target() != want {
			t.Errorf("%s: %q, %v, want %q", words, o.Target(), err, want)
		}
	}
}

// TestRealm checks that a login goes to no token service that is not https.
func TestRealm(t *testing.T) {
	kind, params := challenge(`Bearer realm="http://auth.acme.example/token",service="r",scope="repository:a/b:pull,push"`)
	if kind != "bearer" || params["scope"] != "repository:a/b:pull,push" || params["service"] != "r" {
		t.Errorf("got %s %v", kind, params)
	}
	tr := Connect(Options{Host: "r.acme.example"}, func(string) {}).Dial.(*transport)
	tr.next = nil // nothing may be asked
	if _, err := tr.fetch(nil, "Basic x", "", params); err == nil || !strings.Contains(err.Error(), "not https") {
		t.Errorf("got %v", err)
	}
}
