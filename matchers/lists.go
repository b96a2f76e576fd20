package matchers

import (
	"cmp"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// Record is what a list says of a credential of the plan.
type Record struct {
	timeline.CredentialRow
	Link string // why it is taken to be of this credential
	// Loose tells that nothing but the name says so: it shows an age, and proves
	// nothing.
	Loose bool
}

// made is when the value that a list knows was made, 0 when it does not say.
func (r *Record) made() int64 { return max(r.Created, r.Updated) }

// everywhere reports whether the list is of who issues the credential, so that
// it speaks of every place that holds it, and not only of one of those places.
func (r *Record) everywhere() bool {
	return r.Store != "" && !ciStore(r.Store) && !strings.HasPrefix(r.Store, "k8s:")
}

// ciStores keep copies of secrets for jobs. The rest of such a name is the
// repository, project or organisation, as in the names of its jobs.
var ciStores = []string{"github:", "gitlab:", "circleci:", "buildkite:", "jenkins:"}

func ciStore(store string) bool {
	return slices.ContainsFunc(ciStores, func(p string) bool { return strings.HasPrefix(store, p) })
}

// gatewayStore is the database of a gateway: one database holds every key.
const gatewayStore = "litellm:"

// ownStore is that of a list kept by hand which says no more than the name.
const ownStore = "list:own"

// keeps reports whether a store is one that the subject reads its secrets from.
func keeps(store string, s timeline.Subject) bool {
	switch {
	case s.Kind == timeline.Job && ciStore(store):
		return s.ID == store || strings.HasPrefix(s.ID, store+"/")
	case s.Kind == timeline.Container:
		namespace, ok := strings.CutPrefix(store, "k8s:")
		return ok && strings.HasPrefix(s.ID, "k8s/"+namespace+"/")
	}
	return false
}

// fromLists joins what lists say with the plan: secrets that are kept where
// exposed subjects could read them get rows of their own, and rows that are
// there get their dates.
func (p *plan) fromLists() {
	same := map[string][]string{} // name in a list → names of rows
	for _, d := range p.decisions {
		if d.Act == timeline.Same && p.about(d) {
			same[d.Value] = append(same[d.Value], d.About)
		}
	}
	gateway := p.gateways()
	for _, c := range newest(p.lists) {
		by := p.could(&c, gateway)
		class := cmp.Or(c.Class, classOf(c.Name, holderOf(&c)))
		p.known(c, class)
		var rows []*Credential
		if len(by) > 0 {
			row := p.row(c.Name, class, p.inc.covering(class, holderOf(&c)))
			p.exposed(row, by)
			rows = append(rows, row)
		}
		for _, row := range p.rows {
			if row.Name != "" && (row.Name == c.Name || slices.Contains(same[c.Name], row.Name)) && !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
		for _, row := range rows {
			p.attach(row, c, len(by) > 0, slices.Contains(same[c.Name], row.Name))
		}
	}
}

// known gives a row whose name does not say its class the one that a list
// states.
func (p *plan) known(c timeline.CredentialRow, class string) {
	row := p.rows["\x00"+c.Name]
	if row == nil || c.Class == "" || c.Class == row.Class {
		return
	}
	if len(p.reach[c.Subject]) == 0 && c.Store != ownStore {
		return // of which of that name it speaks is not known
	}
	delete(p.rows, "\x00"+c.Name)
	p.rows[class+"\x00"+c.Name] = row
	row.Class, row.order, row.Listed = class, len(p.inc.Rotation), false
	row.Scope, row.Why, row.Cite = "", "", Cite{}
	row.Power, row.PowerWhy = powerOf(class)
	p.row(c.Name, class, p.inc.covering(class, holderOf(&c)))
}

// attach gives a row the dates of a list.
func (p *plan) attach(row *Credential, c timeline.CredentialRow, reached, same bool) {
	r := Record{CredentialRow: c}
	if c.Class != "" && c.Class != row.Class && !same {
		return // two things of one name
	}
	switch {
	case same:
		r.Link = "an operator says that it is the same"
	case reached && c.Store != "":
		r.Link = "kept in " + c.Store
	case len(p.reach[c.Subject]) > 0:
		r.Link = "held by " + c.Subject.String()
	case c.Store == ownStore:
		r.Link = "named so in a list of your own"
	case slices.ContainsFunc(row.Held, func(h Holding) bool { return keeps(c.Store, h.Subject) }):
		r.Link = "kept in " + c.Store + ", which it is read from"
	default:
		r.Link, r.Loose = "of the same name; whose it is, the list does not say", true
		if c.Store != "" {
			r.Link = "of the same name in " + c.Store
		}
	}
	row.Records = append(row.Records, r)
	if r.Loose {
		return
	}
	row.Made, row.Used = max(row.Made, r.made()), max(row.Used, r.Used)
	row.ownedBy(c.Owner)
	row.ownedBy(c.Team)
}

// holderOf is the kind of who reads from the store of a list.
func holderOf(c *timeline.CredentialRow) timeline.Kind {
	if ciStore(c.Store) {
		return timeline.Job
	}
	return c.Subject.Kind
}

// newest keeps of each credential what the newest list says of it: the one that
// was made last where both say when, else the one that knows the later value,
// else the one that was read last.
func newest(lists []timeline.CredentialRow) []timeline.CredentialRow {
	type key struct{ subject, store, name, part, class string }
	at := map[key]int{}
	var out []timeline.CredentialRow
	for _, c := range lists {
		k := key{"", c.Store, c.Name, c.Part, c.Class}
		if c.Store == "" {
			k.subject = c.Subject.String()
		}
		i, known := at[k]
		switch {
		case !known:
			at[k] = len(out)
			out = append(out, c)
		case later(&out[i], &c):
			out[i] = c
		}
	}
	return out
}

// later reports whether b, which was read later, says the newer thing.
func later(a, b *timeline.CredentialRow) bool {
	if a.Listed != 0 && b.Listed != 0 && a.Listed != b.Listed {
		return a.Listed < b.Listed
	}
	return max(a.Created, a.Updated) <= max(b.Created, b.Updated)
}

// could lists the findings that put what a list names within reach.
func (p *plan) could(c *timeline.CredentialRow, gateway []int) []int {
	by := slices.Clone(p.reach[c.Subject])
	add := func(i int) {
		if !slices.Contains(by, i) {
			by = append(by, i)
		}
	}
	if strings.HasPrefix(c.Store, gatewayStore) {
		for _, i := range gateway {
			add(i)
		}
		return by
	}
	if secret, ok := strings.CutPrefix(c.Alias, "secret "); ok && strings.HasPrefix(c.Store, "k8s:") {
		for _, i := range p.given(secret, c.Store) {
			add(i)
		}
	}
	// Of a list that says no more than the name only the gateway's own keys are
	// known to stand in its database.
	wide := c.Store != "" && !ciStore(c.Store) && !strings.HasPrefix(c.Store, "k8s:") && (c.Store != ownStore || strings.HasPrefix(c.Class, "gateway-"))
	org := wide && slices.ContainsFunc(p.inc.Rotation, func(r Rotation) bool {
		return r.Scope == "org" && r.Class == c.Class
	})
	for _, i := range p.strong {
		if org && !p.still(i) || ciStore(c.Store) && keeps(c.Store, p.res.Findings[i].Subject) {
			add(i)
		}
	}
	return by
}

// given are the findings on containers that are given a whole Kubernetes secret,
// with every key in it.
func (p *plan) given(secret, store string) (by []int) {
	for _, row := range p.rows {
		if row.Name != secret {
			continue
		}
		for _, h := range row.Held {
			if keeps(store, h.Subject) {
				by = append(by, p.reach[h.Subject]...)
			}
		}
	}
	slices.Sort(by)
	return by
}

// gateways are the findings that put a gateway's database within reach: those
// whose secrets open it, else all that is not still, since the evidence does
// not show who the gateway was.
func (p *plan) gateways() []int {
	var open, all []int
	for _, i := range p.strong {
		if p.still(i) {
			continue
		}
		all = append(all, i)
		if p.shown[i][databaseKey] || p.shown[i]["gateway-master-key"] {
			open = append(open, i)
		}
	}
	if len(open) > 0 {
		return open
	}
	return all
}
