package timeline

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLiving names subjects in many sources, by events, coverage and claims, some
// only in what is expected, and some only in a source that is not finished.
func TestLiving(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 44))
	for round := range 20 {
		db := create(t, t.TempDir())
		sources, subjects := 1+r.IntN(60), 1+r.IntN(40)
		want := map[Subject]bool{}
		for n := range sources {
			s, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			b, speaks := &Batch{}, n > 0 || r.IntN(2) == 0
			for range r.IntN(4) {
				who := Subject{Host, fmt.Sprint("h", r.IntN(subjects))}
				o := Origin{Path: "x", Line: 1}
				switch r.IntN(4) {
				case 0:
					b.Events = append(b.Events, Event{Action: Install, Subject: who, Items: []Item{{Artifact: "pkg:npm/x@1"}}, Span: Always(), Origin: o})
				case 1:
					b.Coverage = append(b.Coverage, Coverage{Subject: who, Topic: NPM, Span: Always()})
				case 2:
					b.Claimed = append(b.Claimed, who)
				default:
					b.Expected = append(b.Expected, Expected{Subject: who, Span: Always(), Origin: o})
					continue
				}
				if speaks {
					want[who] = true
				}
			}
			if err := s.Write(b); err != nil {
				t.Fatal(err)
			}
			if !speaks {
				continue
			}
			if _, err := s.Finish(SourceInfo{SHA256: sha(fmt.Sprint(n)), Path: fmt.Sprint(n), State: Read}); err != nil {
				t.Fatal(err)
			}
		}
		sorted := slices.SortedFunc(maps.Keys(want), Subject.Compare)
		got, err := db.Subjects()
		if err != nil || !slices.Equal(got, sorted) {
			t.Fatalf("round %d: %v, want %v (%v)", round, got, sorted, err)
		}
		db.Prepare()
		tables, err := db.Tables(On)
		if err != nil || !slices.Equal(tables.Subjects, sorted) {
			t.Fatalf("round %d: a match reads %v, want %v (%v)", round, tables.Subjects, sorted, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
