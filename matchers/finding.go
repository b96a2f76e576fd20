package matchers

import (
	"pulltrail/timeline"
)

// Verdict is the answer for one subject.
type Verdict string

// The verdicts, strongest first.
const (
	Exposed  Verdict = "exposed"
	Pulled   Verdict = "pulled"
	Possible Verdict = "possible"
	Unknown  Verdict = "unknown"
	Clear    Verdict = "clear"
)

// Verdicts lists the verdicts, strongest first.
var Verdicts = []Verdict{Exposed, Pulled, Possible, Unknown, Clear}

// rank orders verdicts: a lower one wins.
func (v Verdict) rank() int {
	for i, w := range Verdicts {
		if v == w {
			return i
		}
	}
	return len(Verdicts)
}

// Evidence is a fact of the timeline with its part in a finding.
type Evidence struct {
	*timeline.Fact
	Part    string  // why it stands here, a few words: "exact bad version", "answers the ask", …
	Verdict Verdict // what it supports by itself, "" when it accuses nobody
}

// Finding is the verdict for one subject, with what led to it.
type Finding struct {
	ID       string // derived from incident and subject: stable
	Subject  timeline.Subject
	On       string // host that a job or container ran on, "" when not known
	Verdict  Verdict
	Rule     string // slug of the rule that decided
	Because  string // one sentence
	Artifact string
	Span     timeline.Span
	Channels map[string]Verdict // by channel of the incident
	Reasons  map[string]string  // why, by channel
	Egress   string             // seen, none, unknown: whether it could reach the internet
	Evidence []Evidence         // what decided first
	Via      []string           // findings that this one follows from
	Owner    string             // of the inventory, "" when not stated
	Service  string

	EgressWhy string   // what shows or says it
	Faults    []string // what is wrong with the clocks of its evidence
	Uncovered []Hole   // what was not seen of the channels' windows

	// Dispositions are what people said of it, in the order they said it. They
	// stand beside the verdict and change nothing of it.
	Dispositions []timeline.Decision
}

// Hole is a part of a channel's window that no evidence of a subject covers.
type Hole struct {
	Channel string
	From    int64 // nanoseconds since 1970 UTC, both ends inclusive
	To      int64
}

// Gap is evidence that is missing, and how to close it.
type Gap struct {
	Subject string // "kind:id", "" when it is of a source alone
	Channel string // "" for all
	Source  string // path, when a source that was read is the gap
	Reason  string // expired denied absent missing cut unread partial uncovered other-channel starts-late ends-early hole rotated contradicted unplaced unseen no-record not-stated not-shown
	Detail  string
	Fix     string // what to fetch or state to close it
}

// Result is the answer to one incident.
type Result struct {
	Incident *Incident
	Findings []Finding // by strength, then subject
	Complete bool
	Gaps     []Gap
	Sources  []timeline.SourceRow
	Counts   map[Verdict]int

	Inventory []string // files of the inventory, by name
	Tallies   []Tally  // expected evidence against evidence held

	// Unplaced are names of secrets in files that say of nobody that he holds
	// them: no plan of rotation has them. PlanRotation fills it in.
	Unplaced []Unplaced
}

// Unplaced are the names of secrets in one file that names no holder.
type Unplaced struct {
	Path  string
	Names []string
}
