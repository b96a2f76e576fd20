package timeline

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Clock says how good a time is.
type Clock string

// The kinds of clock.
const (
	Exact     Clock = "exact"     // stands on the line, with zone
	Skewed    Clock = "skewed"    // exact, with a skew that was stated taken off
	Flushed   Clock = "flushed"   // the time the text was written out, not printed
	Inherited Clock = "inherited" // of an earlier line
	Section   Clock = "section"   // between the start and the end of a step
	Relative  Clock = "relative"  // seconds since an unknown start
	NoZone    Clock = "no-zone"   // local time of an unknown zone
	NoYear    Clock = "no-year"   // no year, and perhaps no zone
	Stepped   Clock = "stepped"   // the clock was set in between
	Unset     Clock = "unset"     // the clock was never set, or there is none
)

// Unknown ends of a span.
const (
	Beginning int64 = math.MinInt64
	Forever   int64 = math.MaxInt64
)

// Span is the interval in which something happened: nanoseconds since
// 1970-01-01T00:00:00Z, both ends inclusive, equal when the time is exact.
type Span struct {
	From, To int64
	Clock    Clock
	Written  string // the time as the evidence writes it
}

// Always is the span of evidence without any clock.
func Always() Span { return Span{Beginning, Forever, Unset, ""} }

// At is the exact span of t.
func At(t time.Time, written string) Span {
	n := t.UnixNano()
	return Span{n, n, Exact, written}
}

// Overlaps reports whether s and [from, to] have an instant in common.
func (s Span) Overlaps(from, to int64) bool { return s.From <= to && s.To >= from }

// Within reports whether s lies inside [from, to].
func (s Span) Within(from, to int64) bool { return s.From >= from && s.To <= to }

// Bound narrows an inexact span to [from, to]; an exact one, or one that does
// not meet it, stays as it is: a claim never moves a clock.
func (s Span) Bound(from, to int64) Span {
	if s.Clock == Exact || !s.Overlaps(from, to) {
		return s
	}
	s.From, s.To = max(s.From, from), min(s.To, to)
	return s
}

// FormatTime prints an instant as RFC 3339 UTC with as many digits as it has,
// ".." for an unknown end.
func FormatTime(ns int64) string {
	if ns == Beginning || ns == Forever {
		return ".."
	}
	return time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
}

// ParseTime is the inverse of FormatTime; unknown stands for "..".
func ParseTime(text string, unknown int64) (int64, error) {
	if text == ".." || text == "" {
		return unknown, nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, fmt.Errorf("time %q: want RFC 3339, such as 2026-10-21T11:39:00Z", text)
	}
	if y := t.Year(); y < 1678 || y > 2261 {
		return 0, fmt.Errorf("time %q: the year is out of range", text)
	}
	return t.UnixNano(), nil
}

// String prints "time", "from/to" for an interval, ".." when nothing is known.
func (s Span) String() string {
	if s.From == s.To || s.From == Beginning && s.To == Forever {
		return FormatTime(s.From)
	}
	return FormatTime(s.From) + "/" + FormatTime(s.To)
}

// ParseSpan reads what String prints.
func ParseSpan(text string) (Span, error) {
	a, b, two := strings.Cut(text, "/")
	from, err := ParseTime(a, Beginning)
	if err != nil {
		return Span{}, err
	}
	if !two {
		if from == Beginning {
			return Always(), nil
		}
		return Span{From: from, To: from, Clock: Exact}, nil
	}
	to, err := ParseTime(b, Forever)
	if err != nil {
		return Span{}, err
	}
	if to < from {
		return Span{}, fmt.Errorf("span %q ends before it starts", text)
	}
	s := Span{From: from, To: to, Clock: Section}
	if from == Beginning || to == Forever {
		s.Clock = Unset
	}
	return s, nil
}
