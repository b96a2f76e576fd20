package matchers

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// record is what the timeline holds that the question is about, in memory:
// facts on listed names and digests, and everything small.
type record struct {
	facts     []*timeline.Fact
	subjects  []timeline.Subject
	links     []timeline.LinkRow
	coverage  []timeline.CoverageRow
	expected  []timeline.ExpectedRow
	refused   []timeline.Inquiry    // requests of collectors that are not of one subject alone
	begun     []string              // commands that read evidence and did not end
	open      []timeline.Collection // that go on, or were interrupted
	done      []timeline.Collection // that got all they were to get
	sources   []timeline.SourceRow
	inventory []timeline.InventoryRow
	said      statements
	names     machines
	ops       func(source int64) (map[int64]timeline.Op, error)
	someOps   func([]timeline.OpKey) (map[timeline.OpKey]timeline.Op, error)
	ofOps     func(source int64, ops []int64) ([]*timeline.Fact, error)
	with      func(digests []string) ([]*timeline.Fact, error)
	made      func(by []timeline.Subject) ([]*timeline.Fact, error) // images that subjects built, pushed or tagged
	named     func(images []string) ([]*timeline.Fact, error)       // facts on image names
	called    func(ids []string) ([]*timeline.Fact, error)          // on images of which a part of the ID is known
	settings  []timeline.SettingRow
	canaries  []timeline.CanaryRow
	requests  func(prompt int64, yield func(*timeline.RequestRow) error) error
	more      func(...timeline.Relation) ([]timeline.LinkRow, error)
	holdsSome func(ends []string, yield func(from, to string)) error // what images hold, of some of them
	holdsAll  func(yield func(from, to string)) error
	during    func([]timeline.Span) ([]*timeline.Fact, error) // of opaque commands
	opaqueOf  func([]timeline.Subject) ([]*timeline.Fact, error)
	silent    func([]timeline.Span, func(job timeline.Subject, kind string)) error // jobs with opaque commands that name nothing
	shown     func(who timeline.Subject, kind string, when timeline.Span) (place string, err error)
	restored  func(kind string, from int64) ([]*timeline.Fact, error) // of what came out of caches
	seen      map[factKey]bool                                        // facts that were read
	endpoints func([]timeline.Subject, func(string) bool, func(timeline.Subject, string)) error
}

// gather reads from the timeline what the question needs.
func gather(db *timeline.DB, q *question) (*record, error) {
	r := &record{ops: db.Ops, someOps: db.SomeOps, endpoints: db.Endpoints, ofOps: func(source int64, ops []int64) ([]*timeline.Fact, error) {
		return collect(func(y func(*timeline.Fact) error) error { return db.FactsOfOps(source, ops, y) })
	}, with: func(digests []string) ([]*timeline.Fact, error) {
		return collect(func(y func(*timeline.Fact) error) error { return db.FactsWith(digests, y) })
	}, made: func(by []timeline.Subject) ([]*timeline.Fact, error) {
		return collect(func(y func(*timeline.Fact) error) error { return db.FactsMade(by, y) })
	}, named: func(images []string) ([]*timeline.Fact, error) {
		return collect(func(y func(*timeline.Fact) error) error { return db.FactsNamed(images, y) })
	}, called: func(ids []string) ([]*timeline.Fact, error) {
		return collect(func(y func(*timeline.Fact) error) error { return db.FactsCalled(ids, y) })
	}, more: func(relations ...timeline.Relation) ([]timeline.LinkRow, error) {
		links, err := db.Links(relations...)
		sortBy(links, compareLinks)
		return links, err
	}, holdsSome: func(ends []string, y func(from, to string)) error {
		return db.Pairs(timeline.Holds, ends, y)
	}, holdsAll: func(y func(from, to string)) error {
		return db.AllPairs(timeline.Holds, y)
	}, during: func(spans []timeline.Span) ([]*timeline.Fact, error) {
		return collect(func(y func(*timeline.Fact) error) error { return db.OpaqueDuring(spans, y) })
	}, opaqueOf: func(who []timeline.Subject) ([]*timeline.Fact, error) {
		return collect(func(y func(*timeline.Fact) error) error { return db.OpaqueOf(who, y) })
	}, silent: db.Silent, shown: db.Shown, restored: func(kind string, from int64) ([]*timeline.Fact, error) {
		return collect(func(y func(*timeline.Fact) error) error { return db.Restored(kind, from, y) })
	}, seen: map[factKey]bool{}}
	facts := make(chan error, 1)
	go func() { facts <- r.listed(db, q) }()
	if err := errors.Join(r.rest(db), <-facts); err != nil {
		return nil, err
	}
	if r.requests = db.Requests; q.inc.Kind == EngineFlaw || q.tracesMatter() {
		var err error
		if r.settings, err = db.Settings(); err != nil {
			return nil, err
		}
		sortBy(r.settings, compareSettings)
		if r.canaries, err = db.Canaries(); err != nil {
			return nil, err
		}
	}
	r.sort()
	r.rename(newMachines(r, r.said))
	return r, nil
}

// listed reads the facts on listed names and digests.
func (r *record) listed(db *timeline.DB, q *question) error {
	keep := func(f *timeline.Fact) error {
		if k := keyOf(f); !r.seen[k] {
			r.seen[k] = true
			r.facts = append(r.facts, f)
		}
		return nil
	}
	if err := db.FactsAbout(q.types(), q.wants, keep); err != nil {
		return err
	}
	digests := make([]string, 0, len(q.digests))
	for d := range q.digests {
		digests = append(digests, d)
	}
	if err := db.FactsWith(digests, keep); err != nil {
		return err
	}
	sortFacts(r.facts)
	return nil
}

// sort orders what was read by what it says, not by when it was read: the same
// evidence gives the same answer in any order.
func (r *record) sort() {
	sortBy(r.links, compareLinks)
	// What says why evidence is missing comes before what says that it should be there.
	sortBy(r.expected, func(x, y *timeline.ExpectedRow) int {
		if x.Subject != y.Subject {
			return compareSubjects(x.Subject, y.Subject)
		}
		if (x.Reason == "") != (y.Reason == "") {
			return cmp.Compare(y.Reason, x.Reason)
		}
		return cmp.Or(strings.Compare(x.Reason, y.Reason), strings.Compare(x.Path, y.Path), strings.Compare(x.Detail, y.Detail))
	})
}

func compareLinks(x, y *timeline.LinkRow) int {
	if c := strings.Compare(x.From, y.From); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(string(x.Relation), string(y.Relation)), strings.Compare(x.To, y.To), compareSpans(x.Span, y.Span),
		strings.Compare(x.Path, y.Path), cmp.Compare(x.Line, y.Line), strings.Compare(x.SHA256, y.SHA256))
}

func compareSettings(x, y *timeline.SettingRow) int {
	if x.Subject != y.Subject {
		return compareSubjects(x.Subject, y.Subject)
	}
	return cmp.Or(strings.Compare(string(x.Name), string(y.Name)), compareSpans(x.Span, y.Span), strings.Compare(x.Path, y.Path),
		cmp.Compare(x.Line, y.Line), strings.Compare(x.Value, y.Value))
}

// compareCoverage orders what sources say of one subject.
func compareCoverage(x, y timeline.CoverageRow) int {
	return cmp.Or(strings.Compare(string(x.Topic), string(y.Topic)), compareSpans(x.Span, y.Span), strings.Compare(x.Why, y.Why))
}

func compareSpans(x, y timeline.Span) int {
	return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To))
}

// sortBy sorts rows; they are large, so their numbers are moved first. Equal
// ones stay in order.
func sortBy[T any](rows []T, compare func(x, y *T) int) {
	inOrder := true
	for i := 1; i < len(rows) && inOrder; i++ {
		inOrder = compare(&rows[i-1], &rows[i]) <= 0
	}
	if inOrder {
		return
	}
	order := make([]int32, len(rows))
	for i := range order {
		order[i] = int32(i) //nolint:gosec // there are not that many rows
	}
	slices.SortFunc(order, func(i, j int32) int { return cmp.Or(compare(&rows[i], &rows[j]), cmp.Compare(i, j)) })
	sorted := make([]T, len(rows))
	for i, from := range order {
		sorted[i] = rows[from]
	}
	copy(rows, sorted)
}

func (r *record) rest(db *timeline.DB) (err error) {
	t, err := db.Tables(timeline.On, timeline.Is)
	if err != nil {
		return err
	}
	r.subjects, r.links, r.coverage, r.expected, r.sources = t.Subjects, t.Links, t.Coverage, t.Expected, t.Sources
	if err := r.ledger(db); err != nil {
		return err
	}
	if r.inventory, _, err = db.Inventory(); err != nil {
		return err
	}
	decisions, err := db.Decisions()
	r.said = newStatements(decisions)
	return err
}

// ledger reads what collectors did not get, and were kept from getting.
func (r *record) ledger(db *timeline.DB) error {
	asked, err := db.Ledger()
	if err != nil {
		return err
	}
	for i := range asked {
		if asked[i].Gap && asked[i].Claim == "" {
			r.refused = append(r.refused, asked[i])
		}
	}
	all, err := db.Collections()
	for _, c := range all {
		switch c.State {
		case timeline.CollectionOpen:
			r.open = append(r.open, c)
		case timeline.CollectionDone:
			r.done = append(r.done, c)
		case timeline.CollectionPartial:
		}
	}
	if err != nil {
		return err
	}
	r.begun, err = db.Begun()
	return err
}

func collect(run func(func(*timeline.Fact) error) error) ([]*timeline.Fact, error) {
	var out []*timeline.Fact
	err := run(func(f *timeline.Fact) error {
		out = append(out, f)
		return nil
	})
	sortFacts(out)
	return out, err
}

func sortFacts(facts []*timeline.Fact) { slices.SortStableFunc(facts, origin) }

// factKey tells one item of one event.
type factKey struct {
	event         int64
	artifact, ref string
}

func keyOf(f *timeline.Fact) factKey { return factKey{f.Event, f.Item.Artifact, f.Item.Ref} }

// projectOf is the repository or project of a job; other subjects are their own.
func projectOf(s timeline.Subject) timeline.Subject {
	if s.Kind != timeline.Job {
		return s
	}
	for _, part := range []string{"/runs/", "/jobs/", "/builds/", "/pipelines/"} {
		if i := strings.Index(s.ID, part); i > 0 {
			s.ID = s.ID[:i]
			break
		}
	}
	return s
}
