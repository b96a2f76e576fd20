package timeline

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestPartialIndexes looks whether the conditions of queries are those of the
// indexes that are made for them: SQLite compares the words, and where they
// differ it reads every event.
func TestPartialIndexes(t *testing.T) {
	db, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&Batch{Events: []Event{{Action: Opaque, Subject: Subject{Host, "a"}, Span: At(time.Unix(1, 0), "")}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(SourceInfo{SHA256: "1", State: Read}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil { // makes the indexes
		t.Fatal(err)
	}
	if db, err = Open(db.dir); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []struct{ index, what, where string }{
		{"event_opaque", "e.id", opaque + " AND (e.t0 IS NULL OR e.t0 <= 5)"},
		{"event_opaque", "e.id", opaque + " AND e.subject IN (1,2)"},
		{"COVERING INDEX event_opaque", "DISTINCT e.subject, e.bundle", opaque + " AND ((e.t0 IS NULL OR e.t0 <= 5) AND (e.t1 IS NULL OR e.t1 >= 3))"},
		{"event_made", "e.id", makes + " AND e.subject IN (1,2)"},
		{"event_hold", "e.id", "e.action = 16"},
	} {
		var plan []string
		err := db.SQL(context.Background(), "EXPLAIN QUERY PLAN SELECT "+q.what+" FROM event e WHERE "+q.where, func(row []string) error {
			plan = append(plan, strings.Join(row, " "))
			return nil
		})
		if err != nil || !strings.Contains(strings.Join(plan, "\n"), q.index) {
			t.Errorf("WHERE %s does not use %s (%v):\n%s", q.where, q.index, err, strings.Join(plan, "\n"))
		}
	}
}
