package ingest

import (
	"errors"
	"testing"
)

// TestBudget spends a budget: what is over it stays over.
func TestBudget(t *testing.T) {
	packed := func(n int64) *budget { return &budget{packed: func() int64 { return n }} }
	for _, c := range []struct {
		name  string
		b     *budget
		spend func(*budget)
		over  bool
	}{
		{"members", packed(1), func(b *budget) {
			for range maxMembers {
				b.member()
			}
		}, false},
		{"one member more", packed(1), func(b *budget) {
			for range maxMembers + 1 {
				b.member()
			}
		}, true},
		{"few bytes of any ratio", packed(1), func(b *budget) { _ = b.count(ratioFrom) }, false},
		{"many bytes of a usual ratio", packed(ratioFrom), func(b *budget) { _ = b.count(maxRatio * ratioFrom) }, false},
		{"many bytes out of few", packed(1000), func(b *budget) { _ = b.count(ratioFrom + 1) }, true},
		{"too many bytes", packed(maxUnpack), func(b *budget) { _ = b.count(maxUnpack + 1) }, true},
		{"few events of any ratio", packed(1), func(b *budget) { b.found(eventsFrom) }, false},
		{"many events of a usual ratio", packed(eventsFrom), func(b *budget) { b.found(maxEvents * eventsFrom) }, false},
		{"many events out of few bytes", packed(1000), func(b *budget) { b.found(eventsFrom); b.found(1) }, true},
	} {
		c.spend(c.b)
		if err := c.b.count(0); (err != nil) != c.over || c.over && !errors.Is(err, errOver) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
