package collect

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// gate lets requests through as the service allows: none before a limit ends,
// never more than are left, and no faster than our own pace.
type gate struct {
	mu    sync.Mutex
	open  time.Time // nothing goes through before
	left  int       // calls that the service still allows, -1: it did not say
	limit int
	reset time.Time // when it counts anew
	every time.Duration
	next  time.Time // of our own pace
}

// burst is how many requests may go at once before the pace counts.
const burst = 60

func every(perMinute int) time.Duration {
	if perMinute <= 0 {
		return 0
	}
	return time.Minute / time.Duration(perMinute)
}

// pass asks for one request. granted tells that it may go at that time; else it
// has to ask again then. spent tells that no call is left before.
func (g *gate) pass(now time.Time) (at time.Time, granted, spent bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open.After(now) {
		return g.open, false, false
	}
	if g.left == 0 && g.reset.After(now) {
		return g.reset, false, true
	}
	if g.left == 0 {
		g.left = -1 // it counts anew
	}
	if g.left > 0 {
		g.left--
	}
	if g.every > 0 {
		if early := now.Add(-burst * g.every); g.next.Before(early) {
			g.next = early
		}
		g.next = g.next.Add(g.every)
		if g.next.After(now) {
			return g.next, true, false
		}
	}
	return now, true, false
}

// close lets nothing through before a time. It reports whether that is news.
func (g *gate) close(until time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !until.After(g.open) {
		return false
	}
	g.open = until
	return true
}

// learn takes what an answer says of the calls that are left. Answers come in
// any order: of one period the smallest number counts.
//
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
func (g *gate) learn(h http.Header, now time.Time) {
	if resource := h.Get("X-RateLimit-Resource"); resource != "" && resource != "core" {
		g.back() // counted apart: graphql, audit_log
		return
	}
	left, err := strconv.Atoi(header(h, "X-RateLimit-Remaining", "RateLimit-Remaining"))
	if err != nil || left < 0 {
		return
	}
	reset, ok := resets(h, now)
	if !ok {
		return
	}
	limit, _ := strconv.Atoi(header(h, "X-RateLimit-Limit", "RateLimit-Limit")) // 0: not said
	g.mu.Lock()
	defer g.mu.Unlock()
	// What is said in seconds from now wanders by one while it is on its way.
	period := reset.After(g.reset.Add(time.Second))
	if g.left < 0 || period || !reset.Before(g.reset.Add(-time.Second)) && left < g.left {
		g.left = left
	}
	if period || g.reset.IsZero() {
		g.reset = reset
	}
	g.limit = limit
}

// resets reads when a service counts anew: in seconds since 1970, or from now.
//
//	RateLimit-Reset: 42
//
// https://buildkite.com/docs/apis/rest-api/rate-limits
func resets(h http.Header, now time.Time) (at time.Time, ok bool) {
	const epoch = 1e9 // seconds since 1970 are more, those of any wait are less
	n, err := strconv.ParseInt(header(h, "X-RateLimit-Reset", "RateLimit-Reset"), 10, 64)
	if err != nil || n < 0 {
		return at, false
	}
	if n < epoch {
		return now.Add(time.Duration(n) * time.Second), true
	}
	return time.Unix(n, 0), true
}

// back gives back a call that did not count.
func (g *gate) back() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left >= 0 {
		g.left++
	}
}

func (g *gate) allowance() (left, limit int, reset time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.left, g.limit, g.reset
}

func header(h http.Header, names ...string) string {
	for _, n := range names {
		if v := h.Get(n); v != "" {
			return v
		}
	}
	return ""
}

// RateLimit tells a refusal that ends by itself from one that does not: HTTP
// 429, or 403 and 503 with Retry-After, or 403 with no call left.
//
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
func RateLimit(r *http.Response, _ []byte, now time.Time) (until time.Time, hit bool) {
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusForbidden && r.StatusCode != http.StatusServiceUnavailable {
		return until, false
	}
	if text := r.Header.Get("Retry-After"); text != "" {
		if seconds, err := strconv.Atoi(text); err == nil {
			return now.Add(time.Duration(max(seconds, 0)) * time.Second), true
		}
		if at, err := http.ParseTime(text); err == nil {
			return at, true
		}
	}
	if header(r.Header, "X-RateLimit-Remaining", "RateLimit-Remaining") == "0" && r.StatusCode != http.StatusServiceUnavailable {
		if at, ok := resets(r.Header, now); ok {
			return at.Add(time.Second), true
		}
	}
	return now.Add(time.Minute), r.StatusCode == http.StatusTooManyRequests
}

// backoff is how long to wait before the n-th attempt after a failure: 1, 2, 4,
// 8 seconds and so on, and up to half of it more, so that many do not come back
// at once.
func backoff(n int) time.Duration {
	d := time.Second << min(n, 6)
	return d + rand.N(d/2) //nolint:gosec // not a secret
}

func sleep(ctx context.Context, until time.Time) error {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
