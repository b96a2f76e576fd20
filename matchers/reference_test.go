package matchers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"pulltrail/timeline"
)

// reference answers the question of TestReference by brute force: every rule on
// every pair of things, again and again until nothing new comes. It shares no
// code with the matcher, and knows one question: litellm 1.107.0 on PyPI.
type reference struct {
	*history
	arrivals []reached1
	known    map[reached1]bool
	images   map[string]bool // that carry it on
	from, to int64           // from the first of them to the last line that has one's digest
}

// reached1 says that a subject is exposed, may be, or got it, from a time on.
type reached1 struct {
	who     string
	verdict Verdict
	since   int64
	op      int64   // the operation of the line, inside a build when it has one
	image   string  // of an image that came: its digest, "?" for a name alone
	name    string  // and the name that it came by
	content Verdict // and what is known of it
}

func newReference(h *history) *reference {
	r := &reference{history: h, known: map[reached1]bool{}, images: map[string]bool{}, from: timeline.Forever, to: timeline.Beginning}
	for _, e := range h.events {
		for _, who := range h.placed(e) {
			if v := h.alone(e); v != "" && (v == Exposed || v == Pulled || v == Possible) && !h.answered(e) {
				if who.guess {
					v = Possible
				}
				r.add(reached1{who: who.name, verdict: v, since: e.Span.From, op: e.Op, content: v})
			}
		}
	}
	for n := -1; n != len(r.arrivals); {
		n = len(r.arrivals)
		for i := 0; i < len(r.arrivals); i++ {
			r.follow(r.arrivals[i])
		}
	}
	for _, a := range r.arrivals {
		if strings.HasPrefix(a.who, "image:") {
			r.images[a.who] = true
			r.from = min(r.from, a.since)
		}
	}
	for _, e := range h.events {
		if d := digest(e); d != "" && r.images["image:"+d] {
			r.to = max(r.to, e.Span.To)
		}
	}
	return r
}

func (r *reference) add(a reached1) {
	if !r.known[a] {
		r.known[a] = true
		r.arrivals = append(r.arrivals, a)
	}
}

// placement is one whose doing an event was, or may have been.
type placement struct {
	name  string
	guess bool
}

func (h *history) placed(e timeline.Event) []placement {
	if e.Subject.Kind != timeline.Client {
		return []placement{{e.Subject.String(), false}}
	}
	hosts := h.behind[e.Subject.ID]
	if len(hosts) == 1 {
		return []placement{{"host:" + hosts[0], false}}
	}
	out := []placement{{e.Subject.String(), false}}
	for _, x := range hosts {
		out = append(out, placement{"host:" + x, true})
	}
	return out
}

func isAsk(a timeline.Action) bool {
	return a == timeline.Require || a == timeline.Resolve || a == timeline.Check || a == timeline.Opaque
}

// alone is the verdict of an event on the package by itself.
func (h *history) alone(e timeline.Event) Verdict {
	switch e.Items[0].Artifact {
	case "pkg:pypi/litellm@1.107.0":
		switch e.Action {
		case timeline.Install, timeline.Present, timeline.Remove:
			return Exposed
		case timeline.Download, timeline.Cached:
			return Pulled
		}
		return Possible
	case "pkg:pypi/litellm":
		if isAsk(e.Action) && e.Span.From <= windowTo && e.Span.To >= windowFrom {
			return Possible
		}
	}
	return ""
}

// answered: a later line of the same operation says that another version came.
func (h *history) answered(e timeline.Event) bool {
	exact := e.Items[0].Artifact == "pkg:pypi/litellm@1.107.0"
	if e.Op == 0 || !isAsk(e.Action) || exact && e.Action == timeline.Require {
		return false
	}
	for _, g := range h.events {
		came := g.Op == e.Op && g.Line >= e.Line && !isAsk(g.Action) && g.Items[0].Artifact == "pkg:pypi/litellm@1.106.2"
		if came && (g.Action != timeline.Download || h.ops[e.Op-1].State == timeline.OpDone) {
			return true // a file that came need not be what was installed in the end
		}
	}
	return false
}

func digest(e timeline.Event) string {
	for _, d := range e.Items[0].Digests {
		return d.Value
	}
	return ""
}

func isImage(e timeline.Event) bool {
	return strings.HasPrefix(e.Items[0].Artifact, "registry.acme.example/")
}

// tagged is the name of an image without a digest.
func tagged(e timeline.Event) string {
	name, _, _ := strings.Cut(e.Items[0].Artifact, "@")
	return name
}

func makesImage(e timeline.Event) bool {
	return isImage(e) && (e.Action == timeline.Build || e.Action == timeline.Push)
}

// in returns the build that an operation is part of, 0 for none.
func (h *history) in(op int64) int64 {
	for _, o := range h.ops {
		if o.Number == op && o.Tool == "buildkit" {
			return op
		}
		if o.Number == op && o.Parent != 0 {
			return o.Parent
		}
	}
	return 0
}

// follow applies every rule to one arrival.
func (r *reference) follow(a reached1) {
	kind, _, _ := strings.Cut(a.who, ":")
	for _, l := range r.links {
		r.followLink(a, kind, l)
	}
	for _, e := range r.events {
		if makesImage(e) && e.Span.To >= a.since {
			for _, who := range r.placed(e) {
				if who.name == a.who && !who.guess {
					r.make(a, kind, e)
				}
			}
		}
		if kind == "image" && isImage(e) {
			r.pull(a, e)
		}
	}
	if kind == "image" {
		id := strings.TrimPrefix(a.who, "image:")
		for other := range r.layers {
			if other != id && len(r.layers[id]) > 0 && subset(r.layers[id], r.layers[other]) {
				r.add(reached1{who: "image:" + other, verdict: atMost(a.verdict), since: a.since})
			}
		}
	}
}

func atMost(v Verdict) Verdict {
	if v == Exposed {
		return Exposed
	}
	return Possible
}

func subset(a, b []string) bool {
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}

func (r *reference) followLink(a reached1, kind string, l timeline.Link) {
	later := max(l.Span.From, a.since)
	inTime := l.Span.To >= a.since
	guest := strings.HasPrefix(l.From, "container:")
	switch {
	case l.Relation == timeline.On && l.From == a.who && kind == "job":
		r.add(reached1{who: l.To, verdict: a.verdict, since: a.since, op: -1})
	case l.Relation == timeline.On && l.From == a.who && guest && a.image != "" && a.verdict != Possible:
		r.add(reached1{who: l.To, verdict: Pulled, since: a.since, op: -1})
	case l.Relation == timeline.On && l.To == a.who && a.verdict == Exposed && inTime:
		r.add(reached1{who: l.From, verdict: Possible, since: later, op: -1})
	case l.Relation == timeline.Saves && l.From == a.who && inTime:
		r.add(reached1{who: cacheName(l), verdict: Possible, since: later})
	case l.Relation == timeline.Uses && cacheName(l) == a.who && inTime:
		r.add(reached1{who: l.From, verdict: Possible, since: later, op: -1})
	}
}

// cacheName: keys are those of a project.
func cacheName(l timeline.Link) string {
	project, _, _ := strings.Cut(strings.TrimPrefix(l.From, "job:"), "/jobs/")
	return "cache:" + project + "/caches/" + strings.TrimPrefix(l.To, "cache:")
}

// make: the image of an event was made by one who has it.
func (r *reference) make(a reached1, kind string, e timeline.Event) {
	if d := digest(e); d != "" && r.maker(d) != a.who {
		return // handed on
	}
	v := Possible
	build := int64(0)
	if a.op > 0 {
		build = r.in(a.op)
	}
	switch {
	case build != 0 && r.in(e.Op) == build:
		if a.content == Exposed && (a.image == "" || r.oneBase(build, a)) {
			v = Exposed
		}
	case build != 0 && r.in(e.Op) != 0:
		return
	case build != 0: // pushed by itself: whose image it is, the name says
		for _, b := range r.events {
			if b.Action == timeline.Build && tagged(b) == tagged(e) && r.in(b.Op) != 0 && b.Subject == e.Subject {
				if r.in(b.Op) != build {
					return
				}
				if a.content == Exposed && (a.image == "" || r.oneBase(build, a)) {
					v = Exposed
				}
				break
			}
		}
	case kind == "job" && a.verdict == Exposed:
		v = Exposed
	case kind != "job" && a.verdict == Possible:
		return
	}
	name := "image:" + digest(e)
	if digest(e) == "" {
		name = "image:" + tagged(e)
		if d := r.digestOf(e); d != "" {
			name = "image:" + d
		}
	}
	r.add(reached1{who: name, verdict: v, since: max(e.Span.From, a.since)})
}

// digestOf: the digest of an image that was made without one stands on another
// line of its build, or on the next line that pushes its name, unless another
// build comes first.
func (r *reference) digestOf(e timeline.Event) string {
	for _, b := range r.events {
		if makesImage(b) && b.Subject == e.Subject && tagged(b) == tagged(e) && digest(b) != "" && r.in(e.Op) != 0 && r.in(b.Op) == r.in(e.Op) {
			return digest(b)
		}
	}
	for _, b := range r.events {
		if !makesImage(b) || b.Subject != e.Subject || tagged(b) != tagged(e) || b.Line <= e.Line {
			continue
		}
		if b.Action == timeline.Build || digest(b) != "" {
			if b.Action == timeline.Build || r.in(b.Op) != 0 {
				return ""
			}
			return digest(b)
		}
	}
	return ""
}

// oneBase: a build names no other image that it is built from.
func (r *reference) oneBase(build int64, a reached1) bool {
	for _, e := range r.events {
		if r.in(e.Op) == build && isImage(e) && !makesImage(e) && tagged(e) != a.name && digest(e) != a.image {
			return false
		}
	}
	return true
}

// pull: an event got the image, by digest or by a name that it had.
func (r *reference) pull(a reached1, e timeline.Event) {
	id := strings.TrimPrefix(a.who, "image:")
	if d := digest(e); d == id {
		if makesImage(e) && r.maker(id) == e.Subject.String() {
			return
		}
		v := Possible
		if a.verdict == Exposed {
			if e.Action == timeline.Pull || e.Action == timeline.Present || e.Action == timeline.Cached {
				v = Pulled
			} else if e.Action == timeline.Run || makesImage(e) {
				v = Exposed
			}
		}
		content := Possible
		if a.verdict == Exposed {
			content = Exposed
		}
		r.give(e, reached1{verdict: v, since: max(e.Span.From, a.since), op: e.Op, image: id, name: tagged(e), content: content})
		return
	} else if d != "" && strings.HasPrefix(id, "sha256:") {
		return // another image
	}
	if makesImage(e) {
		return
	}
	had := timeline.Forever
	if id == tagged(e) {
		had = a.since
	}
	for _, n := range r.events {
		if isImage(n) && digest(n) == id && tagged(n) == tagged(e) {
			had = min(had, max(a.since, n.Span.From))
		}
	}
	if e.Span.To >= had && had != timeline.Forever && !(strings.HasPrefix(id, "sha256:") && r.settled(e)) {
		r.give(e, reached1{verdict: Possible, since: max(e.Span.From, a.since), op: e.Op, image: "?", name: tagged(e), content: Possible})
	}
}

// settled: another line says which image came by the name.
func (r *reference) settled(e timeline.Event) bool {
	for _, g := range r.events {
		if tagged(g) != tagged(e) || digest(g) == "" || isAsk(g.Action) || makesImage(g) {
			continue
		}
		at := time.Duration(g.Span.From - e.Span.From)
		hosts := r.behind[e.Subject.ID]
		if g.Op == e.Op && e.Op != 0 || e.Subject.Kind == timeline.Client && at >= -2*time.Second && at <= 10*time.Minute &&
			len(hosts) == 1 && g.Subject.String() == "host:"+hosts[0] {
			return true
		}
	}
	return false
}

// maker is who made an image: who built it, else who pushed it first.
func (r *reference) maker(id string) string {
	var made []timeline.Event
	for _, e := range r.events {
		if makesImage(e) && digest(e) == id {
			made = append(made, e)
		}
	}
	if len(made) == 0 {
		return ""
	}
	slices.SortFunc(made, func(a, b timeline.Event) int {
		if a.Action != b.Action {
			return cmp.Compare(a.Action, b.Action) // build comes before push
		}
		return cmp.Or(cmp.Compare(a.Span.From, b.Span.From), cmp.Compare(a.Line, b.Line))
	})
	return made[0].Subject.String()
}

func (r *reference) give(e timeline.Event, a reached1) {
	for _, who := range r.placed(e) {
		b := a
		if b.who = who.name; who.guess {
			b.verdict, b.content = Possible, Possible
		}
		r.add(b)
	}
}

func (r *reference) String() string {
	var b strings.Builder
	for _, a := range slices.SortedFunc(slices.Values(r.arrivals), func(x, y reached1) int {
		return cmp.Or(cmp.Compare(x.who, y.who), cmp.Compare(x.since, y.since))
	}) {
		fmt.Fprintf(&b, "  %s %s since %s\n", a.verdict, a.who, timeline.FormatTime(a.since))
	}
	return b.String()
}
