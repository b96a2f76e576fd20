package evidence

import (
	"time"

	"pulltrail/timeline"
)

// yearOrder follows the lines of a log without years: where the months go from
// December to January a year begins, so that the first line and the number of
// years since then tell which year fits what --covers states. Where the order
// may have another reason (pieces of a log in another order, months without a
// line) both numbers are kept.
type yearOrder struct {
	first       Moment
	last        time.Duration // of the line before, since the start of its year
	least, most int           // years begun since the first line
	began       bool
}

const (
	day     = 24 * time.Hour
	quarter = 92 * day
	late    = 7 * day // how late a line may come without another meaning
)

// next takes the time of the next line and returns whether a year fits it, by
// where the first line would then stand.
func (o *yearOrder) next(m Moment, in *Times, covers timeline.Span) func(year int) bool {
	m.Year = 2000 // it has every day
	at := time.Date(m.Year, time.Month(m.Month), m.Day, m.Hour, m.Minute, m.Sec, m.Nano, time.UTC).Sub(time.Date(m.Year, 1, 1, 0, 0, 0, 0, time.UTC))
	switch autumn := 366*day - quarter; {
	case !o.began:
		o.first, o.began = m, true
	case o.last > autumn && at < quarter:
		o.least, o.most = o.least+1, o.most+1
	case o.last < quarter && at > autumn:
		o.least-- // a late line of the old year, or a quiet summer
	case at < o.last-late:
		o.most++
	}
	o.last = at
	return func(year int) bool {
		for years := o.least; years <= o.most; years++ {
			first := o.first
			first.Year = year - years
			if years >= 0 && first.Span("", in).Overlaps(covers.From, covers.To) {
				return true
			}
		}
		return false
	}
}
