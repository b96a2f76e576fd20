package objects

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pulltrail/testdata/services"
)

// TestInterrupted stops a collection at each of its requests: the next one asks
// for nothing twice but what was on its way.
func TestInterrupted(t *testing.T) {
	const requests = 3 + 5 // pages and objects
	for stop := 1; stop <= requests; stop++ {
		kind := kinds[stop%len(kinds)]
		w := newWorld(t, &services.Objects{Kind: kind, Secret: secret, Keys: keys()})
		ctx, cancel := context.WithCancel(context.Background())
		w.o.On = func(n int) {
			if n == stop {
				cancel()
			}
		}
		if _, _, err := w.collectUntil(ctx, "AWSLogs/", 1); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, stopped at request %d: %v", kind, stop, err)
		}
		w.o.On = nil
		if _, c, err := w.collectUntil(context.Background(), "AWSLogs/", 1); err != nil || len(c.Objects) != 5 {
			t.Errorf("%s, stopped at request %d, then: %d objects, %v", kind, stop, len(c.Objects), err)
		}
		if seen := w.o.Requests(); len(seen) > requests+1 {
			t.Errorf("%s, stopped at request %d: %d requests in all, want %d at most", kind, stop, len(seen), requests+1)
		}
	}
}

// TestResumed: an object that breaks off is gone on with, where the store does,
// and only with the same content.
func TestResumed(t *testing.T) {
	content := strings.Repeat(pip, 500)
	for _, kind := range []string{"s3", "gs", "https"} {
		for _, c := range []struct {
			cut, requests int
			whole         bool // the store sends all of it each time
			changes       bool
		}{{3, 4, false, false}, {1, 3, true, false}, {1, 3, false, true}} {
			w := newWorld(t, &services.Objects{Kind: kind, Keys: map[string]string{"a.log": content}, Cut: map[string]int{"a.log": c.cut}, NoRange: c.whole})
			want := content
			if c.changes {
				want = strings.ToUpper(content)
				w.o.On = func(n int) {
					if n == 2 {
						w.o.Keys["a.log"] = want
					}
				}
			}
			_, got, err := w.collect("a.log")
			if err != nil || len(got.Objects) != 1 || got.Objects[0].SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte(want))) {
				t.Errorf("%s %+v: got %+v, %v", kind, c, got, err)
			}
			seen := w.o.Requests()
			if len(seen) != c.requests || seen[1].Header.Get("Range") != fmt.Sprintf("bytes=%d-", len(content)/2) || seen[1].Header.Get("If-Match") == "" && !strings.Contains(seen[1].URL, "ifGenerationMatch=") {
				t.Errorf("%s %+v: %d requests, want %d", kind, c, len(seen), c.requests)
			}
		}
	}
}
