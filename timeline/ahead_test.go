package timeline

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// manyEvents makes a case with so many events, and opens it for reading.
func manyEvents(t *testing.T, n int) *DB {
	t.Helper()
	db := create(t, t.TempDir())
	s, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	b := &Batch{}
	for i := range n {
		b.Events = append(b.Events, Event{
			Action: Install, Subject: Subject{Host, fmt.Sprint("h", i%70)}, Items: []Item{{Artifact: fmt.Sprint("pkg:npm/x@", i%500)}},
			Span: Always(), Origin: Origin{Path: "x", Line: int64(i), Text: strings.Repeat("x", i%90)},
		})
	}
	if err := s.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finish(SourceInfo{SHA256: sha("x"), Path: "x", State: Read}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(db.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestAhead asks for the pages of some events, which are the pages that have
// them, and for all pages of the table.
func TestAhead(t *testing.T) {
	const events = 30_000
	db := manyEvents(t, events)
	a := db.ahead()
	if a == nil {
		t.Fatal("the file cannot be read ahead")
	}
	in := map[int64]int64{} // page by row, as the leaves have it
	var all int
	for n := int64(2); n <= a.pages; n++ {
		page := make([]byte, a.size)
		if _, err := a.file.ReadAt(page, (n-1)*a.size); err != nil {
			t.Fatal(err)
		}
		if page[0] != 13 || !strings.Contains(string(page), "xxxxx") { // a leaf, of events
			continue
		}
		all++
		for i := range int(binary.BigEndian.Uint16(page[atCells:])) {
			cell := page[binary.BigEndian.Uint16(page[8+2*i:]):]
			for cell[0] >= 0x80 { // the size
				cell = cell[1:]
			}
			in[varint(cell[1:])] = n
		}
	}
	if len(in) != events {
		t.Fatalf("%d rows in %d leaves, want %d", len(in), all, events)
	}
	if got := a.whole("event"); got < all || got > all+all/10+2 {
		t.Errorf("%d pages of the table, which has %d leaves", got, all)
	}
	var want []int64
	ids := []int64{1, 2, 3, 4000, 17_000, 17_001, events - 1, events}
	for _, id := range ids {
		want = append(want, in[id])
	}
	got := a.rows("event", append(ids, events+5))
	slices.Sort(want)
	slices.Sort(got)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("pages %d, want %d", got, want)
	}
	if got := a.rows("event", nil); len(got) > 0 {
		t.Errorf("pages %d of no row", got)
	}
	if got := a.rows("no such table", ids); len(got) > 0 {
		t.Errorf("pages %d of no table", got)
	}
	if got := a.whole("event_bundle", "no such index"); got < 10 {
		t.Errorf("%d pages of an index", got)
	}
	db.aheads.close()
	a.rows("event", ids) // after its end nothing is asked
}

// TestAheadDamage reads ahead in a file whose inner pages say anything.
func TestAheadDamage(t *testing.T) {
	db := manyEvents(t, 20_000)
	data, err := os.ReadFile(filepath.Join(db.dir, "timeline.db"))
	if err != nil {
		t.Fatal(err)
	}
	a := *db.ahead()
	ids := []int64{1, 9, 5000, 19_999}
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		spoilt := slices.Clone(data)
		for page := a.size; page < int64(len(data)); page += a.size {
			if k := spoilt[page]; k == innerIndex || k == innerTable {
				for range 1 + r.IntN(40) {
					spoilt[page+1+r.Int64N(a.size-1)] = byte(r.IntN(256))
				}
			}
		}
		path := filepath.Join(t.TempDir(), "spoilt")
		if err := os.WriteFile(path, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		if a.file, err = os.Open(path); err != nil {
			t.Fatal(err)
		}
		if n := a.whole("event", "event_source"); int64(n) > 2*maxDepth*a.pages {
			t.Errorf("%d pages of a file that has %d", n, a.pages)
		}
		a.rows("event", ids)
		a.file.Close()
	}
}
