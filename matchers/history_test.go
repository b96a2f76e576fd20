package matchers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pulltrail/timeline"
)

// history is a made-up case: what some jobs, hosts and containers did, and what
// was written of it.
type history struct {
	name     string
	events   []timeline.Event
	ops      []timeline.Op
	links    []timeline.Link
	coverage []timeline.Coverage
	layers   map[string][]string // unpacked layers by image ID
	behind   map[string][]string // hosts by address
	has      map[string][]string // channels that the inventory states for a host

	r     *rand.Rand
	built []string // digests
	jobs  []string
	hosts []string
}

var (
	windowFrom = time.Date(2026, 10, 21, 11, 39, 0, 0, time.UTC).UnixNano()
	windowTo   = time.Date(2026, 10, 21, 14, 20, 59, 999999999, time.UTC).UnixNano()
)

// historyIncident is the question that the reference knows.
func historyIncident() *Incident {
	return &Incident{
		Schema: schemaName, ID: "history", Kind: MaliciousRelease, References: []string{"https://advisory.acme.example"},
		Channels: []Channel{{Name: "pypi", Windows: []Window{{From: windowFrom, To: windowTo, Precision: "minute", Basis: "stated"}}}},
		Packages: []Package{{PURL: "pkg:pypi/litellm", Channel: "pypi", Versions: []string{"1.107.0"}, Role: "payload", Trigger: "unknown"}},
		Complete: Completeness{Versions: true, Tags: true, Digests: true, Commits: true},
	}
}

// newHistory makes the history of a seed.
func newHistory(seed uint64) *history {
	h := &history{
		name: fmt.Sprintf("s%d", seed), r: rand.New(rand.NewPCG(seed, 7)), //nolint:gosec // it has to come again
		layers: map[string][]string{}, behind: map[string][]string{}, has: map[string][]string{},
	}
	for i := range 1 + h.r.IntN(3) {
		h.hosts = append(h.hosts, fmt.Sprintf("%s-h%d", h.name, i))
	}
	for _, host := range h.hosts {
		if h.chance(2) {
			h.has[host] = [][]string{{"hosted"}, {"pypi"}, {"hosted", "pypi"}, {"none"}}[h.r.IntN(4)]
		}
	}
	for i := range h.r.IntN(3) {
		address := fmt.Sprintf("%s-c%d", h.name, i)
		h.behind[address] = h.hosts[:h.r.IntN(min(3, len(h.hosts)+1))]
	}
	for i := range 1 + h.r.IntN(4) {
		h.job(fmt.Sprintf("gitlab:%s/p%d/jobs/%d", h.name, h.r.IntN(2), i))
	}
	for range h.r.IntN(6) {
		h.elsewhere()
	}
	h.stack()
	h.covers()
	return h
}

func (h *history) chance(one int) bool { return h.r.IntN(one) == 0 }

// when is a time around the window, in whole minutes so that some are equal.
func (h *history) when(after int64) int64 {
	if after == 0 {
		after = windowFrom - int64(5*time.Hour)
	}
	return after + int64(h.r.IntN(200))*int64(3*time.Minute)
}

func (h *history) op(tool string, parent int64, state timeline.OpState) int64 {
	n := int64(len(h.ops) + 1)
	h.ops = append(h.ops, timeline.Op{Number: n, Parent: parent, Tool: tool, State: state})
	return n
}

func (h *history) event(at int64, a timeline.Action, who timeline.Subject, artifact, digest string, op int64) {
	item := timeline.Item{Artifact: artifact}
	if digest != "" {
		item.Digests = []timeline.Digest{{Value: digest, Role: timeline.Config}}
	}
	h.events = append(h.events, timeline.Event{
		Action: a, Subject: who, Items: []timeline.Item{item}, Op: op,
		Span:   timeline.Span{From: at, To: at, Clock: timeline.Exact},
		Origin: timeline.Origin{Path: h.name, Line: int64(len(h.events) + 1)},
	})
}

func (h *history) link(at int64, r timeline.Relation, from, to string) {
	h.links = append(h.links, timeline.Link{
		Relation: r, From: from, To: to, Span: timeline.Span{From: at, To: at, Clock: timeline.Exact},
		Origin: timeline.Origin{Path: h.name, Line: int64(1000 + len(h.links))},
	})
}

func (h *history) image() string {
	return fmt.Sprintf("registry.acme.example/%s/img%d:1", h.name, h.r.IntN(3))
}

func (h *history) version() string {
	return []string{"pkg:pypi/litellm@1.106.2", "pkg:pypi/litellm@1.107.0"}[h.r.IntN(2)]
}

// job is a job with some steps, one after the other.
func (h *history) job(id string) {
	h.jobs = append(h.jobs, id)
	who := timeline.Subject{Kind: timeline.Job, ID: id}
	at := h.when(0)
	if h.chance(2) {
		h.link(at, timeline.On, who.String(), "host:"+h.hosts[h.r.IntN(len(h.hosts))])
	}
	if h.chance(3) {
		h.link(at, timeline.Uses, who.String(), fmt.Sprintf("cache:k%d", h.r.IntN(2)))
	}
	for range 1 + h.r.IntN(4) {
		at += int64(h.r.IntN(20)) * int64(time.Minute)
		switch h.r.IntN(6) {
		case 0, 1:
			h.install(at, who, 0)
		case 2, 3:
			h.build(at, who)
		case 4:
			h.get(at, who, h.op("docker", 0, timeline.OpDone))
		case 5:
			h.event(at, timeline.Push, who, h.image(), h.digest(h.chance(2)), 0)
		}
	}
	if h.chance(3) {
		h.link(at, timeline.Saves, who.String(), fmt.Sprintf("cache:k%d", h.r.IntN(2)))
	}
}

// install asks, and may tell what came.
func (h *history) install(at int64, who timeline.Subject, parent int64) {
	op := h.op("pip", parent, []timeline.OpState{timeline.OpDone, timeline.OpOpen}[h.r.IntN(2)])
	switch h.r.IntN(4) {
	case 0:
		h.event(at, timeline.Opaque, who, "pkg:pypi/litellm", "", op)
	case 1:
		h.event(at, timeline.Require, who, "pkg:pypi/litellm", "", op)
	case 2:
		h.event(at, timeline.Resolve, who, h.version(), "", op)
	}
	if h.chance(4) {
		return
	}
	h.event(at, []timeline.Action{timeline.Install, timeline.Install, timeline.Present, timeline.Download}[h.r.IntN(4)], who, h.version(), "", op)
}

// digest is that of an image: a new one, or one that was built before.
func (h *history) digest(known bool) string {
	if known && len(h.built) > 0 {
		return h.built[h.r.IntN(len(h.built))]
	}
	sum := sha256.Sum256(fmt.Append(nil, h.name, len(h.built)))
	d := "sha256:" + hex.EncodeToString(sum[:])
	h.built = append(h.built, d)
	return d
}

// build is a build: from an image, with an install, pushed by itself or after.
func (h *history) build(at int64, who timeline.Subject) {
	op := h.op("buildkit", 0, timeline.OpDone)
	for range h.r.IntN(3) {
		h.event(at, []timeline.Action{timeline.Pull, timeline.Resolve, timeline.Cached}[h.r.IntN(3)], who, h.image(), h.maybeDigest(), op)
	}
	if h.chance(2) {
		h.install(at, who, op)
	}
	name, d := h.image(), h.digest(false)
	if h.chance(4) {
		d = ""
	}
	h.event(at, timeline.Build, who, name, d, op)
	if h.chance(2) {
		h.event(at+int64(time.Minute), timeline.Push, who, name, d, []int64{0, op}[h.r.IntN(2)])
	}
}

func (h *history) maybeDigest() string {
	if h.chance(3) {
		return ""
	}
	return h.digest(true)
}

func (h *history) get(at int64, who timeline.Subject, op int64) {
	a := []timeline.Action{timeline.Pull, timeline.Pull, timeline.Present, timeline.Run, timeline.Check}[h.r.IntN(5)]
	h.event(at, a, who, h.image(), h.maybeDigest(), op)
}

// elsewhere is something that a host, a container or a client does.
func (h *history) elsewhere() {
	at := h.when(0)
	host := h.hosts[h.r.IntN(len(h.hosts))]
	who := timeline.Subject{Kind: timeline.Host, ID: host}
	switch h.r.IntN(6) {
	case 0:
		h.install(at, who, 0)
	case 1:
		h.get(at, who, 0)
	case 2:
		c := timeline.Subject{Kind: timeline.Container, ID: fmt.Sprintf("%s/%012x", host, h.r.IntN(2))}
		h.event(at, timeline.Run, c, h.image(), h.maybeDigest(), 0)
		h.link(at, timeline.On, c.String(), who.String())
	case 3, 4:
		c := timeline.Subject{Kind: timeline.Client, ID: fmt.Sprintf("%s-c%d", h.name, h.r.IntN(3))}
		if h.chance(2) {
			h.event(at, timeline.Download, c, h.version(), "", 0)
		} else {
			h.event(at, timeline.Pull, c, h.image(), h.maybeDigest(), 0)
		}
	case 5:
		h.event(at, timeline.Push, who, h.image(), h.digest(true), 0)
	}
}

// stack gives some images layers, one of them on top of another.
func (h *history) stack() {
	if len(h.built) < 2 || h.chance(2) {
		return
	}
	low, high, other := h.built[0], h.built[len(h.built)-1], h.built[len(h.built)/2]
	a, b, c := "sha256:"+strings.Repeat("a", 52)+low[7:19], "sha256:"+strings.Repeat("b", 52)+low[7:19], "sha256:"+strings.Repeat("c", 52)+low[7:19]
	if other != low && other != high {
		h.layers[other] = []string{a, c}
	}
	h.layers[high] = []string{a, b, c}
	h.layers[low] = []string{a, b}
	for _, d := range h.built {
		for _, layer := range h.layers[d] {
			h.link(windowFrom, timeline.Holds, d, timeline.DiffEnd+layer)
		}
	}
}

// covers says of some what was read.
func (h *history) covers() {
	add := func(who timeline.Subject, topic timeline.Topic, whole bool) {
		from := h.when(0) - int64(3*time.Hour)
		h.coverage = append(h.coverage, timeline.Coverage{
			Subject: who, Topic: topic, Whole: whole, Why: "the history says so",
			Span: timeline.Span{From: from, To: h.when(from) + int64(2*time.Hour), Clock: timeline.Exact},
		})
	}
	for _, id := range h.jobs {
		if h.chance(2) {
			add(timeline.Subject{Kind: timeline.Job, ID: id}, timeline.Everything, true)
		}
	}
	for _, id := range h.hosts {
		for range h.r.IntN(5) {
			add(timeline.Subject{Kind: timeline.Host, ID: id}, []timeline.Topic{timeline.PyPI, timeline.Images}[h.r.IntN(2)], h.chance(6))
		}
	}
}

// TestReference compares the matcher with brute force on random histories; one
// that fails comes again with its seed. PULLTRAIL_SOAK makes it long.
func TestReference(t *testing.T) {
	batches := 3
	if os.Getenv("PULLTRAIL_SOAK") != "" {
		batches = 2000
	}
	for b := range batches {
		seeds := make([]uint64, 40)
		for i := range seeds {
			seeds[i] = uint64(b*len(seeds) + i + 1) //nolint:gosec // small
		}
		if !compareHistories(t, seeds) {
			return
		}
	}
}

// compareHistories matches several histories as one case: they have nothing in
// common but what images carry on.
func compareHistories(t *testing.T, seeds []uint64) bool {
	t.Helper()
	db, err := timeline.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var refs []*reference
	var rows []timeline.InventoryRow
	from, to := timeline.Forever, timeline.Beginning
	for _, seed := range seeds {
		h := newHistory(seed)
		rows = append(rows, h.write(t, db)...)
		r := newReference(h)
		refs = append(refs, r)
		from, to = min(from, r.from), max(to, r.to)
	}
	if err := db.SetInventory(rows, nil, timeline.SourceInfo{}); err != nil {
		t.Fatal(err)
	}
	res, err := Match(db, historyIncident())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*Finding{}
	for i := range res.Findings {
		got[res.Findings[i].Subject.String()] = &res.Findings[i]
	}
	ok := true
	for i, r := range refs {
		want := r.verdicts(from, to)
		for who, v := range want {
			switch f := got[who]; {
			case f == nil:
				t.Errorf("seed %d: %s has no finding, want %s", seeds[i], who, v)
			case f.Verdict != v:
				t.Errorf("seed %d: %s is %s (%s: %s), want %s", seeds[i], who, f.Verdict, f.Rule, f.Because, v)
			default:
				delete(got, who)
				continue
			}
			delete(got, who)
			if ok {
				t.Logf("the history:\n%s\nwhat the reference found:\n%s", r.history, r)
			}
			ok = false
		}
	}
	for who, f := range got {
		t.Errorf("%s is %s, and is nobody: %s", who, f.Verdict, f.Because)
		ok = false
	}
	return ok
}

// write puts the history into a case as one source.
func (h *history) write(t *testing.T, db *timeline.DB) []timeline.InventoryRow {
	t.Helper()
	w, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&timeline.Batch{Events: h.events, Ops: h.ops, Links: h.links, Coverage: h.coverage}); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(h.name))
	info := timeline.SourceInfo{SHA256: hex.EncodeToString(sum[:]), Path: h.name, State: timeline.Read, First: timeline.Beginning, Last: timeline.Forever}
	if _, err := w.Finish(info); err != nil {
		t.Fatal(err)
	}
	var rows []timeline.InventoryRow
	for address, hosts := range h.behind {
		for _, host := range hosts {
			rows = append(rows, timeline.InventoryRow{Address: address, Host: host, Span: timeline.Always(), Channels: h.has[host]})
		}
	}
	for _, host := range h.hosts {
		if len(h.has[host]) > 0 {
			rows = append(rows, timeline.InventoryRow{Host: host, Span: timeline.Always(), Channels: h.has[host]})
		}
	}
	slices.SortFunc(rows, func(a, b timeline.InventoryRow) int {
		return strings.Compare(a.Address+" "+a.Host, b.Address+" "+b.Host)
	})
	return rows
}

func (h *history) String() string {
	var b strings.Builder
	for _, e := range h.events {
		fmt.Fprintf(&b, "  %s op=%d\n", timeline.Notation(e)[0], e.Op)
	}
	for _, o := range h.ops {
		fmt.Fprintf(&b, "  op %d of %d %s %s\n", o.Number, o.Parent, o.Tool, o.State)
	}
	for _, l := range h.links {
		fmt.Fprintf(&b, "  link %s %s %s %s\n", l.Relation, l.From, l.To, l.Span)
	}
	for _, c := range h.coverage {
		fmt.Fprintf(&b, "  covers %s %s %s %t\n", c.Subject, c.Topic, c.Span, c.Whole)
	}
	fmt.Fprintf(&b, "  addresses %v channels %v\n", h.behind, h.has)
	return b.String()
}
