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
	fmt.Fprintf(w, "%s, %s: %d read, %d partial, %d unread\n", plural(d.subjects(), "subject"), plural(len(d.Coverage.Sources), "source"),
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
	fmt.Fprintf(w, "Not complete, %s:\n", plural(len(gaps), "gap"))
	single, many := common(gaps)
	last := ""
	for _, same := range together(single) {
		if len(same) > 1 {
			d.writeGaps(w, same, toClose)
			continue
		}
		if head := same[0].head(); head != last {
			fmt.Fprintf(w, "\n%s\n", Text(head))
			last = head
		}
		writeGap(w, same[0], toClose)
	}
	for _, same := range many {
		d.writeGaps(w, same, toClose+", "+strings.TrimSuffix(likewise, ": "))
	}
	return nil
}

// maxNames is how many names the terminal lists of those that have a gap in
// common.
const maxNames = 20

// writeGaps prints what several gaps have in common, whose they are, each with
// its detail where that differs, and what closes them.
func (d *Document) writeGaps(w io.Writer, same []Gap, closes string) {
	g := same[0]
	fmt.Fprintf(w, "\n%d %s", len(same), g.Reason)
	if g.Channel != "" {
		fmt.Fprintf(w, " (%s)", Text(g.Channel))
	}
	each := slices.ContainsFunc(same, func(o Gap) bool { return o.Detail != g.Detail })
	if !each && g.Detail != "" {
		fmt.Fprintf(w, ": %s", Text(g.Detail))
	}
	fmt.Fprintln(w)
	for _, o := range same[:min(len(same), maxNames)] {
		if each {
			fmt.Fprintf(w, "  %s: %s\n", Text(o.head()), Text(o.Detail))
		} else {
			fmt.Fprintf(w, "  %s\n", Text(o.head()))
		}
	}
	if more := len(same) - maxNames; more > 0 {
		fmt.Fprintf(w, "  and %d more: 'pulltrail coverage %s --json' lists all\n", more, Text(d.Incident.ID))
	}
	if g.Fix != "" {
		fmt.Fprintf(w, "      %s: %s\n", closes, Text(g.closed()))
	}
}

// together puts those gaps together that one text closes, whoever has them, at
// the place of the first.
func together(gaps []Gap) [][]Gap {
	var out [][]Gap
	at := map[Gap]int{}
	for _, g := range gaps {
		key := Gap{Channel: g.Channel, Reason: g.Reason, Fix: g.Fix}
		if g.Fix == "" || strings.Contains(g.Fix, matchers.SubjectWord) {
			key = g
		}
		if i, ok := at[key]; ok {
			out[i] = append(out[i], g)
			continue
		}
		at[key] = len(out)
		out = append(out, []Gap{g})
	}
	return out
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

// plural prints a number with its word.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
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
		fmt.Fprintf(w, "read     %s  %s, %s\n", plural(files[f], "file"), Text(f), plural(int(events[f]), "event"))
	}
	fmt.Fprintln(w, "         'pulltrail coverage ... --json' and 'pulltrail report responder' list each")
}

func writeSource(w io.Writer, s Source) {
	fmt.Fprintf(w, "%-8s %s  %s, %s", s.State, Text(s.Path), Text(s.Format), plural(int(s.Events), "event"))
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
