package timeline

import (
	"testing"
	"time"
)

func TestSpanText(t *testing.T) {
	for _, text := range []string{
		"..", "2026-10-21T12:04:51Z", "2026-10-21T12:04:51.5Z", "2026-10-21T12:04:51Z/2026-10-21T12:05:00.000000001Z",
		"../2026-10-21T12:04:51Z", "2026-10-21T12:04:51Z/..", "1969-12-31T23:59:59.999999999Z",
	} {
		s, err := ParseSpan(text)
		if err != nil || s.String() != text {
			t.Errorf("%s comes back as %s (%v)", text, s, err)
		}
	}
	for text, want := range map[string]string{
		"2026-10-21T14:04:51+02:00": "2026-10-21T12:04:51Z", "../..": "..",
		"2026-10-21T12:04:51Z/2026-10-21T12:04:51Z": "2026-10-21T12:04:51Z",
	} {
		if s, err := ParseSpan(text); err != nil || s.String() != want {
			t.Errorf("%s is %s, want %s (%v)", text, s, want, err)
		}
	}
	for _, text := range []string{
		"yesterday", "2026-10-21", "2026-10-21T12:04:51", "1600-01-01T00:00:00Z", "2300-01-01T00:00:00Z",
		"2026-10-21T12:04:51Z/2026-10-21T12:04:50Z", "2026-10-21T12:04:51Z/x", "2026-02-30T00:00:00Z",
	} {
		if s, err := ParseSpan(text); err == nil {
			t.Errorf("%s is read as %s", text, s)
		}
	}
}

func TestSpanOverlaps(t *testing.T) {
	span := func(text string) Span {
		s, err := ParseSpan(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	window := span("2026-10-21T11:39:00Z/2026-10-21T14:20:59.999999999Z")
	for text, want := range map[string][2]bool{ // overlaps, within
		"2026-10-21T11:39:00Z":                      {true, true},
		"2026-10-21T14:20:59.999999999Z":            {true, true},
		"2026-10-21T11:38:59.999999999Z":            {false, false},
		"2026-10-21T14:21:00Z":                      {false, false},
		"2026-10-21T11:00:00Z/2026-10-21T11:39:00Z": {true, false},
		"2026-10-21T00:00:00Z/2026-10-22T00:00:00Z": {true, false},
		"..":                      {true, false},
		"../2026-10-21T11:38:00Z": {false, false},
		"2026-10-21T14:20:00Z/..": {true, false},
	} {
		s := span(text)
		if got := [2]bool{s.Overlaps(window.From, window.To), s.Within(window.From, window.To)}; got != want {
			t.Errorf("%s: overlaps and lies within: %v, want %v", text, got, want)
		}
	}
}

func TestSpanBound(t *testing.T) {
	day := func(d int) int64 { return time.Date(2026, 10, d, 0, 0, 0, 0, time.UTC).UnixNano() }
	for _, c := range []struct {
		span, want Span
	}{
		{Always(), Span{day(20), day(22), Unset, ""}},
		{Span{day(19), day(21), NoZone, "w"}, Span{day(20), day(21), NoZone, "w"}},
		{Span{day(21), day(21), NoZone, ""}, Span{day(21), day(21), NoZone, ""}},
		{Span{day(19), day(19), Exact, ""}, Span{day(19), day(19), Exact, ""}}, // a claim never moves a clock
		{Span{day(10), day(11), NoYear, ""}, Span{day(10), day(11), NoYear, ""}},
	} {
		if got := c.span.Bound(day(20), day(22)); got != c.want {
			t.Errorf("%v bound is %v, want %v", c.span, got, c.want)
		}
	}
}
