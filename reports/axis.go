package reports

import (
	"math"
	"slices"
	"time"
)

// panel is a stretch of the time axis with a scale of its own.
type panel struct {
	from, to int64 // nanoseconds
	x0, x1   float64
	main     bool
}

// axis lays time out from left to right: the windows of the incident in the
// middle, wide, and what lies far before or after them in panels beside it, so
// that a node that starts the image a week later is still on the picture.
type axis struct {
	panels []panel
	x0, x1 float64
}

const (
	minute = int64(time.Minute)
	hour   = int64(time.Hour)
	day    = 24 * hour

	breakWidth = 14.0 // between two scales
)

// newAxis lays out the windows [from, to] and the instants; ok is false when
// there is nothing to lay out. Unknown ends of the windows are MinInt64 and
// MaxInt64.
func newAxis(from, to int64, instants []int64, x0, x1 float64) (axis, bool) {
	a := axis{x0: x0, x1: x1}
	slices.Sort(instants)
	if len(instants) == 0 && from == math.MinInt64 && to == math.MaxInt64 {
		return a, false
	}
	from, to = closed(from, to, instants)
	length := max(to-from, 10*minute)
	pad := length / 8
	mainFrom, mainTo := from-pad, to+pad
	before, after := int64(0), int64(0)
	var early, late []int64
	for _, t := range instants {
		switch {
		case t < mainFrom-length:
			early = append(early, t)
		case t > mainTo+length:
			late = append(late, t)
		case t < mainFrom:
			before = max(before, mainFrom-t)
		case t > mainTo:
			after = max(after, t-mainTo)
		}
	}
	mainFrom -= before + before/16
	mainTo += after + after/16
	width := x1 - x0
	left, right := x0, x1
	if len(early) > 0 {
		left += width*0.16 + breakWidth
	}
	if len(late) > 0 {
		right -= width*0.2 + breakWidth
	}
	if len(early) > 0 {
		a.panels = append(a.panels, side(early, x0, left-breakWidth, math.MinInt64, mainFrom))
	}
	a.panels = append(a.panels, panel{mainFrom, mainTo, left, right, true})
	if len(late) > 0 {
		a.panels = append(a.panels, side(late, right+breakWidth, x1, mainTo, math.MaxInt64))
	}
	return a, true
}

// closed puts ends where the windows have none: at what was seen furthest out.
func closed(from, to int64, instants []int64) (int64, int64) {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	if n := len(instants); n > 0 {
		first, last = instants[0], instants[n-1]
	}
	switch {
	case from == math.MinInt64 && to == math.MaxInt64:
		return first, last
	case from == math.MinInt64:
		return min(first, to-hour), to
	case to == math.MaxInt64:
		return from, max(last, from+hour)
	}
	return from, to
}

// side is a panel for instants outside the main scale, inside [least, most].
func side(instants []int64, x0, x1 float64, least, most int64) panel {
	from, to := instants[0], instants[len(instants)-1]
	pad := max((to-from)/10, hour)
	return panel{from: max(from-pad, least), to: min(to+pad, most), x0: x0, x1: x1}
}

// x is where an instant stands; what lies between two panels stands at the
// break, what lies beyond the last at the edge.
func (a axis) x(ns int64) float64 {
	for i, p := range a.panels {
		if ns < p.from {
			if i == 0 {
				return a.x0
			}
			return (a.panels[i-1].x1 + p.x0) / 2
		}
		if ns <= p.to {
			return p.x0 + (p.x1-p.x0)*(float64(ns-p.from)/float64(p.to-p.from))
		}
	}
	return a.x1
}

// tick is a mark of the axis with what stands below it.
type tick struct {
	x    float64
	text string // time of day, day or month
	date string // below it, where it changes; else ""
}

// steps are the distances between ticks that people read easily.
var steps = []time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 48 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour, 28 * 24 * time.Hour,
}

// ticks are the ticks of a panel, at least so many pixels apart.
func (p panel) ticks(apart float64) []tick {
	most := max(int64((p.x1-p.x0)/apart), 1)
	step := int64(0)
	for _, s := range steps {
		if (p.to-p.from)/int64(s) <= most {
			step = int64(s)
			break
		}
	}
	if step == 0 {
		return p.months(int((p.to-p.from)/most/(30*day)) + 1)
	}
	first := p.from - p.from%step
	if first < p.from {
		first += step
	}
	var out []tick
	last := ""
	for ns := first; ns <= p.to; ns += step {
		t := time.Unix(0, ns).UTC()
		text, date := t.Format("15:04"), t.Format("2 Jan 2006")
		switch {
		case step < minute:
			text = t.Format("15:04:05")
		case step >= day:
			text, date = t.Format("2 Jan"), t.Format("2006")
		}
		out = append(out, tick{p.x0 + (p.x1-p.x0)*(float64(ns-p.from)/float64(p.to-p.from)), text, changed(&last, date)})
	}
	return out
}

// months are ticks at the first of every n-th month.
func (p panel) months(n int) []tick {
	if n > 6 {
		n = (n + 11) / 12 * 12
	}
	start := time.Unix(0, p.from).UTC()
	t := time.Date(start.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	var out []tick
	last := ""
	for ; t.UnixNano() <= p.to; t = t.AddDate(0, n, 0) {
		if t.UnixNano() < p.from {
			continue
		}
		text := t.Format("Jan")
		out = append(out, tick{p.x0 + (p.x1-p.x0)*(float64(t.UnixNano()-p.from)/float64(p.to-p.from)), text, changed(&last, t.Format("2006"))})
	}
	return out
}

// changed returns the text where it differs from the last one.
func changed(last *string, text string) string {
	if *last == text {
		return ""
	}
	*last = text
	return text
}
