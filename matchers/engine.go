package matchers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pulltrail/timeline"
)

// An engine's flaw depends on its version, its topology, its transfer backend
// and on the size of its cache together, as they were at one time. A node is
// judged at each moment at which something of that is known to have changed.

// node is what is known of one inference engine.
type node struct {
	subject  timeline.Subject
	settings map[timeline.SettingName][]setting
	changed  []int64 // moments, once they were asked for
}

// setting is one known value with the line that says it.
type setting struct {
	value string
	fact  *timeline.Fact
}

// nodeState is what a node was set to at some time.
type nodeState map[timeline.SettingName]setting

func (s nodeState) value(name timeline.SettingName) string { return s[name].value }

// count is a number of tokens, 0 when it is not known.
func (s nodeState) count(name timeline.SettingName) int64 {
	n, err := strconv.ParseInt(s[name].value, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// engines judges the nodes of an engine-flaw incident, and the requests that
// they answered.
func (m *matching) engines() error {
	if m.q.inc.Kind != EngineFlaw {
		return nil
	}
	nodes, err := m.nodes()
	if err != nil {
		return err
	}
	for _, n := range nodes {
		m.judgeNode(n)
	}
	if err := m.requests(nodes); err != nil {
		return err
	}
	m.canaries()
	return nil
}

// nodes lists the subjects on which an engine of the incident runs or is
// installed, with all that is known of them.
func (m *matching) nodes() ([]*node, error) {
	byName := map[timeline.Subject]*node{}
	add := func(who timeline.Subject, name timeline.SettingName, s setting) {
		n := byName[who]
		if n == nil {
			n = &node{subject: who, settings: map[timeline.SettingName][]setting{}}
			byName[who] = n
		}
		n.settings[name] = append(n.settings[name], s)
	}
	for i, row := range m.r.settings {
		add(row.Subject, row.Name, setting{row.Value, settingFact(row, -int64(i+1))})
	}
	for a := range m.people.all() {
		for _, j := range a.judged {
			if m.q.engines[packageKey(j.Parts)] != nil && !asks(j.Action) && j.Parts.Version != "" && a.subject.Kind != timeline.Image {
				add(a.subject, timeline.EngineKind, setting{engineName(j.Parts), j.Fact})
				add(a.subject, timeline.EngineVersion, setting{j.Parts.Version, j.Fact})
			}
		}
	}
	if err := m.fromImages(add); err != nil {
		return nil, err
	}
	var all []*node
	for _, n := range byName {
		if slices.ContainsFunc(n.settings[timeline.EngineKind], func(s setting) bool { return m.q.engineRules(s.value) != nil }) {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b *node) int { return compareSubjects(a.subject, b.subject) })
	return all, nil
}

// fromImages gives those who ran an image the version of the engine in exactly
// that image.
func (m *matching) fromImages(add func(timeline.Subject, timeline.SettingName, setting)) error {
	versions := map[string]*timeline.Fact{} // by digest
	for _, f := range m.r.facts {
		if f.Subject.Kind == timeline.Image && f.Action == timeline.Present && m.q.engines[packageKey(f.Parts)] != nil && f.Parts.Version != "" {
			for _, d := range m.holds.same(f.Subject.ID) {
				versions[d] = f
			}
		}
	}
	if len(versions) == 0 {
		return nil
	}
	digests := make([]string, 0, len(versions))
	for d := range versions {
		digests = append(digests, d)
	}
	slices.Sort(digests)
	ran, err := m.r.with(digests)
	if err != nil {
		return err
	}
	for _, f := range ran {
		if f.Subject.Kind == timeline.Image || f.Action != timeline.Run && f.Action != timeline.Present {
			continue
		}
		for _, d := range f.Item.Digests {
			if of, ok := versions[d.Value]; ok {
				in := *of
				in.Span = f.Span // the content counts from when it ran
				add(f.Subject, timeline.EngineKind, setting{engineName(in.Parts), &in})
				add(f.Subject, timeline.EngineVersion, setting{in.Parts.Version, &in})
			}
		}
	}
	return nil
}

// settingFact is a setting as a fact of the timeline.
func settingFact(row timeline.SettingRow, number int64) *timeline.Fact {
	return &timeline.Fact{
		Event: number, Action: timeline.Run, Subject: row.Subject, Span: row.Span, SHA256: row.SHA256, Origin: row.Origin,
		Item: timeline.Item{Artifact: "setting:" + string(row.Name) + "=" + row.Value}, Parts: timeline.Parts{Type: "setting", Name: string(row.Name), Version: row.Value},
	}
}

// engineName is the last element of a package's name: sglang, vllm.
func engineName(p timeline.Parts) string { return p.Name[strings.LastIndexByte(p.Name, '/')+1:] }

// engineRules are those for an engine of that name.
func (q *question) engineRules(name string) []*engineRule {
	for key, rules := range q.engines {
		if key[strings.LastIndexByte(key, '/')+1:] == name {
			return rules
		}
	}
	return nil
}

// boot is how long an engine may take to say all of its settings.
const boot = int64(time.Hour)

// moments are the times at which a node is judged, in order: each time by which
// its settings were said. The lines of one start belong together, until one of
// them is said anew with another value. The beginning alone when no line has a
// time.
func (n *node) moments() []int64 {
	if n.changed != nil {
		return n.changed
	}
	type said struct {
		name timeline.SettingName
		setting
	}
	var all []said
	for _, name := range stateNames {
		for _, s := range n.settings[name] {
			if s.fact.Span.From != timeline.Beginning {
				all = append(all, said{name, s})
			}
		}
	}
	slices.SortFunc(all, func(a, b said) int {
		return cmp.Or(cmp.Compare(a.fact.Span.From, b.fact.Span.From), strings.Compare(string(a.name), string(b.name)), strings.Compare(a.value, b.value))
	})
	have := map[timeline.SettingName]string{}
	runs := false // an installed package runs nothing by itself
	for i, s := range all {
		at := s.fact.Span.From
		old, known := have[s.name]
		if i > 0 && (known && old != s.value || at-all[i-1].fact.Span.From > boot) {
			if runs {
				n.changed = append(n.changed, all[i-1].fact.Span.From)
			}
			clear(have)
			runs = false
		}
		have[s.name] = s.value
		runs = runs || s.name != timeline.EngineKind && s.name != timeline.EngineVersion || s.fact.Action == timeline.Run
	}
	if len(all) > 0 {
		n.changed = append(n.changed, all[len(all)-1].fact.Span.From)
	} else {
		n.changed = []int64{timeline.Beginning}
	}
	return n.changed
}

// states lists what the node may have been set to at a time: for each name the
// last value known then. Values whose lines have no time may hold at any, so
// that there may be several states.
func (n *node) states(at int64) []nodeState {
	states := []nodeState{{}}
	for _, name := range stateNames {
		values := n.valuesAt(name, at)
		if len(values) == 0 {
			continue
		}
		var more []nodeState
		for _, s := range states {
			for _, v := range values {
				next := nodeState{}
				for k, old := range s {
					next[k] = old
				}
				next[name] = v
				more = append(more, next)
			}
		}
		if states = more; len(states) > maxStates {
			states = states[:maxStates]
		}
	}
	return states
}

// maxStates bounds the states of a node whose lines contradict each other.
const maxStates = 256

// stateNames are the settings that a verdict depends on.
var stateNames = []timeline.SettingName{
	timeline.EngineKind, timeline.EngineVersion, timeline.Topology, timeline.TransferBackend, timeline.PoolTokens,
	timeline.ContextTokens, timeline.InputTokens, timeline.KVChecksum,
}

// valuesAt lists the different values that a setting may have had.
func (n *node) valuesAt(name timeline.SettingName, at int64) []setting {
	var values []setting
	var last *setting
	for i := range n.settings[name] {
		s := &n.settings[name][i]
		switch {
		case s.fact.Span.From == timeline.Beginning:
			if !slices.ContainsFunc(values, func(t setting) bool { return t.value == s.value }) {
				values = append(values, *s)
			}
		case s.fact.Span.From <= at && (last == nil || s.fact.Span.From >= last.fact.Span.From):
			last = s
		}
	}
	if last != nil && !slices.ContainsFunc(values, func(t setting) bool { return t.value == last.value }) {
		values = append(values, *last)
	}
	return values
}

// judgeNode replaces what a version alone said of a node by what its versions
// and settings say together.
func (m *matching) judgeNode(n *node) {
	a := m.of(n.subject)
	a.judged = slices.DeleteFunc(a.judged, func(j judged) bool { return m.q.engines[packageKey(j.Parts)] != nil })
	var worst *nodeAnswer
	for _, at := range n.moments() {
		for _, s := range n.states(at) {
			for _, r := range m.q.engineRules(s.value(timeline.EngineKind)) {
				got := r.judge(s)
				if worst == nil || got.verdict.rank() < worst.verdict.rank() {
					worst = &got
				}
			}
		}
	}
	if worst == nil {
		return
	}
	m.answerNode(n, worst)
}

// notBefore notes that nothing is known of a clear node before a time, where that is
// after the incident began: what it ran then may have been affected.
func (m *matching) notBefore(who timeline.Subject, first int64) {
	if from, _, ok := m.q.union(); ok && first <= from {
		return
	}
	if m.late == nil {
		m.late = map[timeline.Subject]int64{}
	}
	m.late[who] = first
}

// firstSeen is the first time at which something of the node is known, Forever
// when no line has a time.
func (n *node) firstSeen() int64 {
	first := timeline.Forever
	for _, list := range n.settings {
		for _, s := range list {
			if s.fact.Span.From != timeline.Beginning {
				first = min(first, s.fact.Span.From)
			}
		}
	}
	return first
}

// nodeAnswer is what one rule says of a node in one state.
type nodeAnswer struct {
	verdict Verdict
	rule    string
	because string
	state   nodeState
	by      []timeline.SettingName // what it stands on, what decides first
}

func (m *matching) answerNode(n *node, got *nodeAnswer) {
	a := m.of(n.subject)
	facts := got.facts()
	if len(facts) == 0 {
		return
	}
	if got.verdict == Clear {
		how := got.because + "; what it was before its evidence begins is not known"
		if first := n.firstSeen(); first != timeline.Forever {
			how = got.because + "; seen from " + timeline.FormatTime(first) + " on, and not before"
			m.notBefore(n.subject, first)
		}
		c := cleared{ask: judged{Fact: facts[0], part: "setting of the engine"}, how: how}
		for _, f := range facts[1:] {
			c.by = append(c.by, Evidence{Fact: f, Part: "setting of the engine"})
		}
		a.cleared = append(a.cleared, c)
		return
	}
	a.judged = append(a.judged, judged{Fact: facts[0], verdict: got.verdict, rule: got.rule, because: got.because})
	for _, f := range facts[1:] {
		a.judged = append(a.judged, judged{Fact: f, part: "setting of the engine"})
	}
}

// facts lists the lines that an answer stands on, each once.
func (g *nodeAnswer) facts() []*timeline.Fact {
	var out []*timeline.Fact
	for _, name := range append(slices.Clone(g.by), stateNames...) {
		s, ok := g.state[name]
		if ok && !slices.ContainsFunc(out, func(f *timeline.Fact) bool { return keyOf(f) == keyOf(s.fact) }) {
			out = append(out, s.fact)
		}
	}
	return out
}

// judge says what the rule means for a node in one state.
func (r *engineRule) judge(s nodeState) nodeAnswer {
	g := nodeAnswer{state: s}
	version, topology, backend := s.value(timeline.EngineVersion), s.value(timeline.Topology), s.value(timeline.TransferBackend)
	pool, context := s.count(timeline.PoolTokens), s.count(timeline.ContextTokens)
	affected := version != "" && r.affected.Exact(version)
	fixed := r.Fixed[backend]
	covers := slices.Contains(r.Checks, "pool-covers-context") && pool > 0 && context > 0
	say := func(v Verdict, rule string, by timeline.SettingName, format string, args ...any) nodeAnswer {
		g.verdict, g.rule, g.by = v, rule, []timeline.SettingName{by}
		g.because = fmt.Sprintf(format, args...) + s.checksum()
		return g
	}
	switch {
	case version != "" && !affected:
		return say(Clear, "version-not-affected", timeline.EngineVersion, "runs %s, outside the affected versions (%s)", version, r.Affected)
	case affected && fixed != "" && newVersionSet("pypi", []string{">=" + fixed}, nil).Exact(version):
		return say(Clear, "fixed-for-backend", timeline.EngineVersion, "runs %s, which is fixed for the transfer backend %s since %s", version, backend, fixed)
	case topology == "single" && r.disaggregation():
		return say(Clear, "single-node", timeline.Topology, "is a single node, which refuses a request longer than its cache")
	case backend != "" && !r.backend(backend):
		return say(Clear, "backend-not-affected", timeline.TransferBackend, "moves its cache with %s, which is not affected", backend)
	case covers && pool >= context:
		return say(Clear, "pool-covers-context", timeline.PoolTokens, "its cache holds %d tokens, as many as the context of %d that it takes", pool, context)
	case topology != "" && backend != "" && covers:
		return say(Exposed, "pool-smaller-than-context", timeline.PoolTokens, "is a %s node with %s whose cache holds %d tokens and which takes a context of %d", topology, backend, pool, context)
	case affected && topology != "" && backend != "":
		return say(Exposed, "affected-configuration", timeline.EngineVersion, "runs %s (affected: %s) as a %s node with %s", version, r.Affected, topology, backend)
	case affected:
		return say(Possible, "affected-engine", timeline.EngineVersion, "runs %s, an affected version (%s); %s", version, r.Affected, s.missing())
	}
	return say(Unknown, "engine-version-unknown", timeline.EngineKind, "runs %s, and no evidence says which version; affected are %s", cmp.Or(s.value(timeline.EngineKind), "the engine"), r.Affected)
}

// disaggregation reports whether the rule needs prefill and decode on nodes of
// their own.
func (r *engineRule) disaggregation() bool {
	on, _ := r.When["disaggregation"].(bool)
	return on
}

// backend reports whether the rule lists a transfer backend; one without a list
// means all.
func (r *engineRule) backend(name string) bool {
	list, _ := r.When["transfer_backends"].([]string)
	return len(list) == 0 || slices.Contains(list, name)
}

// checksum says whether transferred cache was checked, as a supplement: it
// decides nothing.
func (s nodeState) checksum() string {
	switch s.value(timeline.KVChecksum) {
	case "on":
		return "; transferred cache is checked"
	case "off":
		return "; transferred cache is not checked"
	}
	return "; whether transferred cache is checked is not known"
}

// missing says what of the configuration no evidence shows.
func (s nodeState) missing() string {
	var open []string
	if s.value(timeline.Topology) == "" {
		open = append(open, "its topology")
	}
	if s.value(timeline.TransferBackend) == "" {
		open = append(open, "its transfer backend")
	}
	return strings.Join(open, " and ") + " is not in the evidence"
}
