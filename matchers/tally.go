package matchers

import (
	"maps"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// Tally is expected evidence against evidence held: the denominators of an
// answer.
type Tally struct {
	What    string   // hosts, repositories, runs, attempts, jobs
	Of      int      // that the inventory, a record or a person says must be
	Held    int      // of which evidence was read, for jobs and attempts their log
	Missing []string // the others, sorted; of many the first
}

// maxMissing is how many names a tally lists.
const maxMissing = 20

// tallies counts what must be and what was read of it. What nothing expects is
// not counted: a log says nothing of the logs that are not there.
func (c *covers) tallies() []Tally {
	expected := map[string]map[string]bool{} // what → name → held
	add := func(what, name string, held bool) {
		if expected[what] == nil {
			expected[what] = map[string]bool{}
		}
		expected[what][name] = expected[what][name] || held
	}
	for _, row := range c.m.r.inventory {
		s := timeline.Subject{Kind: timeline.Host, ID: row.Host}
		add("hosts", row.Host, c.held(s) || row.Address != "" && c.m.named(timeline.Subject{Kind: timeline.Client, ID: row.Address}))
	}
	for _, l := range c.m.r.links {
		if s, err := timeline.ParseSubject(l.To); err == nil && l.Relation == timeline.On && s.Kind == timeline.Host {
			add("hosts", s.ID, c.held(s))
		}
	}
	runs := c.runNames()
	from, _, window := c.m.q.union()
	for i := range c.m.r.expected {
		x := &c.m.r.expected[i]
		if window && x.Span.To < from {
			continue // over before the release was served
		}
		s := timeline.Subject{Kind: x.Subject.Kind, ID: resolveRun(x.Subject.ID, runs)}
		switch s.Kind {
		case timeline.Job:
			c.tallyJob(s, add)
		case timeline.Host, timeline.Container, timeline.Image, timeline.Client, timeline.Cache, timeline.Source:
			add(string(s.Kind)+"s", s.ID, c.held(s))
		}
	}
	var out []Tally
	for _, what := range []string{"hosts", "repositories", "runs", "attempts", "jobs", "containers", "images"} {
		t := Tally{What: what, Of: len(expected[what])}
		for _, name := range slices.Sorted(maps.Keys(expected[what])) {
			if expected[what][name] {
				t.Held++
			} else if len(t.Missing) < maxMissing {
				t.Missing = append(t.Missing, name)
			}
		}
		if t.Of > 0 {
			out = append(out, t)
		}
	}
	return out
}

// held reports whether some source speaks of a subject.
func (c *covers) held(s timeline.Subject) bool { return c.m.named(s) || len(c.rows[s]) > 0 }

// tallyJob counts a job, and the attempt, the run and the repository it is of.
func (c *covers) tallyJob(s timeline.Subject, add func(what, name string, held bool)) {
	attempt, _, isJob := strings.Cut(s.ID, "/jobs/")
	held := c.m.hasJobs(s.ID)
	if isJob {
		held = c.whole(s, timeline.Always()) > 0
		add("jobs", s.ID, held)
		held = held || c.m.named(s)
	}
	repo, _, ok := strings.Cut(attempt, "/runs/")
	if !ok {
		add("repositories", attempt, held)
		return
	}
	run, _, _ := strings.Cut(attempt, "/attempts/")
	held = held || c.m.hasJobs(attempt)
	add("attempts", attempt, held)
	add("runs", run, held)
	add("repositories", repo, held)
}
