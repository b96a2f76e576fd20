package reports

import (
	"slices"
	"strings"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

// moment is one row of the report's timeline: what happened to whom, or a
// window that opens or closes.
type moment struct {
	at    int64
	Time  string
	Who   string // subject, or channels
	What  string
	Where string
	Seen  string // verdict of the finding
	Bound bool   // the end of a window
}

// chronology lists, in order of time, what led to verdicts other than clear,
// between the ends of the incident's windows. What has no time is left out: it
// stands with its finding.
func chronology(r *matchers.Result) []moment {
	out := boundaries(r.Incident)
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Verdict == matchers.Clear {
			continue
		}
		for _, e := range f.Evidence {
			accuses := e.Part == "decides" || strings.HasPrefix(e.Part, "also exposed") || strings.HasPrefix(e.Part, "also pulled")
			if !accuses || e.Span.From == timeline.Beginning {
				continue
			}
			j := newEvidence(e)
			m := moment{at: e.Span.From, Time: seconds(j.From, j.To), Who: f.Subject.String(), Seen: string(f.Verdict), What: j.Action + " " + j.Artifact}
			j.From, j.To = nil, nil
			m.Where = where(&j)
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b moment) int {
		switch {
		case a.at != b.at && a.at < b.at:
			return -1
		case a.at != b.at:
			return 1
		}
		return strings.Compare(a.Where+a.Who, b.Where+b.Who)
	})
	return out
}

// boundaries are the ends of the windows, those of one instant together.
func boundaries(inc *matchers.Incident) []moment {
	var out []moment
	add := func(ns int64, channel, what string) {
		if ns == timeline.Beginning || ns == timeline.Forever {
			return
		}
		i := slices.IndexFunc(out, func(m moment) bool { return m.at == ns && m.What == what })
		if i < 0 {
			t := Time(ns)
			out = append(out, moment{at: ns, Time: seconds(t, t), What: what, Who: channel, Bound: true})
			return
		}
		if !slices.Contains(strings.Split(out[i].Who, ", "), channel) {
			out[i].Who += ", " + channel
		}
	}
	for _, c := range inc.Channels {
		for _, w := range c.Windows {
			add(w.From, c.Name, "window opens")
			add(w.To, c.Name, "window closes")
		}
	}
	return out
}
