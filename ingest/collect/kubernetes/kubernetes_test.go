package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pulltrail/ingest"
	"pulltrail/ingest/collect"
	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

const token = "EXAMPLEexampleEXAMPLE"

const digest = "sha256:8f45f7b0b2d4f3b1a7e0c2b9a9e4d0f1c6b5a4938271605f4e3d2c1b0a998877"

// world is a stand-in with a case beside it.
type world struct {
	*testing.T
	k   *services.Kubernetes
	db  *timeline.DB
	dir string

	mu    sync.Mutex
	now   time.Time
	waits int
}

func newWorld(t *testing.T, k *services.Kubernetes) *world {
	t.Helper()
	k.Token = token
	k.Start()
	t.Cleanup(k.API.Close)
	w := &world{T: t, k: k, dir: filepath.Join(t.TempDir(), "case"), now: time.Now()}
	var err error
	if w.db, err = timeline.Create(w.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	return w
}

// begin starts a session.
func (w *world) begin(db *timeline.DB, namespaces ...string) (*collect.Session, Options) {
	w.Helper()
	opt := Options{Context: &Context{Name: "prod", Server: w.k.API.URL, token: token}, Namespaces: namespaces}
	o, err := Connect(opt)
	if err != nil {
		w.Fatal(err)
	}
	if o.Token, err = opt.Context.Tokens("").Find(context.Background()); err != nil {
		w.Fatal(err)
	}
	o.Command, o.Program, o.Window, o.Parallel = "pulltrail collect kubernetes", "test", timeline.Span{From: 1, To: 1}, 2
	o.Now = func() time.Time {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.now
	}
	o.Sleep = func(ctx context.Context, until time.Time) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.waits++
		if until.After(w.now) {
			w.now = until
		}
		return ctx.Err()
	}
	s, err := collect.Begin(db, o)
	if err != nil {
		w.Fatal(err)
	}
	return s, opt
}

// collect does a collection and reads it.
func (w *world) collect(namespaces ...string) (collect.Stats, ingest.Result, error) {
	w.Helper()
	s, opt := w.begin(w.db, namespaces...)
	if err := s.Finish(Collect(context.Background(), s, opt)); err != nil {
		return s.Stats(), ingest.Result{}, err
	}
	res, err := ingest.Collected(context.Background(), w.db, ingest.Options{Parser: "test", Command: "test"})
	if err != nil {
		w.Fatal(err)
	}
	return s.Stats(), res, nil
}

func (w *world) dump() string {
	w.Helper()
	var b strings.Builder
	if err := w.db.Dump(&b); err != nil {
		w.Fatal(err)
	}
	return b.String()
}

// noValue fails when a value of a secret stands in the case, or could: also not
// in what is kept.
func (w *world) noValue() {
	w.Helper()
	ledger, err := w.db.Ledger()
	if err != nil {
		w.Fatal(err)
	}
	text := w.dump()
	for _, r := range ledger {
		text += r.Detail + r.Head
		if r.SHA256 == "" {
			continue
		}
		kept, err := w.db.OpenKept(r.SHA256)
		if err != nil {
			w.Fatal(err)
		}
		data, err := io.ReadAll(kept)
		if err != nil {
			w.Fatal(err)
		}
		text += string(data)
		kept.Close()
	}
	for _, s := range []string{services.KubernetesSecret, "last-applied", token} {
		if strings.Contains(text, s) {
			w.Errorf("%q stands in the case", s)
		}
	}
	for _, seen := range w.k.Requests() {
		if strings.Contains(seen.URL, "/secrets") && !strings.Contains(seen.Header.Get("Accept"), "as=PartialObjectMetadataList") {
			w.Errorf("%s asks for values", seen.URL)
		}
	}
}

// fill puts two namespaces, two nodes and a pod with its event into a cluster.
func fill(k *services.Kubernetes) {
	image := "ghcr.io/acme/gw@" + digest
	for _, ns := range []string{"ai", "web", "empty"} {
		k.Object("namespaces", "", ns, nil)
	}
	for _, node := range []string{"node-1", "node-2"} {
		k.Object("nodes", "", node, map[string]any{"status": map[string]any{"images": []any{map[string]any{"names": []string{image, "ghcr.io/acme/gw:1.4"}, "sizeBytes": 1}}}})
	}
	for i, ns := range []string{"ai", "ai", "web", "ai", "web"} {
		name := fmt.Sprintf("gw-%d", i)
		k.Object("pods", ns, name, map[string]any{
			"spec": map[string]any{"nodeName": "node-1", "containers": []any{map[string]any{
				"name": "gw", "image": "ghcr.io/acme/gw:1.4", "envFrom": []any{map[string]any{"secretRef": map[string]any{"name": "gateway"}}},
			}}},
			"status": map[string]any{"containerStatuses": []any{map[string]any{
				"name": "gw", "image": "ghcr.io/acme/gw:1.4", "imageID": image, "state": map[string]any{"running": map[string]any{"startedAt": "2026-10-21T12:05:00Z"}},
			}}},
		})
		k.Object("events", ns, name+".1", map[string]any{
			"involvedObject": map[string]any{"kind": "Pod", "namespace": ns, "name": name, "fieldPath": "spec.containers{gw}"}, "reason": "Pulled",
			"message": `Successfully pulled image "ghcr.io/acme/gw:1.4" in 1.2s`, "source": map[string]any{"component": "kubelet", "host": "node-1"}, "firstTimestamp": "2026-10-21T12:04:51Z",
		})
	}
	k.Secret("ai", "gateway", "OPENAI_API_KEY")
	k.Secret("web", "router", "SENTRY_DSN")
	k.Secret("web", "mail", "SMTP_PASSWORD")
	k.Object("configmaps", "ai", "settings", map[string]any{"data": map[string]any{"token": services.KubernetesSecret}})
}

func TestCollect(t *testing.T) {
	w := newWorld(t, &services.Kubernetes{PerPage: 2, Busy: 1})
	fill(w.k)
	st, res, err := w.collect()
	if err != nil || st.Gaps != 0 || !res.Complete() || w.waits == 0 {
		t.Errorf("got %+v, %+v, %v", st, res, err)
	}
	d := w.dump()
	for _, want := range []string{
		"2026-10-21T12:04:51Z pull container:k8s/web/gw-4/gw ghcr.io/acme/gw:1.4",
		"2026-10-21T12:05:00Z run container:k8s/ai/gw-0/gw ghcr.io/acme/gw:1.4",
		"present host:node-2 ghcr.io/acme/gw:1.4",
		digest,
		"OPENAI_API_KEY store=k8s:ai",
		"secret%20router created=2026-10-20T08:00:00Z updated=2026-10-21T09:00:00Z",
	} {
		if !strings.Contains(d, want) {
			t.Errorf("%q is not in\n%s", want, d)
		}
	}
	w.noValue()
	if st, _, err := w.collect(); err != nil || st.Calls != 3+3+1+2+1 {
		t.Errorf("again: %d calls, %v; what is there now is asked for anew", st.Calls, err)
	}
}

// TestGone: a list that the server forgot is begun anew, and in the end a gap.
func TestGone(t *testing.T) {
	w := newWorld(t, &services.Kubernetes{PerPage: 2, Gone: map[string]int{"pods": 2, "events": 1000}})
	fill(w.k)
	st, _, err := w.collect()
	if err != nil || st.Gaps != 1 {
		t.Errorf("got %+v, %v, want one gap", st, err)
	}
	ledger, err := w.db.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range ledger {
		if r.Gap && (r.Reply != timeline.Expired || !strings.Contains(r.Detail, "events of all namespaces of prod: HTTP 410: The provided continue parameter is too old")) {
			t.Errorf("the gap is %+v", r)
		}
	}
	if d := w.dump(); !strings.Contains(d, "run container:k8s/web/gw-4/gw") {
		t.Errorf("a pod of the last page is missing:\n%s", d)
	}
}

// TestDenied: what is denied is a gap by name, whatever else can be had.
func TestDenied(t *testing.T) {
	gaps := func(w *world) (all []string) {
		ledger, err := w.db.Ledger()
		if err != nil {
			w.Fatal(err)
		}
		for _, r := range ledger {
			if r.Gap {
				detail, _, _ := strings.Cut(r.Detail, ": HTTP")
				all = append(all, fmt.Sprintf("%s %s", r.Reply, detail))
			}
		}
		slices.Sort(all)
		return all
	}
	for _, c := range []struct {
		denied     []string
		namespaces []string
		want       []string
	}{
		{[]string{"pods", "web/pods", "nodes"}, nil, []string{"denied nodes of prod", "denied pods of namespace web of prod"}},
		{[]string{"secrets", "namespaces"}, nil, []string{"denied namespaces of prod"}},
		{[]string{"web/secrets", "web/pods"}, []string{"ai", "web"}, []string{"denied pods of namespace web of prod", "denied secrets of namespace web of prod"}},
	} {
		w := newWorld(t, &services.Kubernetes{Denied: map[string]bool{}})
		fill(w.k)
		for _, d := range c.denied {
			w.k.Denied[d] = true
		}
		if _, _, err := w.collect(c.namespaces...); err != nil {
			t.Fatal(err)
		}
		if got := gaps(w); !slices.Equal(got, c.want) {
			t.Errorf("%v, %v: got %q, want %q", c.denied, c.namespaces, got, c.want)
		}
		denied, d := strings.Contains(fmt.Sprint(c.want), "pods of namespace web"), w.dump()
		if strings.Contains(d, "run container:k8s/web/") == denied || !strings.Contains(d, "run container:k8s/ai/") {
			t.Errorf("%v: got\n%s", c.denied, d)
		}
		w.noValue()
	}
}

// TestWhole: a server that sends values is refused, and what it sent is kept
// nowhere.
func TestWhole(t *testing.T) {
	w := newWorld(t, &services.Kubernetes{Whole: true})
	fill(w.k)
	if st, _, err := w.collect("ai"); err != nil || st.Replies[timeline.Failed] != 2 || st.Gaps != 2 {
		t.Errorf("got %+v, %v; want two gaps: secrets and config maps", st, err)
	}
	w.noValue()
}

func TestUnauthorized(t *testing.T) {
	w := newWorld(t, &services.Kubernetes{})
	w.k.Token = "other"
	if _, _, err := w.collect(); !errors.Is(err, collect.ErrToken) || strings.Contains(err.Error(), token) {
		t.Errorf("got %v", err)
	}
}

func TestDryRun(t *testing.T) {
	w := newWorld(t, &services.Kubernetes{Denied: map[string]bool{"nodes": true}})
	fill(w.k)
	for i := range 600 {
		w.k.Object("pods", "ai", fmt.Sprintf("more-%d", i), nil)
	}
	s, opt := w.begin(nil)
	p, err := DryRun(context.Background(), s, opt)
	if err != nil || p.Objects != 605+5+3+1 || p.Calls != 3+1+1+1 || p.Hidden != 1 || s.Stats().Calls != 5 {
		t.Errorf("got %+v with %d calls, %v", p, s.Stats().Calls, err)
	}
	if kept, err := os.ReadDir(filepath.Join(w.dir, "evidence")); err == nil && len(kept) > 0 {
		t.Errorf("a dry run kept %v", kept)
	}
}
