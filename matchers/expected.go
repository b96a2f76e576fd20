package matchers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pulltrail/timeline"
)

// expected compares what records say must exist with what was read.
func (c *covers) expected() {
	runs := c.runNames()
	c.resolve(runs)
	c.steps(runs)
	needed := map[string]bool{}                   // attempts that a record speaks of
	refused := map[string]*timeline.ExpectedRow{} // attempts whose logs a collector did not get
	for i := range c.m.r.expected {
		if x := &c.m.r.expected[i]; x.Reason != "" && x.Reason != timeline.Unfinished && isAttempt(x.Subject.Kind, x.Subject.ID) {
			refused[x.Subject.ID] = x
		}
	}
	from, _, windows := c.m.q.union()
	known := c.m.people.known
	for all := c.m.r.expected; len(all) > 0; {
		n := 1
		for n < len(all) && all[n].Subject == all[0].Subject {
			n++
		}
		of := finished(all[:n])
		all = all[n:]
		s, twins := of[0].Subject, 0
		for len(known) > 0 && compareSubjects(known[0].subject, s) < 0 {
			known = known[1:] // both are in order
		}
		var a *about
		if len(known) > 0 && known[0].subject == s {
			a = &known[0]
		}
		for i := range of {
			x := &of[i]
			if windows && x.Span.To < from {
				continue // over before the release was served
			}
			if isAttempt(s.Kind, s.ID) {
				needed[s.ID] = true
				c.attempt(s, x)
				continue
			}
			if twins == 0 {
				twins = twinsOf(of)
			}
			if a == nil {
				a = c.m.of(s)
			}
			c.expect(a, x, twins, refused)
		}
	}
	c.unrecorded(needed)
}

// finished drops the records of what went on when they were made where another
// was made later.
func finished(of []timeline.ExpectedRow) []timeline.ExpectedRow {
	open := 0
	for i := range of {
		if of[i].Reason == timeline.Unfinished {
			open++
		}
	}
	if open == 0 || open == len(of) {
		return of
	}
	return slices.DeleteFunc(slices.Clone(of), func(x timeline.ExpectedRow) bool { return x.Reason == timeline.Unfinished })
}

// expect compares what one record says with what was read. twins is how many
// jobs of the name records list.
func (c *covers) expect(a *about, x *timeline.ExpectedRow, twins int, refused map[string]*timeline.ExpectedRow) {
	s := x.Subject
	a.asked = true
	if a.missing != nil || x.Reason == "" && whole(a.rows, x.Span) >= twins {
		return
	}
	if len(refused) > 0 && x.Reason == "" {
		if all := refused[attemptOf(s.ID)]; all != nil {
			x = &timeline.ExpectedRow{Source: x.Source, SHA256: x.SHA256, Expected: x.Expected}
			x.Reason, x.Detail = all.Reason, x.Detail+"; "+all.Detail
		}
	}
	a.missing = x
	if c.torn[s] {
		return
	}
	reason, fix := "missing", "fetch its log: "+logPath(s.ID)
	switch {
	case x.Reason != "":
		reason, fix = x.Reason, refusalFix(x.Reason, "treat it as possible, and look at what the job could read")
	case twins > 1:
		reason, fix = "cut", fmt.Sprintf("the record lists %d jobs of this name: fetch the log of each", twins)
	case whole(a.rows, timeline.Always()) > 0:
		reason, fix = "cut", "look whose log was read: it is of another time than the record says"
	case len(a.judged) > 0 || c.m.people.named(s):
		reason, fix = "cut", "fetch the whole log: its start or end mark was not seen"
	}
	c.gaps = append(c.gaps, Gap{Subject: s.String(), Channel: x.Channel, Source: x.Path, Reason: reason, Detail: x.Detail, Fix: fix})
}

// resolve gives job records that name only their run its repository, and puts
// those of one job together.
func (c *covers) resolve(runs map[string]string) {
	if len(runs) == 0 {
		return
	}
	rows := c.m.r.expected
	for i := range rows {
		rows[i].Subject.ID = resolveRun(rows[i].Subject.ID, runs)
	}
	slices.SortStableFunc(rows, func(x, y timeline.ExpectedRow) int { return compareSubjects(x.Subject, y.Subject) })
}

// lists reports whether a record lists the jobs of an attempt.
func (c *covers) lists(attempt string) bool {
	rows, prefix := c.m.r.expected, attempt+"/jobs/"
	first, _ := slices.BinarySearchFunc(rows, timeline.Subject{Kind: timeline.Job, ID: prefix}, func(x timeline.ExpectedRow, s timeline.Subject) int {
		return compareSubjects(x.Subject, s)
	})
	for ; first < len(rows) && rows[first].Subject.Kind == timeline.Job && strings.HasPrefix(rows[first].Subject.ID, prefix); first++ {
		if rows[first].Source != 0 {
			return true
		}
	}
	return false
}

// runNames maps run ids to the repositories that run records name, where some
// record does not say which.
func (c *covers) runNames() map[string]string {
	names := map[string]string{}
	if !slices.ContainsFunc(c.m.r.expected, func(x timeline.ExpectedRow) bool { return strings.HasPrefix(x.Subject.ID, nameless) }) {
		return names
	}
	note := func(id string) {
		if repo, rest, ok := strings.Cut(strings.TrimPrefix(id, "github:"), "/runs/"); ok && repo != "*" {
			run, _, _ := strings.Cut(rest, "/")
			names[run] = repo
		}
	}
	for i := range c.m.r.expected {
		note(c.m.r.expected[i].Subject.ID)
	}
	for a := range c.m.people.all() {
		if a.subject.Kind == timeline.Job && strings.HasPrefix(a.subject.ID, "github:") {
			note(a.subject.ID)
		}
	}
	return names
}

// nameless begins the id of a job record that names only its run.
const nameless = "github:*/runs/"

// resolveRun fills in the repository of a job record that names only its run.
func resolveRun(id string, runs map[string]string) string {
	rest, ok := strings.CutPrefix(id, nameless)
	if !ok {
		return id
	}
	run, _, _ := strings.Cut(rest, "/")
	if repo := runs[run]; repo != "" {
		return "github:" + repo + "/runs/" + rest
	}
	return id
}

// attempt wants a log of an attempt, and a record that lists its jobs.
func (c *covers) attempt(s timeline.Subject, x *timeline.ExpectedRow) {
	switch {
	case x.Reason == timeline.Unfinished:
		c.gaps = append(c.gaps, Gap{
			Subject: s.String(), Source: x.Path, Reason: x.Reason, Detail: x.Detail,
			Fix: "fetch the run, its jobs and its logs again when it is over: " + jobsPath(s.ID),
		})
	case x.Reason != "":
		c.gaps = append(c.gaps, Gap{
			Subject: s.String(), Source: x.Path, Reason: x.Reason, Detail: x.Detail,
			Fix: refusalFix(x.Reason, "treat its jobs as possible"),
		})
	case !c.m.people.hasJobs(s.ID):
		c.gaps = append(c.gaps, Gap{
			Subject: s.String(), Source: x.Path, Reason: "missing", Detail: x.Detail,
			Fix: "fetch the log archive of this attempt: " + logPath(s.ID),
		})
	case !c.lists(s.ID):
		c.gaps = append(c.gaps, Gap{
			Subject: s.String(), Source: x.Path, Reason: "no-record", Detail: "nothing says which jobs this attempt had",
			Fix: "fetch the attempt's list of jobs and ingest it: " + jobsPath(s.ID),
		})
	}
}

// unrecorded wants a record for the run of every log that came from a run
// archive: without it, earlier attempts and other jobs are not known.
func (c *covers) unrecorded(needed map[string]bool) {
	missing := map[string]bool{}
	if !c.archives {
		return
	}
	for a := range c.m.people.all() {
		s := a.subject
		if s.Kind != timeline.Job || !strings.HasPrefix(s.ID, "github:") {
			continue
		}
		attempt, _, ok := strings.Cut(s.ID, "/jobs/")
		if ok && !needed[attempt] && c.fromArchive(s) {
			missing[attempt] = true
		}
	}
	for attempt := range missing {
		c.gaps = append(c.gaps, Gap{
			Subject: "job:" + attempt, Reason: "no-record", Detail: "no API record of this run was read, so other attempts and jobs are not known",
			Fix: "fetch the run and its list of jobs, and ingest them: " + jobsPath(attempt),
		})
	}
}

// fromArchive reports whether the subject was named by a run archive: the claim
// of its source is the attempt, and the job's name came from inside.
func (c *covers) fromArchive(s timeline.Subject) bool {
	attempt, _, ok := strings.Cut(s.ID, "/jobs/")
	return ok && c.claims["job:"+attempt]
}

// twinsOf counts the jobs that the records of one subject list: a run may have
// two of one name, which is one subject with two logs.
func twinsOf(rows []timeline.ExpectedRow) int {
	if len(rows) == 1 {
		return 1
	}
	twins, seen := 0, map[string]bool{}
	for i := range rows {
		if x := &rows[i]; !seen[x.Detail] && (twins == 0 || x.Subject.Kind == timeline.Job && x.Reason == "") {
			seen[x.Detail] = true
			twins++
		}
	}
	return twins
}

// whole counts the logs of a subject that were read from start to end and are
// of the time that a record gives it. A copy of a log has the same span.
func whole(rows []timeline.CoverageRow, life timeline.Span) int {
	var spans [][2]int64
	for i := range rows {
		r := &rows[i]
		if r.Whole && r.Topic == timeline.Everything &&
			(life.From == timeline.Beginning || r.Span.To >= life.From-slack) && (life.To == timeline.Forever || r.Span.From <= life.To+slack) {
			if span := [2]int64{r.Span.From, r.Span.To}; !slices.Contains(spans, span) {
				spans = append(spans, span)
			}
		}
	}
	return len(spans)
}

// slack is how far a record's clock may be from that of a log.
const slack = int64(10 * time.Minute)
