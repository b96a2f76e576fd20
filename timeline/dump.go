package timeline

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Dump writes the case as canonical text: sorted, without row numbers, hashes
// of sources and times of reading. Two cases that hold the same facts give the
// same bytes, in whatever order the evidence was read. Goldens are dumps.
func (db *DB) Dump(w io.Writer) error {
	sources, err := db.Sources()
	if err != nil {
		return err
	}
	var lines []string
	add := func(words ...string) { lines = append(lines, strings.TrimRight(strings.Join(words, " "), " ")) }
	for _, s := range sources {
		add("source", escape(s.Path), s.Format, string(s.State), fmt.Sprintf("skipped=%d", s.Skipped), "claim="+escape(s.Claim), s.Why)
		ops, err := db.Ops(s.ID)
		if err != nil {
			return err
		}
		for _, o := range ops {
			add("op", escape(s.Path), fmt.Sprintf("#%d", o.Number), fmt.Sprintf("of=%d", o.Parent), o.Tool, string(o.State), o.Command)
		}
	}
	err = db.facts(func(f Fact) error {
		for _, n := range Notation(Event{f.Action, f.Subject, []Item{f.Item}, f.Span, f.Op, f.Origin}) {
			add("event", n, fmt.Sprintf("op=%d", f.Op), "clock="+string(f.Span.Clock))
		}
		return nil
	}, "SELECT "+factColumns+" FROM event e JOIN bundle_item b ON b.bundle=e.bundle"+factJoins)
	if err != nil {
		return err
	}
	if err := db.dumpRest(add); err != nil {
		return err
	}
	slices.Sort(lines)
	_, err = io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

func (db *DB) dumpRest(add func(...string)) error {
	links, err := db.Links(On, Is, Names, Holds, Uses, Saves, Mirrors)
	if err != nil {
		return err
	}
	for _, l := range links {
		add("link", string(l.Relation), escape(l.From), escape(l.To), l.Span.String(), fmt.Sprintf("%s:%d", escape(l.Path), l.Line))
	}
	coverage, err := db.Coverages()
	if err != nil {
		return err
	}
	for _, c := range coverage {
		add("covers", escape(c.Subject.String()), string(c.Topic), c.Span.String(), fmt.Sprintf("whole=%t", c.Whole), c.Why)
	}
	expected, err := db.Expectations()
	if err != nil {
		return err
	}
	for _, x := range expected {
		add("expects", escape(x.Subject.String()), orDash(x.Channel), x.Span.String(), orDash(x.Reason), x.Detail)
	}
	skips, err := db.Skips()
	if err != nil {
		return err
	}
	for _, k := range skips {
		add("skip", fmt.Sprintf("%s:%d", escape(k.Path), k.Line), k.Reason)
	}
	credentials, err := db.Credentials()
	if err != nil {
		return err
	}
	for _, c := range credentials {
		add("credential", c.Credential.notation(), fmt.Sprintf("%s:%d", escape(c.Path), c.Line))
	}
	decisions, err := db.Decisions()
	if err != nil {
		return err
	}
	for i, d := range decisions {
		add("decision", fmt.Sprintf("%06d", i+1), d.notation())
	}
	asked, err := db.Ledger()
	if err != nil {
		return err
	}
	for _, r := range asked {
		add("asked", escape(r.URL), r.Kind, string(r.Reply), fmt.Sprint(r.Status), "claim="+escape(r.Claim), r.Detail)
	}
	subjects, err := db.Subjects()
	if err != nil {
		return err
	}
	for _, s := range subjects {
		add("subject", escape(s.String()))
	}
	if err := db.dumpInference(add); err != nil {
		return err
	}
	if err := db.dumpCanaries(add); err != nil {
		return err
	}
	return db.dumpVerdicts(add)
}
