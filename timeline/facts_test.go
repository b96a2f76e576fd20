package timeline

import (
	"errors"
	"fmt"
	"testing"
)

// TestManyFacts reads more facts than are looked up at once: each has what its
// event said, and an error of who reads them is returned as it is.
func TestManyFacts(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	const n = 2*pendingRows + 7
	event := func(i int) Event {
		return Event{
			Action: Install, Subject: Subject{Host, fmt.Sprint("h", i%900)}, Op: int64(i),
			Items: []Item{{Artifact: fmt.Sprintf("pkg:pypi/x@%d", i%700), Ref: fmt.Sprint(">", i%3)}},
			Span:  Span{From: int64(i + 1), To: int64(i + 2), Clock: Exact, Written: fmt.Sprint("at ", i)}, Origin: Origin{Path: fmt.Sprintf("%d.log", i%50), Line: int64(i), Offset: int64(7 * i), Text: fmt.Sprint("line ", i)},
		}
	}
	s, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := s.Write(&Batch{Events: []Event{event(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Finish(info("sum", "", "x")); err != nil {
		t.Fatal(err)
	}
	seen := 0
	about := func(yield func(*Fact) error) error {
		return db.FactsAbout([]string{"pypi"}, func(p Parts) bool { return p.Name == "x" }, yield)
	}
	for range 2 { // the second time what the numbers stand for is known
		seen = 0
		err := about(func(f *Fact) error {
			want := event(seen)
			got := Event{f.Action, f.Subject, []Item{f.Item}, f.Span, f.Op, f.Origin}
			if fmt.Sprint(got) != fmt.Sprint(want) || f.SHA256 != "sum" || f.Parts != Split(want.Items[0].Artifact) {
				t.Fatalf("fact %d is %+v, want %+v", seen, *f, want)
			}
			seen++
			return nil
		})
		if err != nil || seen != n {
			t.Fatalf("%d facts, want %d (%v)", seen, n, err)
		}
	}
	enough := errors.New("enough")
	if err := about(func(*Fact) error { return enough }); err != enough { //nolint:errorlint // it is the same one
		t.Errorf("%v, want %v", err, enough)
	}
}
