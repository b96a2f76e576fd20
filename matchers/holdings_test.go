package matchers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pulltrail/timeline"
)

// TestHoldings asks what images hold digest by digest, and after all was read:
// both say what the links say, whatever was asked before.
func TestHoldings(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		type pair struct{ from, to string }
		var pairs []pair
		name := func() string { return fmt.Sprintf("sha256:%02d", r.IntN(12)) }
		for range r.IntN(30) {
			p := pair{name(), name()}
			if r.IntN(2) == 0 {
				p.to = timeline.DiffEnd + p.to
			}
			pairs = append(pairs, p, p) // two documents may say the same
		}
		links := &record{
			holdsSome: func(ends []string, yield func(from, to string)) error {
				for _, p := range pairs { // as two queries find them
					if slices.Contains(ends, p.from) {
						yield(p.from, p.to)
					}
				}
				for _, p := range pairs {
					if slices.Contains(ends, p.to) {
						yield(p.from, p.to)
					}
				}
				return nil
			},
			holdsAll: func(yield func(from, to string)) error {
				for _, p := range pairs {
					yield(p.from, p.to)
				}
				return nil
			},
		}
		want := func(match func(pair) (string, bool)) []string {
			var out []string
			for _, p := range pairs {
				if s, ok := match(p); ok {
					out = append(out, s)
				}
			}
			slices.Sort(out)
			return slices.Compact(out)
		}
		some, all := newHoldings(links), newHoldings(links)
		all.cost = costOfAll
		for range 20 {
			d := name()
			for which, h := range map[string]*holdings{"some": some, "all": all} {
				h.want(d)
				for what, lists := range map[string][2][]string{
					"parents":  {h.parents(d), want(func(p pair) (string, bool) { return p.from, p.to == d })},
					"children": {h.down[d], want(func(p pair) (string, bool) { return p.to, p.from == d && !strings.HasPrefix(p.to, timeline.DiffEnd) })},
					"layers": {h.layers(d), want(func(p pair) (string, bool) {
						diff, ok := strings.CutPrefix(p.to, timeline.DiffEnd)
						return diff, ok && p.from == d
					})},
					"with": {h.with(d), want(func(p pair) (string, bool) { return p.from, p.to == timeline.DiffEnd+d })},
				} {
					if !slices.Equal(lists[0], lists[1]) {
						t.Fatalf("seed %d, %s read: %s of %s are %v, want %v", seed, which, what, d, lists[0], lists[1])
					}
				}
			}
			if a, b := some.same(d), all.same(d); !slices.Equal(a, b) {
				t.Fatalf("seed %d: the same as %s is %v, and once all is read %v", seed, d, a, b)
			}
			if a, b := some.builtOn(d), all.builtOn(d); !slices.Equal(a, b) {
				t.Fatalf("seed %d: built on %s is %v, and once all is read %v", seed, d, a, b)
			}
		}
	}
}
