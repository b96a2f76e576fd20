package matchers

import (
	"errors"
	"slices"

	"go.yaml.in/yaml/v4"
)

// TenancySchema is the version of the tenancy file.
const TenancySchema = "pulltrail.tenancy/1"

// LayerName names a layer under an AI feature.
type LayerName string

// The layers that customers may share.
const (
	InferenceLayer LayerName = "inference" // inference engine and KV cache
	GatewayLayer   LayerName = "gateway"   // gateway and key store
	TraceLayer     LayerName = "traces"    // trace store
)

// Layers lists the layers, in the order of the questionnaire.
var Layers = []LayerName{InferenceLayer, GatewayLayer, TraceLayer}

// Tenancy holds what only people know: who operates what, who shares it, whom
// to ask. Whatever it leaves out is "", and reported as not confirmed.
type Tenancy struct {
	Company       Company
	Nature        string // what happened, as the company puts it
	Consequences  string // likely consequences of the breach
	Measures      []Measure
	Advice        []string // what a customer should do
	Layers        []Layer
	Customers     []Tenant
	Subprocessors []Subprocessor
	DPA           DPA
}

// Company is who sends the reports.
type Company struct {
	Name    string
	Contact string // for customers
	DPO     string // data protection officer, or who answers in place of one
}

// Measure is what was done, and on which day.
type Measure struct{ Day, What string }

// Layer holds the facts of one layer, those of one customer where theirs differ.
type Layer struct {
	Name      LayerName
	Operator  string
	Shared    string // who shares it
	Version   string // version or configuration
	Told      string // what the customer is told
	Confirm   []string
	Region    string
	Retention string
	Partition string   // how customers are kept apart
	Vendors   []string // with access
	AsOf      string   // day on which the facts were true
	ReviewBy  string   // day after which they are stale
}

// Tenant is what is known of one customer.
type Tenant struct {
	Name    string
	Contact string
	Region  string
	Data    []string // categories of personal data
	Persons string   // categories and approximate number of those concerned
	Records string   // approximate number of records
	Layers  []Layer
}

// Subprocessor is a row of the list of subprocessors.
type Subprocessor struct{ Name, Purpose, Region, Data, Since, ReviewBy string }

// DPA is the agreement on data processing.
type DPA struct{ Version, Signed, Paragraph string }

// Tenant finds a customer by name; one that the file does not list has a name
// only.
func (t *Tenancy) Tenant(name string) Tenant {
	for _, c := range t.Customers {
		if c.Name == name {
			return c
		}
	}
	return Tenant{Name: name}
}

// LoadTenancy reads the tenancy file at path. Every fault is reported with file
// and line, and with what is allowed there.
func LoadTenancy(path string) (*Tenancy, error) {
	data, err := readFile("tenancy", path)
	if err != nil {
		return nil, err
	}
	return parseTenancy(path, data)
}

// parseTenancy reads a tenancy file; name is its path, for errors.
func parseTenancy(name string, data []byte) (*Tenancy, error) {
	l := &loader{name: name, schema: TenancySchema}
	root := l.document(data)
	if root == nil {
		return nil, errors.Join(l.err(), errors.New("no tenancy: 'pulltrail report questionnaire --help' shows one"))
	}
	t := l.tenancy(root)
	if err := l.err(); err != nil {
		return nil, err
	}
	return t, nil
}

func (l *loader) tenancy(root *yaml.Node) *Tenancy {
	t := &Tenancy{}
	f := l.mapping(root, "tenancy", "schema company", "nature consequences measures advice layers customers subprocessors dpa")
	if f == nil {
		return t
	}
	if f["schema"] != nil {
		l.oneOf(f["schema"], "schema", TenancySchema)
	}
	t.Nature, t.Consequences = l.text(f["nature"], "nature"), l.text(f["consequences"], "consequences")
	t.Advice = l.texts(f["advice"], "advice", l.text)
	t.Company = l.company(f["company"])
	l.each(f["measures"], "measures", func(n *yaml.Node, what string) {
		m := l.mapping(n, what, "day what", "")
		t.Measures = append(t.Measures, Measure{l.day(m["day"], what+".day"), l.text(m["what"], what+".what")})
	})
	t.Layers = l.layers(f["layers"], "layers")
	l.each(f["customers"], "customers", func(n *yaml.Node, what string) {
		c := l.tenant(n, what)
		if slices.ContainsFunc(t.Customers, func(o Tenant) bool { return o.Name == c.Name }) {
			l.bad(n, "%s: customer %q stands in the list twice", what, c.Name)
		}
		t.Customers = append(t.Customers, c)
	})
	l.each(f["subprocessors"], "subprocessors", func(n *yaml.Node, what string) {
		m := l.mapping(n, what, "name", "purpose region data since review_by")
		t.Subprocessors = append(t.Subprocessors, Subprocessor{
			Name: l.text(m["name"], what+".name"), Purpose: l.text(m["purpose"], what+".purpose"), Region: l.text(m["region"], what+".region"),
			Data: l.text(m["data"], what+".data"), Since: l.day(m["since"], what+".since"),
			ReviewBy: l.day(m["review_by"], what+".review_by"),
		})
	})
	if f["dpa"] != nil {
		m := l.mapping(f["dpa"], "dpa", "", "version signed paragraph")
		t.DPA = DPA{l.text(m["version"], "dpa.version"), l.day(m["signed"], "dpa.signed"), l.text(m["paragraph"], "dpa.paragraph")}
	}
	return t
}

func (l *loader) company(n *yaml.Node) Company {
	if n == nil {
		return Company{}
	}
	m := l.mapping(n, "company", "name", "contact dpo")
	return Company{l.text(m["name"], "company.name"), l.text(m["contact"], "company.contact"), l.text(m["dpo"], "company.dpo")}
}

func (l *loader) tenant(n *yaml.Node, what string) Tenant {
	m := l.mapping(n, what, "name", "contact region data persons records layers")
	return Tenant{
		Name: l.text(m["name"], what+".name"), Contact: l.text(m["contact"], what+".contact"), Region: l.text(m["region"], what+".region"),
		Data: l.texts(m["data"], what+".data", l.text), Persons: l.text(m["persons"], what+".persons"),
		Records: l.text(m["records"], what+".records"), Layers: l.layers(m["layers"], what+".layers"),
	}
}

func (l *loader) layers(n *yaml.Node, what string) []Layer {
	var out []Layer
	l.each(n, what, func(n *yaml.Node, what string) {
		m := l.mapping(n, what, "layer", "operator shared version told confirm region retention partition vendors as_of review_by")
		y := Layer{
			Name: LayerName(l.oneOf(m["layer"], what+".layer", string(InferenceLayer), string(GatewayLayer), string(TraceLayer))), Operator: l.text(m["operator"], what+".operator"),
			Shared: l.text(m["shared"], what+".shared"), Version: l.text(m["version"], what+".version"), Told: l.text(m["told"], what+".told"),
			Confirm: l.texts(m["confirm"], what+".confirm", l.text), Region: l.text(m["region"], what+".region"),
			Retention: l.text(m["retention"], what+".retention"), Partition: l.text(m["partition"], what+".partition"),
			Vendors: l.texts(m["vendors"], what+".vendors", l.text), AsOf: l.day(m["as_of"], what+".as_of"),
			ReviewBy: l.day(m["review_by"], what+".review_by"),
		}
		if slices.ContainsFunc(out, func(o Layer) bool { return o.Name == y.Name }) {
			l.bad(n, "%s: layer %q stands in the list twice", what, y.Name)
		}
		out = append(out, y)
	})
	return out
}
