package matchers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"pulltrail/timeline"
)

// stepSlack is how far the record's clock, which counts seconds, may be from
// that of the log.
const stepSlack = 2 * int64(time.Second)

// steps compares the steps of jobs that records list with those that begin in
// their logs: where one is missing, lines were taken out of the middle, and the
// log is not whole.
func (c *covers) steps(runs map[string]string) {
	ran, seen := map[timeline.Subject][]timeline.CoverageRow{}, map[timeline.Subject][]timeline.CoverageRow{}
	for _, row := range c.m.r.coverage {
		switch row.Topic {
		case timeline.StepRan:
			s := timeline.Subject{Kind: row.Subject.Kind, ID: resolveRun(row.Subject.ID, runs)}
			ran[s] = append(ran[s], row)
		case timeline.StepSeen: // of logs that are whole
			seen[row.Subject] = append(seen[row.Subject], row)
		}
	}
	for s, record := range ran {
		a := c.m.people.held(s)
		if a == nil || whole(a.rows, timeline.Always()) == 0 {
			continue // there is no log, or it is known to be cut
		}
		lost := unseen(record, seen[s])
		if lost == nil {
			continue
		}
		a.rows = slices.DeleteFunc(slices.Clone(a.rows), func(r timeline.CoverageRow) bool { return r.Whole })
		c.torn[s] = true
		c.gaps = append(c.gaps, Gap{
			Subject: s.String(), Source: c.m.source(lost.Source).Path, Reason: "cut",
			Detail: fmt.Sprintf("the record says that %s ran from %s to %s, and no step begins in the log at that time",
				lost.Why, timeline.FormatTime(lost.Span.From), timeline.FormatTime(lost.Span.To)),
			Fix: "fetch the whole log: lines were taken out of it",
		})
	}
}

// unseen is the first step that none of the beginnings in the log can be, each
// of which stands for one step.
func unseen(record, rows []timeline.CoverageRow) *timeline.CoverageRow {
	var seen []int64
	for _, r := range rows {
		seen = append(seen, r.Span.From)
	}
	slices.Sort(seen)
	seen = slices.Compact(seen) // the same log may have been read twice
	if len(seen) >= maxSteps {
		return nil // the log has more than are kept
	}
	record = slices.Clone(record)
	slices.SortFunc(record, func(a, b timeline.CoverageRow) int {
		return cmp.Or(cmp.Compare(a.Span.From, b.Span.From), cmp.Compare(a.Span.To, b.Span.To), cmp.Compare(a.Why, b.Why))
	})
	for i := range record {
		at := record[i].Span
		for len(seen) > 0 && seen[0] < at.From-stepSlack {
			seen = seen[1:] // of an action that has steps of its own
		}
		if len(seen) == 0 || seen[0] > at.To+stepSlack {
			return farthest(record, rows)
		}
		seen = seen[1:]
	}
	return nil
}

// farthest is the step whose beginning lies farthest from any in the log: the
// one that is missing, most likely.
func farthest(record, rows []timeline.CoverageRow) *timeline.CoverageRow {
	var lost *timeline.CoverageRow
	most := int64(-1)
	for i := range record {
		near := int64(math.MaxInt64)
		for _, r := range rows {
			near = min(near, max(r.Span.From-record[i].Span.From, record[i].Span.From-r.Span.From))
		}
		if near > most {
			lost, most = &record[i], near
		}
	}
	return lost
}

// maxSteps is how many beginnings of steps the reader of logs keeps.
const maxSteps = 256
