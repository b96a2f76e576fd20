package reports

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pulltrail/matchers"
)

// RotationSchema is the version of the rotation document. Fields may be added,
// never renamed.
const RotationSchema = "pulltrail.rotation/1"

// Rotation is the rotation plan as data: what was within reach of the subjects
// that met the release or may have. It holds names, never values.
type Rotation struct {
	Schema   string         `json:"schema"`
	AsOf     string         `json:"as_of,omitempty"`
	Incident Incident       `json:"incident"` // its response order comes before any row
	Rows     []RotationRow  `json:"rows"`
	Subjects []Exposed      `json:"subjects"` // everyone stronger than unknown
	Unknown  []Subject      `json:"unknown"`  // of whom it is not known; their secrets stand in no row
	Complete bool           `json:"complete"` // of the evidence
	Counts   map[string]int `json:"counts"`   // subjects by verdict
}

// RotationRow is one secret by its name, or a class of the incident without a
// name in evidence.
type RotationRow struct {
	ID       string    `json:"id"`
	Status   string    `json:"status"` // open
	Name     string    `json:"name"`   // "" when the evidence shows none
	Class    string    `json:"class"`
	Listed   bool      `json:"listed"` // the incident names the class, or one that means every secret
	Scope    string    `json:"scope"`
	Why      string    `json:"why"`
	Source   string    `json:"source"`
	Disputed bool      `json:"disputed,omitempty"`
	Verdict  string    `json:"verdict"` // the strongest of those who expose it
	Held     []Held    `json:"held"`
	By       []Exposed `json:"exposed_by"`
	Owners   []string  `json:"owners"`
}

// Held is where a secret of that name was held, and the line that shows it.
type Held struct {
	Subject Subject  `json:"subject"`
	Line    Evidence `json:"evidence"`
}

// Exposed is a subject that puts secrets within reach.
type Exposed struct {
	Finding string  `json:"finding"`
	Subject Subject `json:"subject"`
	Verdict string  `json:"verdict"`
}

// rotationPage is what the templates of the rotation report see.
type rotationPage struct {
	*Rotation
	Title    string
	Groups   []rotationGroup
	Names    int      // rows with a name
	Refs     []string // whose statements the rows stand on
	Commands []string
}

// rotationGroup lists the rows whose strongest exposer has one verdict.
type rotationGroup struct {
	Verdict string
	Rows    []RotationRow
}

// RotationReport writes the plan for the people who rotate: the response order
// first, then one row for each name.
func RotationReport(w io.Writer, form string, res *matchers.Result, rows []matchers.Credential, asOf string) error {
	d, err := NewDocument(res)
	if err != nil {
		return err
	}
	d.AsOf = asOf
	rot := newRotation(d, res.Incident, rows)
	p := rotationPage{Rotation: rot, Title: d.Incident.Title, Commands: commands(d, "rotation")}
	r := report{name: "rotation", truth: rot, table: rotationTable(rot)}
	for _, v := range verdicts {
		g := rotationGroup{Verdict: v}
		for _, row := range rot.Rows {
			if row.Verdict == v {
				g.Rows = append(g.Rows, row)
			}
		}
		if len(g.Rows) > 0 {
			p.Groups = append(p.Groups, g)
		}
	}
	for _, row := range rot.Rows {
		if row.Source != "" && !slices.Contains(p.Refs, row.Source) {
			p.Refs = append(p.Refs, row.Source)
		}
		r.ids = append(r.ids, row.ID)
		if row.Name != "" {
			p.Names++
		}
	}
	r.page = p
	r.funcs = maps.Clone(words)
	r.funcs["others"] = others
	r.funcs["reached"] = reached
	r.funcs["ref"] = func(source string) int { // the page holds its strings as the gate shows them
		return slices.IndexFunc(p.Refs, func(s string) bool { return s == source || Text(s) == source }) + 1
	}
	return r.write(w, form)
}

// reached is the verdict of a subject that held a secret, "" when another one
// put it within reach.
func reached(r RotationRow, s Subject) string {
	for _, e := range r.By {
		if e.Subject == s {
			return e.Verdict
		}
	}
	return ""
}

// others lists who exposes a secret without having held it, as far as the
// evidence shows.
func others(r RotationRow) []Exposed {
	var out []Exposed
	for _, e := range r.By {
		if !slices.ContainsFunc(r.Held, func(h Held) bool { return h.Subject == e.Subject }) {
			out = append(out, e)
		}
	}
	return out
}

func newRotation(d *Document, inc *matchers.Incident, rows []matchers.Credential) *Rotation {
	rot := &Rotation{
		Schema: RotationSchema, AsOf: d.AsOf, Incident: d.Incident, Rows: []RotationRow{}, Subjects: []Exposed{}, Unknown: []Subject{},
		Complete: d.Coverage.Complete, Counts: d.Counts,
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		switch f.Verdict {
		case "unknown":
			rot.Unknown = append(rot.Unknown, f.Subject)
		case "clear":
		default:
			rot.Subjects = append(rot.Subjects, Exposed{f.ID, f.Subject, f.Verdict})
		}
	}
	for i := range rows {
		rot.Rows = append(rot.Rows, newRotationRow(inc, &rows[i]))
	}
	return rot
}

func newRotationRow(inc *matchers.Incident, c *matchers.Credential) RotationRow {
	row := RotationRow{
		ID: c.ID, Status: "open", Name: c.Name, Class: c.Class, Listed: c.Listed, Scope: c.Scope, Why: c.Why, Disputed: c.Cite.Disputed,
		Verdict: string(c.Verdict), Held: []Held{}, By: []Exposed{}, Owners: append([]string{}, c.Owners...),
	}
	if c.Listed {
		row.Source = cite(inc, c.Cite)
	} else {
		row.Why = "the incident lists no class that it belongs to; it was within reach all the same"
	}
	for _, h := range c.Held {
		row.Held = append(row.Held, Held{
			Subject{string(h.Subject.Kind), h.Subject.ID, h.On},
			newEvidence(matchers.Evidence{Fact: h.Line, Part: "holds it"}),
		})
	}
	for _, e := range c.By {
		row.By = append(row.By, Exposed{e.Finding, Subject{string(e.Subject.Kind), e.Subject.ID, e.On}, string(e.Verdict)})
	}
	return row
}

// String is a subject in words: what it is and where it ran.
func (s Subject) String() string {
	if s.On != "" {
		return s.Kind + ":" + s.ID + " on " + s.On
	}
	return s.Kind + ":" + s.ID
}

// noName stands where the evidence shows no name of a class.
const noName = "names not in evidence"

// rotationTable is the plan as a table: one row for each credential.
func rotationTable(rot *Rotation) [][]string {
	out := [][]string{{
		"row", "incident", "status", "name", "class", "scope", "exposure", "held by", "shown by", "exposed by", "exposers", "owner",
		"why", "source", "disputed", "incident lists it",
	}}
	yes := map[bool]string{true: "yes", false: "no"}
	for i := range rot.Rows {
		r := &rot.Rows[i]
		name := r.Name
		if name == "" {
			name = noName
		}
		var held, lines, by []string
		for _, h := range r.Held {
			held = append(held, h.Subject.String())
			lines = append(lines, place(h.Line))
		}
		for _, e := range r.By {
			by = append(by, e.Subject.String()+" ("+e.Verdict+")")
		}
		out = append(out, []string{
			r.ID, rot.Incident.ID, r.Status, name, r.Class, r.Scope, r.Verdict, strings.Join(held, "; "), strings.Join(lines, "; "),
			strings.Join(by, "; "), strconv.Itoa(len(by)), strings.Join(r.Owners, "; "), r.Why, r.Source, yes[r.Disputed], yes[r.Listed],
		})
	}
	return out
}
