package matchers

import (
	"fmt"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// record is what the timeline holds that the question is about, in memory:
// facts on listed names and digests, and everything small.
type record struct {
	facts     []timeline.Fact
	subjects  []timeline.Subject
	links     []timeline.LinkRow
	coverage  []timeline.CoverageRow
	expected  []timeline.ExpectedRow
	refused   []timeline.Inquiry    // requests of collectors that are not of one subject alone
	open      []timeline.Collection // that go on, or were interrupted
	sources   []timeline.SourceRow
	inventory []timeline.InventoryRow
	ops       func(source int64) (map[int64]timeline.Op, error)
	ofOps     func(source int64, ops []int64) ([]timeline.Fact, error)
	with      func(digests []string) ([]timeline.Fact, error)
	made      func(by []timeline.Subject) ([]timeline.Fact, error) // images that subjects built, pushed or tagged
	named     func(images []string) ([]timeline.Fact, error)       // facts on image names
	settings  []timeline.SettingRow
	requests  func(prompt int64, yield func(*timeline.RequestRow) error) error
	more      func(...timeline.Relation) ([]timeline.LinkRow, error)
	during    func([]timeline.Span) ([]timeline.Fact, error) // of opaque commands
	opaqueOf  func([]timeline.Subject) ([]timeline.Fact, error)
	seen      map[factKey]bool // facts that were read
}

// gather reads from the timeline what the question needs.
func gather(db *timeline.DB, q *question) (*record, error) {
	r := &record{ops: db.Ops, ofOps: func(source int64, ops []int64) ([]timeline.Fact, error) {
		return collect(func(y func(timeline.Fact) error) error { return db.FactsOfOps(source, ops, y) })
	}, with: func(digests []string) ([]timeline.Fact, error) {
		return collect(func(y func(timeline.Fact) error) error { return db.FactsWith(digests, y) })
	}, made: func(by []timeline.Subject) ([]timeline.Fact, error) {
		return collect(func(y func(timeline.Fact) error) error { return db.FactsMade(by, y) })
	}, named: func(images []string) ([]timeline.Fact, error) {
		return collect(func(y func(timeline.Fact) error) error { return db.FactsNamed(images, y) })
	}, more: func(relations ...timeline.Relation) ([]timeline.LinkRow, error) {
		links, err := db.Links(relations...)
		sortBy(links, linkText)
		return links, err
	}, during: func(spans []timeline.Span) ([]timeline.Fact, error) {
		return collect(func(y func(timeline.Fact) error) error { return db.OpaqueDuring(spans, y) })
	}, opaqueOf: func(who []timeline.Subject) ([]timeline.Fact, error) {
		return collect(func(y func(timeline.Fact) error) error { return db.OpaqueOf(who, y) })
	}, seen: map[factKey]bool{}}
	keep := func(f timeline.Fact) error { //nolint:unparam // the queries want a function that may fail
		if k := keyOf(f); !r.seen[k] {
			r.seen[k] = true
			r.facts = append(r.facts, f)
		}
		return nil
	}
	if err := db.FactsAbout(q.types(), q.wants, keep); err != nil {
		return nil, err
	}
	digests := make([]string, 0, len(q.digests))
	for d := range q.digests {
		digests = append(digests, d)
	}
	if err := db.FactsWith(digests, keep); err != nil {
		return nil, err
	}
	sortFacts(r.facts)
	if err := r.rest(db); err != nil {
		return nil, err
	}
	if r.requests = db.Requests; q.inc.Kind == EngineFlaw {
		var err error
		if r.settings, err = db.Settings(); err != nil {
			return nil, err
		}
		sortBy(r.settings, func(s timeline.SettingRow) string {
			return fmt.Sprint(s.Subject, s.Name, s.Span, s.Path, s.Line, s.Value)
		})
	}
	r.sort()
	return r, nil
}

// sort orders what was read by what it says, not by when it was read: the same
// evidence gives the same answer in any order.
func (r *record) sort() {
	sortBy(r.links, linkText)
	sortBy(r.coverage, func(c timeline.CoverageRow) string { return fmt.Sprint(c.Subject, c.Topic, c.Span, c.Why) })
	// What says why evidence is missing comes before what says that it should be there.
	sortBy(r.expected, func(x timeline.ExpectedRow) string {
		return fmt.Sprint(x.Subject, x.Reason == "", x.Reason, x.Path, x.Detail)
	})
}

func linkText(l timeline.LinkRow) string {
	return fmt.Sprint(l.From, l.Relation, l.To, l.Span, l.Path, l.Line, l.SHA256)
}

// sortBy sorts rows by a text that is made once for each.
func sortBy[T any](rows []T, text func(T) string) {
	type keyed struct {
		key string
		row T
	}
	all := make([]keyed, len(rows))
	for i, r := range rows {
		all[i] = keyed{text(r), r}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	for i := range all {
		rows[i] = all[i].row
	}
}

func (r *record) rest(db *timeline.DB) (err error) {
	if r.subjects, err = db.Subjects(); err != nil {
		return err
	}
	if r.links, err = db.Links(timeline.On, timeline.Is, timeline.Holds); err != nil {
		return err
	}
	if r.coverage, err = db.Coverages(); err != nil {
		return err
	}
	if r.expected, err = db.Expectations(); err != nil {
		return err
	}
	if r.sources, err = db.Sources(); err != nil {
		return err
	}
	if err := r.ledger(db); err != nil {
		return err
	}
	r.inventory, _, err = db.Inventory()
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
		if c.State == timeline.CollectionOpen {
			r.open = append(r.open, c)
		}
	}
	return err
}

func collect(run func(func(timeline.Fact) error) error) ([]timeline.Fact, error) {
	var out []timeline.Fact
	err := run(func(f timeline.Fact) error {
		out = append(out, f)
		return nil
	})
	sortFacts(out)
	return out, err
}

func sortFacts(facts []timeline.Fact) { slices.SortStableFunc(facts, origin) }

// factKey tells one item of one event.
type factKey struct {
	event         int64
	artifact, ref string
}

func keyOf(f timeline.Fact) factKey { return factKey{f.Event, f.Item.Artifact, f.Item.Ref} }

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
