package reports

import (
	"fmt"
	"io"
	"strings"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

// DifferenceSchema is the version of the document of a comparison.
const DifferenceSchema = "pulltrail.diff/1"

// Difference is what changed between two answers to one incident.
type Difference struct {
	Schema   string         `json:"schema"`
	Incident string         `json:"incident"`
	Before   AnswerNote     `json:"before"`
	After    AnswerNote     `json:"after"`
	Says     []SaysChange   `json:"incident_changes"`
	Changed  []ChangedEntry `json:"changed"`
	// Otherwise lists those that keep their verdict, for another reason.
	Otherwise []ChangedEntry `json:"same_verdict_otherwise"`
	Same      int            `json:"same"`
}

// AnswerNote names one of the two answers. Run is its number in the case; 0 is
// the answer that was made now, which has no time.
type AnswerNote struct {
	Run      int64   `json:"run"`
	Revision string  `json:"revision"`
	At       *string `json:"at"`
	Complete bool    `json:"complete"`
	Sources  int     `json:"sources"`
	Subjects int     `json:"subjects"`
}

// SaysChange is a fact that one revision of the incident says and the other
// does not.
type SaysChange struct {
	Added   bool   `json:"added"`
	Kind    string `json:"kind"`
	Channel string `json:"channel"`
	Name    string `json:"name"`
	Value   string `json:"value"`
	Source  string `json:"source"`
}

// ChangedEntry is one subject of which the answers say different things.
type ChangedEntry struct {
	Subject string     `json:"subject"`
	Before  *Statement `json:"before"` // null: it had none
	After   *Statement `json:"after"`
	Why     []string   `json:"why"`
}

// Statement is the verdict on one side.
type Statement struct {
	Verdict  string            `json:"verdict"`
	Rule     string            `json:"rule"`
	Because  string            `json:"because"`
	Artifact string            `json:"artifact"`
	Channels map[string]string `json:"channels"`
	Lines    []string          `json:"lines"` // "<12 hex of the source> path:line"
}

// NewDifference makes the document of a comparison.
func NewDifference(c *matchers.Comparison) *Difference {
	d := &Difference{
		Schema: DifferenceSchema, Incident: c.After.Incident, Before: note(c.Before), After: note(c.After),
		Says: []SaysChange{}, Changed: changedEntries(c.Changed), Otherwise: changedEntries(c.Otherwise), Same: c.Same,
	}
	for _, s := range c.Incident {
		d.Says = append(d.Says, SaysChange{s.Added, s.Kind, s.Channel, s.Name, s.Value, s.Cite})
	}
	return d
}

func note(s matchers.Side) AnswerNote {
	n := AnswerNote{Run: s.ID, Revision: s.Revision, Complete: s.Complete, Sources: s.Sources, Subjects: s.Subjects}
	if s.ID > 0 {
		n.At = Time(s.At)
	}
	return n
}

func changedEntries(list []matchers.VerdictChange) []ChangedEntry {
	out := make([]ChangedEntry, len(list))
	for i, c := range list {
		out[i] = ChangedEntry{c.Subject, statement(c.Before), statement(c.After), append([]string{}, c.Why...)}
	}
	return out
}

func statement(v timeline.VerdictRow) *Statement {
	if v.Verdict == "" {
		return nil
	}
	s := &Statement{Verdict: v.Verdict, Rule: v.Rule, Because: v.Because, Artifact: v.Artifact, Channels: map[string]string{}, Lines: []string{}}
	for word := range strings.FieldsSeq(v.Channels) {
		name, verdict, _ := strings.Cut(word, "=")
		s.Channels[name] = verdict
	}
	if v.Origins != "" {
		s.Lines = strings.Split(v.Origins, "\n")
	}
	return s
}

// DifferenceText prints what changed: the incident first, then each subject
// with both sentences and the reason. all lists those too whose verdict stayed.
func DifferenceText(w io.Writer, d *Difference, all bool) error {
	fmt.Fprintf(w, "%s\n  from %s\n  to   %s\n", Text(d.Incident), d.Before.text(), d.After.text())
	switch {
	case len(d.Says) > 0:
		fmt.Fprintln(w, "\nWhat the incident says otherwise")
	case d.Before.Revision == d.After.Revision:
		fmt.Fprintln(w, "\nThe incident is the same revision.")
	default:
		fmt.Fprintln(w, "\nThe incident says the same in other words.")
	}
	for _, s := range d.Says {
		fmt.Fprintf(w, "  %s %s\n", map[bool]string{true: "+", false: "-"}[s.Added], Text(s.text()))
	}
	if len(d.Changed) == 0 {
		fmt.Fprintf(w, "\nNo verdict changed: %d subjects.\n", d.Same+len(d.Otherwise))
	} else {
		fmt.Fprintf(w, "\n%d of %d verdicts changed\n", len(d.Changed), len(d.Changed)+len(d.Otherwise)+d.Same)
	}
	writeChanges(w, d.Changed)
	if all {
		if len(d.Otherwise) > 0 {
			fmt.Fprintf(w, "\n%d keep their verdict for another reason\n", len(d.Otherwise))
		}
		writeChanges(w, d.Otherwise)
	} else if len(d.Otherwise) > 0 {
		fmt.Fprintf(w, "\n%d more keep their verdict for another reason: --all lists them.\n", len(d.Otherwise))
	}
	return nil
}

func (n AnswerNote) text() string {
	state := "not complete"
	if n.Complete {
		state = "complete"
	}
	s := fmt.Sprintf("revision %.12s, %d sources, %d subjects, %s", n.Revision, n.Sources, n.Subjects, state)
	if n.Run == 0 {
		return "now     " + s
	}
	return fmt.Sprintf("run %-3d %s, matched %s", n.Run, s, seconds(n.At, n.At))
}

func (s SaysChange) text() string {
	words := []string{}
	for _, word := range []string{s.Channel, s.Kind, s.Name, s.Value} {
		if word != "" {
			words = append(words, word)
		}
	}
	if s.Source != "" {
		words = append(words, "("+s.Source+")")
	}
	return strings.Join(words, " ")
}

func writeChanges(w io.Writer, list []ChangedEntry) {
	for _, c := range list {
		fmt.Fprintf(w, "\n%s → %s  %s\n", c.Before.verdict(), c.After.verdict(), Text(c.Subject))
		if c.Before != nil {
			fmt.Fprintf(w, "    was  %s\n", Text(c.Before.Because))
		}
		if c.After != nil {
			fmt.Fprintf(w, "    now  %s\n", Text(c.After.Because))
		}
		for _, why := range c.Why {
			fmt.Fprintf(w, "    why  %s\n", Text(why))
		}
	}
}

func (s *Statement) verdict() string {
	if s == nil {
		return "none"
	}
	return s.Verdict
}

// AnswersText lists the stored answers to an incident.
func AnswersText(w io.Writer, answers []timeline.AnswerRow) error {
	for _, a := range answers {
		n := note(matchers.Side{AnswerRow: a})
		if _, err := fmt.Fprintf(w, "%s\n", n.text()); err != nil {
			return err
		}
	}
	return nil
}

// AnswerNotes is the list of the stored answers as data.
func AnswerNotes(answers []timeline.AnswerRow) []AnswerNote {
	out := make([]AnswerNote, len(answers))
	for i, a := range answers {
		out[i] = note(matchers.Side{AnswerRow: a})
	}
	return out
}
