package reports

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

// Internal holds the names of a case that no customer may read: other
// customers, hosts, subjects, services, owners, paths, credentials.
type Internal struct {
	names     map[string]string // as it is compared → what it is
	customers map[string]bool
	common    string // what reports say with words of their own, and of the incident

	last    *private // of the customer asked for last
	lastFor string
}

// NewInternal gathers the names of a case.
func NewInternal(c *Case) (*Internal, error) {
	n := &Internal{names: map[string]string{}, customers: map[string]bool{}}
	for i := range c.Result.Findings {
		f := &c.Result.Findings[i]
		n.add("subject", f.Subject.ID)
		n.add("host", f.On)
		n.add("owner", f.Owner)
		n.add("service", f.Service)
	}
	for i := range c.Inventory {
		r := &c.Inventory[i]
		n.add("host", r.Host)
		n.add("address", r.Address)
		n.add("service", r.Service)
		n.add("owner", r.Owner)
		n.add("path", r.File)
	}
	for i := range c.Lists {
		r := &c.Lists[i]
		n.add("subject", r.Subject.ID)
		n.credential(&r.Credential)
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		n.add("credential", r.Name)
		for j := range r.Records {
			n.credential(&r.Records[j].Credential)
		}
	}
	for i := range c.Result.Sources {
		n.add("path", c.Result.Sources[i].Path)
	}
	for i := range c.Gateway {
		n.add("host", c.Gateway[i].Subject.ID)
	}
	for i := range c.Settings {
		n.add("host", c.Settings[i].Subject.ID)
	}
	for i := range c.Canary {
		n.add("subject", strings.TrimPrefix(c.Canary[i].Subject.ID, "tenant/"))
		n.add("target", c.Canary[i].Target)
	}
	for i := range c.Traces {
		n.add("host", c.Traces[i].Subject.ID)
		if c.Traces[i].Product == "" {
			n.add("host", c.Traces[i].Host)
		}
	}
	for i := range c.Decisions {
		n.add("person", c.Decisions[i].Who)
	}
	for _, name := range c.Customers() {
		n.customer(name)
	}
	for i := range c.Result.Findings { // last: a tenant's name is a customer's, whatever else it names
		if name, ok := tenantOf(c.Result.Findings[i].Subject); ok {
			n.customer(name)
		}
	}
	return n, n.learn(c)
}

func (n *Internal) add(what, name string) {
	for _, name := range spellings(name) {
		if strings.ContainsFunc(name, letter) || strings.ContainsAny(name, ".:") {
			n.names[name] = what
		}
	}
}

// spellings are how the forms of a report write a name, as it is compared.
func spellings(name string) []string {
	out := []string{flat(Text(name))}
	if b, err := JSON(name); err == nil {
		if s := flat(strings.Trim(string(b), "\"\n")); s != out[0] {
			out = append(out, s)
		}
	}
	return out
}

func (n *Internal) customer(name string) {
	n.add("customer", name)
	for _, s := range spellings(name) {
		n.customers[s] = true
	}
}

func (n *Internal) credential(r *timeline.Credential) {
	n.add("credential", r.Name)
	n.add("store", r.Store)
	n.add("alias", r.Alias)
	n.add("team", r.Team)
	n.add("owner", r.Owner)
	n.add("path", r.Path)
}

// learn renders reports about made-up cases in which everything is said that
// can be: a host that is called as a word of these is not told by it.
func (n *Internal) learn(c *Case) error {
	inc := c.Result.Incident
	classes := map[string]bool{}
	for i := range c.Rows {
		classes[c.Rows[i].Class] = true
	}
	var b bytes.Buffer
	for i, v := range matchers.Verdicts {
		channels := map[string]matchers.Verdict{}
		for _, ch := range inc.Channels {
			channels[ch.Name] = v
		}
		made := &Case{
			Result: &matchers.Result{Incident: inc, Sources: []timeline.SourceRow{
				{SourceInfo: timeline.SourceInfo{State: timeline.Read}}, {SourceInfo: timeline.SourceInfo{State: timeline.Partial}}, {SourceInfo: timeline.SourceInfo{State: timeline.Unread}},
			}},
			Tenancy: &matchers.Tenancy{}, AsOf: c.AsOf, Phase: Phases[i%len(Phases)],
			Gateway: []timeline.Fact{{}}, Settings: []timeline.SettingRow{
				{Setting: timeline.Setting{Name: timeline.PoolTokens, Value: "1"}}, {Setting: timeline.Setting{Name: timeline.ContextTokens, Value: "2"}},
			},
			Canary: []matchers.CanaryCell{{Probe: timeline.MarkerProbe, Verdict: v}, {Probe: timeline.LongProbe, Verdict: v}},
			Traces: traceSamples(c), Tenants: 2, TenantsAt: timeline.Beginning,
			Changed: &matchers.Comparison{Incident: []matchers.IncidentChange{{}}},
		}
		for _, s := range []timeline.Subject{{Kind: timeline.Host, ID: "0"}, {Kind: timeline.Client, ID: "tenant/0"}} {
			f := matchers.Finding{Subject: s, Verdict: v, Channels: channels, Dispositions: []timeline.Decision{{}}}
			made.Result.Findings = append(made.Result.Findings, f)
			made.Decisions = append(made.Decisions, timeline.Decision{Act: timeline.Stopped, About: s.String()})
		}
		for _, class := range slices.Sorted(maps.Keys(classes)) {
			for _, customer := range []string{"", "0"} {
				made.Rows = append(made.Rows, matchers.Credential{
					Class: class, State: matchers.States[i], Verdict: v, By: []matchers.Exposer{{Subject: made.Result.Findings[0].Subject}},
					Said:    []timeline.Decision{{Act: timeline.Rotated}, {Act: timeline.Waived}},
					Records: []matchers.Record{{CredentialRow: timeline.CredentialRow{Credential: timeline.Credential{Customer: customer}}}},
				})
			}
		}
		forms := []string{"json"} // it says all; the others add words of their own once
		if i == 0 {
			forms = Forms()
		}
		for _, form := range forms {
			if err := errors.Join(CustomerReport(&b, form, made, "0", &Internal{}), QuestionnaireReport(&b, form, made, "0", &Internal{})); err != nil {
				return err
			}
		}
	}
	n.common = flat(b.String())
	return nil
}

// traceSamples have each product and each means that a questionnaire may name:
// a host may be called as one.
func traceSamples(c *Case) []matchers.TraceUse {
	out := []matchers.TraceUse{{How: matchers.TraceSetting}, {How: matchers.TraceSetting, Host: "0.0"}}
	for i := range c.Traces {
		u := matchers.TraceUse{How: c.Traces[i].How, Product: c.Traces[i].Product, Domain: c.Traces[i].Domain}
		if u.Product != "" && !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	return out
}

// private are the names that one customer's report must not hold.
type private struct {
	names map[string]string   // as it is compared → what it is
	first map[string][]string // by their first word
	own   []string            // what may be said: the customer's own name, and the company's
	wrong string              // a name that the tenancy file says of this customer
}

// of lists what must not stand in the report for a customer. A word that every
// report says tells nothing of a host; another customer's name does where
// people wrote it.
func (n *Internal) of(customer string, t *matchers.Tenancy) *private {
	if n.last == nil || n.lastFor != customer {
		n.last, n.lastFor = n.kept(customer, t), customer
	}
	return n.last
}

func (n *Internal) kept(customer string, t *matchers.Tenancy) *private {
	p := &private{names: map[string]string{}}
	for _, own := range []string{customer, t.Tenant(customer).Contact, t.Company.Name, t.Company.Contact, t.Company.DPO} {
		if own != "" {
			p.own = append(p.own, spellings(own)...)
		}
	}
	slices.SortFunc(p.own, func(a, b string) int { return len(b) - len(a) })
	mine := spellings(customer)
	for name, what := range n.names {
		if !slices.Contains(mine, name) {
			p.names[name] = what
		}
	}
	p.index()
	people := &private{names: map[string]string{}, own: p.own}
	for name := range p.in(n.common) {
		if n.customers[name] {
			people.names[name] = p.names[name]
		}
		delete(p.names, name)
	}
	p.index()
	people.index()
	said := []string{}
	all := *t
	all.Customers = []matchers.Tenant{t.Tenant(customer)}
	p.wrong = people.leak(strings.Join(texts(reflect.ValueOf(all), said), "\n"))
	return p
}

// texts lists every text in a value.
func texts(v reflect.Value, out []string) []string {
	switch v.Kind() { //nolint:exhaustive // nothing else holds text
	case reflect.String:
		out = append(out, Text(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			out = texts(v.Field(i), out)
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = texts(v.Index(i), out)
		}
	}
	return out
}

// index sorts the names by their first word.
func (p *private) index() {
	p.first = map[string][]string{}
	for name := range p.names {
		w := firstWord(name)
		p.first[w] = append(p.first[w], name)
	}
}

// leak finds a name in what was rendered; "" when there is none.
func (p *private) leak(text string) string {
	if p == nil || p.wrong != "" {
		return p.problem()
	}
	text = flat(text)
	for _, own := range p.own {
		text = strings.ReplaceAll(text, own, strings.Repeat("\x00", len(own)))
	}
	found := p.in(text)
	if len(found) == 0 {
		return ""
	}
	name := slices.SortedFunc(maps.Keys(found), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })[0]
	at := found[name]
	return fmt.Sprintf("the name %q (%s) stands in it: …%s…", name, p.names[name], strings.ReplaceAll(around(text, at, at+len(name)), "\x00", "*"))
}

func (p *private) problem() string {
	if p == nil {
		return ""
	}
	return p.wrong
}

// in finds names as whole words, with where the first of each stands.
func (p *private) in(text string) map[string]int {
	found := map[string]int{}
	for i := 0; i < len(text); {
		if !wordByte(text[i]) {
			i++
			continue
		}
		j := i
		for j < len(text) && wordByte(text[j]) {
			j++
		}
		for _, name := range p.first[text[i:j]] {
			at := i - strings.Index(name, text[i:j])
			if _, ok := found[name]; !ok && at >= 0 && strings.HasPrefix(text[at:], name) && apart(text, at, at+len(name)) {
				found[name] = at
			}
		}
		i = j
	}
	return found
}

// apart reports whether a piece of text is not within a longer word.
func apart(text string, from, to int) bool {
	left := from == 0 || !wordByte(text[from]) || !wordByte(text[from-1])
	return left && (to == len(text) || !wordByte(text[to-1]) || !wordByte(text[to]))
}

func around(text string, from, to int) string {
	return strings.ToValidUTF8(text[max(0, from-30):min(len(text), to+30)], "")
}

func firstWord(name string) string {
	from := strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || wordByte(byte(r)) })
	if from < 0 {
		return name
	}
	to := from
	for to < len(name) && wordByte(name[to]) {
		to++
	}
	return name[from:to]
}

func wordByte(c byte) bool {
	return c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func letter(r rune) bool {
	return r >= utf8.RuneSelf || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// flat is a text without what the forms of a report put into one: escapes,
// entities, quotes, capitals.
func flat(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\\'\"", r) {
			return -1
		}
		return r
	}, html.UnescapeString(s))
	return strings.ToLower(s)
}
