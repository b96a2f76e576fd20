package jenkins

import (
	"fmt"
	"strings"
	"time"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// lasting is how long a build that was deleted may have run.
const lasting = 24 * time.Hour

// maxGone bounds how many builds of a job are named one by one as deleted.
const maxGone = 100

// deleted is a job of whose builds some were deleted.
type deleted struct {
	c     *collector
	at    place
	named int
}

// gone records the builds whose numbers a list lacks: they were deleted, mostly
// by the rotation of logs. They began between those beside them.
//
// https://www.jenkins.io/doc/book/pipeline/syntax/#options (buildDiscarder)
func (c *collector) gone(at place, it *item, all []run) error {
	d := &deleted{c: c, at: at}
	next, later := it.Next, timeline.Forever
	for _, r := range all {
		if r.Number >= next {
			continue
		}
		if err := d.between(r.Number+1, next-1, timeline.Span{From: r.begun().UnixNano(), To: later, Clock: timeline.Section}); err != nil {
			return err
		}
		next, later = r.Number, r.begun().Add(lasting).UnixNano()
	}
	if it.First == nil || it.First.Number == next { // there are no older ones that were only not listed
		return d.between(1, next-1, timeline.Span{From: timeline.Beginning, To: later, Clock: timeline.Section})
	}
	return nil
}

// between records the builds of some numbers that may have been at work in the
// window, unless their logs were had before; those below such a one began before
// it did.
func (d *deleted) between(from, to int64, span timeline.Span) error {
	w := d.c.s.Window()
	for n := to; n >= from && span.Overlaps(w.From, w.To); n-- {
		had, err := d.had(n)
		switch {
		case err != nil:
			return err
		case had != nil:
			span.To = min(span.To, had.Span.From+int64(lasting))
		case d.named == maxGone:
			return d.rest(from, n, span)
		default:
			d.named++
			if err := d.build(n, span); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *deleted) path(number int64) string {
	return fmt.Sprintf("%s%s/%d", d.c.s.Base(), d.at.path, number)
}

func (d *deleted) job() string { return strings.TrimPrefix(d.at.name, "/") }

// had is the log of a build that was collected before it was deleted.
func (d *deleted) had(number int64) (*timeline.Inquiry, error) {
	if had, err := d.c.s.Obtained(d.path(number) + "/timestamps/?" + timed.Encode()); had != nil || err != nil {
		return had, err
	}
	return d.c.s.Obtained(d.path(number) + "/consoleText")
}

func (d *deleted) build(number int64, span timeline.Span) error {
	d.c.deleted.Add(1)
	return d.c.s.Gone(d.path(number)+"/consoleText", collect.Want{
		Kind: "logs", Version: collect.Lasting, Claim: d.c.subject(d.at, number), Span: span,
		Detail: fmt.Sprintf("build %d of %s is not in the list: it was deleted", number, d.job()),
	})
}

// rest records builds that are too many to name.
func (d *deleted) rest(from, to int64, span timeline.Span) error {
	d.c.deleted.Add(to - from + 1)
	return d.c.s.Gone(fmt.Sprintf("%s%s/api/json#builds-%d-%d", d.c.s.Base(), d.at.path, from, to), collect.Want{
		Kind: "logs", Version: collect.Lasting, Span: span,
		Detail: fmt.Sprintf("builds %d to %d of %s are not in the list: they were deleted", from, to, d.job()),
	})
}
