package matchers

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// Credential is one row of a rotation plan: a secret by its name, or a class
// that the incident lists and of which the evidence shows no name. Values
// never occur: no parser keeps them.
type Credential struct {
	ID      string // derived from incident, class and name: stable
	Name    string // "" when the evidence shows none
	Class   string
	Listed  bool // the incident names the class, or one that means every secret
	Scope   string
	Why     string
	Cite    Cite
	Verdict Verdict // the strongest of those who expose it
	Held    []Holding
	By      []Exposer
	Owners  []string // of the hosts that held it, by the inventory, and as lists say

	Power    int    // 1 for what opens most: the order of the rows
	PowerWhy string // what it opens
	Records  []Record
	Safe     SafeAfter
	Made     int64               // when the newest value that lists know was made or changed, 0 when not known
	Used     int64               // when lists saw it used last, 0 when not known
	Said     []timeline.Decision // what people said of it, in the order it was said
	State    State
	Because  string // why it is in this state, one sentence

	order int
}

// Holding is a place where evidence shows a secret, and the line that does.
type Holding struct {
	Subject timeline.Subject
	On      string
	Line    timeline.Fact
}

// Exposer is a finding that puts a credential within reach.
type Exposer struct {
	Finding string
	Subject timeline.Subject
	On      string
	Verdict Verdict
}

// plan is a rotation plan in the making.
type plan struct {
	res    *Result
	inc    *Incident
	on     map[timeline.Subject]string // where a subject ran
	owner  map[string]string           // host → owner
	reach  map[timeline.Subject][]int  // subject → findings that put its secrets within reach
	rows   map[string]*Credential
	shown  map[int]map[string]bool // finding → classes of the names that it exposes
	strong []int                   // findings stronger than unknown

	lists     []timeline.CredentialRow
	listed    map[listKey]bool    // holds that a list is behind
	placed    map[listKey]bool    // of those, the ones whose store is known
	unplaced  map[string][]string // path → names
	decisions []timeline.Decision
	ended     map[timeline.Subject]stop
}

// listKey is the place of a name in a source.
type listKey struct {
	source, line int64
	name         string
}

// PlanRotation lists the credentials that were within reach of the findings
// stronger than unknown: the incident's classes times those subjects times the
// names of the secrets that evidence shows them to have held, and what lists
// say is kept where they could read. asOf is the time at which waivers are
// looked at, nanoseconds since 1970 UTC; with 0 none has ended.
func PlanRotation(db *timeline.DB, res *Result, asOf int64) ([]Credential, error) {
	p := &plan{
		res: res, inc: res.Incident, on: map[timeline.Subject]string{}, owner: map[string]string{}, listed: map[listKey]bool{},
		placed: map[listKey]bool{}, unplaced: map[string][]string{},
		reach: map[timeline.Subject][]int{}, rows: map[string]*Credential{}, shown: map[int]map[string]bool{},
	}
	p.within()
	if len(p.strong) > 0 {
		if err := p.read(db); err != nil {
			return nil, err
		}
	}
	p.nameless()
	res.Unplaced = nil
	for _, path := range slices.Sorted(maps.Keys(p.unplaced)) {
		slices.Sort(p.unplaced[path])
		res.Unplaced = append(res.Unplaced, Unplaced{path, p.unplaced[path]})
	}
	for _, c := range p.rows {
		p.safeAfter(c)
		c.prove(asOf)
	}
	return p.sorted(), nil
}

// read takes from the case what the plan is made of.
func (p *plan) read(db *timeline.DB) error {
	var err error
	if p.lists, err = db.Credentials(); err != nil {
		return err
	}
	for _, c := range p.lists {
		key := listKey{c.Source, c.Line, c.Name}
		p.listed[key], p.placed[key] = true, c.Store != ""
	}
	if p.decisions, err = db.Decisions(); err != nil {
		return err
	}
	if p.ended, err = stops(db, p.res.Incident.ID, p.decisions); err != nil {
		return err
	}
	if err := db.FactsOf(timeline.Hold, p.held); err != nil {
		return err
	}
	p.fromLists()
	return nil
}

// within finds out whose secrets each finding puts within reach: the subject's
// own and, where the incident speaks of more than one container or job, those
// of the host and of everything on it.
func (p *plan) within() {
	wide := p.inc.wide()
	guests := map[string][]timeline.Subject{}
	for i := range p.res.Findings {
		f := &p.res.Findings[i]
		p.on[f.Subject] = f.On
		if f.On != "" {
			guests[f.On] = append(guests[f.On], f.Subject)
		}
		if f.Subject.Kind == timeline.Host && f.Owner != "" {
			p.owner[f.Subject.ID] = f.Owner
		}
	}
	for i := range p.res.Findings {
		f := &p.res.Findings[i]
		if f.Verdict.rank() >= Unknown.rank() {
			continue
		}
		p.strong = append(p.strong, i)
		p.shown[i] = map[string]bool{}
		p.add(f.Subject, i)
		host := f.On
		if f.Subject.Kind == timeline.Host {
			host = f.Subject.ID
		}
		if !wide || host == "" {
			continue
		}
		p.add(timeline.Subject{Kind: timeline.Host, ID: host}, i)
		for _, g := range guests[host] {
			p.add(g, i)
		}
	}
}

// wide reports whether the release reads more than its own container or job, as
// far as the incident says.
func (inc *Incident) wide() bool {
	return len(inc.Rotation) == 0 || slices.ContainsFunc(inc.Rotation, func(r Rotation) bool {
		return r.Scope == "host" || r.Scope == "org"
	})
}

func (p *plan) add(s timeline.Subject, finding int) {
	if !slices.Contains(p.reach[s], finding) {
		p.reach[s] = append(p.reach[s], finding)
	}
}

// held notes the name of a secret of a subject within reach.
func (p *plan) held(f timeline.Fact) error {
	by := p.reach[f.Subject]
	if f.Subject.Kind == timeline.Source && len(by) == 0 && !p.placed[listKey{f.Source, f.Line, f.Parts.Name}] && !slices.Contains(p.unplaced[f.Path], f.Parts.Name) {
		p.unplaced[f.Path] = append(p.unplaced[f.Path], f.Parts.Name)
	}
	if len(by) == 0 || f.Parts.Type != "secret" || p.listed[listKey{f.Source, f.Line, f.Parts.Name}] {
		return nil
	}
	class := classOf(f.Parts.Name, f.Subject.Kind)
	row := p.row(f.Parts.Name, class, p.inc.covering(class, f.Subject.Kind))
	p.exposed(row, by)
	for i := range row.Held {
		if h := &row.Held[i]; h.Subject == f.Subject {
			if origin(&f, &h.Line) < 0 {
				h.Line = f
			}
			return nil
		}
	}
	row.Held = append(row.Held, Holding{f.Subject, p.on[f.Subject], f})
	p.own(row, f.Subject)
	return nil
}

func (p *plan) exposed(row *Credential, by []int) {
	for _, i := range by {
		p.shown[i][row.Class] = true
		row.exposedBy(&p.res.Findings[i])
	}
}

// still reports whether a finding is of what holds nothing while nobody runs
// it.
func (p *plan) still(i int) bool {
	k := p.res.Findings[i].Subject.Kind
	return k == timeline.Image || k == timeline.Cache
}

// nameless adds a row for each class of the incident of which some finding
// shows no name. An image holds nothing while nobody runs it: it stands there
// only when nobody else is known.
func (p *plan) nameless() {
	onlyStill := !slices.ContainsFunc(p.strong, func(i int) bool { return !p.still(i) })
	for n := range p.inc.Rotation {
		class := p.inc.Rotation[n].Class
		for _, i := range p.strong {
			if p.shows(i, class) || p.still(i) && !onlyStill {
				continue
			}
			f := &p.res.Findings[i]
			row := p.row("", class, n)
			row.exposedBy(f)
			p.own(row, f.Subject)
		}
	}
}

// shows reports whether the evidence shows a name of a class within reach of a
// finding; any name does for a class that means every secret.
func (p *plan) shows(finding int, class string) bool {
	names := p.shown[finding]
	switch class {
	case allSecrets, processEnv, ciSecret:
		return len(names) > 0
	}
	return names[class]
}

// row returns the row of a name, or of a class without one; entry is that of
// the incident. A name whose words leave its class in doubt has one row, with
// whoever holds it.
func (p *plan) row(name, class string, entry int) *Credential {
	key := class + "\x00" + name
	switch {
	case name == "":
		key += "\x00" + p.inc.Rotation[entry].Scope
	case class == ciSecret || class == processEnv:
		key = "\x00" + name
	}
	c := p.rows[key]
	if c == nil {
		sum := sha256.Sum256([]byte(p.inc.ID + "\x00" + key))
		c = &Credential{ID: "c-" + hex.EncodeToString(sum[:6]), Name: name, Class: class, Verdict: Clear, order: len(p.inc.Rotation)}
		c.Power, c.PowerWhy = powerOf(class)
		p.rows[key] = c
	}
	if entry >= 0 && (!c.Listed || entry < c.order) {
		r := p.inc.Rotation[entry]
		c.Listed, c.Scope, c.Why, c.Cite, c.order, c.Class = true, r.Scope, r.Why, r.Cite, entry, class
	}
	return c
}

func (c *Credential) exposedBy(f *Finding) {
	if slices.ContainsFunc(c.By, func(e Exposer) bool { return e.Finding == f.ID }) {
		return
	}
	c.By = append(c.By, Exposer{f.ID, f.Subject, f.On, f.Verdict})
	if f.Verdict.rank() < c.Verdict.rank() {
		c.Verdict = f.Verdict
	}
}

// own notes the owner of the host that a subject is or ran on.
func (p *plan) own(c *Credential, s timeline.Subject) {
	host := p.on[s]
	if s.Kind == timeline.Host {
		host = s.ID
	}
	c.ownedBy(p.owner[host])
}

func (c *Credential) ownedBy(owner string) {
	if owner != "" && !slices.Contains(c.Owners, owner) {
		c.Owners = append(c.Owners, owner)
	}
}

// sorted lists the rows: what the strongest findings expose first, then what
// opens most, then in the order of the incident, names before classes without
// one.
func (p *plan) sorted() []Credential {
	out := make([]Credential, 0, len(p.rows))
	for _, c := range p.rows {
		slices.Sort(c.Owners)
		slices.SortFunc(c.Held, func(a, b Holding) int { return strings.Compare(a.Subject.String(), b.Subject.String()) })
		slices.SortFunc(c.By, func(a, b Exposer) int {
			if d := a.Verdict.rank() - b.Verdict.rank(); d != 0 {
				return d
			}
			return strings.Compare(a.Subject.String(), b.Subject.String())
		})
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Credential) int {
		for _, d := range []int{a.Verdict.rank() - b.Verdict.rank(), a.Power - b.Power, a.order - b.order} {
			if d != 0 {
				return d
			}
		}
		if (a.Name == "") != (b.Name == "") {
			if a.Name == "" {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Name+"\x00"+a.Class+"\x00"+a.ID, b.Name+"\x00"+b.Class+"\x00"+b.ID)
	})
	return out
}
