package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// MaxRows is how many subjects of one verdict the terminal lists.
const MaxRows = 40

// Answer prints the answer for a terminal: the count of each verdict, the
// subjects with the reason and the line that decides, and what to do next. bold
// marks a verdict; it returns the text itself where there is no colour.
func Answer(w io.Writer, d *Document, bold func(verdict, text string) string) error {
	fmt.Fprintf(w, "%s\n\n", Text(d.Incident.Title))
	if d.subjects() == 0 {
		fmt.Fprintf(w, "No verdict: %s\n", nobody)
		return conclusion(w, d)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range verdicts {
		fmt.Fprintf(t, "  %s\t%d\t%s\n", v, d.Counts[v], d.meaning(v))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, v := range verdicts {
		if err := rows(w, d, v, bold); err != nil {
			return err
		}
	}
	return conclusion(w, d)
}

// nobody says why there is no verdict at all: five zeros would look like an
// answer.
const nobody = "nothing that was read names a host, container, image, job or client. This says nothing of anyone."

// verdicts is the order of every report.
var verdicts = []string{"exposed", "pulled", "possible", "unknown", "clear"}

// meaning says what a verdict means to the reader.
var meaning = map[string]string{
	"exposed":  "it was installed, built in or ran: rotate what was within reach",
	"pulled":   "it came over, not shown to have run: treat as exposed until shown otherwise",
	"possible": "it may have come; nothing that was read settles it",
	"unknown":  "the evidence to answer is missing",
	"clear":    "a positive answer, or complete evidence without it",
}

// otherKinds says it for incidents in which nothing was released.
var otherKinds = map[string]map[string]string{
	"engine-flaw": {
		"exposed":  "an affected engine in an affected configuration, or a reply that it cannot have computed alone",
		"pulled":   "an affected engine came over, not shown to have run",
		"possible": "an affected version whose configuration is not known, or a reply that is hard to explain",
	},
	"vendor-breach": {
		"exposed":  "it was connected to the vendor: what it sent may have been read",
		"pulled":   "what the vendor names came over, not shown to have run",
		"possible": "it may have been connected to the vendor; nothing that was read settles it",
	},
}

// meaning says what a verdict means in this incident.
func (d *Document) meaning(verdict string) string {
	if m := otherKinds[d.Incident.Kind][verdict]; m != "" {
		return m
	}
	return meaning[verdict]
}

// rows lists the findings of a verdict. Those that say the same of no line stand
// together, and say it once.
func rows(w io.Writer, d *Document, verdict string, bold func(string, string) string) error {
	for n, same := range alike(d, verdict) {
		if n == 0 {
			fmt.Fprintln(w)
		}
		for _, f := range same {
			fmt.Fprintf(w, "%s%s  %s\n", bold(verdict, verdict), strings.Repeat(" ", len("possible")-len(verdict)), Text(who(f)))
		}
		f := same[0]
		fmt.Fprintf(w, "          %s\n", Text(f.Because))
		if e := f.decisive(); e != nil {
			fmt.Fprintf(w, "          %s\n", Text(where(e)))
		}
		if s := f.disposition(); s != "" {
			fmt.Fprintf(w, "          %s\n", Text(s))
		}
	}
	if n := d.Counts[verdict]; n > MaxRows {
		_, err := fmt.Fprintf(w, "          and %d more %s: 'pulltrail match %s --json' or 'pulltrail report responder' lists all\n", n-MaxRows, verdict, Text(d.Incident.ID))
		return err
	}
	return nil
}

// alike returns the first findings of a verdict, MaxRows at most, those that say
// the same together.
func alike(d *Document, verdict string) (groups [][]*Finding) {
	of := map[string]int{}
	n := 0
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Verdict != verdict {
			continue
		}
		if n++; n > MaxRows {
			break
		}
		at, known := of[f.Because]
		switch {
		case f.decisive() != nil || f.disposition() != "":
			groups = append(groups, []*Finding{f})
		case known:
			groups[at] = append(groups[at], f)
		default:
			of[f.Because] = len(groups)
			groups = append(groups, []*Finding{f})
		}
	}
	return groups
}

// who names a subject with where it ran and whose it is.
func who(f *Finding) string {
	s := f.Subject.Kind + ":" + f.Subject.ID
	if f.Subject.On != "" {
		s += " on " + f.Subject.On
	}
	var of []string
	if f.Service != "" {
		of = append(of, f.Service)
	}
	if f.Owner != "" {
		of = append(of, "owner "+f.Owner)
	}
	if len(of) > 0 {
		s += " (" + strings.Join(of, ", ") + ")"
	}
	return s
}

// disposition is what was said of a finding last, "" when nothing was.
func (f *Finding) disposition() string {
	n := len(f.Dispositions)
	if n == 0 {
		return ""
	}
	d := f.Dispositions[n-1]
	s := "disposition of " + d.Who + ": " + d.Reason
	if n > 1 {
		s += fmt.Sprintf(" (%d before it)", n-1)
	}
	return s
}

// decisive is the line that decides a finding: the first of its evidence, and
// where something was asked and answered the strongest answer.
func (f *Finding) decisive() *Evidence {
	if f.Verdict == "unknown" && f.Rule == "not-covered" || len(f.Evidence) == 0 {
		return nil
	}
	if f.Verdict != "clear" {
		return &f.Evidence[0]
	}
	strength := []string{"present", "cached", "download", "pull", "build", "push", "run", "install"}
	var best *Evidence
	for i := range f.Evidence {
		e := &f.Evidence[i]
		at := slices.Index(strength, e.Action)
		if at >= 0 && strings.Contains(f.Because, e.Artifact) && (best == nil || at > slices.Index(strength, best.Action)) {
			best = e
		}
	}
	return best
}

// where names the line that proves something, and its time to the second.
func where(e *Evidence) string {
	s := e.Path
	if e.Line > 0 {
		s += fmt.Sprintf(":%d", e.Line)
	}
	if when := seconds(e.From, e.To); when != "" {
		s += "  " + when
	}
	return s
}

// seconds prints a span for reading: whole seconds, "" when nothing is known.
func seconds(from, to *string) string {
	text := func(s *string) string {
		if s == nil {
			return ".."
		}
		head, _, fraction := strings.Cut(*s, ".")
		if fraction {
			head += "Z"
		}
		return head
	}
	a, b := text(from), text(to)
	switch {
	case a == ".." && b == "..":
		return ""
	case a == b:
		return a
	}
	return a + "/" + b
}

// fewSubjects are so few that the counts above them are still in sight.
const fewSubjects = 12

// conclusion says whether the answer is complete, and what to do next.
func conclusion(w io.Writer, d *Document) error {
	if d.subjects() > fewSubjects {
		counts := make([]string, len(verdicts))
		for i, v := range verdicts {
			counts[i] = fmt.Sprintf("%d %s", d.Counts[v], v)
		}
		fmt.Fprintf(w, "\n%d in all: %s.", d.subjects(), strings.Join(counts, ", "))
	}
	if d.Coverage.Complete {
		_, err := fmt.Fprintf(w, "\nComplete: every channel is covered for each of the %d subjects; %d sources were read.\n", d.subjects(), len(d.Coverage.Sources))
		return err
	}
	byReason := map[string]int{}
	var order []string
	gaps := grouped(d.Coverage.Gaps)
	for _, g := range gaps {
		if byReason[g.Reason]++; byReason[g.Reason] == 1 {
			order = append(order, g.Reason)
		}
	}
	parts := make([]string, len(order))
	for i, r := range order {
		parts[i] = fmt.Sprintf("%d %s", byReason[r], r)
	}
	_, err := fmt.Fprintf(w, "\nNot complete, %s: %s.\n'pulltrail coverage %s' says what is missing and how to close it,\n"+
		"'pulltrail explain SUBJECT' shows every line behind a verdict.\n",
		plural(len(gaps), "gap"), strings.Join(parts, ", "), Text(d.Incident.ID))
	return err
}

// grouped joins the gaps of one subject that differ in the channel alone.
func grouped(gaps []Gap) []Gap {
	var out []Gap
	at := map[Gap]int{}
	for _, g := range gaps {
		key := g
		key.Channel = ""
		if i, ok := at[key]; ok && g.Channel != "" && out[i].Channel != "" {
			out[i].Channel += ", " + g.Channel
			continue
		}
		at[key] = len(out)
		out = append(out, g)
	}
	return out
}
