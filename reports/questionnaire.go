package reports

import (
	"cmp"
	"fmt"
	"io"
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
	Name    string        `json:"customer,omitempty"`    // of the customer, "" for all
	Looked  string        `json:"reviewed_on,omitempty"` // the day by which facts are stale or not: of the report, else of the newest evidence
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
	Grid     [][]string // the layers at a glance, the first row its heads
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
	p := questionnairePage{Questionnaire: doc, Grid: doc.grid()}
	r := report{name: "questionnaire", truth: doc, funcs: words, private: secrets.of(customer, c.Tenancy)}
	table := [][]string{{"row", "layer", "question", "answer", "state", "date", "review by", "customer"}}
	for i, row := range doc.Rows {
		if i == 0 || row.Layer != doc.Rows[i-1].Layer {
			p.Sections = append(p.Sections, questionSection{Name: row.Layer})
		}
		s := &p.Sections[len(p.Sections)-1]
		s.Rows = append(s.Rows, row)
		r.ids = append(r.ids, row.ID)
		table = append(table, []string{row.ID, row.Layer, row.Question, row.Answer, row.State, row.Date, row.ReviewBy, doc.Name})
	}
	r.page, r.table = p, slices.Values(table)
	return r.write(w, form)
}

// questions gathers the rows of one questionnaire.
type questions struct {
	c        *Case
	doc      *Questionnaire
	customer string // "" for all
	tenant   matchers.Tenant
	today    string // the day by which facts are stale, "" when there is none
}

func newQuestionnaire(c *Case, customer string) *Questionnaire {
	q := &questions{c: c, customer: customer, tenant: c.Tenancy.Tenant(customer), today: today(c)}
	q.doc = &Questionnaire{
		Schema: QuestionnaireSchema, AsOf: c.AsOf, Name: customer, Looked: q.today, Rows: []QuestionRow{},
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

// today is the day of the report, else that on which evidence was read last: what
// was to be looked at before then is stale whenever the report is written.
func today(c *Case) string {
	if c.AsOf != "" {
		return dayOf(c.AsOf)
	}
	newest := int64(0)
	for i := range c.Result.Sources {
		newest = max(newest, c.Result.Sources[i].ReadAt)
	}
	if newest == 0 {
		return ""
	}
	return dayOf(timeline.FormatTime(newest))
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

// layer adds the cells of one layer: what is stated for the customer, else for
// all, else what the evidence shows.
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
	seen := q.seen(name)
	first := len(q.doc.Rows)
	say := func(question string, of func(matchers.Layer) string, shown seenCell) {
		from := own
		if of(own) == "" {
			from = all
		}
		r := QuestionRow{Layer: title, Question: question, Answer: of(from), State: stated, Date: from.AsOf, ReviewBy: from.ReviewBy}
		if r.Answer == "" {
			r = QuestionRow{Layer: title, Question: question, Answer: shown.answer, State: evidence, Date: shown.day}
		}
		q.add(r)
	}
	say(asksOperator, func(y matchers.Layer) string { return y.Operator }, seenCell{})
	say(asksShared, func(y matchers.Layer) string { return y.Shared }, q.tenants(name))
	say(asksApart, func(y matchers.Layer) string { return y.Partition }, seenCell{})
	say(asksVersion, func(y matchers.Layer) string { return y.Version }, seen.version)
	for _, c := range seen.cells {
		q.add(QuestionRow{Layer: title, Question: c.question, Answer: c.answer, State: evidence, Date: c.day})
	}
	if name == matchers.TraceLayer {
		say("retention", func(y matchers.Layer) string { return y.Retention }, seenCell{})
		say("vendors with access", func(y matchers.Layer) string { return strings.Join(y.Vendors, "; ") }, seen.vendors)
	}
	say("region", func(y matchers.Layer) string { return y.Region }, seenCell{})
	say(asksTold, func(y matchers.Layer) string { return y.Told }, seenCell{})
	confirm := slices.Concat(own.Confirm, all.Confirm, q.unstated(name, own, all))
	var open []string
	for _, r := range q.doc.Rows[first:] {
		if r.State == notConfirmed || r.State == stale {
			open = append(open, r.Question+" ("+r.State+")")
		}
	}
	confirm = append(confirm, cmp.Or(strings.Join(open, ", "), "nothing is open on the day of the report"))
	for _, what := range confirm {
		q.add(QuestionRow{Layer: title, Question: asksConfirm, Answer: what, State: toDo})
	}
	q.add(QuestionRow{Layer: title, Question: asksTell, Answer: q.draft(name, first), State: draft})
}

// What is asked of each layer, and what follows from the answers.
const (
	asksOperator = "who operates it"
	asksShared   = "who shares it"
	asksApart    = "how customers are kept apart"
	asksVersion  = "version or configuration"
	asksTold     = "what the customer is told"
	asksConfirm  = "what to confirm"
	asksTell     = "what to tell the customer"
)

// draft says the answers of a layer to the customer, those that are not
// confirmed as such; first is its first row.
func (q *questions) draft(name matchers.LayerName, first int) string {
	said := map[string]QuestionRow{}
	for _, r := range q.doc.Rows[first:] {
		if _, have := said[r.Question]; !have {
			said[r.Question] = r
		}
	}
	say := func(question string) string {
		r := said[question]
		switch r.State {
		case stale:
			return r.Answer + " (stale)"
		case "":
			return notConfirmed
		}
		return r.Answer
	}
	text := fmt.Sprintf("The %s of your service: operated by: %s; shared by: %s; kept apart: %s; version or configuration: %s.",
		layerTitles[name], say(asksOperator), say(asksShared), say(asksApart), say(asksVersion))
	if name == matchers.InferenceLayer {
		text += fmt.Sprintf(" Its cache holds the longest prompt that it takes: %s; transferred cache is checked: %s.", say(asksPool), say(asksChecksum))
	}
	if name == matchers.TraceLayer {
		text += fmt.Sprintf(" Vendors with access: %s; retention: %s; region: %s.", say("vendors with access"), say("retention"), say("region"))
	}
	return text
}

// grid is the table of the layers: four questions, what to confirm, and what to
// tell the customer.
func (q *Questionnaire) grid() [][]string {
	heads := []string{asksOperator, asksShared, asksApart, asksVersion, asksConfirm, asksTell}
	table := [][]string{append([]string{"layer"}, heads...)}
	for _, name := range matchers.Layers {
		line := []string{layerTitles[name]}
		for _, question := range heads {
			line = append(line, q.cell(layerTitles[name], question))
		}
		table = append(table, line)
	}
	return table
}

// cell is the answer to a question of a layer, with how it is known.
func (q *Questionnaire) cell(layer, question string) string {
	var out []string
	for _, r := range q.Rows {
		if r.Layer != layer || r.Question != question {
			continue
		}
		text := r.Answer
		switch {
		case r.State == stale, r.State == stated && r.Date != "":
			text += " (" + strings.TrimSpace(r.State+" "+r.Date) + ")"
		case r.State == draft:
			text = "draft below"
		case r.Question == asksConfirm:
			if n := strings.Count(text, "("+notConfirmed+")") + strings.Count(text, "("+stale+")"); n > 0 { // named one by one in its row
				text = fmt.Sprintf("%d below that nobody confirmed, or not of late", n)
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
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
	for _, p := range q.products() {
		if !slices.ContainsFunc(q.c.Tenancy.Subprocessors, func(s matchers.Subprocessor) bool { return p.is(s.Name) }) {
			q.add(QuestionRow{
				Layer: subprocessors, Question: p.shown(), Answer: "not in the list: " + p.how + "; what it gets, where and since when is " + notConfirmed,
				State: evidence, Date: p.day,
			})
		}
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
