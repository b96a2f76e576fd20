package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

// seenCell is what the evidence says to a question, with the day of the newest.
type seenCell struct{ question, answer, day string }

// seenLayer is what the evidence says of a layer.
type seenLayer struct {
	version seenCell   // stands where nobody states version or configuration
	vendors seenCell   // and where nobody states who has access
	cells   []seenCell // rows of their own
}

// What is asked of the evidence of an engine.
const (
	asksEngine   = "engine and version, by the evidence"
	asksPool     = "pool covers the advertised context on every node"
	asksChecksum = "transferred cache is checked by a checksum"
)

// seen gathers what the evidence says of a layer.
func (q *questions) seen(name matchers.LayerName) (s seenLayer) {
	switch name {
	case matchers.InferenceLayer:
		s.cells = append(q.engines(), q.canary()...)
		s.version = s.cells[0]
	case matchers.GatewayLayer:
		s.version = q.gateways()
		s.cells = []seenCell{s.version}
	case matchers.TraceLayer:
		s.cells = q.traces()
		var names []string
		for _, p := range q.products() {
			names = append(names, p.shown()+": "+p.how)
			s.vendors.day = max(s.vendors.day, p.day)
		}
		s.vendors.answer = strings.Join(names, "; ")
		s.version = s.cells[0]
	}
	return s
}

// concerns reports whether a subject may work for the customer: what the
// inventory gives to others alone does not.
func (q *questions) concerns(who timeline.Subject) bool {
	if q.customer == "" {
		return true
	}
	host := who.ID
	switch who.Kind {
	case timeline.Host:
	case timeline.Container:
		host, _, _ = strings.Cut(who.ID, "/")
	default:
		return true
	}
	others := false
	for i := range q.c.Inventory {
		switch r := &q.c.Inventory[i]; {
		case r.Host != host:
		case r.Customer == "", r.Customer == q.customer:
			return true
		default:
			others = true
		}
	}
	return !others
}

// tenants says how many tenants the requests name, which is who shares engine
// and gateway.
func (q *questions) tenants(name matchers.LayerName) (c seenCell) {
	if q.c.Tenants == 0 || name == matchers.TraceLayer {
		return c
	}
	c.answer = fmt.Sprintf("%d tenants in the requests that were read", q.c.Tenants)
	if q.c.Tenants == 1 {
		c.answer = "1 tenant in the requests that were read"
	}
	if q.c.TenantsAt != timeline.Beginning {
		c.day = dayOf(timeline.FormatTime(q.c.TenantsAt))
	}
	return c
}

// traces says where traces are sent: by settings, by SDKs, by contacts. Hosts
// are not named: they are the company's own, or nobody knows whose.
func (q *questions) traces() []seenCell {
	tell := func(question string, means ...matchers.TraceMeans) seenCell {
		t, had := tally{}, map[string]bool{}
		for i := range q.c.Traces {
			u := &q.c.Traces[i]
			where := (&usedProduct{name: u.Product, domain: u.Domain}).shown()
			switch {
			case !slices.Contains(means, u.How) || !q.concerns(u.Subject):
				continue
			case u.Product == "" && u.Host == "":
				where = "a host that the evidence does not show"
			case u.Product == "":
				where = "a host of no known vendor"
			}
			if key := where + "|" + u.Subject.String(); !had[key] {
				had[key] = true
				t.note(where, u.Span.From)
			}
		}
		text, day := t.words("system")
		return seenCell{question, text, day}
	}
	return []seenCell{
		tell("where traces are sent, by settings", matchers.TraceSetting, matchers.TraceKey),
		tell("SDKs of trace stores", matchers.TraceSDK),
		tell("contacts with vendors of trace stores", matchers.TraceContact),
	}
}

// usedProduct is a product of which the evidence shows something.
type usedProduct struct{ name, domain, how, day string }

func (p *usedProduct) shown() string {
	if p.domain == "" {
		return p.name
	}
	return p.name + " (" + p.domain + ")"
}

// is reports whether people call the product, or its vendor, by that name.
func (p *usedProduct) is(name string) bool {
	return slices.Contains(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !letter(r) && (r < '0' || r > '9') }), p.name)
}

// products lists the products that the evidence shows, with how.
func (q *questions) products() (out []usedProduct) {
	means := map[string]map[matchers.TraceMeans]bool{}
	for i := range q.c.Traces {
		u := &q.c.Traces[i]
		if u.Product == "" || !q.concerns(u.Subject) {
			continue
		}
		k := slices.IndexFunc(out, func(p usedProduct) bool { return p.name == u.Product })
		if k < 0 {
			k = len(out)
			out = append(out, usedProduct{name: u.Product, domain: u.Domain})
			means[u.Product] = map[matchers.TraceMeans]bool{}
		}
		means[u.Product][u.How] = true
		if u.Span.From != timeline.Beginning {
			out[k].day = max(out[k].day, dayOf(timeline.FormatTime(u.Span.From)))
		}
	}
	for i := range out {
		var words []string
		for _, how := range []matchers.TraceMeans{matchers.TraceContact, matchers.TraceSetting, matchers.TraceSDK, matchers.TraceKey} {
			if means[out[i].name][how] {
				words = append(words, string(how))
			}
		}
		out[i].how = "the evidence shows: " + strings.Join(words, ", ")
	}
	slices.SortFunc(out, func(a, b usedProduct) int { return cmp.Compare(a.name, b.name) })
	return out
}

// unstated says which vendors the evidence shows that nobody states.
func (q *questions) unstated(name matchers.LayerName, own, all matchers.Layer) (out []string) {
	vendors := slices.Concat(own.Vendors, all.Vendors)
	if name != matchers.TraceLayer || len(vendors) == 0 {
		return nil
	}
	for _, p := range q.products() {
		if !slices.ContainsFunc(vendors, p.is) {
			out = append(out, p.shown()+" is not among the vendors that are stated, and "+p.how)
		}
	}
	return out
}

// engine is what one node said last of itself.
type engine struct {
	last map[timeline.SettingName]timeline.SettingRow
}

func (e *engine) value(name timeline.SettingName) string { return e.last[name].Value }

// engines adds what the evidence says of inference engines: versions, whether
// the cache covers the advertised context on every node, whether transferred
// cache is checked.
func (q *questions) engines() (out []seenCell) {
	nodes := map[string]*engine{}
	for _, s := range q.c.Settings {
		if s.Name == timeline.TraceExporter || !q.concerns(s.Subject) {
			continue
		}
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
		out = append(out, seenCell{question, text, day})
	}
	tell(asksEngine, func(n *engine) string {
		if n.value(timeline.EngineVersion) == "" {
			return ""
		}
		return strings.TrimSpace(n.value(timeline.EngineKind) + " " + n.value(timeline.EngineVersion))
	}, timeline.EngineKind, timeline.EngineVersion)
	tell(asksPool, func(n *engine) string {
		pool, context := tokens(n.value(timeline.PoolTokens)), tokens(n.value(timeline.ContextTokens))
		switch {
		case pool == 0 || context == 0:
			return ""
		case pool >= context:
			return "yes"
		}
		return fmt.Sprintf("no, it holds %d tokens of %d", pool, context)
	}, timeline.PoolTokens, timeline.ContextTokens)
	tell(asksChecksum, func(n *engine) string { return n.value(timeline.KVChecksum) }, timeline.KVChecksum)
	return out
}

// canary adds what test tenants showed: by the last of their requests that told
// something, with its day.
func (q *questions) canary() (out []seenCell) {
	for _, ask := range []struct {
		probe          timeline.Probe
		question, what string
	}{
		{timeline.MarkerProbe, "test tenants got replies with their own marks alone, by the canary", "test tenant"},
		{timeline.LongProbe, "a prompt that is too long is refused, by the canary", "endpoint"},
	} {
		t, worst := tally{}, map[timeline.Subject]matchers.CanaryCell{}
		for _, c := range q.c.Canary {
			old, have := worst[c.Subject] // a tenant may ask several endpoints
			if c.Probe == ask.probe && (!have || weight(c.Verdict) < weight(old.Verdict)) {
				worst[c.Subject] = c
			}
		}
		for _, c := range worst {
			t.note(map[matchers.Verdict]string{matchers.Clear: "yes", matchers.Possible: "in doubt", matchers.Exposed: "no"}[c.Verdict], c.At)
		}
		text, day := t.words(ask.what)
		out = append(out, seenCell{ask.question, text, day})
	}
	return out
}

func tokens(s string) (n int64) {
	if _, err := fmt.Sscan(s, &n); err != nil {
		return 0
	}
	return n
}

// gateways adds the versions of the gateway that the evidence shows.
func (q *questions) gateways() seenCell {
	t := tally{}
	newest := map[string]timeline.Fact{} // by subject: what was seen last
	for _, f := range q.c.Gateway {
		if !q.concerns(f.Subject) {
			continue
		}
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
	return seenCell{"LiteLLM, by the evidence", text, day}
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
