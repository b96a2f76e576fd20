package reports

import (
	"math"
	"slices"
	"strings"
)

// moment is one row of the timeline in words: what happened to whom, or a
// window that opens or closes.
type moment struct {
	At      int64 // nanoseconds
	Time    string
	Who     string // subject, or channels
	What    string
	Where   string
	Verdict string // of the finding; "" at the end of a window
	Finding string
}

// chronology lists, in order of time, what led to verdicts other than clear,
// between the ends of the incident's windows. What has no time is left out: it
// stands with its finding.
func chronology(d *Document) []moment {
	out := boundaries(d.Incident.Windows)
	for f := range d.every() {
		if f.Verdict == "clear" {
			continue
		}
		for j := range f.Evidence {
			e := &f.Evidence[j]
			accuses := j == 0 && e.Verdict != "" || e.Verdict == "exposed" || e.Verdict == "pulled"
			if !accuses || e.From == nil {
				continue
			}
			out = append(out, moment{
				At: nanoseconds(e.From, math.MinInt64), Time: when(*e), Who: f.Subject.Kind + ":" + f.Subject.ID,
				What: e.Action + " " + e.Artifact, Where: place(*e), Verdict: f.Verdict, Finding: f.ID,
			})
		}
	}
	slices.SortStableFunc(out, func(a, b moment) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return strings.Compare(a.Where+a.Who, b.Where+b.Who)
	})
	return out
}

// boundaries are the ends of the windows, those of one instant together.
func boundaries(windows []Window) []moment {
	var out []moment
	add := func(at *string, channel, what string) {
		if at == nil {
			return
		}
		i := slices.IndexFunc(out, func(m moment) bool { return m.Time == seconds(at, at) && m.What == what })
		if i < 0 {
			out = append(out, moment{At: nanoseconds(at, 0), Time: seconds(at, at), What: what, Who: channel})
			return
		}
		if !slices.Contains(strings.Split(out[i].Who, ", "), channel) {
			out[i].Who += ", " + channel
		}
	}
	for _, w := range windows {
		add(w.From, w.Channel, "window opens")
		add(w.To, w.Channel, "window closes")
	}
	return out
}
