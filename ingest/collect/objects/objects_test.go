package objects

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"pulltrail/ingest"
	"pulltrail/ingest/collect"
	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

// secret is base64, so that it can be an account key too.
const secret = "RVhBTVBMRWV4YW1wbGUwMTIzNDU2Nzg5"

var kinds = []string{"s3", "gs", "azblob"}

// world is a stand-in with a case beside it.
type world struct {
	*testing.T
	o   *services.Objects
	db  *timeline.DB
	dir string

	mu    sync.Mutex
	now   time.Time
	waits int
}

func newWorld(t *testing.T, o *services.Objects) *world {
	t.Helper()
	o.Key, o.Bucket = "acct", "acme-logs"
	if o.PerPage == 0 {
		o.PerPage = 2
	}
	o.Start()
	t.Cleanup(o.Close)
	w := &world{T: t, o: o, dir: filepath.Join(t.TempDir(), "case"), now: time.Now()}
	var err error
	if w.db, err = timeline.Create(w.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	for name, value := range map[string]string{
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PROFILE": "", "AWS_ENDPOINT_URL": "",
		"AWS_ACCESS_KEY_ID": o.Key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": "", "AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL_S3": o.API.URL,
		"AZURE_STORAGE_ACCOUNT": "", "AZURE_STORAGE_KEY": "", "AZURE_STORAGE_SAS_TOKEN": "",
		"AZURE_STORAGE_CONNECTION_STRING": "AccountName=" + o.Key + ";AccountKey=" + secret + ";BlobEndpoint=" + o.API.URL + "/acct/",
		"STORAGE_EMULATOR_HOST":           o.API.URL,
	} {
		t.Setenv(name, value)
	}
	return w
}

// location is the address of a key in the stand-in.
func (w *world) location(key string) Location {
	w.Helper()
	word := w.o.Kind + "://" + w.o.Bucket + "/" + key
	if w.o.Kind == "https" {
		word = w.o.API.URL + "/" + key
	}
	l, err := Parse(word)
	if err != nil {
		w.Fatal(err)
	}
	return l
}

// collect fetches and reads.
func (w *world) collect(key string) (collect.Stats, Collected, error) {
	w.Helper()
	return w.collectUntil(context.Background(), key, 0)
}

func (w *world) collectUntil(ctx context.Context, key string, parallel int) (collect.Stats, Collected, error) {
	w.Helper()
	src, err := w.location(key).Connect(ctx)
	if err != nil {
		w.Fatal(err)
	}
	if w.o.Kind == "gs" && w.o.Secret != "" { // an emulator gets no token
		src.Options.Dial.(*transport).sign = bearer(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: secret}))
	}
	opt := src.Options
	opt.Command, opt.Program, opt.Window, opt.Parallel = "pulltrail ingest", "test", timeline.Span{From: 1, To: 1}, parallel
	opt.Now = func() time.Time {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.now
	}
	opt.Sleep = func(ctx context.Context, until time.Time) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.waits++
		if until.After(w.now) {
			w.now = until
		}
		return ctx.Err()
	}
	s, err := collect.Begin(w.db, opt)
	if err != nil {
		w.Fatal(err)
	}
	c, err := Collect(ctx, s, src, timeline.Subject{})
	if err := s.Finish(err); err != nil {
		return s.Stats(), c, err
	}
	if _, err := ingest.Objects(ctx, w.db, c.Objects, ingest.Options{Parser: "test", Command: "test"}); err != nil {
		w.Fatal(err)
	}
	return s.Stats(), c, nil
}

// written is all that the case holds in plain text.
func (w *world) written() string {
	w.Helper()
	var b strings.Builder
	if err := w.db.Dump(&b); err != nil {
		w.Fatal(err)
	}
	for _, name := range []string{"custody.jsonl", "timeline.db", "timeline.db-wal"} {
		data, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			w.Fatal(err)
		}
		b.Write(data)
	}
	return b.String()
}

func (w *world) noSecret(also ...string) {
	w.Helper()
	text := w.written()
	for _, s := range append(also, secret, "s3cr3t", "StringToSign") {
		if strings.Contains(text, s) {
			w.Errorf("%q stands in the case", s)
		}
	}
}

const pip = "Successfully installed litellm-1.107.0\n"

// keys are names that are hard to sign and to list.
func keys() map[string]string {
	return map[string]string{
		"AWSLogs/year=2026/a b+c.log": pip, "AWSLogs/ü!;:@$,'()~*.log": pip + pip, "AWSLogs/x&y.log": pip + "\n", "AWSLogs/100%.log": pip + "a\n",
		"AWSLogs/empty.log": "", "AWSLogs/": "", "other/z.log": pip,
	}
}

func TestCollect(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, &services.Objects{Kind: kind, Secret: secret, Keys: keys(), Busy: 2, Cut: map[string]int{"AWSLogs/x&y.log": 1}, Half: 1})
			st, c, err := w.collect("AWSLogs/")
			if err != nil || len(c.Objects) != 5 || len(c.Refused) != 0 || st.Gaps != 0 {
				t.Fatalf("got %d objects, %v, %v; want 5", len(c.Objects), c.Refused, err)
			}
			if w.waits < 2 {
				t.Errorf("%d waits: the store asked twice for patience, and two answers were not whole", w.waits)
			}
			for _, r := range c.Objects {
				if strings.ContainsAny(r.URL, "!?") || !strings.HasPrefix(r.URL, kind+"://acme-logs/AWSLogs/") {
					t.Errorf("its address is %s", r.URL)
				}
			}
			if n := strings.Count(w.written(), "pkg:pypi/litellm@1.107.0"); n < 4 {
				t.Errorf("litellm stands %d times in the case, want 4", n)
			}
			w.noSecret()

			w.o.Requests()
			w.o.Keys["AWSLogs/x&y.log"] = pip + "more\n"
			if st, c, err = w.collect("AWSLogs/"); err != nil || st.Known != 4 || len(c.Objects) != 5 {
				t.Errorf("again: %d known, %d objects, %v; want 4 and 5", st.Known, len(c.Objects), err)
			}
			if seen := w.o.Requests(); len(seen) != 4 { // three pages of the list, and what changed
				t.Errorf("again: %d requests, want 4: %v", len(seen), seen)
			}
			if st, c, err = w.collect("AWSLogs/x*"); err != nil || len(c.Objects) != 1 || st.Known != 1 {
				t.Errorf("what begins with x: %v, %v", c, err)
			}
		})
	}
}

// TestRefusals: each refusal is a gap of its own, and a page of the list that
// cannot be had is one too.
func TestRefusals(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, &services.Objects{
				Kind: kind, Secret: secret, Code: "AccessDenied", Keys: map[string]string{"a": pip, "b": pip + pip, "c": pip, "d": "", "e": pip},
				Status: map[string]int{"a": 403, "b": 404, "c": 410}, Pages: map[int]int{3: 403},
			})
			_, c, err := w.collect("")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range c.Refused {
				got = append(got, fmt.Sprintf("%s %s gap=%t", r.URL, r.Reply, r.Gap))
			}
			slices.Sort(got)
			base := kind + "://acme-logs/"
			if want := []string{base + "?page=3 denied gap=true", base + "a denied gap=true", base + "b absent gap=true", base + "c expired gap=true"}; !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			for _, r := range c.Refused {
				if r.URL == base+"?page=3" && !strings.Contains(r.Detail, "page 3 of the list of "+base+"*, and what follows it: HTTP 403: AccessDenied") {
					t.Errorf("the gap says %q", r.Detail)
				}
			}
			w.noSecret()
			w.o.Pages, w.o.Status = nil, nil
			// What has expired does not come back.
			if st, c, err := w.collect(""); err != nil || len(c.Objects) != 4 || st.Known != 2 {
				t.Errorf("when nothing is refused: %d objects, %d known, %v; want 4, 2", len(c.Objects), st.Known, err)
			}
		})
	}
}

// TestDown: a store that is down at a page of the list leaves a gap, and not a
// short list; one that never ends is an error.
func TestDown(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, &services.Objects{Kind: kind, Secret: secret, Keys: keys(), Pages: map[int]int{2: 500}})
			st, c, err := w.collect("")
			if err != nil || st.Gaps != 1 || len(c.Refused) != 1 || c.Refused[0].Reply != timeline.Failed {
				t.Errorf("got %+v, %v; want a gap", c.Refused, err)
			}
			w.o.Pages, w.o.Half = nil, 1000
			if st, _, err = w.collect(""); err != nil || st.Gaps != 1 {
				t.Errorf("a page that is never whole: %d gaps, %v; want 1", st.Gaps, err)
			}
			w.o.Half, w.o.Endless = 0, true
			if _, _, err = w.collect("other/"); err == nil || !strings.Contains(err.Error(), "in a circle") {
				t.Errorf("a list without an end: %v", err)
			}
		})
	}
}

func TestCredentials(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, &services.Objects{Kind: kind, Secret: secret, Keys: keys()})
			w.o.Secret = "b3RoZXJvdGhlcm90aGVy"
			_, c, err := w.collect("")
			switch {
			case kind == "gs": // Google tells who may not see it: the token is one
				if err != nil || len(c.Refused) != 1 {
					t.Errorf("got %v, %v", c, err)
				}
			case !errors.Is(err, collect.ErrToken) || strings.Contains(err.Error(), secret) || len(c.Objects) != 0:
				t.Errorf("got %v", err)
			}
			w.noSecret()
		})
	}
	w := newWorld(t, &services.Objects{Kind: "s3", Secret: secret, Code: "ExpiredToken", Keys: keys(), Status: map[string]int{"AWSLogs/x&y.log": 400}})
	if _, _, err := w.collect(""); !errors.Is(err, collect.ErrToken) || !strings.Contains(err.Error(), "ExpiredToken") {
		t.Errorf("credentials that expire on the way: %v", err)
	}
	w.o.Status = nil
	if _, c, err := w.collect(""); err != nil || len(c.Objects) != 6 {
		t.Errorf("and then: %d objects, %v", len(c.Objects), err)
	}
}

// TestElsewhere: credentials go to no other host; files of the web are fetched
// where the server says, without anything that knows us.
func TestElsewhere(t *testing.T) {
	for _, kind := range append(kinds, "https") {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, &services.Objects{Kind: kind, Secret: secret, Keys: map[string]string{"a.log": pip}, Moved: map[string]bool{"a.log": true}})
			if kind == "https" {
				w.o.Secret = ""
			}
			_, c, err := w.collect("a.log")
			if err != nil || kind == "https" != (len(c.Objects) == 1) || kind != "https" && c.Refused[0].Reply != timeline.Absent {
				t.Errorf("got %+v, %v", c, err)
			}
			for _, seen := range w.o.Requests() {
				if seen.Host == "other" && (kind != "https" || seen.Header.Get("Authorization") != "") {
					t.Errorf("the other host was asked: %v", seen)
				}
			}
			w.noSecret()
		})
	}
}

// TestOne: of one object the store is asked whether it changed.
func TestOne(t *testing.T) {
	for _, kind := range append(kinds, "https") {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, &services.Objects{Kind: kind, Secret: secret, Keys: map[string]string{"logs/a.log": pip}})
			if kind == "https" {
				w.o.Secret = ""
			}
			for i, known := range []int{0, 1, 0} {
				if i == 2 {
					w.o.Keys["logs/a.log"] = pip + "more\n"
				}
				st, c, err := w.collect("logs/a.log")
				if err != nil || st.Known != known || len(c.Objects) != 1 || st.Calls != 1 {
					t.Errorf("time %d: %+v, %v, want %d known", i+1, st, err, known)
				}
			}
			if _, c, err := w.collect("logs/b.log"); err != nil || len(c.Refused) != 1 || c.Refused[0].Reply != timeline.Absent {
				t.Errorf("one that is not there: %+v, %v", c, err)
			}
			w.noSecret()
		})
	}
}

// TestConcealed: a key that looks like a secret is written down without it.
func TestConcealed(t *testing.T) {
	w := newWorld(t, &services.Objects{Kind: "s3", Secret: secret, Keys: map[string]string{"s3cr3t/a.log": pip}})
	l := w.location("s3cr3t/")
	l.Conceal = func(key string) string { return strings.ReplaceAll(key, "s3cr3t", "hidden") }
	if got := l.String() + " " + l.of("s3cr3t/a.log"); got != "s3://acme-logs/hidden/* s3://acme-logs/hidden/a.log" {
		t.Errorf("got %s", got)
	}
}

// TestSigned: signatures in addresses are for the host, and for nobody else.
func TestSigned(t *testing.T) {
	w := newWorld(t, &services.Objects{Kind: "https", SAS: "X-Amz-Signature=s3cr3t", Keys: map[string]string{"a.log": pip}})
	if _, c, err := w.collect("a.log?X-Amz-Date=20261021T120000Z&X-Amz-Signature=s3cr3t"); err != nil || len(c.Objects) != 1 || c.Objects[0].URL != w.o.API.URL+"/a.log" {
		t.Errorf("got %+v, %v", c, err)
	}
	w.noSecret("X-Amz")

	w = newWorld(t, &services.Objects{Kind: "azblob", SAS: "sv=2023-11-03&sig=s3cr3t", Keys: map[string]string{"a.log": pip, "b.log": pip, "c.log": pip}})
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "BlobEndpoint="+w.o.API.URL+"/acct;SharedAccessSignature=?sv=2023-11-03&sig=s3cr3t")
	if _, c, err := w.collect(""); err != nil || len(c.Objects) != 3 {
		t.Errorf("got %+v, %v", c, err)
	}
	w.noSecret()
}

func TestParse(t *testing.T) {
	for word, want := range map[string]string{
		"s3://acme-logs/AWSLogs/":               "s3://acme-logs/AWSLogs/*",
		"S3://acme-logs":                        "s3://acme-logs/*",
		"gs://acme-logs/2026/10/2*":             "gs://acme-logs/2026/10/2*",
		"azblob://logs/a b!.json":               "azblob://logs/a%20b%21.json",
		"https://acme.example/a.zip?sig=s3cr3t": "https://acme.example/a.zip",
		"http://127.0.0.1:9000/a.zip":           "http://127.0.0.1:9000/a.zip",
		"http://acme.example/a.zip?sig=s3cr3t":  "",
		"https://acme.example/logs/":            "",
		"https://u:s3cr3t@acme.example/a":       "",
		"https://%zz/a?sig=s3cr3t":              "",
		"ftp://acme.example/a?sig=s3cr3t":       "",
		"s3:///a":                               "",
		"s3://user@acme/a":                      "",
	} {
		l, err := Parse(word)
		if want != "" && (err != nil || l.String() != want) || want == "" && err == nil || err != nil && strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: got %s, %v, want %s", word, l, err, want)
		}
	}
	for word, want := range map[string]bool{"s3://b/k": true, "-": false, "logs/a://b": false, "./s3://b": false, "c:/logs": false, "://x": false} {
		if Is(word) != want {
			t.Errorf("%s: got %t", word, !want)
		}
	}
}

// TestRegion: also a refusal tells where a bucket is.
func TestRegion(t *testing.T) {
	for header, want := range map[string]string{"eu-west-2": "eu-west-2", "": "", "x.example/": ""} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				t.Error("it saw credentials")
			}
			w.Header().Set("X-Amz-Bucket-Region", header)
			w.WriteHeader(http.StatusForbidden)
		}))
		if got := bucketRegion(context.Background(), http.DefaultTransport, s.URL+"/acme"); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
		s.Close()
	}
}

// TestPages: what is no list, or does not say whether it goes on, is none.
func TestPages(t *testing.T) {
	for _, c := range []struct {
		s    store
		text string
	}{
		{&s3Objects{}, "<Other/>"},
		{&s3Objects{}, "<ListBucketResult></ListBucketResult>"},
		{&s3Objects{}, "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"},
		{&s3Objects{}, "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated><Contents><Key>%zz</Key></Contents></ListBucketResult>"},
		{&azureBlobs{}, "<EnumerationResults></EnumerationResults>"},
		{&azureBlobs{}, `<EnumerationResults><Blobs><Blob><Name Encoded="true">%zz</Name></Blob></Blobs><NextMarker/></EnumerationResults>`},
		{&googleObjects{}, `{"kind":"other"}`},
		{&googleObjects{}, `{"kind":"storage#objects","items":[{"name":"a"}]}`},
	} {
		if got, _, err := c.s.page(strings.NewReader(c.text)); err == nil {
			t.Errorf("%s: got %v", c.text, got)
		}
	}
}

func FuzzPages(f *testing.F) {
	f.Add([]byte("<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key><ETag>\"b\"</ETag><Size>1</Size></Contents></ListBucketResult>"))
	f.Add([]byte("<EnumerationResults><Blobs><Blob><Name>a</Name></Blob></Blobs><NextMarker/></EnumerationResults>"))
	f.Add([]byte(`{"kind":"storage#objects","items":[{"name":"a","size":"1"}]}`))
	base, err := url.Parse("https://acme.example/b")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, s := range []store{&s3Objects{base}, &azureBlobs{base}, &googleObjects{base}} {
			objects, place, _ := s.page(strings.NewReader(string(text)))
			for _, o := range objects {
				if r := s.get(o); r.URL.Host != base.Host || !strings.HasPrefix(r.URL.EscapedPath(), "/b/") {
					t.Errorf("%q leads to %s", o.key, r.URL)
				}
			}
			if r := s.list("", place); r.URL.Host != base.Host || r.URL.Path != "/b" {
				t.Errorf("%q leads to %s", place, r.URL)
			}
		}
	})
}
