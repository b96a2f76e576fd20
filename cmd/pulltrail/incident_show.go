package main

import (
	"bufio"
	"fmt"
	"strings"

	"pulltrail/matchers"
	"pulltrail/reports"
)

// shown is how many entries of a long list are printed; --json prints all.
const shown = 8

// width of the text for people.
const width = 100

func (a *app) showIncident(name string) error {
	inc, err := matchers.Find(name)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(a.out, inc)
	}
	p := page{bufio.NewWriter(a.out)}
	p.facts(inc)
	return p.Flush()
}

// page prints facts for a reader who is in a hurry: what to do first, then
// what it was, then what nobody knows.
type page struct{ *bufio.Writer }

func (p page) facts(inc *matchers.Incident) {
	p.wrap("", inc.Title)
	line := inc.ID + ", " + inc.Kind
	if inc.Published != "" {
		line += ", published " + inc.Published
	}
	if len(inc.Aliases) > 0 {
		line += ", also " + strings.Join(inc.Aliases, ", ")
	}
	p.wrap("", line)
	p.wrap("", inc.Summary)
	p.list("Do first, in this order", len(inc.ResponseOrder), len(inc.ResponseOrder), func(i int) string {
		return fmt.Sprintf("%d. %s%s", i+1, inc.ResponseOrder[i].Step, cite(inc.ResponseOrder[i].Cite))
	})
	p.windows(inc)
	p.releases(inc)
	p.list("Traces", len(inc.Indicators), shown, func(i int) string {
		x := inc.Indicators[i]
		return x.Type + " " + x.Value + note(x.Cite)
	})
	p.list("Where no match does not mean clear", 1, 1, func(int) string { return openLists(inc.Complete) })
	p.list("Rotate", len(inc.Rotation), len(inc.Rotation), func(i int) string {
		r := inc.Rotation[i]
		return r.Class + " (" + r.Scope + "): " + r.Why + cite(r.Cite)
	})
	p.list("Not affected", len(inc.NotAffected), len(inc.NotAffected), func(i int) string {
		return inc.NotAffected[i].What + cite(inc.NotAffected[i].Cite)
	})
	p.list("Sources disagree", len(inc.Disagreements), len(inc.Disagreements), func(i int) string { return inc.Disagreements[i] })
	p.list("Nobody knows", len(inc.Unknown), len(inc.Unknown), func(i int) string { return inc.Unknown[i] })
	p.list("Sources", len(inc.References), len(inc.References), func(i int) string { return fmt.Sprintf("[%d] %s", i, inc.References[i]) })
}

// windows prints when each channel served the release, and who says so.
func (p page) windows(inc *matchers.Incident) {
	var lines []string
	for _, c := range inc.Channels {
		for _, w := range c.Windows {
			lines = append(lines, fmt.Sprintf("%s: %s, %s, to the %s%s", c.Name, windowText(w), w.Basis, w.Precision, note(w.Cite)))
		}
	}
	p.list("Served (UTC; the union counts where sources disagree)", len(lines), len(lines), func(i int) string { return lines[i] })
}

// releases prints what was bad.
func (p page) releases(inc *matchers.Incident) {
	versions := 0
	for _, x := range inc.Packages {
		versions += len(x.Versions)
	}
	p.list(fmt.Sprintf("%s, %s", count(len(inc.Packages), "package"), count(versions, "version")), len(inc.Packages), shown, func(i int) string {
		x := inc.Packages[i]
		line := x.PURL + " " + strings.Join(x.Versions, " ") + " (" + x.Role + ", trigger " + x.Trigger + ")"
		if len(x.Safe) > 0 {
			line += ", safe: " + strings.Join(x.Safe, " ")
		}
		return line + note(x.Cite)
	})
	p.list(count(len(inc.Images), "image"), len(inc.Images), shown, func(i int) string {
		x := inc.Images[i]
		line := x.Repository
		if len(x.Tags) > 0 {
			line += " tags " + strings.Join(x.Tags, " ")
		}
		if len(x.MovingTags) > 0 {
			line += "; moving " + strings.Join(x.MovingTags, " ")
		}
		return line + "; " + count(len(x.Digests), "digest") + note(x.Cite)
	})
	p.list(count(len(inc.Actions), "action"), len(inc.Actions), shown, func(i int) string {
		x := inc.Actions[i]
		return x.Repository + " refs " + strings.Join(x.Refs, " ") + "; commits " + strings.Join(x.Commits, " ") + note(x.Cite)
	})
	p.list(count(len(inc.Engines), "engine"), len(inc.Engines), shown, func(i int) string {
		x := inc.Engines[i]
		return x.PURL + " " + x.Affected + "; the configuration decides: " + strings.Join(x.Checks, ", ") + note(x.Cite)
	})
	p.list(count(len(inc.Vendors), "vendor"), len(inc.Vendors), shown, func(i int) string {
		return inc.Vendors[i].Name + ": " + inc.Vendors[i].What + note(inc.Vendors[i].Cite)
	})
}

// openLists says which lists the sources do not call whole.
func openLists(c matchers.Completeness) string {
	var open []string
	for _, l := range []struct {
		name  string
		whole bool
	}{{"versions", c.Versions}, {"tags", c.Tags}, {"digests", c.Digests}, {"commits", c.Commits}} {
		if !l.whole {
			open = append(open, l.name)
		}
	}
	if open == nil {
		return "nowhere: the lists are stated to be whole"
	}
	return strings.Join(open, ", ") + ": these lists are not stated to be whole"
}

// cite says where a fact was read.
func cite(c matchers.Cite) string {
	where := fmt.Sprintf(" [%d]", c.Source.Index)
	if c.Source.URL != "" {
		where = " [" + c.Source.URL + "]"
	}
	if c.Disputed {
		where += ", disputed"
	}
	return where
}

// note is cite with the note.
func note(c matchers.Cite) string {
	if c.Note == "" {
		return cite(c)
	}
	return cite(c) + ": " + c.Note
}

// list prints a heading and the first entries of a list; nothing when there is
// none.
func (p page) list(title string, n, most int, entry func(i int) string) {
	if n == 0 {
		return
	}
	fmt.Fprintf(p, "\n%s\n", title)
	for i := range min(n, most) {
		p.wrap("  ", entry(i))
	}
	if n > most {
		fmt.Fprintf(p, "  and %d more: --json prints all\n", n-most)
	}
}

// wrap prints text in lines of the page's width; lines after the first are
// indented.
func (p page) wrap(indent, text string) {
	column := 0
	for word := range strings.FieldsSeq(reports.Text(text)) {
		switch {
		case column == 0:
			column, _ = p.WriteString(indent + word)
		case column+1+len(word) > width:
			n, _ := p.WriteString("\n" + indent + "  " + word)
			column = n - 1
		default:
			n, _ := p.WriteString(" " + word)
			column += n
		}
	}
	_ = p.WriteByte('\n')
}
