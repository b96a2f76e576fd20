package registry

import (
	"context"
	"io"
	"log" //nolint:depguard // the registry writes into one, unless it gets another
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	served "github.com/google/go-containerregistry/pkg/registry"

	"pulltrail/ingest"
	"pulltrail/ingest/collect"
	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

// store is a registry of go-containerregistry with a case beside it.
type store struct {
	*testing.T
	address string // http://127.0.0.1:…
	db      *timeline.DB

	mu     sync.Mutex
	gone   map[string]bool // digests that are not there
	bad    map[string]bool // digests whose bytes are others
	layers map[string]int  // requests for blobs
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{T: t, gone: map[string]bool{}, bad: map[string]bool{}, layers: map[string]int{}}
	inner := served.New(served.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, digest, blob := strings.Cut(r.URL.Path, "/blobs/")
		s.mu.Lock()
		gone, bad := s.gone[digest], s.bad[digest]
		if blob && r.Method == http.MethodGet {
			s.layers[digest]++
		}
		s.mu.Unlock()
		switch {
		case r.Method != http.MethodGet || !gone && !bad:
			inner.ServeHTTP(w, r)
		case gone:
			http.Error(w, `{"errors":[{"code":"BLOB_UNKNOWN"}]}`, http.StatusNotFound)
		default:
			io.WriteString(w, "other bytes")
		}
	}))
	t.Cleanup(server.Close)
	s.address = server.URL
	s.open()
	return s
}

func (s *store) open() {
	s.Helper()
	var err error
	if s.db, err = timeline.Create(filepath.Join(s.TempDir(), "case")); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { s.db.Close() })
}

func (s *store) push(repo, tag string, layers ...services.Layer) services.Pushed {
	s.Helper()
	p, err := services.Push(s.address, repo, tag, layers...)
	if err != nil {
		s.Fatal(err)
	}
	return p
}

func (s *store) options(content bool, repos ...string) (Options, collect.Options) {
	opt := Options{Host: strings.TrimPrefix(s.address, "http://"), Repos: repos, Content: content}
	o := Connect(opt, func(string) {})
	o.Command, o.Program, o.Window = "pulltrail collect registry", "test", timeline.Span{From: 1, To: 1}
	return opt, o
}

// collect does a collection and reads it.
func (s *store) collect(content bool, repos ...string) (collect.Stats, ingest.Result) {
	s.Helper()
	opt, o := s.options(content, repos...)
	session, err := collect.Begin(s.db, o)
	if err != nil {
		s.Fatal(err)
	}
	if err := session.Finish(Collect(context.Background(), session, opt)); err != nil {
		s.Fatal(err)
	}
	res, err := ingest.Collected(context.Background(), s.db, ingest.Options{Parser: "test", Command: "test"})
	if err != nil {
		s.Fatal(err)
	}
	return session.Stats(), res
}

func (s *store) dump() string {
	s.Helper()
	var b strings.Builder
	if err := s.db.Dump(&b); err != nil {
		s.Fatal(err)
	}
	return b.String()
}

// holds fails unless a timeline shows of an image what it should, or not.
func (s *store) holds(image services.Pushed, what string, want bool) {
	s.Helper()
	if d := s.dump(); strings.Contains(d, "present image:"+image.Config+" "+what) != want {
		s.Errorf("%s with %s: want %t, got\n%s", image.Config, what, want, d)
	}
}

var (
	system = services.Layer{"var/lib/dpkg/status": "Package: zlib1g\nStatus: install ok installed\nVersion: 1:1.2.13\nArchitecture: amd64\n\n"}
	bad    = services.Dist("litellm", "1.107.0")
	own    = services.Dist("app", "1.0")
)

// images are a base, what is built on it, and one without it.
func (s *store) images() (base, app, clean services.Pushed) {
	s.Helper()
	return s.push("acme/base", "1", system, bad), s.push("acme/app", "1", system, bad, own), s.push("acme/clean", "1", system)
}

const litellm = "pkg:pypi/litellm@1.107.0"

func TestContent(t *testing.T) {
	s := newStore(t)
	base, app, clean := s.images()
	st, res := s.collect(true)
	if st.Gaps != 0 || !res.Complete() {
		t.Errorf("got %+v, %+v", st, res)
	}
	s.holds(base, litellm, true)
	s.holds(app, litellm, true)
	s.holds(app, "pkg:pypi/app@1.0", true)
	s.holds(clean, litellm, false)
	s.holds(clean, "pkg:deb/zlib1g@1:1.2.13", true)
	for digest, n := range s.layers {
		if n != 1 {
			t.Errorf("%s was asked for %d times", digest, n)
		}
	}
	if d := s.dump(); strings.Count(d, "every layer of the image was read") == 0 {
		t.Errorf("no image is covered:\n%s", d)
	}
	before := s.dump()
	if st, res = s.collect(true); st.Known != 6 || len(res.Files) != 0 && s.dump() != before {
		t.Errorf("again: %+v, %+v", st, res)
	}
	for digest, n := range s.layers {
		if n != 1 {
			t.Errorf("again: %s was asked for %d times", digest, n)
		}
	}
	if v, err := s.db.Verify(context.Background()); err != nil || v.Worst() != timeline.Good {
		t.Errorf("verify: %v, %+v", err, v.Checks)
	}
}

// TestContentLater: what was read without its layers is read again when they
// come, and one that is missing, or is not what its digest says, leaves the
// image in doubt.
func TestContentLater(t *testing.T) {
	s := newStore(t)
	base, app, _ := s.images()
	s.collect(false)
	s.holds(base, litellm, false)
	s.gone[base.Layers[1]] = true
	st, res := s.collect(true)
	if st.Gaps != 1 || res.Complete() {
		t.Errorf("a layer is missing: %+v, %+v", st, res)
	}
	s.holds(app, "pkg:pypi/app@1.0", true)
	s.holds(app, litellm, false)
	if d := s.dump(); !strings.Contains(d, "the content of the image is not known whole") {
		t.Errorf("got\n%s", d)
	}
	expected, err := s.db.Expectations()
	if err != nil || len(expected) != 1 || expected[0].Subject.Kind != timeline.Image || expected[0].Reason != string(timeline.Absent) {
		t.Errorf("got %+v, %v; want the image whose layer is absent", expected, err)
	}
	s.gone, s.bad[base.Layers[1]] = map[string]bool{}, true
	if st, _ = s.collect(true); st.Gaps != 1 || st.Replies[timeline.Failed] != 1 {
		t.Errorf("a layer is not what its digest says: %+v", st)
	}
	s.bad = map[string]bool{}
	if st, res = s.collect(true); st.Gaps != 0 || !res.Complete() {
		t.Errorf("now it is there: %+v, %+v", st, res)
	}
	s.holds(base, litellm, true)
	s.holds(app, litellm, true)
	if d := s.dump(); strings.Contains(d, "not known whole") {
		t.Errorf("the doubt is still there:\n%s", d)
	}
}

func TestContentDryRun(t *testing.T) {
	s := newStore(t)
	s.images()
	opt, o := s.options(true)
	session, err := collect.Begin(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := DryRun(context.Background(), session, opt)
	if err != nil || p.Repos != 3 || p.Tags != 3 || p.Bytes < 300 || p.Bytes > 3000 || len(s.layers) != 0 {
		t.Errorf("got %+v with blobs %v, %v", p, s.layers, err)
	}
}
