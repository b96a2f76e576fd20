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
	where, args := overlapping(spans)
	if where == "" {
		return nil
	}
	var f found
	if err := db.each(func(row rawRow) { f.ids = append(f.ids, row.int(0)) },
		"SELECT e.id FROM event e WHERE "+opaque+" AND ("+where+")", args...); err != nil {
		return fmt.Errorf("read timeline: %w", err)
	}
	return db.factsOfEvents(&f, yield)
}

// OpaqueOf yields the facts of opaque commands of the subjects.
func (db *DB) OpaqueOf(subjects []Subject, yield func(*Fact) error) error {
	return db.bySubject(subjects, opaque, yield)
}

// Restored yields the facts of installed packages of a type that came out of a
// cache, from an instant on.
func (db *DB) Restored(kind string, from int64, yield func(*Fact) error) error {
	var f found
	err := db.each(func(row rawRow) { f.ids = append(f.ids, row.int(0)) },
		"SELECT e.id FROM event e WHERE "+opaque+` AND (e.t1 IS NULL OR e.t1 >= ?) AND e.bundle IN (
			SELECT b.bundle FROM artifact a JOIN item i ON i.artifact = a.id JOIN bundle_item b ON b.item = i.id
			WHERE a.type = ? AND a.name = '' AND substr(i.ref, 1, ?) = ?)`, from, kind, len(CacheEnd), CacheEnd)
	if err != nil {
		return fmt.Errorf("read timeline: %w", err)
	}
	return db.factsOfEvents(&f, yield)
}

// Silent yields the jobs that ran a command which names no package, in one of
// the spans, with the purl type of what it may have fetched.
func (db *DB) Silent(spans []Span, yield func(job Subject, kind string)) error {
	where, args := overlapping(spans)
	if where == "" {
		return nil
	}
	err := db.each(func(row rawRow) { yield(Subject{Kind: Job, ID: row.text(0)}, row.text(1)) }, `
		SELECT DISTINCT s.name, a.type FROM (SELECT DISTINCT e.subject, e.bundle FROM event e WHERE `+opaque+" AND ("+where+`)) x
		JOIN subject s ON s.id = x.subject JOIN bundle_item b ON b.bundle = x.bundle JOIN item i ON i.id = b.item JOIN artifact a ON a.id = i.artifact
		WHERE s.kind = 'job' AND a.name = '' AND i.ref = ''`, args...)
	if err != nil {
		return fmt.Errorf("read timeline: %w", err)
	}
	return nil
}

// overlapping is the condition that an event overlaps one of the spans.
func overlapping(spans []Span) (where string, args []any) {
	var parts []string
	for _, s := range spans {
		parts = append(parts, "(e.t0 IS NULL OR e.t0 <= ?) AND (e.t1 IS NULL OR e.t1 >= ?)")
		args = append(args, s.To, s.From)
	}
	return strings.Join(parts, " OR "), args
}
