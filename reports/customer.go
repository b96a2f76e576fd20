package reports

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

// CustomerSchema is the version of the customer document. Fields may be added,
// never renamed.
const CustomerSchema = "pulltrail.customer/1"

// Phases of a report to a customer: GDPR Art. 33(4) lets information be given
// in phases.
var Phases = []string{"initial", "update", "final"}

// notConfirmed stands where nobody answered.
const notConfirmed = "not confirmed"

// Case is what reports to customers are made of.
type Case struct {
	Result    *matchers.Result
	Rows      []matchers.Credential // of the rotation plan
	Inventory []timeline.InventoryRow
	Lists     []timeline.CredentialRow
	Settings  []timeline.SettingRow // of inference engines, and where traces are sent
	Canary    []matchers.CanaryCell // what test tenants showed of them
	Traces    []matchers.TraceUse   // what tells where traces are sent
	Tenants   int                   // that requests name, and when the newest of these was over
	TenantsAt int64
	Gateway   []timeline.Fact // that a gateway's package or image was there
	Decisions []timeline.Decision
	Changed   *matchers.Comparison // with the answer before, nil when there is none
	Tenancy   *matchers.Tenancy
	AsOf      string
	Phase     string
}

// Customer is what one customer is told. It is a list of what may be said: of a
// finding only verdict, window, number and channel, of a credential only its
// class, of the company what its tenancy file says.
type Customer struct {
	Schema   string           `json:"schema"`
	AsOf     string           `json:"as_of,omitempty"`
	Phase    string           `json:"phase"`
	Name     string           `json:"customer"`
	Company  string           `json:"company"`
	Contact  string           `json:"contact"`
	Incident CustomerIncident `json:"incident"`
	Exposed  string           `json:"exposed"` // a verdict
	Answer   string           `json:"answer"`
	Rows     []CustomerRow    `json:"rows"`
}

// CustomerIncident is what is public of the incident.
type CustomerIncident struct {
	ID       string `json:"id"`
	Revision string `json:"revision"` // SHA-256 of its file
	Title    string `json:"title"`
	Summary  string `json:"summary,omitempty"`
}

// CustomerRow is one thing that the customer is told.
type CustomerRow struct {
	ID      string  `json:"id"`
	Section string  `json:"section"` // one of customerSections
	Item    string  `json:"item"`
	Answer  string  `json:"answer"`
	Verdict string  `json:"verdict,omitempty"`
	Count   int     `json:"count,omitempty"`
	From    *string `json:"from,omitempty"`
	To      *string `json:"to,omitempty"`
}

// Time is the span of a row, "" for none.
func (r CustomerRow) Time() string {
	if r.From == nil && r.To == nil {
		return ""
	}
	return when(Evidence{From: r.From, To: r.To})
}

// Ends are the parts of Time between which a line may break; none without a
// time, so that its cell is empty and a narrow page leaves it out.
func (r CustomerRow) Ends() []string {
	if r.Time() == "" {
		return nil
	}
	return strings.SplitAfter(r.Time(), " to ")
}

// Sections of a customer report, in order.
const (
	secHappened = "what happened"
	secExposure = "were you exposed"
	secWindow   = "window"
	secData     = "data and credential categories"
	secMeasures = "measures"
	secDo       = "what you should do"
	secKnown    = "how we know"
	secUnseen   = "what could not be checked"
	secChanged  = "what changed since the last report"
	secArt33    = "GDPR Art. 33(3)"
)

var customerSections = []string{secHappened, secExposure, secWindow, secData, secMeasures, secDo, secKnown, secUnseen, secChanged, secArt33}

// customerPage is what the templates see.
type customerPage struct {
	*Customer
	Title    string
	Sections []customerSection
}

type customerSection struct {
	Name    string
	Rows    []CustomerRow
	Numbers bool // some row has one
	Times   bool
}

// Customers lists the customers of a case: of the inventory, of the credential
// lists and of the tenancy file.
func (c *Case) Customers() []string {
	names := map[string]bool{}
	for i := range c.Inventory {
		names[c.Inventory[i].Customer] = true
	}
	for i := range c.Lists {
		names[c.Lists[i].Customer] = true
	}
	for _, t := range c.Tenancy.Customers {
		names[t.Name] = true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// CustomerFolder is the name of a customer's folder: two never share one, also
// where the file system knows no capitals.
func CustomerFolder(name string) string {
	folder := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && wordByte(byte(r)) || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	const most = 60
	if folder != name || len(folder) > most {
		folder = folder[:min(len(folder), most)] + "-" + hashOf([]byte(name))[:8]
	}
	return folder
}

// CustomerReport writes what one customer is told. A report that names another
// customer or anything internal is an error and writes nothing.
func CustomerReport(w io.Writer, form string, c *Case, name string, secrets *Internal) error {
	doc := newCustomer(c, name)
	p := customerPage{Customer: doc, Title: doc.Incident.Title}
	r := report{name: "customer", truth: doc, funcs: words, table: slices.Values(customerTable(doc))}
	for _, s := range customerSections {
		part := customerSection{Name: s}
		for _, row := range doc.Rows {
			if row.Section == s {
				part.Rows = append(part.Rows, row)
				part.Numbers, part.Times = part.Numbers || row.Count > 0, part.Times || row.Time() != ""
			}
		}
		p.Sections = append(p.Sections, part)
	}
	for _, row := range doc.Rows {
		r.ids = append(r.ids, row.ID)
	}
	r.page = p
	r.private = secrets.of(name, c.Tenancy)
	return r.write(w, form)
}

func customerTable(doc *Customer) [][]string {
	out := [][]string{{"row", "incident", "customer", "phase", "section", "item", "answer", "verdict", "number", "from", "to"}}
	for _, r := range doc.Rows {
		n := ""
		if r.Count > 0 {
			n = strconv.Itoa(r.Count)
		}
		out = append(out, []string{r.ID, doc.Incident.ID, doc.Name, doc.Phase, r.Section, r.Item, r.Answer, r.Verdict, n, orEmpty(r.From), orEmpty(r.To)})
	}
	return out
}

// customerWriter gathers the rows of one customer.
type customerWriter struct {
	c      *Case
	doc    *Customer
	tenant matchers.Tenant
	hosts  map[string]string // host → customer of the inventory, "" for several
	own    []*matchers.Finding
	shared []*matchers.Finding // whose customer nothing states
	mine   map[string]bool     // subjects of own and shared
	keys   []customerKeys
}

func newCustomer(c *Case, name string) *Customer {
	inc := c.Result.Incident
	x := &customerWriter{c: c, tenant: c.Tenancy.Tenant(name), hosts: map[string]string{}, mine: map[string]bool{}}
	x.doc = &Customer{
		Schema: CustomerSchema, AsOf: c.AsOf, Phase: c.Phase, Name: name, Rows: []CustomerRow{},
		Company: cmp.Or(c.Tenancy.Company.Name, notConfirmed), Contact: cmp.Or(c.Tenancy.Company.Contact, notConfirmed),
		Incident: CustomerIncident{inc.ID, inc.Revision, inc.Title, inc.Summary},
	}
	x.divide()
	x.keys = x.categories()
	x.happened()
	x.exposure()
	x.window()
	x.data()
	x.measures()
	x.advice()
	x.known()
	x.unseen()
	x.changed()
	x.article33()
	return x.doc
}

func (x *customerWriter) add(r CustomerRow) {
	r.ID = fmt.Sprintf("row-%d", len(x.doc.Rows)+1)
	x.doc.Rows = append(x.doc.Rows, r)
}

func (x *customerWriter) say(section, item, answer string) {
	x.add(CustomerRow{Section: section, Item: item, Answer: cmp.Or(answer, notConfirmed)})
}

// divide finds the customer's own systems, and those that nothing gives to any
// customer: they may serve all.
func (x *customerWriter) divide() {
	for i := range x.c.Inventory {
		r := &x.c.Inventory[i]
		old, known := x.hosts[r.Host]
		if known && old != r.Customer {
			x.hosts[r.Host] = ""
			continue
		}
		x.hosts[r.Host] = r.Customer
	}
	for i := range x.c.Result.Findings {
		f := &x.c.Result.Findings[i]
		switch x.customerOf(f.Subject, f.On) {
		case x.doc.Name:
			x.own = append(x.own, f)
		case "":
			x.shared = append(x.shared, f)
		default:
			continue
		}
		x.mine[f.Subject.String()] = true
	}
}

// customerOf is whose a subject is, "" when nothing says so.
func (x *customerWriter) customerOf(s timeline.Subject, on string) string {
	if tenant, ok := tenantOf(s); ok {
		return tenant
	}
	if s.Kind == timeline.Host {
		on = s.ID
	}
	return x.hosts[on]
}

// tenantOf is the tenant that a subject stands for.
func tenantOf(s timeline.Subject) (string, bool) {
	if s.Kind != timeline.Client {
		return "", false
	}
	return strings.CutPrefix(s.ID, "tenant/")
}

func (x *customerWriter) happened() {
	t := x.c.Tenancy
	x.say(secHappened, "published facts", x.c.Result.Incident.Summary)
	x.say(secHappened, "what it means for us", t.Nature)
	x.say(secHappened, "phase of this report", x.doc.Phase)
	x.say(secHappened, "who sends it", t.Company.Name)
	x.say(secHappened, "whom to ask", t.Company.Contact)
}

// strongest is the strongest verdict of findings, "" without any.
func strongest(all []*matchers.Finding) matchers.Verdict {
	for _, v := range matchers.Verdicts {
		if slices.ContainsFunc(all, func(f *matchers.Finding) bool { return f.Verdict == v }) {
			return v
		}
	}
	return ""
}

// aboutOwn says what is known of the customer's own systems; %s is what they met.
var aboutOwn = map[matchers.Verdict]string{
	matchers.Exposed:  "A system of yours met %s.",
	matchers.Pulled:   "A system of yours got %s; whether it ran there is not shown.",
	matchers.Possible: "A system of yours may have met %s.",
	matchers.Unknown:  "The evidence of systems of yours does not answer.",
	matchers.Clear:    "Every system of yours has evidence that it did not meet %s, as far as the incident is known.",
	"":                "No system is known to be yours alone.",
}

// whatCame is what systems meet, in each kind of incident.
var whatCame = map[string]string{"malicious-release": "the release", "engine-flaw": "the flaw", "vendor-breach": "the breach"}

// met says what a verdict on a system means to a customer.
var met = map[matchers.Verdict]string{
	matchers.Exposed:  "it was installed, built in or ran there",
	matchers.Pulled:   "it came over, and is not shown to have run",
	matchers.Possible: "it may have come; the evidence does not settle it",
	matchers.Unknown:  "the evidence to answer is missing",
	matchers.Clear:    "evidence shows that it did not come, as far as the incident is known",
}

// exposure says what is known of the customer's own systems, and of those that
// are shared.
func (x *customerWriter) exposure() {
	own, shared := strongest(x.own), strongest(x.shared)
	came := cmp.Or(whatCame[x.c.Result.Incident.Kind], "it")
	v, answer := own, strings.ReplaceAll(aboutOwn[own], "%s", came)
	for _, k := range x.keys { // a key of the customer's within reach is an exposure, wherever it was
		if !k.own {
			continue
		}
		say := "Credentials of yours were within reach of a system that met " + came + "."
		if k.verdict == matchers.Possible {
			say = "Credentials of yours may have been within reach."
		}
		if v == "" || weight(k.verdict) < weight(v) {
			v = k.verdict
		}
		answer = say + " " + answer
		break
	}
	switch shared {
	case matchers.Exposed, matchers.Pulled, matchers.Possible:
		answer += " Systems that several customers may share met " + came + ", or may have: what of yours was there is not shown."
		if v == "" || weight(v) > weight(matchers.Possible) {
			v = matchers.Possible
		}
	case matchers.Unknown:
		answer += " Of systems that several customers may share it is not known."
		if v == "" || weight(v) > weight(matchers.Unknown) {
			v = matchers.Unknown
		}
	case matchers.Clear:
	}
	if v == matchers.Clear && !x.c.Result.Complete || v == "" {
		answer += " The evidence is not complete."
		v = matchers.Unknown
	}
	x.doc.Exposed, x.doc.Answer = string(v), answer
	x.add(CustomerRow{Section: secExposure, Item: "in short", Answer: answer, Verdict: string(v)})
	for _, part := range []struct {
		item string
		all  []*matchers.Finding
	}{{"systems of yours", x.own}, {"systems that several customers may share", x.shared}} {
		for _, v := range matchers.Verdicts {
			x.verdicts(part.item, v, part.all)
		}
	}
}

// weight orders verdicts, the strongest first.
func weight(v matchers.Verdict) int { return slices.Index(matchers.Verdicts, v) }

// verdicts adds how many systems have a verdict, when, and on which channels.
func (x *customerWriter) verdicts(item string, v matchers.Verdict, all []*matchers.Finding) {
	n, from, to := 0, timeline.Forever, timeline.Beginning
	channels := map[string]bool{}
	for _, f := range all {
		if f.Verdict != v {
			continue
		}
		n++
		for c, w := range f.Channels {
			channels[c] = channels[c] || w == v
		}
		if f.Span.From != timeline.Beginning {
			from = min(from, f.Span.From)
		}
		if f.Span.To != timeline.Forever {
			to = max(to, f.Span.To)
		}
	}
	if n == 0 {
		return
	}
	maps.DeleteFunc(channels, func(_ string, on bool) bool { return !on })
	answer := cmp.Or(otherKinds[x.c.Result.Incident.Kind][string(v)], met[v])
	if len(channels) > 0 {
		answer += "; channels: " + strings.Join(slices.Sorted(maps.Keys(channels)), ", ")
	}
	r := CustomerRow{Section: secExposure, Item: item, Answer: answer, Verdict: string(v), Count: n}
	if weight(v) < weight(matchers.Unknown) && from <= to {
		r.From, r.To = Time(from), Time(to)
	}
	x.add(r)
}

// window adds when the release was served: it is public.
func (x *customerWriter) window() {
	for _, w := range newIncident(x.c.Result.Incident).Windows {
		answer := cmp.Or(bases[w.Basis], w.Basis)
		if w.Disputed {
			answer += ", disputed"
		}
		x.add(CustomerRow{Section: secWindow, Item: w.Channel, Answer: answer + "; known to the " + w.Precision, From: w.From, To: w.To})
	}
}

// bases say what the bounds of a window are.
var bases = map[string]string{
	"stated":      "served then, as its source states",
	"outer-bound": "served at some time in it, and not known to have been before or after",
	"derived":     "worked out from other published facts",
}
