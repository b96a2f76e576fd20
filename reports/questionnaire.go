package reports

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

// QuestionnaireSchema is the version of the questionnaire. Fields may be added,
// never renamed.
const QuestionnaireSchema = "pulltrail.questionnaire/1"

// Questionnaire answers, for the layers that customers may share, who operates
// them, who shares them, what they are set to and what the customer is told.
type Questionnaire struct {
	Schema  string        `json:"schema"`
	AsOf    string        `json:"as_of,omitempty"`
	Company string        `json:"company"`
	Contact string        `json:"contact"`
	Name    string        `json:"customer,omitempty"` // of the customer, "" for all
	Open    int           `json:"not_confirmed"`
	Stale   int           `json:"stale"`
	Rows    []QuestionRow `json:"rows"`
}

// QuestionRow is one cell: what is asked of a layer, and what is known.
type QuestionRow struct {
	ID       string `json:"id"`
	Layer    string `json:"layer"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	State    string `json:"state"`     // stated, evidence, stale, draft, to do, not confirmed
	Date     string `json:"date"`      // day of the evidence, or on which it was stated
	ReviewBy string `json:"review_by"` // day after which it is stale
}

// States of a cell.
const (
	stated   = "stated"
	evidence = "evidence"
	stale    = "stale"
	draft    = "draft"
	toDo     = "to do"
)

// Sections of the questionnaire beside the layers.
const (
	subprocessors = "subprocessors"
	agreement     = "agreement on data processing"
)

// layerTitles say what a layer is.
var layerTitles = map[matchers.LayerName]string{
	matchers.InferenceLayer: "inference engine and KV cache",
	matchers.GatewayLayer:   "gateway and key store",
	matchers.TraceLayer:     "trace store",
}

// questionnairePage is what the templates see.
type questionnairePage struct {
	*Questionnaire
	Sections []questionSection
}

type questionSection struct {
	Name string
	Rows []QuestionRow
}

// QuestionnaireReport writes the questionnaire for one customer, "" for all. One
// that names a customer or anything internal is an error and writes nothing.
func QuestionnaireReport(w io.Writer, form string, c *Case, customer string, secrets *Internal) error {
	doc := newQuestionnaire(c, customer)
	p := questionnairePage{Questionnaire: doc}
	r := report{name: "questionnaire", truth: doc, funcs: words, private: secrets.of(customer, c.Tenancy)}
	r.table = [][]string{{"row", "layer", "question", "answer", "state", "date", "review by", "customer"}}
	for i, row := range doc.Rows {
		if i == 0 || row.Layer != doc.Rows[i-1].Layer {
			p.Sections = append(p.Sections, questionSection{Name: row.Layer})
		}
		s := &p.Sections[len(p.Sections)-1]
		s.Rows = append(s.Rows, row)
		r.ids = append(r.ids, row.ID)
		r.table = append(r.table, []string{row.ID, row.Layer, row.Question, row.Answer, row.State, row.Date, row.ReviewBy, doc.Name})
	}
	r.page = p
	return r.write(w, form)
}

// questions gathers the rows of one questionnaire.
type questions struct {
	c      *Case
	doc    *Questionnaire
	tenant matchers.Tenant
	today  string // the day of the report, "" when it has none
}

func newQuestionnaire(c *Case, customer string) *Questionnaire {
	q := &questions{c: c, tenant: c.Tenancy.Tenant(customer), today: dayOf(c.AsOf)}
	q.doc = &Questionnaire{
		Schema: QuestionnaireSchema, AsOf: c.AsOf, Name: customer, Rows: []QuestionRow{},
		Company: cmp.Or(c.Tenancy.Company.Name, notConfirmed), Contact: cmp.Or(c.Tenancy.Company.Contact, notConfirmed),
	}
	for _, name := range matchers.Layers {
		q.layer(name)
	}
	q.subprocessors()
	q.agreement()
	for _, r := range q.doc.Rows {
		switch r.State {
		case notConfirmed:
			q.doc.Open++
		case stale:
			q.doc.Stale++
		}
	}
	return q.doc
}

func dayOf(at string) string {
	day, _, _ := strings.Cut(at, "T")
	return day
}

func (q *questions) add(r QuestionRow) {
	r.ID = fmt.Sprintf("row-%d", len(q.doc.Rows)+1)
	switch {
	case r.Answer == "":
		r.Answer, r.State, r.Date, r.ReviewBy = notConfirmed, notConfirmed, "", ""
	case r.State == stated && r.ReviewBy != "" && q.today > r.ReviewBy:
		r.State = stale
	}
	q.doc.Rows = append(q.doc.Rows, r)
}

// layer adds the cells of one layer; what is stated for the customer stands
// before what is stated for all.
func (q *questions) layer(name matchers.LayerName) {
	var all, own matchers.Layer
	find := func(in []matchers.Layer) (y matchers.Layer) {
		if i := slices.IndexFunc(in, func(y matchers.Layer) bool { return y.Name == name }); i >= 0 {
			y = in[i]
		}
		return y
	}
	all, own = find(q.c.Tenancy.Layers), find(q.tenant.Layers)
	title := layerTitles[name]
	say := func(question string, of func(matchers.Layer) string) {
		from := own
		if of(own) == "" {
			from = all
		}
		q.add(QuestionRow{Layer: title, Question: question, Answer: of(from), State: stated, Date: from.AsOf, ReviewBy: from.ReviewBy})
	}
	say("who operates it", func(y matchers.Layer) string { return y.Operator })
	say("who shares it", func(y matchers.Layer) string { return y.Shared })
	say("how customers are kept apart", func(y matchers.Layer) string { return y.Partition })
	say("version or configuration", func(y matchers.Layer) string { return y.Version })
	switch name {
	case matchers.InferenceLayer:
		q.engines(title)
		q.canary(title)
	case matchers.GatewayLayer:
		q.gateways(title)
	case matchers.TraceLayer:
		say("retention", func(y matchers.Layer) string { return y.Retention })
		say("vendors with access", func(y matchers.Layer) string { return strings.Join(y.Vendors, "; ") })
	}
	say("region", func(y matchers.Layer) string { return y.Region })
	say("what the customer is told", func(y matchers.Layer) string { return y.Told })
	confirm := slices.Concat(own.Confirm, all.Confirm)
	for _, what := range confirm {
		q.add(QuestionRow{Layer: title, Question: "what to confirm", Answer: what, State: toDo})
	}
	if len(confirm) == 0 {
		q.add(QuestionRow{Layer: title, Question: "what to confirm", Answer: "each cell above that is not confirmed or stale", State: toDo})
	}
}

// engine is what one node said last of itself.
type engine struct {
	last map[timeline.SettingName]timeline.SettingRow
}

func (e *engine) value(name timeline.SettingName) string { return e.last[name].Value }

// engines adds what the evidence says of inference engines: versions, whether
// the cache covers the advertised context on every node, whether transferred
// cache is checked.
func (q *questions) engines(title string) {
	nodes := map[string]*engine{}
	for _, s := range q.c.Settings {
		n := nodes[s.Subject.String()]
		if n == nil {
			n = &engine{last: map[timeline.SettingName]timeline.SettingRow{}}
			nodes[s.Subject.String()] = n
		}
		if old, ok := n.last[s.Name]; !ok || s.Span.From >= old.Span.From {
			n.last[s.Name] = s
		}
	}
	tell := func(question string, answer func(*engine) string, of ...timeline.SettingName) {
		t := tally{}
		for _, n := range nodes {
			at := timeline.Beginning
			for _, name := range of {
				if s, ok := n.last[name]; ok && s.Span.From != timeline.Beginning {
					at = max(at, s.Span.From)
				}
			}
			t.note(answer(n), at)
		}
		text, day := t.words("node")
		q.add(QuestionRow{Layer: title, Question: question, Answer: text, State: evidence, Date: day})
	}
	tell("engine and version, by the evidence", func(n *engine) string {
		if n.value(timeline.EngineVersion) == "" {
			return ""
		}
		return strings.TrimSpace(n.value(timeline.EngineKind) + " " + n.value(timeline.EngineVersion))
	}, timeline.EngineKind, timeline.EngineVersion)
	tell("pool covers the advertised context on every node", func(n *engine) string {
		pool, context := tokens(n.value(timeline.PoolTokens)), tokens(n.value(timeline.ContextTokens))
		switch {
		case pool == 0 || context == 0:
			return ""
		case pool >= context:
			return "yes"
		}
		return fmt.Sprintf("no, it holds %d tokens of %d", pool, context)
	}, timeline.PoolTokens, timeline.ContextTokens)
	tell("transferred cache is checked by a checksum", func(n *engine) string { return n.value(timeline.KVChecksum) }, timeline.KVChecksum)
}

// canary adds what test tenants showed: by the last of their requests that told
// something, with its day.
func (q *questions) canary(title string) {
	for _, ask := range []struct {
		probe          timeline.Probe
		question, what string
	}{
		{timeline.MarkerProbe, "test tenants got replies with their own marks alone, by the canary", "test tenant"},
		{timeline.LongProbe, "a prompt that is too long is refused, by the canary", "endpoint"},
	} {
		t := tally{}
		for _, c := range q.c.Canary {
			if c.Probe == ask.probe {
				t.note(map[matchers.Verdict]string{matchers.Clear: "yes", matchers.Possible: "in doubt", matchers.Exposed: "no"}[c.Verdict], c.At)
			}
		}
		text, day := t.words(ask.what)
		q.add(QuestionRow{Layer: title, Question: ask.question, Answer: text, State: evidence, Date: day})
	}
}

func tokens(s string) (n int64) {
	if _, err := fmt.Sscan(s, &n); err != nil {
		return 0
	}
	return n
}

// gateways adds the versions of the gateway that the evidence shows.
func (q *questions) gateways(title string) {
	t := tally{}
	newest := map[string]timeline.Fact{} // by subject: what was seen last
	for _, f := range q.c.Gateway {
		if old, ok := newest[f.Subject.String()]; !ok || f.Span.From >= old.Span.From {
			newest[f.Subject.String()] = f
		}
	}
	for _, f := range newest {
		version := ""
		if f.Parts.Version != "" {
			version = "litellm " + f.Parts.Version
		}
		t.note(version, f.Span.From)
	}
	text, day := t.words("system")
	q.add(QuestionRow{Layer: title, Question: "LiteLLM, by the evidence", Answer: text, State: evidence, Date: day})
}

// tally counts answers of the evidence, with the newest time.
type tally map[string]tallied

type tallied struct {
	count int
	at    int64
}

func (t tally) note(answer string, at int64) {
	n := t[answer]
	if n.count == 0 {
		n.at = timeline.Beginning
	}
	t[answer] = tallied{n.count + 1, max(n.at, at)}
}

// words says each answer with on how many it stands, and the day of the newest
// evidence. Without any answer it is "".
func (t tally) words(what string) (text, day string) {
	plural := func(n int) string {
		if n == 1 {
			return "1 " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
	var out []string
	newest := timeline.Beginning
	for _, answer := range slices.Sorted(maps.Keys(t)) {
		n := t[answer]
		if answer == "" {
			continue
		}
		on := "evidence without a time"
		if n.at != timeline.Beginning {
			on = "evidence of " + dayOf(timeline.FormatTime(n.at))
			newest = max(newest, n.at)
		}
		out = append(out, fmt.Sprintf("%s: %s, %s", answer, plural(n.count), on))
	}
	if len(out) == 0 {
		return "", ""
	}
	if n := t[""]; n.count > 0 {
		out = append(out, notConfirmed+": "+plural(n.count))
	}
	if newest != timeline.Beginning {
		day = dayOf(timeline.FormatTime(newest))
	}
	return strings.Join(out, "; "), day
}

// subprocessors adds a row for each.
func (q *questions) subprocessors() {
	for _, s := range q.c.Tenancy.Subprocessors {
		parts := []string{}
		for _, p := range [][2]string{{"purpose", s.Purpose}, {"region", s.Region}, {"data", s.Data}} {
			parts = append(parts, p[0]+": "+cmp.Or(p[1], notConfirmed))
		}
		q.add(QuestionRow{Layer: subprocessors, Question: s.Name, Answer: strings.Join(parts, "; "), State: stated, Date: s.Since, ReviewBy: s.ReviewBy})
	}
	if len(q.c.Tenancy.Subprocessors) == 0 {
		q.add(QuestionRow{Layer: subprocessors, Question: "list of subprocessors"})
	}
}

// agreement adds what is stated of the agreement, and a paragraph for it.
// https://eur-lex.europa.eu/eli/reg/2016/679/oj, Articles 28 and 33(2)
func (q *questions) agreement() {
	d := q.c.Tenancy.DPA
	q.add(QuestionRow{Layer: agreement, Question: "version", Answer: d.Version, State: stated, Date: d.Signed})
	paragraph := d.Paragraph
	if paragraph == "" {
		paragraph = "The processor keeps, for the inference engine and its cache, the gateway and its keys, and the trace store, a record of who operates them, " +
			"who shares them, their version and configuration with the date of the evidence, and gives it to the controller on request. It tells the controller " +
			"before a subprocessor in the list above is added or replaced, and of a personal data breach in any of these layers without undue delay."
	}
	q.add(QuestionRow{Layer: agreement, Question: "paragraph, to be agreed", Answer: paragraph, State: draft})
}
