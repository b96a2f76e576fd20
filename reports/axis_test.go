package reports

import (
	"math"
	"testing"
	"time"
)

func instant(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixNano()
}

// TestAxis lays out windows and instants, and wants every instant on the
// picture, in order, and ticks that do not touch.
func TestAxis(t *testing.T) {
	from, to := instant(t, "2026-03-10T10:00:00Z"), instant(t, "2026-03-10T12:00:00Z")
	early, late := instant(t, "2020-01-01T00:00:00Z"), instant(t, "2026-04-02T07:00:00Z")
	for _, c := range []struct {
		name     string
		from, to int64
		instants []int64
		panels   int
	}{
		{"windows alone", from, to, nil, 1},
		{"near", from, to, []int64{from - hour, to + hour}, 1},
		{"later", from, to, []int64{from, late}, 2},
		{"earlier and later", from, to, []int64{late, early, from + minute}, 3},
		{"no start", math.MinInt64, to, []int64{early, from}, 1},
		{"no start, seen later", math.MinInt64, to, []int64{late}, 2},
		{"no end", from, math.MaxInt64, []int64{early, late}, 2},
		{"any time", math.MinInt64, math.MaxInt64, []int64{from, late}, 1},
		{"any time, seen once", math.MinInt64, math.MaxInt64, []int64{from}, 1},
		{"an instant of window", from, from, []int64{from}, 1},
		{"a window of years", early, late, []int64{from}, 1},
	} {
		a, ok := newAxis(c.from, c.to, c.instants, 100, 700)
		if !ok || len(a.panels) != c.panels {
			t.Errorf("%s: %d panels, want %d", c.name, len(a.panels), c.panels)
			continue
		}
		last := math.Inf(-1)
		for _, i := range append([]int64{math.MinInt64}, append(c.instants, math.MaxInt64)...) { // newAxis sorted them
			x := a.x(i)
			if x < last || x < 100 || x > 700 {
				t.Errorf("%s: %s stands at %f after %f", c.name, time.Unix(0, i).UTC(), x, last)
			}
			last = x
		}
		for _, p := range a.panels {
			ticks := p.ticks(60)
			if len(ticks) == 0 || len(ticks) > 12 || ticks[0].date == "" {
				t.Errorf("%s: ticks %+v", c.name, ticks)
			}
			for i := range ticks[1:] {
				if d := ticks[i+1].x - ticks[i].x; d < 30 {
					t.Errorf("%s: %f between two ticks", c.name, d)
				}
			}
		}
	}
	if _, ok := newAxis(math.MinInt64, math.MaxInt64, nil, 0, 1); ok {
		t.Error("an axis of nothing")
	}
}

// TestNamed: names that are too long for the picture keep what tells them apart.
func TestNamed(t *testing.T) {
	for id, want := range map[string]string{
		"github:acme/api/runs/812/attempts/2/jobs/build":                                "job:github:acme/api/812/2/build",
		"github:acme/a/runs/7/attempts/1/jobs/x":                                        "job:github:acme/a/7/1/x",
		"gitlab:group/project/jobs/991":                                                 "job:gitlab:group/project/jobs/991",
		"github:acme-engineering/billing-service/runs/19384756102/attempts/1/jobs/lint": "job:github:acme-eng…/19384756102/1/lint",
	} {
		if got := named(Subject{Kind: "job", ID: id}, 39); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}
