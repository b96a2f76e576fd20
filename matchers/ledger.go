package matchers

import (
	"strings"

	"pulltrail/timeline"
)

// isAttempt reports whether a subject is the attempt of a run of GitHub, whose
// jobs are subjects of their own. The builds of other services are jobs.
func isAttempt(kind timeline.Kind, id string) bool {
	return kind == timeline.Job && strings.HasPrefix(id, "github:") && !strings.Contains(id, "/jobs/")
}

// attemptOf is the attempt that a job is of.
func attemptOf(id string) string {
	attempt, _, _ := strings.Cut(id, "/jobs/")
	return attempt
}

// refusalFix says what to do about evidence that a service did not give; last
// is what is left when nothing can be done.
func refusalFix(reason, last string) string {
	switch timeline.Reply(reason) {
	case timeline.Denied:
		return "collect again with a token that may read it; else " + last
	case timeline.Absent:
		return "look whether it was deleted, or the token may not see it, and collect again; else " + last
	case timeline.Failed:
		return "collect again: the service did not answer as it should; else " + last
	case timeline.Expired, timeline.Obtained:
	}
	return "the log cannot be had any more: " + last
}

// ledger adds what collectors did not get of no subject alone, such as a list
// of runs, and collections that did not come to their end.
func (c *covers) ledger(add func(Gap)) {
	for i := range c.m.r.refused {
		r := &c.m.r.refused[i]
		add(Gap{Source: r.URL, Reason: string(r.Reply), Detail: r.Detail, Fix: refusalFix(string(r.Reply), "what it would have named is not known")})
	}
	for _, o := range c.m.r.open {
		add(Gap{
			Source: o.Collector + " " + o.Target, Reason: "interrupted", Detail: "a collection did not come to its end",
			Fix: "run the same command again: it goes on where it stopped: " + o.Command,
		})
	}
	for _, command := range c.m.r.begun {
		add(Gap{
			Source: command, Reason: "interrupted", Detail: "a command that reads evidence was interrupted, or still reads",
			Fix: "run the same command again: what was read is not read twice",
		})
	}
}

func missingText(x *timeline.ExpectedRow) string {
	s := "a record says that it ran, and its whole log was not read"
	if x.Reason != "" {
		s = "a record says that it ran, and its log is " + x.Reason
	}
	if x.Detail != "" {
		s += " (" + x.Detail + ")"
	}
	return s
}

// stateFix says what to do about a source that was not read whole.
func stateFix(s timeline.State, why string) string {
	switch {
	case s != timeline.Unread:
		return "bring the whole file: what was cut, skipped or damaged may hold the answer"
	case why == "empty":
		return "bring the file again if something should stand in it; if not, read the rest into a new case (--case DIR)"
	case strings.HasPrefix(why, "cannot be opened"), strings.HasPrefix(why, "not a file"), strings.HasPrefix(why, "a link to a folder"):
		return "make it readable, or name what it stands for, and ingest that; if it is no evidence, read the rest into a new case (--case DIR)"
	}
	return "bring the tool's own log, or say what it is with --format ('pulltrail formats' lists them); if it is no evidence, read the rest into a new case (--case DIR)"
}
