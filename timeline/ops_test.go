package timeline

import (
	"fmt"
	"testing"
)

// TestSomeOps asks for operations of two sources, more than one statement reads:
// they are as those of their source, and what is not stored is not there.
func TestSomeOps(t *testing.T) {
	db := create(t, t.TempDir())
	for n := range 2 {
		s, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		b := &Batch{}
		for i := int64(1); i < 3*eventsPart; i += 2 {
			b.Ops = append(b.Ops, Op{Number: i, Parent: i % 7, Tool: "pip", Command: fmt.Sprint("pip install ", i%9), State: OpDone})
		}
		b.Ops = append(b.Ops, Op{Number: 1 << 40, Tool: "npm", State: OpDone})
		if err := s.Write(b); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Finish(SourceInfo{SHA256: sha(fmt.Sprint(n)), Path: fmt.Sprint(n), State: Read}); err != nil {
			t.Fatal(err)
		}
	}
	var keys []OpKey
	for i := range int64(3*eventsPart + 9) {
		keys = append(keys, OpKey{1, i}, OpKey{2, i}, OpKey{3, i})
	}
	got, err := db.SomeOps(append(keys, OpKey{1, 1 << 40}))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for source := range int64(4) {
		ops, err := db.Ops(source)
		if err != nil {
			t.Fatal(err)
		}
		for number, op := range ops {
			if number < 1<<40 {
				count++
				if got[OpKey{source, number}] != op {
					t.Fatalf("operation %d of source %d is %+v, want %+v", number, source, got[OpKey{source, number}], op)
				}
			}
		}
	}
	if len(got) != count || count < 2*eventsPart {
		t.Errorf("%d operations, want %d", len(got), count)
	}
}
