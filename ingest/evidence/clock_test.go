package evidence

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata"

	"pulltrail/timeline"
)

var zones = []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "Africa/Casablanca", "Pacific/Apia", "UTC"}

func moment(t time.Time) Moment {
	return Moment{Year: t.Year(), Month: int(t.Month()), Day: t.Day(), Hour: t.Hour(), Minute: t.Minute(), Sec: t.Second(), Nano: t.Nanosecond()}
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLocalTimes: whatever a clock shows in a zone, the span of it holds the
// instant, and no local time that was shown is called absent.
func TestLocalTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range zones {
		zone := location(t, name)
		for range 4000 {
			at := time.Unix(1_000_000_000+r.Int64N(900_000_000), 0)
			if r.IntN(2) == 0 { // near a change of the clocks
				if _, end := at.In(zone).ZoneBounds(); !end.IsZero() {
					at = end.Add(time.Duration(r.Int64N(int64(6*time.Hour))) - 3*time.Hour).Truncate(time.Second)
				}
			}
			absent := ""
			s := moment(at.In(zone)).Span("x", &Times{Zone: zone, absent: &absent})
			if !s.Overlaps(at.UnixNano(), at.UnixNano()) || s.To-s.From > int64(3*time.Hour) || absent != "" {
				t.Fatalf("%s in %s: %s, absent %q", at.UTC(), name, s, absent)
			}
			if s.From != s.To && s.Clock != timeline.NoZone {
				t.Fatalf("%s in %s: %s is called %s", at.UTC(), name, s, s.Clock)
			}
		}
	}
}

// TestChangeOfClocks: the hour that is left out is a fault with both readings,
// the hour that comes twice a span of both.
func TestChangeOfClocks(t *testing.T) {
	zone := location(t, "Europe/Berlin")
	for _, c := range []struct {
		text, span string
		absent     bool
	}{
		{"2026-03-29 01:59:59", "2026-03-29T00:59:59Z", false},
		{"2026-03-29 02:30:00", "2026-03-29T00:30:00Z/2026-03-29T01:30:00Z", true},
		{"2026-03-29 03:00:00", "2026-03-29T01:00:00Z", false},
		{"2026-10-25 01:59:59", "2026-10-24T23:59:59Z", false},
		{"2026-10-25 02:30:00", "2026-10-25T00:30:00Z/2026-10-25T01:30:00Z", false},
		{"2026-10-25 03:00:00", "2026-10-25T02:00:00Z", false},
	} {
		absent := ""
		s := ISOStamp([]byte(c.text), &Times{Zone: zone, absent: &absent})
		if s.String() != c.span || (absent != "") != c.absent || s.Written != c.text {
			t.Errorf("%s: %s, absent %q; want %s", c.text, s, absent, c.span)
		}
	}
}

// TestEpochUnits: a count is understood in any unit, whatever the documentation
// of its program says.
func TestEpochUnits(t *testing.T) {
	units := []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		at := 700_000_000 + r.Int64N(3_300_000_000)
		for _, really := range units {
			for _, said := range units {
				if s := Epoch(at*int64(time.Second/really), said, "x"); s.From != at*int64(time.Second) || s.Clock != timeline.Exact {
					t.Fatalf("%d in %s read as %s: %s (%s)", at, really, said, s, s.Clock)
				}
			}
		}
	}
	for _, n := range []int64{0, 1, 86400, -5, 1 << 62} {
		if s := Epoch(n, time.Second, "x"); s.Clock != timeline.Unset {
			t.Errorf("%d: %s", n, s)
		}
	}
}

// TestYearsInOrder reads logs without years: each span holds the instant, and
// a log that goes over New Year gets its year where only one fits.
func TestYearsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.Int64N(int64(600 * 24 * time.Hour)))).Truncate(time.Second)
		at, end := start, start.Add(time.Duration(r.Int64N(int64(700*24*time.Hour))))
		times := Times{Covers: timeline.Span{From: start.Add(-48 * time.Hour).UnixNano(), To: end.Add(48 * time.Hour).UnixNano()}, order: &yearOrder{}}
		for at.Before(end) {
			m := moment(at)
			m.Year = 0
			if s := m.Span("x", &times); !s.Overlaps(at.UnixNano(), at.UnixNano()) {
				t.Fatalf("covers %s, line %s: %s", times.Covers, at, s)
			}
			at = at.Add(time.Duration(r.Int64N(int64(200 * 24 * time.Hour)))).Truncate(time.Second)
			if r.IntN(5) == 0 { // a line that comes late
				at = at.Add(-time.Minute)
			}
		}
	}
	times := Times{Zone: time.UTC, order: &yearOrder{}}
	times.Covers, _ = timeline.ParseSpan("2025-08-01T00:00:00Z/2026-12-01T00:00:00Z")
	got := ""
	for _, line := range []Moment{{Month: 9, Day: 3}, {Month: 12, Day: 30}, {Month: 1, Day: 2}, {Month: 6, Day: 2}, {Month: 10, Day: 21, Hour: 12}} {
		got += line.Span("x", &times).String() + " "
	}
	if want := "2025-09-03T00:00:00Z/2026-09-03T00:00:00Z 2025-12-30T00:00:00Z 2026-01-02T00:00:00Z 2026-06-02T00:00:00Z 2026-10-21T12:00:00Z "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSkewOnce: a stated skew is taken off exactly once, by whatever way an
// event, a link or a cover leaves.
func TestSkewOnce(t *testing.T) {
	skew := Skew{}
	for _, text := range []string{"web1=+90s", "host:db1=-1h"} {
		if err := skew.ParseSkew(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"web1=5s", "web1", "=+1s", "a b=+1s", "web3=+99999999h", "web3=soon"} {
		if err := skew.ParseSkew(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if got := skew.String(); got != "db1=-1h0m0s,web1=+1m30s" {
		t.Errorf("printed %s", got)
	}
	var got []string
	note := func(s timeline.Span) {
		got = append(got, fmt.Sprintf("%s %s %s", s, s.Clock, s.Written))
	}
	r := NewMachine(nil).NewReading("x.log", timeline.Subject{Kind: timeline.Host, ID: "WEB1"}, timeline.Subject{}, Times{Skew: skew}, func(b *timeline.Batch) error {
		for _, e := range b.Events {
			note(e.Span)
		}
		for _, l := range b.Links {
			note(l.Span)
		}
		for _, c := range b.Coverage {
			note(c.Span)
		}
		return nil
	})
	r.line = &Line{Stamp: Stamp{Text: []byte("2026-10-21T12:01:30Z"), Read: ISOStamp}}
	mark := r.Mark()
	r.Event(timeline.Event{Action: timeline.Install})
	r.Event(timeline.Event{Action: timeline.Install, Span: r.Mark().Span(), Subject: timeline.Subject{Kind: timeline.Client, ID: "10.0.0.1"}})
	r.At(mark, timeline.Event{Action: timeline.Opaque})
	r.At(mark, timeline.Event{Action: timeline.Opaque, Span: mark.Span(), Subject: timeline.Subject{Kind: timeline.Container, ID: "db1/0123"}})
	r.Event(timeline.Event{Action: timeline.Run, Span: mark.Span(), Subject: timeline.Subject{Kind: timeline.Host, ID: "web2"}})
	r.Link(timeline.On, "a", "b")
	r.Cover(timeline.Coverage{Span: mark.Span()})
	if _, err := r.Finish(timeline.Span{}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"2026-10-21T12:00:00Z skewed 2026-10-21T12:01:30Z", "2026-10-21T12:00:00Z skewed 2026-10-21T12:01:30Z",
		"2026-10-21T12:00:00Z skewed 2026-10-21T12:01:30Z", "2026-10-21T13:01:30Z skewed 2026-10-21T12:01:30Z",
		"2026-10-21T12:01:30Z exact 2026-10-21T12:01:30Z", "2026-10-21T12:00:00Z skewed 2026-10-21T12:01:30Z",
		"2026-10-21T12:00:00Z skewed 2026-10-21T12:01:30Z",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// FuzzSpan: whatever a log writes as a time, its span does not end before it
// starts, and --covers never makes an exact time another one.
func FuzzSpan(f *testing.F) {
	f.Add([]byte("2026-10-25 02:30:00"), int64(1_761_000_000), int64(40), int64(0))
	f.Add([]byte("2026-03-29T02:30:00,123"), int64(0), int64(4000), int64(90))
	f.Add([]byte("9999-12-31T24:59:60Z"), int64(-5), int64(1), int64(-1))
	f.Fuzz(func(t *testing.T, text []byte, from, hours, ahead int64) {
		zone := location(t, "Europe/Berlin")
		covers := timeline.Span{From: from % (1 << 33) * int64(time.Second)}
		covers.To = covers.From + hours%(1<<20)*int64(time.Hour)
		if covers.To < covers.From {
			covers.From, covers.To = covers.To, covers.From
		}
		absent := ""
		for _, times := range []*Times{{}, {Zone: zone, absent: &absent}, {Covers: covers}, {Zone: zone, Covers: covers, order: &yearOrder{}, absent: &absent}} {
			s := ISOStamp(text, times)
			m, n := ParseISO(text)
			m.Year = 0
			for _, s := range []timeline.Span{s, m.Span("x", times), times.bound(s, ahead), corrected(s, ahead)} {
				if n > 0 && s.From > s.To {
					t.Fatalf("%q is %d to %d", text, s.From, s.To)
				}
			}
			if s.Clock == timeline.Exact && times.bound(s, ahead) != s {
				t.Errorf("%q: %s became %s", text, s, times.bound(s, ahead))
			}
		}
	})
}

// FuzzClockRun: lines in any order, with clocks that are set at any place. No
// span loses the time that is written, and the log ends.
func FuzzClockRun(f *testing.F) {
	f.Add([]byte{10, 20, 5, 200, 201, 0, 90}, int64(3600))
	f.Add([]byte{250, 0, 250, 0, 250}, int64(-1))
	f.Fuzz(func(t *testing.T, minutes []byte, by int64) {
		written := map[int64]int64{}
		r := NewMachine(nil).NewReading("x.log", timeline.Subject{Kind: timeline.Host, ID: "h"}, timeline.Subject{}, Times{}, func(b *timeline.Batch) error {
			for _, e := range b.Events {
				if at := written[e.Line]; e.Span.From > e.Span.To || !e.Span.Overlaps(at, at) {
					t.Errorf("line %d of %s is %s (%s)", e.Line, timeline.FormatTime(at), e.Span, e.Span.Clock)
				}
			}
			return nil
		})
		for i, m := range minutes[:min(len(minutes), 500)] {
			at := time.Date(2026, 10, 21, 0, 0, 0, 0, time.UTC).Add(time.Duration(m) * 5 * time.Minute)
			written[int64(i+1)] = at.UnixNano()
			r.line = &Line{No: int64(i + 1), Stamp: Stamp{Text: []byte(at.Format(time.RFC3339)), Read: ISOStamp}}
			mark := r.Mark()
			r.Event(timeline.Event{Action: timeline.Install})
			if i%7 == 3 {
				r.Stepped(time.Duration(by) * time.Millisecond)
			}
			if i%11 == 5 {
				r.Booted()
			}
			r.At(mark, timeline.Event{Action: timeline.Opaque})
		}
		if _, err := r.Finish(timeline.Span{}); err != nil {
			t.Fatal(err)
		}
	})
}
