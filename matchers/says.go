package matchers

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"pulltrail/timeline"
)

// incidentFact is one fact of an incident, as the revisions of it are compared.
type incidentFact struct {
	kind    string // window, version, safe version, file, tag, moving tag, digest, ref, commit, safe commit, indicator, list, engine, condition, fix
	channel string // "" for what belongs to none
	name    string // package, repository, action or vendor
	value   string
	cite    string // where it was read, and whether it is disputed: no part of the comparison of values
}

// line is the fact in the form that the case stores.
func (s incidentFact) line() string {
	return strings.Join([]string{s.kind, s.channel, s.name, s.value, s.cite}, "\t")
}

// Says lists what decides in an incident, one fact a line, sorted: windows,
// versions, tags, digests, commits, indicators, what an engine is affected in, and
// which lists are whole. Two revisions that say the same answer the same.
func (inc *Incident) Says() string {
	var lines []string
	for _, s := range inc.facts() {
		lines = append(lines, s.line())
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

func (inc *Incident) facts() []incidentFact {
	q := &question{inc: inc}
	cite := func(c Cite) string {
		if c.Disputed {
			return q.cite(c) + ", disputed"
		}
		return q.cite(c)
	}
	var out []incidentFact
	add := func(kind, channel, name, value string, c Cite) {
		out = append(out, incidentFact{kind, channel, name, value, cite(c)})
	}
	for _, c := range inc.Channels {
		for i := range c.Windows {
			add("window", c.Name, "", windowText(&c.Windows[i]), c.Windows[i].Cite)
		}
	}
	for _, p := range inc.Packages {
		for _, v := range p.Versions {
			add("version", p.Channel, p.PURL, v, p.Cite)
		}
		for _, v := range p.Safe {
			add("safe version", p.Channel, p.PURL, v, p.Cite)
		}
		for _, f := range p.Files {
			add("file", p.Channel, p.PURL, f.Name+" sha256:"+f.SHA256, p.Cite)
		}
	}
	inc.factsOfImages(add)
	for _, in := range inc.Indicators {
		if in.Type != "context" {
			add("indicator", "", "", in.Type+" "+in.Value, in.Cite)
		}
	}
	for _, e := range inc.Engines {
		add("engine", "", e.PURL, e.Affected, e.Cite)
		for key, value := range e.When {
			add("condition", "", e.PURL, fmt.Sprintf("%s: %v", key, value), e.Cite)
		}
		for backend, version := range e.Fixed {
			add("fix", "", e.PURL, backend+" "+version, e.Cite)
		}
	}
	for _, v := range inc.Vendors {
		for _, d := range v.Domains { // looked for as an indicator is
			add("indicator", "", "", "domain "+d, v.Cite)
		}
		for i := range v.Windows {
			add("window", "", v.Name, windowText(&v.Windows[i]), v.Windows[i].Cite)
		}
	}
	whole := inc.Complete
	for _, l := range []struct {
		name string
		is   bool
	}{{"versions", whole.Versions}, {"tags", whole.Tags}, {"digests", whole.Digests}, {"commits", whole.Commits}} {
		if l.is {
			out = append(out, incidentFact{kind: "list", value: "of " + l.name + " is complete"})
		}
	}
	return out
}

func (inc *Incident) factsOfImages(add func(kind, channel, name, value string, c Cite)) {
	for _, im := range inc.Images {
		for _, t := range im.Tags {
			add("tag", im.Channel, im.Repository, t, im.Cite)
		}
		for _, t := range im.MovingTags {
			add("moving tag", im.Channel, im.Repository, t, im.Cite)
		}
		for _, d := range im.Digests {
			add("digest", im.Channel, im.Repository, strings.TrimSpace(d.Digest+" "+string(d.Role)), im.Cite)
		}
	}
	for _, a := range inc.Actions {
		for _, r := range a.Refs {
			add("ref", a.Channel, a.Repository, r, a.Cite)
		}
		for _, c := range a.Commits {
			add("commit", a.Channel, a.Repository, c, a.Cite)
		}
		for _, c := range a.SafeCommits {
			add("safe commit", a.Channel, a.Repository, c, a.Cite)
		}
	}
}

// parseSays reads what Says wrote.
func parseSays(text string) []incidentFact {
	var out []incidentFact
	for line := range strings.Lines(text) {
		w := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(w) == 5 {
			out = append(out, incidentFact{w[0], w[1], w[2], w[3], w[4]})
		}
	}
	return out
}

// IncidentChange is one fact that one revision says and the other does not.
type IncidentChange struct {
	Added   bool   // the later revision says it
	Kind    string // window, version, tag, moving tag, digest, …
	Channel string
	Name    string // package, repository, action or vendor
	Value   string
	Cite    string // where it was read
}

// String prints "the window of pypi, 2026-10-21 11:39:00 to 14:20:59 UTC".
func (c IncidentChange) String() string {
	s := "the " + c.Kind
	if c.Name != "" {
		s += " of " + c.Name
	} else if c.Channel != "" {
		s += " of " + c.Channel
	}
	if c.Kind == "list" {
		return fmt.Sprintf("%s %s", s, c.Value)
	}
	return s + ", " + c.Value
}

// changesOf compares two revisions. A fact that is only cited otherwise is the
// same, unless it became or ceased to be disputed.
func changesOf(before, after string) []IncidentChange {
	key := func(s incidentFact) incidentFact {
		disputed := strings.HasSuffix(s.cite, ", disputed")
		if s.cite = ""; disputed {
			s.cite = "disputed"
		}
		return s
	}
	was, is := map[incidentFact]bool{}, map[incidentFact]bool{}
	for _, s := range parseSays(before) {
		was[key(s)] = true
	}
	for _, s := range parseSays(after) {
		is[key(s)] = true
	}
	var out []IncidentChange
	list := func(all []incidentFact, other map[incidentFact]bool, added bool) {
		for _, s := range all {
			if !other[key(s)] {
				out = append(out, IncidentChange{added, s.kind, s.channel, s.name, s.value, s.cite})
			}
		}
	}
	list(parseSays(before), is, false)
	list(parseSays(after), was, true)
	return out
}

// verdictRow is the finding in the form that the case stores: what it says, its
// channels as channelsText has them, and the first lines that it stands on.
func verdictRow(f *Finding, channels string) timeline.VerdictRow {
	row := timeline.VerdictRow{
		Subject: f.Subject.String(), Verdict: string(f.Verdict), Rule: f.Rule, Because: f.Because, Artifact: f.Artifact,
		Channels: channels,
	}
	var room [400]byte
	b := room[:0]
	for i := range f.Evidence[:min(len(f.Evidence), maxOrigins)] {
		e := &f.Evidence[i]
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(append(b, e.SHA256[:min(12, len(e.SHA256))]...), ' ')
		b = strconv.AppendInt(append(append(b, e.Path...), ':'), e.Line, 10)
	}
	row.Origins = string(b)
	return row
}

// channelsText lists channels as "channel=verdict".
func channelsText(verdicts map[string]Verdict) string {
	channels := make([]string, 0, len(verdicts))
	for c, v := range verdicts {
		channels = append(channels, c+"="+string(v))
	}
	slices.Sort(channels)
	return strings.Join(channels, " ")
}

// maxOrigins is how many lines of a finding are stored: the one that decides,
// and the next; 'explain' has them all.
const maxOrigins = 5

// Store appends an answer to the case, for Compare to find later. The same
// answer as the one before changes nothing. program is the version, command the
// line that was run. It returns how many subjects have another verdict than in the
// answer before, 0 for the first.
func Store(db *timeline.DB, r *Result, program, command string) (changed int, err error) {
	known := map[uintptr]string{} // subjects of which the same is known share their channels
	rows := func(yield func(timeline.VerdictRow) bool) {
		for f := range r.bySubject() {
			which := reflect.ValueOf(f.Channels).Pointer()
			channels, ok := known[which]
			if !ok {
				channels = channelsText(f.Channels)
				known[which] = channels
			}
			if !yield(verdictRow(f, channels)) {
				return
			}
		}
	}
	a := answerOf(r)
	a.Program, a.Subjects = program, len(r.Findings)
	_, err = db.StoreAnswer(&a, rows, command)
	return a.Changed, err
}

// bySubject yields the findings by subject. Those of one verdict are in order:
// the heads of the verdicts are compared.
func (res *Result) bySubject() iter.Seq[*Finding] {
	return func(yield func(*Finding) bool) {
		runs := make([][]Finding, 0, len(Verdicts))
		for rest := res.Findings; len(rest) > 0; {
			n := 1
			for n < len(rest) && compareSubjects(rest[n-1].Subject, rest[n].Subject) < 0 {
				n++
			}
			runs, rest = append(runs, rest[:n]), rest[n:]
		}
		for {
			first := -1
			for i, run := range runs {
				if len(run) > 0 && (first < 0 || compareSubjects(run[0].Subject, runs[first][0].Subject) < 0) {
					first = i
				}
			}
			if first < 0 || !yield(&runs[first][0]) {
				return
			}
			runs[first] = runs[first][1:]
		}
	}
}

func answerOf(r *Result) timeline.AnswerRow {
	return timeline.AnswerRow{
		Incident: r.Incident.ID, Revision: r.Incident.Revision, Says: r.Incident.Says(), Complete: r.Complete, Sources: len(r.Sources),
	}
}
