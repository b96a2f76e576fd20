package reports

import (
	"fmt"
	"strings"
	"time"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

// Incident is what a report says of the incident: the facts of its file, each
// with whose statement it is, and what nobody knows of it.
type Incident struct {
	ID            string   `json:"id"`
	Revision      string   `json:"revision"` // SHA-256 of its file
	Title         string   `json:"title"`
	Kind          string   `json:"kind"`
	Summary       string   `json:"summary,omitempty"`
	Windows       []Window `json:"windows"`
	Order         []Step   `json:"response_order"`
	NotAffected   []Step   `json:"not_affected,omitempty"`
	Disagreements []string `json:"disagreements,omitempty"`
	Limits        []Limit  `json:"limits"`
}

// Window is when a channel served the release, and who says so.
type Window struct {
	Channel   string  `json:"channel"`
	From      *string `json:"from"`
	To        *string `json:"to"`
	Precision string  `json:"precision"`
	Basis     string  `json:"basis"`
	Source    string  `json:"source"`
	Note      string  `json:"note,omitempty"`
	Disputed  bool    `json:"disputed,omitempty"`
}

// Step is a sentence of the incident and who says it.
type Step struct {
	Step     string `json:"step"`
	Source   string `json:"source"`
	Disputed bool   `json:"disputed,omitempty"`
}

// Limit is something that is not known of the incident. Every negative result
// depends on it. L1, L2, … are lists of the incident that are not complete,
// U1, U2, … what nobody has published.
type Limit struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

func newIncident(inc *matchers.Incident) Incident {
	out := Incident{
		ID: inc.ID, Revision: inc.Revision, Title: inc.Title, Kind: inc.Kind, Summary: inc.Summary,
		Windows: []Window{}, Order: []Step{}, Disagreements: inc.Disagreements, Limits: []Limit{},
	}
	for _, c := range inc.Channels {
		for _, w := range c.Windows {
			out.Windows = append(out.Windows, Window{
				Channel: c.Name, From: Time(w.From), To: Time(w.To), Precision: w.Precision, Basis: w.Basis,
				Source: cite(inc, w.Cite), Note: w.Note, Disputed: w.Disputed,
			})
		}
	}
	for _, s := range inc.ResponseOrder {
		out.Order = append(out.Order, Step{s.Step, cite(inc, s.Cite), s.Disputed})
	}
	for _, n := range inc.NotAffected {
		out.NotAffected = append(out.NotAffected, Step{n.What, cite(inc, n.Cite), n.Disputed})
	}
	for _, l := range openLists(inc) {
		out.Limits = append(out.Limits, Limit{l.id, l.text})
	}
	for i, u := range inc.Unknown {
		out.Limits = append(out.Limits, Limit{fmt.Sprintf("U%d", i+1), u})
	}
	return out
}

// openList is a list of the incident that is not complete.
type openList struct {
	id, text string
	channels map[string]bool // it matters on
}

// openLists are the incident's lists that are not stated to be complete.
func openLists(inc *matchers.Incident) []openList {
	packages, images, actions := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range inc.Packages {
		packages[p.Channel] = true
	}
	for _, i := range inc.Images {
		images[i.Channel] = true
	}
	for _, a := range inc.Actions {
		actions[a.Channel] = true
	}
	var out []openList
	add := func(complete bool, on map[string]bool, what string) {
		if !complete && len(on) > 0 {
			out = append(out, openList{
				fmt.Sprintf("L%d", len(out)+1),
				"the incident's list of " + what + " is not known to be complete: one that it does not name was not looked for", on,
			})
		}
	}
	add(inc.Complete.Versions, packages, "bad versions")
	add(inc.Complete.Tags, images, "bad image tags")
	add(inc.Complete.Digests, images, "bad image digests")
	add(inc.Complete.Commits, actions, "bad commits")
	return out
}

// limitsOf tells which limits a clear finding depends on: the open lists of the
// channels that it was cleared on, and everything that nobody has published.
func limitsOf(inc *matchers.Incident) func(channels map[string]string) []string {
	lists := openLists(inc)
	known := map[string][]string{}
	return func(channels map[string]string) []string {
		var ids []string
		for _, l := range lists {
			for c := range l.channels {
				if channels[c] == "clear" {
					ids = append(ids, l.id)
					break
				}
			}
		}
		key := strings.Join(ids, " ")
		if out, ok := known[key]; ok {
			return out
		}
		for i := range inc.Unknown {
			ids = append(ids, fmt.Sprintf("U%d", i+1))
		}
		known[key] = ids
		return ids
	}
}

// cite names who says something: the address or sentence of the reference.
func cite(inc *matchers.Incident, c matchers.Cite) string {
	if c.Source.URL != "" {
		return c.Source.URL
	}
	if c.Source.Index >= 0 && c.Source.Index < len(inc.References) {
		return inc.References[c.Source.Index]
	}
	return strings.TrimSpace(c.Note)
}

// window prints a window as people read it, to its precision.
func window(w Window) string {
	text := func(at *string) string {
		if at == nil {
			return "an unknown time"
		}
		t := time.Unix(0, nanoseconds(at, 0)).UTC()
		switch w.Precision {
		case "day":
			return t.Format("2006-01-02")
		case "second":
			return t.Format("2006-01-02 15:04:05")
		}
		return t.Format("2006-01-02 15:04")
	}
	from, to := text(w.From), text(w.To)
	if w.From == nil && w.To == nil {
		return "any time"
	}
	if day, _, ok := strings.Cut(from, " "); ok && w.From != nil && w.Precision != "day" {
		to = strings.TrimPrefix(to, day+" ")
	}
	return from + " to " + to + " UTC"
}

// nanoseconds is a time of a document, unknown for null.
func nanoseconds(at *string, unknown int64) int64 {
	if at == nil {
		return unknown
	}
	ns, err := timeline.ParseTime(*at, unknown)
	if err != nil {
		return unknown
	}
	return ns
}
