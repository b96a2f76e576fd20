package matchers

import (
	"fmt"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// SafeAfter is the moment from which on a new value is not read by what the
// incident left behind: that at which the last exposed subject that could read
// it was stopped or rebuilt. A value made earlier is burnt again.
type SafeAfter struct {
	At      int64 // nanoseconds since 1970 UTC, 0 while it is not known
	Because string
	Waiting []timeline.Subject // of whom nothing says that they were stopped
}

// stop is the end of a subject.
type stop struct {
	at  int64
	how string
}

// stops are the ends of subjects that people stated, and of jobs whose end is in
// the evidence: a job ends with its processes; a machine of one's own that it
// ran on is exposed by itself.
func stops(db *timeline.DB, incident string, decisions []timeline.Decision) (map[timeline.Subject]stop, error) {
	ended := map[timeline.Subject]stop{}
	coverage, err := db.Coverages()
	if err != nil {
		return nil, err
	}
	for _, c := range coverage {
		if c.Subject.Kind == timeline.Job && c.Whole && c.Span.To != timeline.Forever && c.Span.To > ended[c.Subject].at {
			ended[c.Subject] = stop{c.Span.To, "the job ended"}
		}
	}
	expected, err := db.Expectations()
	if err != nil {
		return nil, err
	}
	for _, x := range expected {
		if x.Subject.Kind == timeline.Job && strings.Contains(x.Subject.ID, "/jobs/") && x.Span.To != timeline.Forever && x.Span.To > ended[x.Subject].at {
			ended[x.Subject] = stop{x.Span.To, "a record says that the job ended"}
		}
	}
	for _, d := range decisions {
		s, err := timeline.ParseSubject(d.About)
		if d.Act == timeline.Stopped && err == nil && (d.Incident == "" || d.Incident == incident) {
			ended[s] = stop{d.At, "stopped or rebuilt, says " + d.Who}
		}
	}
	return ended, nil
}

// about reports whether a decision is of this incident, or of every one.
func (p *plan) about(d timeline.Decision) bool {
	return d.Incident == "" || d.Incident == p.inc.ID
}

// end is the stop of a subject, or of the machine it ran on.
func (p *plan) end(s timeline.Subject, on string) (stop, bool) {
	own, ok := p.ended[s]
	if on != "" {
		if host, known := p.ended[timeline.Subject{Kind: timeline.Host, ID: on}]; known && (!ok || host.at < own.at) && s.Kind != timeline.Job {
			own, ok = host, true
		}
	}
	return own, ok
}

// safeAfter finds the moment for a row, and gathers what people said of it.
func (p *plan) safeAfter(c *Credential) {
	for _, d := range p.decisions {
		if p.about(d) && (d.Act == timeline.Rotated || d.Act == timeline.Waived || d.Act == timeline.Same) && c.Called(d.About) {
			c.Said = append(c.Said, d)
		}
	}
	last := Exposer{}
	how := ""
	for _, e := range c.By {
		if e.Subject.Kind == timeline.Image || e.Subject.Kind == timeline.Cache {
			continue // nothing runs in it
		}
		st, ok := p.end(e.Subject, e.On)
		if ok && p.ranAgain(e, st.at) {
			ok = false
		}
		switch {
		case !ok:
			c.Safe.Waiting = append(c.Safe.Waiting, e.Subject)
		case st.at > c.Safe.At:
			c.Safe.At, last, how = st.at, e, st.how
		}
	}
	slices.SortFunc(c.Safe.Waiting, compareSubjects)
	switch n := len(c.Safe.Waiting); {
	case n > 0:
		names := make([]string, 0, 3)
		for _, s := range c.Safe.Waiting[:min(n, 3)] {
			names = append(names, s.String())
		}
		c.Safe.At = 0
		c.Safe.Because = "nothing says when " + strings.Join(names, ", ")
		if n > 3 {
			c.Safe.Because += fmt.Sprintf(" and %d more", n-3)
		}
		c.Safe.Because += map[bool]string{true: " was stopped or rebuilt", false: " were stopped or rebuilt"}[n == 1]
	case c.Safe.At > 0:
		c.Safe.At = wholeSecond(c.Safe.At)
		c.Safe.Because = fmt.Sprintf("the last that could read it is %s: %s", last.Subject, how)
	default:
		c.Safe.Because = "nothing that runs is known to have held it"
	}
}

// wholeSecond is the end of the second that a time is in: lists know no finer
// times.
func wholeSecond(ns int64) int64 {
	const second = 1_000_000_000
	return (ns + second - 1) / second * second
}

// ranAgain reports whether the evidence of a finding shows the release at work
// after the subject is said to have been stopped.
func (p *plan) ranAgain(e Exposer, at int64) bool {
	for i := range p.res.Findings {
		f := &p.res.Findings[i]
		if f.ID != e.Finding {
			continue
		}
		return slices.ContainsFunc(f.Evidence, func(v Evidence) bool {
			return v.Verdict == Exposed && (v.Action == timeline.Run || v.Action == timeline.Install) && v.Span.From > at
		})
	}
	return false
}

// Called reports whether a word means this row: its ID, its name, or its class
// when it has no name.
func (c *Credential) Called(word string) bool {
	return word == c.ID || c.Name != "" && word == c.Name || c.Name == "" && word == c.Class
}
