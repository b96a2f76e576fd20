package matchers

import (
	"fmt"
	"slices"

	"pulltrail/timeline"
)

// opKey is an operation and what it was asked for.
type opKey struct {
	source, op int64
	key        string
}

// answers takes back every ask that is answered: by the same operation, by the
// content of exactly the digest that came, or by the time of a cached layer.
func (m *matching) answers() error {
	given := map[opKey][]judged{}
	for a := range m.people.all() {
		for _, j := range a.judged {
			came := j.Parts.Type == "image" && !asks(j.Action) && len(j.Item.Digests) > 0
			if (j.answer || came) && j.Op != 0 {
				k := opKey{j.Source, j.Op, j.key}
				given[k] = append(given[k], j)
			}
		}
	}
	if err := m.readOps(); err != nil {
		return err
	}
	if err := m.each(func(a *about, j *judged) (bool, *cleared, error) {
		if !m.raise(a, j) {
			return true, nil, nil
		}
		c, err := m.answer(a, *j, given)
		return false, c, err
	}); err != nil {
		return err
	}
	return m.each(func(a *about, j *judged) (bool, *cleared, error) { // once it is known of what its writers got
		if j.rule != ruleFromCache {
			return false, nil, nil
		}
		c, err := m.restoredFrom(a, *j)
		return false, c, err
	})
}

// each drops what is taken back of all subjects: what says nothing, and asks
// that are answered.
func (m *matching) each(look func(*about, *judged) (drop bool, c *cleared, err error)) error {
	for a := range m.people.all() {
		kept := a.judged[:0]
		for _, j := range a.judged {
			drop, c, err := look(a, &j)
			switch {
			case err != nil:
				return err
			case c != nil:
				a.cleared = append(a.cleared, *c)
			case !drop:
				kept = append(kept, j)
			}
		}
		a.judged = kept
	}
	return nil
}

// raise decides a command that named no package: possible where the project is
// known to use a listed one, otherwise unknown; in an open window it counts
// only for such a project.
func (m *matching) raise(a *about, j *judged) (counts bool) {
	if j.rule != "opaque-in-window" && j.rule != ruleOpenWindow {
		return true
	}
	if m.uses(a.subject, j.Fact) {
		j.verdict, j.rule = Possible, "opaque-of-a-user"
		j.because += "; the project is known to use a listed package"
		return true
	}
	return j.rule != ruleOpenWindow
}

// answer returns how an ask is answered, nil when it is not.
func (m *matching) answer(a *about, j judged, given map[opKey][]judged) (*cleared, error) {
	if !j.ask {
		return nil, nil //nolint:nilnil // no answer is an answer
	}
	if c := m.lookedInto(a, j); c != nil {
		return c, nil
	}
	if j.rule == ruleFound {
		return m.madeHere(a, j), nil
	}
	if j.Parts.Type == "image" {
		return m.imageAnswer(j, given)
	}
	if c := m.holds.built(j); c != nil {
		return c, nil
	}
	if c := m.rowsName(j, given); c != nil {
		return c, nil
	}
	if j.Op != 0 {
		op, err := m.op(j.Source, j.Op)
		if err != nil {
			return nil, err
		}
		for _, g := range given[opKey{j.Source, j.Op, j.key}] {
			if g.Path == j.Path && g.Line < j.Line && g.Parts.Type != "github" {
				continue // "already satisfied" and then asked again: what came last is not known
			}
			if g.Action == timeline.Install || g.Action == timeline.Present || op.State == timeline.OpDone || g.Parts.Type == "github" {
				how := fmt.Sprintf("asked for %s, got %s", nameOf(j.Fact), g.Item.Artifact)
				return &cleared{j, []Evidence{{Fact: g.Fact, Part: "answers in the same command"}}, how}, nil
			}
		}
		switch {
		case op.State == timeline.OpCached:
			return m.cachedLayer(j, op)
		case op.State == timeline.OpFailed && op.Tool == "pip":
			if c, err := m.failed(j); c != nil || err != nil {
				return c, err
			}
		}
	}
	return m.projectFile(a, j), nil
}

// failed answers what a pip asked for that said it failed. pip names each file
// that it looks into or fetches: where it named none of the package, the index
// had none, or pip did not come to it.
//
//	ERROR: No matching distribution found for litellm
func (m *matching) failed(j judged) (*cleared, error) {
	facts, err := m.r.ofOps(j.Source, []int64{j.Op})
	if err != nil || j.Parts.Name == "" {
		return nil, err
	}
	for _, f := range facts {
		if !asksOnly(f.Action) && packageKey(f.Parts) == j.key {
			return nil, nil //nolint:nilnil // no answer is an answer
		}
	}
	return &cleared{ask: j, how: fmt.Sprintf("asked for %s, and the command failed before it named any file of that", nameOf(j.Fact))}, nil
}

// asksOnly reports whether an action says nothing of a file.
func asksOnly(a timeline.Action) bool {
	return a == timeline.Require || a == timeline.Check || a == timeline.Opaque
}

// rowsName answers a command of which some rows are missing when those that are
// there name every listed package of the channel: it installs each once.
func (m *matching) rowsName(j judged, given map[opKey][]judged) *cleared {
	if j.Op == 0 || j.Parts.Name != "" || j.Action != timeline.Opaque {
		return nil
	}
	c := &cleared{ask: j}
	for _, key := range m.q.served(j.channel) {
		i := slices.IndexFunc(given[opKey{j.Source, j.Op, key}], func(g judged) bool { return g.Action == timeline.Install })
		if i < 0 {
			return nil
		}
		g := given[opKey{j.Source, j.Op, key}][i]
		c.by = append(c.by, Evidence{Fact: g.Fact, Part: "answers in the same command"})
		c.how = fmt.Sprintf("not all of what the command installed is shown, and of what is listed it got %s", g.Item.Artifact)
	}
	if c.by == nil {
		return nil
	}
	return c
}

// imageAnswer answers an ask for an image by the content of exactly what came:
// the digest on the line itself, else every digest that the same finished
// command got for that image.
func (m *matching) imageAnswer(j judged, given map[opKey][]judged) (*cleared, error) {
	if v, by, how := m.holds.of(j.Item.Digests); v == Clear {
		return &cleared{j, by, how}, nil
	}
	if len(j.Item.Digests) > 0 || j.Op == 0 || !asks(j.Action) {
		return nil, nil //nolint:nilnil // no answer is an answer
	}
	op, err := m.op(j.Source, j.Op)
	if err != nil || op.State != timeline.OpDone {
		return nil, err
	}
	var c *cleared
	for _, g := range given[opKey{j.Source, j.Op, j.key}] {
		v, by, how := m.holds.of(g.Item.Digests)
		if v != Clear {
			return nil, nil //nolint:nilnil // no answer is an answer
		}
		c = &cleared{j, append([]Evidence{{Fact: g.Fact, Part: "what came in the same command"}}, by...), how}
	}
	return c, nil
}

// projectFile answers what a file of the project requires (a range in
// pyproject.toml) when the subject is a job whose own command shows what came
// for it.
func (m *matching) projectFile(a *about, j judged) *cleared {
	if j.Op != 0 || j.Action != timeline.Require || a.subject.Kind != timeline.Job || j.Span.From != timeline.Beginning {
		return nil
	}
	for _, g := range a.judged {
		if g.answer && g.Op != 0 && g.key == j.key && g.Action == timeline.Install {
			return &cleared{
				j,
				[]Evidence{{Fact: g.Fact, Part: "what the job's command got"}},
				fmt.Sprintf("the project asks for %s, the job got %s", nameOf(j.Fact), g.Item.Artifact),
			}
		}
	}
	return nil
}

func nameOf(f *timeline.Fact) string {
	if f.Item.Ref != "" && f.Action != timeline.Cached {
		return f.Item.Artifact + " (" + f.Item.Ref + ")"
	}
	return f.Item.Artifact
}

// readOps reads the operations of all asks at once.
func (m *matching) readOps() error {
	var keys []timeline.OpKey
	for a := range m.people.all() {
		for i := range a.judged {
			if j := &a.judged[i]; j.ask && j.Op != 0 {
				keys = append(keys, timeline.OpKey{Source: j.Source, Number: j.Op})
			}
		}
	}
	var err error
	m.asked, err = m.r.someOps(keys)
	return err
}

// op returns an operation; its zero value when none was stored.
func (m *matching) op(source, number int64) (timeline.Op, error) {
	if op, ok := m.asked[timeline.OpKey{Source: source, Number: number}]; ok {
		return op, nil
	}
	ops, err := m.opsIn(source)
	return ops[number], err
}

// opsIn returns the operations of a source.
func (m *matching) opsIn(source int64) (map[int64]timeline.Op, error) {
	ops, ok := m.ops[source]
	if !ok {
		var err error
		if ops, err = m.r.ops(source); err != nil {
			return nil, err
		}
		m.ops[source] = ops
	}
	return ops, nil
}

// cachedLayer answers the ask of a build step that was not run because its
// layer came from a cache: the layer's own time decides, as the history of
// exactly the image that the build produced gives it for the same instruction.
func (m *matching) cachedLayer(j judged, step timeline.Op) (*cleared, error) {
	instructions, err := m.r.ofOps(j.Source, []int64{step.Number})
	if err != nil {
		return nil, err
	}
	siblings, err := m.siblings(j.Source, step)
	if err != nil {
		return nil, err
	}
	built, err := m.r.ofOps(j.Source, siblings)
	if err != nil {
		return nil, err
	}
	var images []string
	for _, f := range built {
		if f.Action != timeline.Build && f.Action != timeline.Push {
			continue
		}
		for _, d := range f.Item.Digests {
			images = append(images, m.holds.same(d.Value)...)
		}
	}
	for _, f := range instructions {
		if f.Action != timeline.Cached || f.Item.Ref == "" {
			continue
		}
		layer, err := m.layer(images, f.Item.Ref)
		if err != nil {
			return nil, err
		}
		if layer != nil && m.q.during(j.channel, layer.Span) == nil {
			return &cleared{
				j,
				[]Evidence{{Fact: f, Part: "cached step"}, {Fact: layer, Part: "time of the layer"}},
				fmt.Sprintf("asked for %s in a cached step whose layer was made at %s, outside the window", nameOf(j.Fact), layer.Span),
			}, nil
		}
	}
	return nil, nil //nolint:nilnil // no answer is an answer
}

// siblings lists the operations of the same build.
func (m *matching) siblings(source int64, step timeline.Op) ([]int64, error) {
	out := []int64{step.Parent}
	if step.Parent == 0 {
		return out, nil
	}
	ops, err := m.opsIn(source)
	for n, o := range ops {
		if o.Parent == step.Parent {
			out = append(out, n)
		}
	}
	return out, err
}

// layer finds the history entry of one of the images for an instruction, with
// a clock that can be trusted.
func (m *matching) layer(images []string, instruction string) (*timeline.Fact, error) {
	subjects := make([]timeline.Subject, len(images))
	for i, d := range images {
		subjects[i] = timeline.Subject{Kind: timeline.Image, ID: d}
	}
	history, err := m.r.opaqueOf(subjects)
	if err != nil {
		return nil, err
	}
	for i := range history {
		if f := history[i]; f.Item.Ref == instruction && f.Span.Clock == timeline.Exact {
			return f, nil
		}
	}
	return nil, nil //nolint:nilnil // no such entry is an answer
}

// saysMore reports whether a says more of what a subject got than b.
func saysMore(a, b timeline.Action) bool {
	order := []timeline.Action{timeline.Present, timeline.Cached, timeline.Download, timeline.Pull, timeline.Install, timeline.Build, timeline.Push, timeline.Run}
	return slices.Index(order, a) > slices.Index(order, b)
}
