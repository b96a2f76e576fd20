package evidence

import (
	"time"

	"pulltrail/timeline"
)

// maxSteps bounds the steps of clocks that are followed in one source.
const maxSteps = 256

// A clock that runs back by so much was set; less is the disorder of lines, and
// more the order of pieces of a log.
const (
	leastBack = 90 * time.Second
	mostBack  = 13 * time.Hour
)

// clockRun follows the times of the lines of one stream.
type clockRun struct {
	line, first, last int64 // of the line before; times in nanoseconds
	until             int64 // until then a time was shown twice
	by                int64 // by how much the clock ran back
}

// Booted says that the clock of the current line's host began to run: what was
// wrong with it before has another reason.
func (o *Out) Booted() {
	if o.line == nil {
		return
	}
	if o.booted == nil {
		o.booted = map[string]int64{}
	}
	if host := o.host(); len(o.booted) < maxStreams {
		o.booted[host] = o.line.No
	}
}

// Stepped says that the clock of the current line's host was put forward by so
// much there, or back. What the log wrote since the host was started is of a
// time between what it says and what it would have said.
func (o *Out) Stepped(by time.Duration) {
	if o.line == nil || by == 0 || by > maxSkew || by < -maxSkew {
		return
	}
	o.step(o.host(), int64(by))
}

func (o *Out) step(host string, by int64) {
	if len(o.steps) >= maxSteps {
		o.Cut("its clock was set again and again: not all of its times are widened")
		return
	}
	k := timeline.Step{Path: o.path, From: o.booted[host], Line: o.line.No, Host: host, By: by}
	o.steps = append(o.steps, k)
	o.batch.Steps = append(o.batch.Steps, k)
}

// host is the host whose clock the current line shows, "" when nobody is named.
func (o *Out) host() string {
	for s := o.stream; s != nil; s = s.Parent {
		if host := clockOf(s.Subject); host != "" {
			return host
		}
	}
	return clockOf(o.Claim)
}

// widened is the span of an event that stands on a line before one at which the
// clock was set, and that was made later.
func (o *Out) widened(e *timeline.Event) timeline.Span {
	for _, k := range o.steps {
		if host := clockOf(e.Subject); e.Path == k.Path && e.Line >= k.From && e.Line < k.Line && (k.Host == "" || host == k.Host) {
			return k.Widen(e.Span)
		}
	}
	return e.Span
}

// run follows the clock of the current line of a host, and returns its span,
// wider where the clock ran back and shows a time for the second time.
func (o *Out) run(s timeline.Span) timeline.Span {
	host := o.host()
	if host == "" || s.Clock != timeline.Exact || o.line == nil || o.line.Stamp.Read == nil {
		return s
	}
	r := &o.stream.run
	switch back := r.last - s.From; {
	case r.line == 0 || o.setSince(host, r.line):
		*r = clockRun{first: s.From, last: s.From}
	case o.line.No < r.line:
		return s
	case o.line.No == r.line: // it is asked for again
	case back >= int64(leastBack) && back <= int64(mostBack) && s.From >= r.first:
		r.until, r.by = r.last, back
		r.last = s.From
		o.step(host, -back)
	default:
		r.last = max(r.last, s.From)
	}
	r.line = o.line.No
	if r.by > 0 && s.From <= r.until {
		s.To, s.Clock = s.To+r.by, timeline.Stepped
	}
	return s
}

// setSince reports whether the clock of a host was said to be set after a line.
func (o *Out) setSince(host string, line int64) bool {
	for _, k := range o.steps {
		if k.Host == host && k.Line > line {
			return true
		}
	}
	return false
}
