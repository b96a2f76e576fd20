package reports

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"pulltrail/matchers"
)

// maxPlaces is how many holders and lists of one credential the terminal names.
const maxPlaces = 2

// RotationPlan prints a plan for a terminal: what to do first, then each
// credential in the order to rotate it, under what it opens.
func RotationPlan(w io.Writer, rot *Rotation, bold func(verdict, text string) string) error {
	fmt.Fprintf(w, "%s: what to rotate\n", Text(rot.Incident.Title))
	if len(rot.Incident.Order) > 0 {
		fmt.Fprint(w, "\nfirst, before anything is rotated\n")
		for i, s := range rot.Incident.Order {
			fmt.Fprintf(w, "  %d. %s\n", i+1, Text(s.Step))
		}
	}
	verdict, power := "", 0
	for i := range rot.Rows {
		r := &rot.Rows[i]
		if r.Verdict != verdict {
			verdict, power = r.Verdict, 0
			fmt.Fprintf(w, "\nwithin reach of what is %s\n", bold(verdict, verdict))
		}
		if r.Power != power {
			power = r.Power
			fmt.Fprintf(w, "\n  %s\n", Text(r.PowerWhy))
		}
		planRow(w, i+1, r)
	}
	return rot.ending(w)
}

func planRow(w io.Writer, n int, r *RotationRow) {
	of := r.Class
	if len(r.Owners) > 0 {
		of += ", owner " + strings.Join(r.Owners, ", ")
	}
	fmt.Fprintf(w, "%4d  %s  (%s)  %s\n", n, Text(r.called()), Text(of), r.Status)
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(w, "      %s %s\n", what, Text(text))
		}
	}
	var held []string
	for _, h := range r.Held {
		held = append(held, h.Subject.String()+" ("+place(h.Line)+")")
	}
	line("held by", firstPlaces(held))
	line("kept in", firstPlaces(keptIn(*r)))
	if len(held) == 0 {
		var by []string
		for _, e := range r.By {
			by = append(by, e.Subject.String()+" ("+e.Verdict+")")
		}
		line("exposed by", firstPlaces(by))
	}
	line("safe after", r.Safe.At)
	line("made", r.aged())
	line("last used", r.Used)
	if r.Status != string(matchers.Open) {
		line("it is "+r.Status+":", r.Because)
	}
}

// called is the name of a row, or what stands in its place.
func (r *RotationRow) called() string {
	if r.Name == "" {
		return noName
	}
	return r.Name
}

// aged is when the value was made, and how old it is.
func (r *RotationRow) aged() string {
	if r.AgeDays == nil {
		return r.Made
	}
	return r.Made + ", " + strconv.Itoa(*r.AgeDays) + " days old"
}

func firstPlaces(all []string) string {
	if len(all) <= maxPlaces {
		return strings.Join(all, "; ")
	}
	return strings.Join(all[:maxPlaces], "; ") + fmt.Sprintf("; and %d more", len(all)-maxPlaces)
}

// RotationStatus prints how far each credential has come. With todo only those
// that are not done are listed.
func RotationStatus(w io.Writer, rot *Rotation, todo bool) error {
	for _, s := range matchers.States {
		if todo && s.Done() {
			continue
		}
		for i := range rot.Rows {
			if r := &rot.Rows[i]; r.Status == string(s) {
				fmt.Fprintf(w, "%-13s  %s  (%s)\n               %s\n", r.Status, Text(r.called()), Text(r.Class), Text(r.Because))
			}
		}
	}
	return rot.ending(w)
}

// ending counts the rows.
func (rot *Rotation) ending(w io.Writer) error {
	switch {
	case rot.Judged() == 0:
		fmt.Fprintf(w, "\nNothing is in the plan of %s: %s\n", Text(rot.Incident.ID), nobody)
	case len(rot.Rows) == 0:
		fmt.Fprintf(w, "\nNothing was within reach of anyone in %s, as far as the evidence shows.\n", Text(rot.Incident.ID))
	default:
		var parts []string
		for _, s := range matchers.States {
			if n := rot.States[string(s)]; n > 0 {
				parts = append(parts, strconv.Itoa(n)+" "+string(s))
			}
		}
		fmt.Fprintf(w, "\n%d in all: %s.\n", len(rot.Rows), strings.Join(parts, ", "))
	}
	if !rot.Complete {
		fmt.Fprintf(w, "The evidence is not complete: 'pulltrail coverage %s' says what is missing.\n", Text(rot.Incident.ID))
	}
	if len(rot.Unknown) > 0 {
		fmt.Fprintf(w, "%s unknown: what they held stands in no row.\n", map[bool]string{true: "1 subject is", false: strconv.Itoa(len(rot.Unknown)) + " subjects are"}[len(rot.Unknown) == 1])
	}
	if len(rot.Unplaced) > 0 {
		var files []string
		for _, u := range rot.Unplaced {
			files = append(files, u.Path+" ("+strings.Join(u.Names, ", ")+")")
		}
		fmt.Fprintf(w, "Names that stand in no row, since nothing says who holds them: %s.\nRead the file again with --subject KIND:ID, a list with 'rotate import --store'.\n", Text(firstPlaces(files)))
	}
	return rot.waiting(w)
}

// Judged is how many subjects have a verdict.
func (rot *Rotation) Judged() int {
	n := 0
	for _, of := range rot.Counts {
		n += of
	}
	return n
}

// waitsFor lists those without whose end no new value is safe, and how many rows
// wait.
func (rot *Rotation) waitsFor() (who []Subject, rows int) {
	for i := range rot.Rows {
		r := &rot.Rows[i]
		if len(r.Safe.Waiting) > 0 {
			rows++
		}
		for _, s := range r.Safe.Waiting {
			if !slices.Contains(who, s) {
				who = append(who, s)
			}
		}
	}
	slices.SortFunc(who, func(a, b Subject) int { return strings.Compare(a.String(), b.String()) })
	return who, rows
}

// waiting names those that the rows wait for.
func (rot *Rotation) waiting(w io.Writer) error {
	who, rows := rot.waitsFor()
	if rows == 0 {
		return nil
	}
	names := make([]string, 0, maxNames+1)
	for _, s := range who[:min(len(who), maxNames)] {
		names = append(names, Text(s.String()))
	}
	if more := len(who) - maxNames; more > 0 {
		names = append(names, fmt.Sprintf("and %d more: 'pulltrail report rotation -o rotation.html' lists all", more))
	}
	_, err := fmt.Fprintf(w, "A new value is not safe yet for %d of them: nothing says when these were stopped or rebuilt,\n  %s\n'pulltrail rotate stopped SUBJECT --at TIME --by NAME' says so.\n", rows, strings.Join(names, "\n  "))
	return err
}
