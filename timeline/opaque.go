package timeline

import (
	"fmt"
	"strings"
)

// opaque is what the index event_opaque is for; a query uses it only if it says
// the same. Of the many commands that name no package few matter to a question.
const opaque = "e.action = 15"

// OpaqueDuring yields the facts of opaque commands that overlap one of the
// spans.
func (db *DB) OpaqueDuring(spans []Span, yield func(*Fact) error) error {
	var args []any
	var where []string
	for _, s := range spans {
		where = append(where, "(e.t0 IS NULL OR e.t0 <= ?) AND (e.t1 IS NULL OR e.t1 >= ?)")
		args = append(args, s.To, s.From)
	}
	if len(where) == 0 {
		return nil
	}
	var f found
	if err := db.each(func(row rawRow) { f.ids = append(f.ids, row.int(0)) },
		"SELECT e.id FROM event e WHERE "+opaque+" AND ("+strings.Join(where, " OR ")+")", args...); err != nil {
		return fmt.Errorf("read timeline: %w", err)
	}
	return db.factsOfEvents(&f, yield)
}

// OpaqueOf yields the facts of opaque commands of the subjects.
func (db *DB) OpaqueOf(subjects []Subject, yield func(*Fact) error) error {
	return db.bySubject(subjects, opaque, yield)
}
