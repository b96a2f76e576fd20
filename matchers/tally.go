package matchers

import (
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
	expected := tallying{}
	for _, what := range []string{"jobs", "attempts", "runs"} { // nearly all that is expected is of a job
		list := make([]tallied, 0, len(c.m.r.expected))
		expected[what] = &list
	}
	for _, row := range c.m.r.inventory {
		s := timeline.Subject{Kind: timeline.Host, ID: row.Host}
		expected.add("hosts", row.Host, c.held(s) || row.Address != "" && c.m.people.named(timeline.Subject{Kind: timeline.Client, ID: row.Address}))
	}
	for i := range c.m.r.links {
		l := &c.m.r.links[i]
		if s, err := timeline.ParseSubject(l.To); err == nil && l.Relation == timeline.On && s.Kind == timeline.Host {
			expected.add("hosts", s.ID, c.held(s))
		}
	}
	from, _, window := c.m.q.union()
	for i := range c.m.r.expected {
		x := &c.m.r.expected[i]
		if window && x.Span.To < from {
			continue // over before the release was served
		}
		switch s := x.Subject; s.Kind {
		case timeline.Job:
			c.tallyJob(s, expected)
		case timeline.Host, timeline.Container, timeline.Image, timeline.Client, timeline.Cache, timeline.Source:
			expected.add(string(s.Kind)+"s", s.ID, c.held(s))
		}
	}
	var out []Tally
	for _, what := range []string{"hosts", "repositories", "runs", "attempts", "jobs", "containers", "images"} {
		if t := expected.sum(what); t.Of > 0 {
			out = append(out, t)
		}
	}
	return out
}

// tallying is what is expected by what it is; the same may stand there often.
type tallying map[string]*[]tallied

type tallied struct {
	name string
	held bool
}

func (t tallying) add(what, name string, held bool) {
	list := t[what]
	if list == nil {
		list = new([]tallied)
		t[what] = list
	}
	if n := len(*list) - 1; n >= 0 && (*list)[n].name == name {
		(*list)[n].held = (*list)[n].held || held
		return
	}
	*list = append(*list, tallied{name, held})
}

// sum counts what of a kind is expected, each name once, and what is held.
func (t tallying) sum(what string) Tally {
	var list []tallied
	if of := t[what]; of != nil {
		list = *of
	}
	byName := func(a, b tallied) int { return strings.Compare(a.name, b.name) }
	if !slices.IsSortedFunc(list, byName) {
		slices.SortFunc(list, byName)
	}
	out := Tally{What: what}
	for len(list) > 0 {
		n, held := 0, false
		for n < len(list) && list[n].name == list[0].name {
			held = held || list[n].held
			n++
		}
		out.Of++
		if held {
			out.Held++
		} else if len(out.Missing) < maxMissing {
			out.Missing = append(out.Missing, list[0].name)
		}
		list = list[n:]
	}
	return out
}

// held reports whether some source speaks of a subject.
func (c *covers) held(s timeline.Subject) bool {
	return c.m.people.named(s) || len(c.m.people.rowsOf(s)) > 0
}

// tallyJob counts a job, and the attempt, the run and the repository it is of.
func (c *covers) tallyJob(s timeline.Subject, expected tallying) {
	attempt, _, isJob := strings.Cut(s.ID, "/jobs/")
	var held bool
	if isJob {
		a := c.m.people.held(s)
		held = a != nil && whole(a.rows, timeline.Always()) > 0
		expected.add("jobs", s.ID, held)
		held = held || c.m.people.named(s)
	} else {
		held = c.m.people.hasJobs(s.ID)
	}
	repo, _, ok := strings.Cut(attempt, "/runs/")
	if !ok {
		expected.add("repositories", attempt, held)
		return
	}
	run, _, _ := strings.Cut(attempt, "/attempts/")
	held = held || c.m.people.hasJobs(attempt)
	expected.add("attempts", attempt, held)
	expected.add("runs", run, held)
	expected.add("repositories", repo, held)
}
