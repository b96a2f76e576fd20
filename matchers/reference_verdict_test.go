package matchers

import (
	"slices"
	"strings"

	"pulltrail/timeline"
)

// verdicts decides every subject. carried is when any image of the case carries
// it on; none when from is Forever.
func (r *reference) verdicts(from, to int64) map[string]Verdict {
	out := map[string]Verdict{}
	for _, who := range r.people() {
		out[who] = r.quiet(who, from, to)
	}
	for _, a := range r.arrivals {
		if old := out[a.who]; old == "" || place(a.verdict) < place(old) {
			out[a.who] = a.verdict
		}
	}
	return out
}

func place(v Verdict) int {
	return slices.Index([]Verdict{Exposed, Pulled, Possible, Unknown, Clear}, v)
}

// people lists who gets a verdict whatever was found.
func (r *reference) people() []string {
	var out []string
	for _, e := range r.events {
		if e.Subject.Kind != timeline.Client || len(r.behind[e.Subject.ID]) != 1 {
			out = append(out, e.Subject.String())
		}
	}
	for _, l := range r.links {
		if l.Relation == timeline.On {
			out = append(out, l.From, l.To)
		}
	}
	for _, c := range r.coverage {
		out = append(out, c.Subject.String())
	}
	for _, hosts := range r.behind {
		for _, x := range hosts {
			out = append(out, "host:"+x)
		}
	}
	for x := range r.has {
		out = append(out, "host:"+x)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// quiet is the verdict of one whom nothing accuses.
func (r *reference) quiet(who string, from, to int64) Verdict {
	for _, e := range r.events {
		mine := slices.ContainsFunc(r.placed(e), func(p placement) bool { return p.name == who && !p.guess })
		other := e.Items[0].Artifact == "pkg:pypi/litellm@1.106.2" && !isAsk(e.Action)
		late := e.Span.To >= windowFrom || e.Subject.Kind == timeline.Job
		if mine && (other && late && (e.Action != timeline.Present || e.Op != 0) || r.alone(e) != "" && r.answered(e)) {
			return Clear
		}
	}
	host, isHost := strings.CutPrefix(who, "host:")
	stated := isHost && len(r.has[host]) > 0
	if !(stated && !slices.Contains(r.has[host], "pypi")) && !r.covered(who, "pypi", windowFrom, windowTo) {
		return Unknown
	}
	images := !stated || slices.Contains(r.has[host], "hosted")
	if isHost && images && from != timeline.Forever && !r.covered(who, "images", from, max(from, to)) {
		return Unknown
	}
	return Clear
}

// covered looks at every instant at which coverage could change.
func (r *reference) covered(who, topic string, from, to int64) bool {
	instants := []int64{from, to}
	var mine []timeline.Coverage
	for _, c := range r.coverage {
		if c.Subject.String() == who && (string(c.Topic) == topic || c.Topic == timeline.Everything) {
			if c.Whole {
				return true
			}
			mine = append(mine, c)
			instants = append(instants, c.Span.From-1, c.Span.To+1)
		}
	}
	for _, at := range instants {
		if at >= from && at <= to && !slices.ContainsFunc(mine, func(c timeline.Coverage) bool { return c.Span.From <= at && at <= c.Span.To }) {
			return false
		}
	}
	return true
}
