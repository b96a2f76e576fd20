package reports

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pulltrail/matchers"
	"pulltrail/timeline"
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
	States   map[string]int `json:"states"`   // rows by status
	Unplaced []Unplaced     `json:"unplaced"` // names in files that say of nobody that he holds them; they stand in no row
}

// Unplaced are names of secrets in one file that names no holder.
type Unplaced struct {
	Path  string   `json:"path"`
	Names []string `json:"names"`
}

// RotationRow is one secret by its name, or a class of the incident without a
// name in evidence.
type RotationRow struct {
	ID       string    `json:"id"`
	Status   string    `json:"status"`  // open, rotated, verified, fail, cannot verify, waived
	Because  string    `json:"because"` // why it is in this status
	Name     string    `json:"name"`    // "" when the evidence shows none
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

	Power    int       `json:"power"` // 1 for what opens most: the order of the rows
	PowerWhy string    `json:"power_why"`
	Safe     SafeAfter `json:"safe_after"`
	Made     string    `json:"made,omitempty"`      // when the newest value that lists know was made or changed
	Used     string    `json:"last_used,omitempty"` // as lists saw it
	AgeDays  *int      `json:"age_days,omitempty"`  // of that value, as of the time of the report
	Records  []KeptKey `json:"records"`             // what lists say of it
	Said     []Said    `json:"said"`                // what people said of it, in order
}

// SafeAfter is the moment after which a new value is not burnt again.
type SafeAfter struct {
	At      string    `json:"at,omitempty"` // "" while it is not known
	Because string    `json:"because"`
	Waiting []Subject `json:"waiting,omitempty"` // of whom nothing says that they were stopped
}

// KeptKey is what a list says of a credential.
type KeptKey struct {
	Name     string `json:"name"`
	Part     string `json:"part,omitempty"`
	Store    string `json:"store,omitempty"`
	Link     string `json:"link"`            // why it is taken to be of this row
	Loose    bool   `json:"loose,omitempty"` // only the name says so
	Owner    string `json:"owner,omitempty"`
	Provider string `json:"provider,omitempty"`
	Alias    string `json:"alias,omitempty"`
	Team     string `json:"team,omitempty"`
	Customer string `json:"customer,omitempty"`
	Created  string `json:"created,omitempty"`
	Updated  string `json:"updated,omitempty"`
	Used     string `json:"last_used,omitempty"`
	Expires  string `json:"expires,omitempty"`
	State    string `json:"state,omitempty"` // active, inactive
	Source   string `json:"source"`          // SHA-256 of the list
	Path     string `json:"path"`
	Line     int64  `json:"line"`
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
	States   []string // how many rows are in each
	Waiting  []Subject
	Refs     []string // whose statements the rows stand on
	Commands []string
}

// rotationGroup lists the rows whose strongest exposer has one verdict.
type rotationGroup struct {
	Verdict string
	Rows    []RotationRow
}

// NewRotation makes the document of a plan.
func NewRotation(res *matchers.Result, rows []matchers.Credential, asOf string) (*Rotation, error) {
	d, err := newLazy(res)
	if err != nil {
		return nil, err
	}
	d.AsOf = asOf
	return newRotation(d, res, rows), nil
}

// RotationReport writes the plan for the people who rotate: the response order
// first, then one row for each name.
func RotationReport(w io.Writer, form string, res *matchers.Result, rows []matchers.Credential, asOf string) error {
	d, err := newLazy(res)
	if err != nil {
		return err
	}
	d.AsOf = asOf
	rot := newRotation(d, res, rows)
	p := rotationPage{Rotation: rot, Title: d.Incident.Title, Commands: commands(d, "rotation")}
	p.Waiting, _ = rot.waitsFor()
	for _, s := range matchers.States {
		if n := rot.States[string(s)]; n > 0 {
			p.States = append(p.States, strconv.Itoa(n)+" "+string(s))
		}
	}
	r := report{name: "rotation", truth: rot, table: slices.Values(rotationTable(rot))}
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
	r.funcs["kept"] = keptIn
	r.funcs["aged"] = func(row RotationRow) string { return row.aged() }
	r.funcs["box"] = func(status string) string {
		return map[bool]string{true: "☑", false: "☐"}[matchers.State(status).Done()]
	}
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

// keptIn lists the places in which lists have a credential.
func keptIn(r RotationRow) []string {
	var out []string
	for _, k := range r.Records {
		if !k.Loose {
			out = append(out, k.place())
		}
	}
	return out
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

func newRotation(d *Document, res *matchers.Result, rows []matchers.Credential) *Rotation {
	rot := &Rotation{
		Schema: RotationSchema, AsOf: d.AsOf, Incident: d.Incident, Rows: []RotationRow{}, Subjects: []Exposed{}, Unknown: []Subject{},
		Complete: d.Coverage.Complete, Counts: d.Counts, States: map[string]int{}, Unplaced: []Unplaced{},
	}
	for _, u := range res.Unplaced {
		rot.Unplaced = append(rot.Unplaced, Unplaced(u))
	}
	for f := range d.every() {
		switch f.Verdict {
		case "unknown":
			rot.Unknown = append(rot.Unknown, f.Subject)
		case "clear":
		default:
			rot.Subjects = append(rot.Subjects, Exposed{f.ID, f.Subject, f.Verdict})
		}
	}
	for i := range rows {
		row := newRotationRow(res.Incident, &rows[i])
		row.AgeDays = age(rows[i].Made, d.AsOf)
		rot.Rows = append(rot.Rows, row)
		rot.States[row.Status]++
	}
	return rot
}

func newRotationRow(inc *matchers.Incident, c *matchers.Credential) RotationRow {
	row := RotationRow{
		ID: c.ID, Status: string(c.State), Because: c.Because, Name: c.Name, Class: c.Class, Listed: c.Listed, Scope: c.Scope, Why: c.Why, Disputed: c.Cite.Disputed,
		Verdict: string(c.Verdict), Held: []Held{}, By: []Exposed{}, Owners: append([]string{}, c.Owners...),
		Power: c.Power, PowerWhy: c.PowerWhy, Made: stamp(c.Made), Used: stamp(c.Used),
		Safe:    SafeAfter{At: stamp(c.Safe.At), Because: c.Safe.Because},
		Records: []KeptKey{}, Said: append([]Said{}, newSaid(c.Said)...),
	}
	for _, s := range c.Safe.Waiting {
		row.Safe.Waiting = append(row.Safe.Waiting, Subject{Kind: string(s.Kind), ID: s.ID})
	}
	for i := range c.Records {
		row.Records = append(row.Records, newKeptKey(&c.Records[i]))
	}
	if c.Listed {
		row.Source = cite(inc, c.Cite)
	} else {
		row.Why = "the incident lists no class that it belongs to; it was within reach all the same"
	}
	for i := range c.Held {
		h := &c.Held[i]
		row.Held = append(row.Held, Held{
			Subject{string(h.Subject.Kind), h.Subject.ID, h.On},
			newEvidence(matchers.Evidence{Fact: &h.Line, Part: "holds it"}),
		})
	}
	for _, e := range c.By {
		row.By = append(row.By, Exposed{e.Finding, Subject{string(e.Subject.Kind), e.Subject.ID, e.On}, string(e.Verdict)})
	}
	return row
}

func newKeptKey(r *matchers.Record) KeptKey {
	return KeptKey{
		Name: r.Name, Part: r.Part, Store: r.Store, Link: r.Link, Loose: r.Loose, Owner: r.Owner, Provider: r.Provider, Alias: r.Alias,
		Team: r.Team, Customer: r.Customer, Created: stamp(r.Created), Updated: stamp(r.Updated), Used: stamp(r.Used),
		Expires: stamp(r.Expires), State: string(r.State), Source: r.SHA256, Path: r.Path, Line: r.Line,
	}
}

// age is how old a value is at the time of a report, in whole days; nil when
// one of the two is not known.
func age(made int64, asOf string) *int {
	now, err := timeline.ParseTime(asOf, 0)
	if err != nil || made == 0 || now < made {
		return nil
	}
	days := int((now - made) / int64(24*time.Hour))
	return &days
}

// String is a subject in words: what it is and where it ran.
func (s Subject) String() string {
	if s.On != "" {
		return s.Kind + ":" + s.ID + " on " + s.On
	}
	return s.Kind + ":" + s.ID
}

// String is the moment, or why it is not known.
func (s SafeAfter) String() string {
	if s.At == "" {
		return "not known: " + s.Because
	}
	return s.At
}

// place says where a list stands, and of whom it says something.
func (k KeptKey) place() string {
	words := []string{}
	for _, w := range []string{k.Store, k.Part, k.Alias, k.Team, k.Customer} {
		if w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		words = append(words, "a place that is not said")
	}
	at := k.Path
	if k.Line > 0 {
		at += ":" + strconv.FormatInt(k.Line, 10)
	}
	return strings.Join(append(words, "("+at+")"), " ")
}

// noName stands where the evidence shows no name of a class.
const noName = "names not in evidence"

// rotationTable is the plan as a table: one row for each credential.
func rotationTable(rot *Rotation) [][]string {
	out := [][]string{{
		"row", "incident", "status", "name", "class", "scope", "exposure", "held by", "shown by", "exposed by", "exposers", "owner",
		"why", "source", "disputed", "incident lists it", "because", "safe after", "made", "last used", "age in days", "kept in", "power",
	}}
	yes := map[bool]string{true: "yes", false: "no"}
	for i := range rot.Rows {
		r := &rot.Rows[i]
		name := r.Name
		if name == "" {
			name = noName
		}
		var held, lines, by []string
		days := ""
		if r.AgeDays != nil {
			days = strconv.Itoa(*r.AgeDays)
		}
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
			r.Because, r.Safe.String(), r.Made, r.Used, days, strings.Join(keptIn(*r), "; "), strconv.Itoa(r.Power),
		})
	}
	return out
}
