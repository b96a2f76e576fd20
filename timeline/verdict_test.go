package timeline

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestAnswersInTurn stores random answers of two incidents in turn: each can be
// read again as it was, whatever came after, and the same again adds nothing.
func TestAnswersInTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	dir := t.TempDir()
	db := create(t, dir)
	type answer struct {
		row  AnswerRow
		rows []VerdictRow
	}
	var want []answer
	state := map[string]map[string]VerdictRow{"a": {}, "b": {}}
	for n := range 40 {
		incident := []string{"a", "b"}[r.IntN(2)]
		for range r.IntN(4) {
			s := fmt.Sprintf("host:h%d", r.IntN(9))
			if r.IntN(4) == 0 {
				delete(state[incident], s)
			} else {
				state[incident][s] = VerdictRow{s, "exposed", "exact", fmt.Sprint("n", r.IntN(3)), "pkg:npm/x", "npm=exposed", "0123 x.log:1"}
			}
		}
		rows := slices.SortedFunc(maps.Values(state[incident]), func(x, y VerdictRow) int { return strings.Compare(x.Subject, y.Subject) })
		a := AnswerRow{Incident: incident, Revision: fmt.Sprint("rev", r.IntN(2)), Says: "x", Program: "test", Subjects: len(rows)}
		stored, err := db.StoreAnswer(&a, slices.Values(rows), "pulltrail match")
		if err != nil {
			t.Fatal(n, err)
		}
		again := AnswerRow{Incident: a.Incident, Revision: a.Revision, Says: "x", Subjects: a.Subjects}
		if twice, err := db.StoreAnswer(&again, slices.Values(rows), "pulltrail match"); twice || err != nil {
			t.Fatalf("%d: stored twice: %v, %v", n, twice, err)
		}
		if stored {
			want = append(want, answer{a, rows})
		}
	}
	all, err := db.Answers("")
	if err != nil || len(all) != len(want) || len(want) < 10 {
		t.Fatalf("%d answers, want %d: %v", len(all), len(want), err)
	}
	for i, w := range want {
		got, err := db.VerdictsOf(all[i])
		if err != nil || all[i].At != w.row.At || !slices.Equal(got, w.rows) {
			t.Errorf("answer %d: got %v, want %v (%v)", w.row.ID, got, w.rows, err)
		}
	}
	if checks, _ := verified(t, db); checks != nil {
		t.Errorf("verify: %q", checks)
	}
}
