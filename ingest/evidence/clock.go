package evidence

import (
	"math"
	"strconv"
	"strings"
	"time"

	"pulltrail/timeline"
)

// Times says how to read clocks without zone or year.
type Times struct {
	Zone   *time.Location // --zone; nil: not stated
	Covers timeline.Span  // --covers; zero: not stated
	Skew   Skew           // --skew; nil: not stated

	order  *yearOrder // of the log being read, nil where lines have no order
	absent *string    // takes the first local time that its zone never had
}

// bound narrows an inexact span to what --covers states, as a clock shows it
// that is ahead.
func (t *Times) bound(s timeline.Span, ahead int64) timeline.Span {
	if t.Covers == (timeline.Span{}) {
		return s
	}
	return s.Bound(back(t.Covers.From, -ahead, timeline.Beginning), back(t.Covers.To, -ahead, timeline.Forever))
}

// The widest offsets in use: a local time of an unknown zone lies between.
const (
	eastmost = 14 * time.Hour
	westmost = -12 * time.Hour
)

// unsetBefore is 1990: an earlier clock was never set.
var unsetBefore = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// Moment is a date and time as a log writes it.
type Moment struct {
	Year                          int // 0: not written
	Month, Day, Hour, Minute, Sec int
	Nano                          int
	Offset                        time.Duration
	HasOffset                     bool
	Wrong                         bool          // no calendar has it: the clock says nothing, the line does
	Resolution                    time.Duration // of the last digit written
}

// Span turns a moment into an honest span: exact with a zone, wide without.
func (m Moment) Span(written string, t *Times) timeline.Span {
	if m.Wrong {
		return timeline.Span{From: timeline.Beginning, To: timeline.Forever, Clock: timeline.Unset, Written: written}
	}
	if m.Year == 0 {
		return m.noYear(written, t)
	}
	if m.HasOffset {
		at := time.Date(m.Year, time.Month(m.Month), m.Day, m.Hour, m.Minute, m.Sec, m.Nano, time.UTC).Add(-m.Offset)
		return exact(at, written)
	}
	if t.Zone != nil {
		return m.inZone(m.Year, t.Zone, written, t.absent)
	}
	local := time.Date(m.Year, time.Month(m.Month), m.Day, m.Hour, m.Minute, m.Sec, m.Nano, time.UTC)
	if local.UnixNano() < unsetBefore {
		return timeline.Span{From: timeline.Beginning, To: timeline.Forever, Clock: timeline.Unset, Written: written}
	}
	return timeline.Span{From: local.Add(-eastmost).UnixNano(), To: local.Add(-westmost).UnixNano(), Clock: timeline.NoZone, Written: written}
}

func exact(at time.Time, written string) timeline.Span {
	if y := at.Year(); y > 2261 || at.Before(time.Unix(0, unsetBefore)) {
		return timeline.Span{From: timeline.Beginning, To: timeline.Forever, Clock: timeline.Unset, Written: written}
	}
	return timeline.At(at, written)
}

// inZone reads a local time of a known zone. In the hour that a clock goes
// back it happened twice, so the span holds both. In the hour that a clock
// leaves out it never was: the zone is wrong, or the clock was not put forward,
// and the span holds what it means on either side.
func (m Moment) inZone(year int, zone *time.Location, written string, absent *string) timeline.Span {
	at := time.Date(year, time.Month(m.Month), m.Day, m.Hour, m.Minute, m.Sec, m.Nano, zone)
	s := exact(at, written)
	if m.Hour < 24 && m.Sec < 60 && (at.Hour() != m.Hour || at.Minute() != m.Minute) && s.Clock == timeline.Exact {
		if absent != nil && *absent == "" {
			*absent = "the local time " + written + " was left out in " + zone.String() + " when clocks were put forward: --zone is not the zone of this clock, or it was not put forward"
		}
		local := time.Date(year, time.Month(m.Month), m.Day, m.Hour, m.Minute, m.Sec, m.Nano, time.UTC)
		_, before := at.Add(-3 * time.Hour).Zone()
		_, after := at.Add(3 * time.Hour).Zone()
		s.From = local.Add(-time.Duration(max(before, after)) * time.Second).UnixNano()
		s.To = local.Add(-time.Duration(min(before, after)) * time.Second).UnixNano()
		s.Clock = timeline.NoZone
		return s
	}
	for _, d := range []time.Duration{-3 * time.Hour, 3 * time.Hour} {
		_, here := at.Zone()
		_, there := at.Add(d).Zone()
		other := at.Add(time.Duration(here-there) * time.Second)
		if here != there && other.Hour() == at.Hour() && other.Minute() == at.Minute() && other.Day() == at.Day() && !other.Equal(at) {
			s.From, s.To = min(s.From, other.UnixNano()), max(s.To, other.UnixNano())
			s.Clock = timeline.NoZone
		}
	}
	return s
}

// noYear reads a time without a year: within --covers each year that fits is
// possible; without it, any year is.
func (m Moment) noYear(written string, t *Times) timeline.Span {
	s := timeline.Span{From: math.MaxInt64, To: math.MinInt64, Clock: timeline.NoYear, Written: written}
	c := t.Covers
	if c == (timeline.Span{}) || c.From == timeline.Beginning || c.To == timeline.Forever {
		return timeline.Span{From: timeline.Beginning, To: timeline.Forever, Clock: timeline.NoYear, Written: written}
	}
	in := Times{Zone: t.Zone}
	years := func(inOrder func(year int) bool) (fits int) {
		for y := time.Unix(0, c.From).UTC().Year() - 1; y <= time.Unix(0, c.To).UTC().Year()+1; y++ {
			m.Year = y
			if one := m.Span(written, &in); one.Overlaps(c.From, c.To) && one.Clock != timeline.Unset && inOrder(y) {
				s.From, s.To = min(s.From, one.From), max(s.To, one.To)
				if fits++; one.Clock == timeline.Exact && fits == 1 {
					s.Clock = timeline.Exact
				} else {
					s.Clock = timeline.NoYear
				}
			}
		}
		return fits
	}
	if t.order != nil && years(t.order.next(m, &in, c)) > 0 {
		return s
	}
	if years(func(int) bool { return true }) == 0 {
		return timeline.Span{From: timeline.Beginning, To: timeline.Forever, Clock: timeline.NoYear, Written: written}
	}
	return s
}

// Epoch reads a count since 1970 in units of unit. A program that counts in
// another unit than its documentation says is understood: the count tells
// seconds, milliseconds, microseconds and nanoseconds apart from 1990 to 2100.
// Times before 1990 mean that the clock was not set.
func Epoch(n int64, unit time.Duration, written string) timeline.Span {
	for _, u := range [...]time.Duration{unit, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
		if n < 0 || n > math.MaxInt64/int64(u) {
			continue
		}
		at := n * int64(u)
		if s := exact(time.Unix(0, at).UTC(), written); s.Clock == timeline.Exact && (u == unit || at < detectBefore) {
			return s
		}
	}
	return timeline.Span{From: timeline.Beginning, To: timeline.Forever, Clock: timeline.Unset, Written: written}
}

// detectBefore is 2100: later counts are of a finer unit.
var detectBefore = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// UnixSeconds reads seconds since 1970 with a fraction as nanoseconds; 0 for
// anything else, and for the counts of clocks that started later.
func UnixSeconds(text string) int64 {
	whole, part, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n < unsetBefore/1_000_000_000 || n >= math.MaxInt64/1_000_000_000 {
		return 0
	}
	part = (part + "000000000")[:9]
	nano, err := strconv.ParseUint(part, 10, 32)
	if err != nil {
		return 0
	}
	return n*1e9 + int64(nano)
}

// ISOStamp reads ISO 8601 and RFC 3339 times in any of their spellings: T or a
// blank between date and time, a fraction behind a dot or comma, an offset
// with or without colon, or none at all. Unreadable text has no clock.
func ISOStamp(text []byte, t *Times) timeline.Span {
	m, n := ParseISO(text)
	if n == 0 {
		return timeline.Always()
	}
	return m.Span(string(text[:n]), t)
}

// ParseISO reads the time at the start of text and returns how many bytes it
// takes, 0 when there is none. See ISOStamp.
func ParseISO(text []byte) (Moment, int) {
	var m Moment
	if len(text) < 19 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') || text[13] != ':' || text[16] != ':' {
		return m, 0
	}
	ok := true
	m.Year = digits(text[0:4], &ok)
	m.Month = digits(text[5:7], &ok)
	m.Day = digits(text[8:10], &ok)
	m.Hour = digits(text[11:13], &ok)
	m.Minute = digits(text[14:16], &ok)
	m.Sec = digits(text[17:19], &ok)
	if !ok {
		return m, 0
	}
	m.Wrong = m.Month < 1 || m.Month > 12 || m.Day < 1 || m.Hour > 24 || m.Minute > 59 || m.Sec > 60 ||
		m.Day > 28 && m.Day > time.Date(m.Year, time.Month(m.Month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	m.Resolution = time.Second
	n := 19
	if n < len(text)-1 && (text[n] == '.' || text[n] == ',') && isDigit(text[n+1]) {
		n++
		for unit := 100_000_000; n < len(text) && isDigit(text[n]); n++ {
			m.Nano += int(text[n]-'0') * unit
			m.Resolution = max(time.Duration(unit), 1)
			unit /= 10
		}
	}
	return parseOffset(m, text, n)
}

// parseOffset reads Z, +hh:mm, +hhmm, +hh or " +hhmm" at text[n:].
func parseOffset(m Moment, text []byte, n int) (Moment, int) {
	i := n
	if i < len(text) && text[i] == 'Z' {
		m.HasOffset = true
		return m, i + 1
	}
	if i+1 < len(text) && text[i] == ' ' && (text[i+1] == '+' || text[i+1] == '-') {
		i++
	}
	if i+2 >= len(text) || text[i] != '+' && text[i] != '-' || !isDigit(text[i+1]) || !isDigit(text[i+2]) {
		return m, n
	}
	ok := true
	off := time.Duration(digits(text[i+1:i+3], &ok)) * time.Hour
	end := i + 3
	rest := text[end:]
	if len(rest) >= 3 && rest[0] == ':' && isDigit(rest[1]) && isDigit(rest[2]) {
		off += time.Duration(digits(rest[1:3], &ok)) * time.Minute
		end += 3
	} else if len(rest) >= 2 && isDigit(rest[0]) && isDigit(rest[1]) {
		off += time.Duration(digits(rest[0:2], &ok)) * time.Minute
		end += 2
	}
	if !ok {
		return m, n
	}
	m.Wrong = m.Wrong || off > 15*time.Hour
	if text[i] == '-' {
		off = -off
	}
	m.Offset, m.HasOffset = off, true
	return m, end
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// digits reads a number of a few digits; ok becomes false on anything else.
func digits(b []byte, ok *bool) int {
	n := 0
	for _, c := range b {
		if !isDigit(c) {
			*ok = false
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// Month reads the English three-letter name of a month, 0 when it is none.
func Month(b []byte) int {
	if len(b) != 3 {
		return 0
	}
	for i, name := range [...]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"} {
		if string(b) == name {
			return i + 1
		}
	}
	return 0
}
