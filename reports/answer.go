package reports

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// maxRows is how many subjects of one verdict the terminal lists.
const maxRows = 40

// Answer prints the answer for a terminal: the count of each verdict, the
// subjects with the reason, and what to do next. bold marks a verdict; it
// returns the text itself where there is no colour.
func Answer(w io.Writer, d *Document, bold func(verdict, text string) string) error {
	fmt.Fprintf(w, "%s\n%s\n\n", Text(d.Incident.Title), Text(d.Incident.ID))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range verdicts {
		fmt.Fprintf(t, "  %s\t%d\t%s\n", v, d.Counts[v], meaning[v])
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

// verdicts is the order of every report.
var verdicts = []string{"exposed", "pulled", "possible", "unknown", "clear"}

// meaning says what a verdict means to the reader.
var meaning = map[string]string{
	"exposed":  "it was installed, built in or ran: rotate what was within reach",
	"pulled":   "it came over; whether it ran is not shown: treat it as exposed until shown otherwise",
	"possible": "it may have come; nothing that was read settles it",
	"unknown":  "the evidence to answer is missing",
	"clear":    "a positive answer, or complete evidence without it",
}

func rows(w io.Writer, d *Document, verdict string, bold func(string, string) string) error {
	n := 0
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Verdict != verdict {
			continue
		}
		if n++; n > maxRows {
			continue
		}
		on := ""
		if f.Subject.On != "" {
			on = " on " + Text(f.Subject.On)
		}
		fmt.Fprintf(w, "\n%s  %s:%s%s\n    %s\n", bold(verdict, verdict), f.Subject.Kind, Text(f.Subject.ID), on, Text(f.Because))
		if len(f.Evidence) > 0 {
			fmt.Fprintf(w, "    %s\n", Text(where(&f.Evidence[0])))
		}
	}
	if n > maxRows {
		_, err := fmt.Fprintf(w, "\n    and %d more %s: 'pulltrail match ... --json' or 'pulltrail report responder' lists all\n", n-maxRows, verdict)
		return err
	}
	return nil
}

// where names the line that proves something, and its time.
func where(e *Evidence) string {
	s := e.Path
	if e.Line > 0 {
		s += fmt.Sprintf(":%d", e.Line)
	}
	if when := span(e.From, e.To); when != ".." {
		s += "  " + when
	}
	return s
}

// conclusion says whether the answer is complete, and what to do next.
func conclusion(w io.Writer, d *Document) error {
	if d.Coverage.Complete {
		_, err := fmt.Fprintf(w, "\nComplete: every channel is covered for each of the %d subjects; %d sources were read.\n", len(d.Findings), len(d.Coverage.Sources))
		return err
	}
	byReason := map[string]int{}
	var order []string
	for _, g := range d.Coverage.Gaps {
		if byReason[g.Reason]++; byReason[g.Reason] == 1 {
			order = append(order, g.Reason)
		}
	}
	parts := make([]string, len(order))
	for i, r := range order {
		parts[i] = fmt.Sprintf("%d %s", byReason[r], r)
	}
	_, err := fmt.Fprintf(w, "\nNot complete: %s. 'pulltrail coverage %s' says what is missing and how to close it.\n",
		strings.Join(parts, ", "), Text(d.Incident.ID))
	return err
}
