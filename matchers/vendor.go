package matchers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// Of a breached vendor it is asked who could have sent it something: who has an
// SDK of it, or is set up to send traces to it. That it was sent, a contact
// shows; that nothing was, no evidence shows.

// settleProducts finds the products of the vendors, by their domains or by their name.
func (q *question) settleProducts() {
	q.sold = map[*product]*Vendor{}
	for i := range q.inc.Vendors {
		v := &q.inc.Vendors[i]
		q.unnamed = q.unnamed || len(v.Domains) == 0
		for k := range products {
			p := &products[k]
			named := slices.Contains(strings.Fields(strings.ToLower(v.Name)), p.name)
			if named || slices.ContainsFunc(p.domains, func(a string) bool {
				return slices.ContainsFunc(v.Domains, func(b string) bool { return within(a, b) || within(b, a) })
			}) {
				q.sold[p] = v
			}
		}
	}
	q.unnamed = q.unnamed && len(q.sold) == 0
}

// tracesMatter reports whether SDKs and keys of products can matter.
func (q *question) tracesMatter() bool { return q.inc.Kind == VendorBreach }

// aboutTraces reports whether an artifact tells that something is set up to send
// traces: an SDK, or the name of a key of a product.
func (q *question) aboutTraces(p timeline.Parts) bool {
	if !q.tracesMatter() {
		return false
	}
	if p.Type == "secret" {
		return productOf(p.Name) != nil
	}
	return sdkOf(p) != nil
}

// judgeTraces judges an SDK that is there, or the name of a key that is held.
func (q *question) judgeTraces(f *timeline.Fact) []judged {
	if !q.aboutTraces(f.Parts) || f.Action == timeline.Contact || asks(f.Action) {
		return nil
	}
	p, what := sdkOf(f.Parts), "an SDK of "
	if f.Parts.Type == "secret" {
		p, what = productOf(f.Parts.Name), "a key or setting of "
	}
	return q.judgeProduct(f, p, what+p.name)
}

// judgeProduct judges what is of a product: possible where the vendor sells it.
func (q *question) judgeProduct(f *timeline.Fact, p *product, what string) []judged {
	has := "holds " + short(f.Item.Artifact) + ", " + what
	if f.Parts.Type == "setting" {
		has = "is set up to send traces: " + f.Parts.Version
	}
	switch v := q.sold[p]; {
	case v != nil && p != nil:
		return []judged{{
			Fact: f, key: "vendor/" + v.Name, rule: "vendor-setup", verdict: Possible,
			because: has + "; whether it sent anything to " + v.Name + " is not in the evidence",
		}}
	case q.unnamed:
		return []judged{{
			Fact: f, key: "vendor", rule: "vendor-not-named", verdict: Unknown,
			because: has + "; the incident does not say whether that is the vendor",
		}}
	}
	return nil
}

// exporters judges the settings that have traces sent, those too that have them
// sent to a host that hands them on.
func (m *matching) exporters() error {
	if !m.q.tracesMatter() {
		return nil
	}
	inside := map[string]judged{} // by digest: what an image has
	type waiting struct {
		who timeline.Subject
		judged
		to string
	}
	var behind []waiting
	onward := map[string]timeline.Subject{} // hosts that send to the vendor, by name
	for i, row := range m.r.settings {
		if row.Name != timeline.TraceExporter {
			continue
		}
		f, e := settingFact(row, -int64(i+1)), timeline.ParseTraceExport(row.Value)
		f.Action = timeline.Present
		for _, j := range m.q.judgeExporter(f, e) {
			a := m.of(row.Subject)
			switch {
			case j.rule == ruleBehind:
				behind = append(behind, waiting{row.Subject, j, e.Host})
				continue
			case j.verdict == Possible:
				name := row.Subject.ID
				onward[strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])] = row.Subject
			}
			a.judged = append(a.judged, j)
			m.insideImage(inside, j)
		}
	}
	for _, f := range m.r.facts {
		for _, j := range m.q.judgeTraces(f) {
			m.insideImage(inside, j)
		}
	}
	for _, w := range behind {
		short, _, _ := strings.Cut(w.to, ".")
		next, ok := onward[w.to]
		if !ok {
			next, ok = onward[short]
		}
		if ok && next != w.who {
			w.verdict, w.rule, w.via = Possible, "vendor-exporter-onward", findingID(m.q.inc.ID, next)
			w.because = fmt.Sprintf("is set up to send traces to %s, which is set up to send traces on to the vendor", w.to)
		}
		a := m.of(w.who)
		a.judged = append(a.judged, w.judged)
	}
	return m.ranImages(inside)
}

// insideImage notes what of the vendor an image has.
func (m *matching) insideImage(inside map[string]judged, j judged) {
	if j.Subject.Kind != timeline.Image || j.verdict != Possible {
		return
	}
	for _, d := range m.holds.same(j.Subject.ID) {
		if old, have := inside[d]; !have || better(&j, &old) {
			inside[d] = j
		}
	}
}

// ranImages gives those who ran exactly such an image what it has.
func (m *matching) ranImages(inside map[string]judged) error {
	if len(inside) == 0 {
		return nil
	}
	ran, err := m.r.with(slices.Sorted(maps.Keys(inside)))
	if err != nil {
		return err
	}
	for _, f := range ran {
		if f.Subject.Kind == timeline.Image || f.Action != timeline.Run {
			continue
		}
		for _, d := range f.Item.Digests {
			if in, ok := inside[d.Value]; ok {
				a := m.of(m.whose(f))
				a.judged = append(a.judged, judged{
					Fact: f, key: in.key, rule: "vendor-image", verdict: Possible, via: findingID(m.q.inc.ID, in.Subject),
					because: fmt.Sprintf("ran %s, which %s", short(f.Item.Artifact), in.because),
				}, judged{Fact: in.Fact, part: "content of the image"})
				break
			}
		}
	}
	return nil
}

// ruleBehind is the rule of a setting that has traces sent to a host of one's own.
const ruleBehind = "vendor-behind-collector"

// judgeExporter judges a setting: the host in it, else the product that reads
// it. A host of one's own may hand on what it gets.
func (q *question) judgeExporter(f *timeline.Fact, e timeline.TraceExport) []judged {
	if e.Host != "" {
		for i := range q.inc.Vendors {
			v := &q.inc.Vendors[i]
			if slices.ContainsFunc(v.Domains, func(d string) bool { return within(e.Host, d) }) {
				return []judged{{
					Fact: f, key: "vendor/" + v.Name, rule: "vendor-exporter", verdict: Possible,
					because: fmt.Sprintf("is set up to send traces to %s (%s), of %s; whether it did is not in the evidence", e.Host, e.Setting, v.Name),
				}}
			}
		}
		if p := productAt(e.Host); p != nil {
			return q.judgeProduct(f, p, "")
		}
		return []judged{{
			Fact: f, key: "vendor", rule: ruleBehind, verdict: Unknown,
			because: fmt.Sprintf("is set up to send traces to %s (%s); where they go from there is not in the evidence", e.Host, e.Setting),
		}}
	}
	if p := productOf(e.Setting); p != nil {
		return q.judgeProduct(f, p, "")
	}
	if q.unnamed {
		return q.judgeProduct(f, nil, "")
	}
	return []judged{{
		Fact: f, key: "vendor", rule: "vendor-host-open", verdict: Possible,
		because: fmt.Sprintf("is set up to send traces (%s), to a host that is not in the evidence", e.Setting),
	}}
}

// silent says why nothing clears a subject of which nothing was seen.
func (q *question) silent() string {
	if !q.unnamed {
		return "Nothing that was read shows a contact with the vendor or a setting, SDK or key of it; a connection that no log recorded is not known"
	}
	why := "The incident names no address of the vendor, so that no line can show or clear anything"
	if len(q.inc.Unknown) > 0 {
		why += "; not known: " + strings.Join(q.inc.Unknown, "; ")
	}
	return why
}

// askVendor says what closes the gaps of a breached vendor, "" for any other
// incident.
func (q *question) askVendor() string {
	switch {
	case q.inc.Kind != VendorBreach:
		return ""
	case q.unnamed:
		return "ask each vendor that gets your traces (layer traces of tenancy.yaml) whether it is the one; match again when the incident names an address"
	}
	return "bring proxy, DNS and flow evidence of the window, inspect, pod specs and environments; ask the vendor what it held of yours"
}
