package timeline

import (
	"slices"
	"strings"
)

// opaque is what the index event_opaque is for; a query uses it only if it says
// the same. Of the many commands that name no package few matter to a question.
const opaque = "e.action = 15"

// OpaqueDuring yields the facts of opaque commands that overlap one of the
// spans.
func (db *DB) OpaqueDuring(spans []Span, yield func(Fact) error) error {
	var args []any
	var where []string
	for _, s := range spans {
		where = append(where, "(e.t0 IS NULL OR e.t0 <= ?) AND (e.t1 IS NULL OR e.t1 >= ?)")
		args = append(args, s.To, s.From)
	}
	if len(where) == 0 {
		return nil
	}
	return db.facts(yield, "SELECT "+factColumns+" FROM event e JOIN bundle_item b ON b.bundle=e.bundle"+factJoins+
		"WHERE e.id IN (SELECT e.id FROM event e WHERE "+opaque+" AND ("+strings.Join(where, " OR ")+")) ORDER BY e.id, b.item", args...)
}

// OpaqueOf yields the facts of opaque commands of the subjects.
func (db *DB) OpaqueOf(subjects []Subject, yield func(Fact) error) error {
	return db.factsOfSubjects(subjects, opaque, yield)
}

// factsOfSubjects yields the facts of the subjects under a condition that has an
// index by subject.
func (db *DB) factsOfSubjects(subjects []Subject, where string, yield func(Fact) error) error {
	for part := range slices.Chunk(subjects, chunk/2) {
		args := make([]any, 0, 2*len(part))
		for _, s := range part {
			args = append(args, string(s.Kind), s.ID)
		}
		// Without the index, while a new case is loaded, this is one scan for all of them.
		if err := db.facts(yield, "SELECT "+factColumns+" FROM event e CROSS JOIN bundle_item b ON b.bundle=e.bundle"+factJoins+
			"WHERE e.id IN (SELECT e.id FROM event e WHERE "+where+" AND e.subject IN (SELECT w.id FROM (VALUES (?,?)"+strings.Repeat(",(?,?)", len(part)-1)+
			") v CROSS JOIN subject w ON w.kind=v.column1 AND w.name=v.column2)) ORDER BY e.id, b.item", args...); err != nil {
			return err
		}
	}
	return nil
}
