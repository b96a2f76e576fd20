package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"pulltrail/matchers"
)

// writeGap prints a gap and, below it, what closes it.
func writeGap(w io.Writer, g Gap, closes string) {
	fmt.Fprintf(w, "  %s", g.Reason)
	if g.Channel != "" {
		fmt.Fprintf(w, " (%s)", Text(g.Channel))
	}
	if g.Detail != "" {
		fmt.Fprintf(w, ": %s", Text(g.Detail))
	}
	fmt.Fprintln(w)
	if g.Fix != "" {
		fmt.Fprintf(w, "      %s: %s\n", closes, Text(g.closed()))
	}
}

// toClose stands before what closes a gap.
const toClose = "to close it"

// closed says what closes the gap, with its own subject where the text, which
// serves many, leaves it open.
func (g Gap) closed() string { return strings.ReplaceAll(g.Fix, matchers.SubjectWord, g.Subject) }

// CoverageText prints what was read with its denominators, then each gap with
// what closes it.
func CoverageText(w io.Writer, d *Document) error {
	states := map[string]int{}
	for _, s := range d.Coverage.Sources {
		states[s.State]++
	}
	fmt.Fprintf(w, "%d subjects, %d sources: %d read, %d partial, %d unread\n", d.subjects(), len(d.Coverage.Sources),
		states["read"], states["partial"], states["unread"])
	for _, c := range d.Coverage.Channels {
		fmt.Fprintf(w, "  %-14s answered for %d of %d subjects\n", Text(c.Channel), c.Answered, c.Of)
	}
	for _, t := range d.Coverage.Expected {
		fmt.Fprintf(w, "  %-14s evidence of %d of %d expected%s\n", t.What, t.Held, t.Of, t.missing())
	}
	writeSources(w, d.Coverage.Sources)
	fmt.Fprintln(w)
	if d.Coverage.Complete {
		_, err := fmt.Fprintln(w, "Complete: nothing is missing.")
		return err
	}
	gaps := grouped(d.Coverage.Gaps)
	fmt.Fprintf(w, "Not complete, %d gaps:\n", len(gaps))
	single, many := common(gaps)
	last := ""
	for _, g := range single {
		if head := g.head(); head != last {
			fmt.Fprintf(w, "\n%s\n", Text(head))
			last = head
		}
		writeGap(w, g, toClose)
	}
	for _, same := range many {
		fmt.Fprintf(w, "\n%d of one kind:\n", len(same))
		for _, g := range same[:min(len(same), MaxRows)] {
			fmt.Fprintln(w, Text(g.head()))
		}
		if more := len(same) - MaxRows; more > 0 {
			fmt.Fprintf(w, "and %d more: 'pulltrail coverage %s --json' lists all\n", more, Text(d.Incident.ID))
		}
		writeGap(w, same[0], toClose+", "+strings.TrimSuffix(likewise, ": "))
	}
	return nil
}

// head is what a gap is about.
func (g Gap) head() string {
	if g.Subject == "" {
		return g.Source
	}
	return g.Subject
}

// common takes out the gaps that many subjects of one kind have alike.
func common(gaps []Gap) (single []Gap, many [][]Gap) {
	const enough = 12
	key := func(g Gap) Gap {
		kind, id, _ := strings.Cut(g.Subject, ":")
		service, _, _ := strings.Cut(id, ":")
		if kind != "job" {
			service = ""
		}
		return Gap{Subject: kind + ":" + service, Channel: g.Channel, Reason: g.Reason, Detail: g.Detail}
	}
	alike := map[Gap][]Gap{}
	for _, g := range gaps {
		if g.Subject != "" {
			alike[key(g)] = append(alike[key(g)], g)
		}
	}
	for _, g := range gaps {
		switch same := alike[key(g)]; {
		case g.Subject == "" || len(same) < enough:
			single = append(single, g)
		case same[0] == g:
			many = append(many, same)
		}
	}
	return single, many
}

// subjects is how many subjects have a verdict, listed or not.
func (d *Document) subjects() int {
	n := 0
	for _, of := range d.Counts {
		n += of
	}
	return n
}

// maxSources is how many sources the terminal lists that were read whole.
const maxSources = 60

// writeSources lists the sources: first those that were not read whole, then
// the others, of many only how many of each format.
func writeSources(w io.Writer, all []Source) {
	fmt.Fprintln(w)
	var whole []Source
	for _, s := range all {
		if s.State == "read" {
			whole = append(whole, s)
			continue
		}
		writeSource(w, s)
	}
	if len(whole) <= maxSources {
		for _, s := range whole {
			writeSource(w, s)
		}
		return
	}
	files, events := map[string]int{}, map[string]int64{}
	for _, s := range whole {
		files[s.Format]++
		events[s.Format] += s.Events
	}
	for _, f := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(w, "read     %d files  %s, %d events\n", files[f], Text(f), events[f])
	}
	fmt.Fprintln(w, "         'pulltrail coverage ... --json' and 'pulltrail report responder' list each")
}

func writeSource(w io.Writer, s Source) {
	fmt.Fprintf(w, "%-8s %s  %s, %d events", s.State, Text(s.Path), Text(s.Format), s.Events)
	if s.Skipped > 0 {
		fmt.Fprintf(w, ", %d skipped", s.Skipped)
	}
	if s.Why != "" {
		fmt.Fprintf(w, ": %s", Text(s.Why))
	}
	fmt.Fprintln(w)
}

// missing names what is expected and was not read.
func (t Tally) missing() string {
	if len(t.Missing) == 0 {
		return ""
	}
	text := "; none of " + Text(strings.Join(t.Missing, ", "))
	if more := t.Of - t.Held - len(t.Missing); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
