package reports

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

// Schema is the version of the findings document. Fields may be added, never
// renamed.
const Schema = "pulltrail.findings/1"

// Document is the answer as data: the truth that every report renders from.
// Times are RFC 3339 UTC; an unknown end is null.
type Document struct {
	Schema   string         `json:"schema"`
	AsOf     string         `json:"as_of,omitempty"`
	Incident Incident       `json:"incident"`
	Findings []Finding      `json:"findings"`
	Coverage Coverage       `json:"coverage"`
	Counts   map[string]int `json:"counts"`

	from *matchers.Result // whose findings are converted when they are asked for, in place of Findings
}

// Subject is who a finding or event speaks of; On is the host it ran on.
type Subject struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	On   string `json:"on"`
}

// Finding is the verdict for one subject.
type Finding struct {
	ID       string            `json:"id"`
	Subject  Subject           `json:"subject"`
	Verdict  string            `json:"verdict"`
	Rule     string            `json:"rule"`
	Because  string            `json:"because"`
	Artifact string            `json:"artifact"`
	From     *string           `json:"from"`
	To       *string           `json:"to"`
	Channels map[string]string `json:"channels"`
	Reasons  map[string]string `json:"channel_reasons"`
	Egress   string            `json:"egress"`
	EgressBy string            `json:"egress_because,omitempty"`
	Owner    string            `json:"owner,omitempty"`
	Service  string            `json:"service,omitempty"`
	Evidence []Evidence        `json:"evidence"`
	More     int               `json:"more_evidence,omitempty"` // lines beyond those listed
	Via      []string          `json:"via"`

	// Faults says what is wrong with the clocks of the evidence.
	Faults []string `json:"faults,omitempty"`
	// Uncovered is what was not seen of the windows; Limits names, for a clear
	// finding, the facts of Incident.Limits that it depends on.
	Uncovered []Hole   `json:"uncovered,omitempty"`
	Limits    []string `json:"limits,omitempty"`

	// Dispositions are what people said of it; the verdict stays what it is.
	Dispositions []Said `json:"dispositions,omitempty"`
}

// Said is what a person said of a finding or a credential.
type Said struct {
	Act    string `json:"act"` // rotated, waived, same, disposed
	At     string `json:"at,omitempty"`
	Until  string `json:"until,omitempty"`
	Who    string `json:"who"`
	Value  string `json:"value,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// newSaid leaves out when it was said: the same case gives the same report.
func newSaid(all []timeline.Decision) []Said {
	var out []Said
	for _, d := range all {
		out = append(out, Said{string(d.Act), stamp(d.At), stamp(d.Until), d.Who, d.Value, d.Reason})
	}
	return out
}

// stamp is a time as RFC 3339 UTC, "" when it is not stated.
func stamp(ns int64) string {
	if ns == 0 {
		return ""
	}
	return timeline.FormatTime(ns)
}

// Hole is a part of the windows of some channels that no evidence of a subject
// covers.
type Hole struct {
	Channels []string `json:"channels"`
	From     *string  `json:"from"`
	To       *string  `json:"to"`
}

// Evidence is one line that a finding stands on.
type Evidence struct {
	Source   string   `json:"source"`
	Path     string   `json:"path"`
	Line     int64    `json:"line"`
	Offset   int64    `json:"offset"`
	Action   string   `json:"action"`
	Artifact string   `json:"artifact"`
	Ref      string   `json:"ref,omitempty"`
	Digests  []Digest `json:"digests"`
	From     *string  `json:"from"`
	To       *string  `json:"to"`
	Written  string   `json:"written"`
	Clock    string   `json:"clock"`
	Text     string   `json:"text"`
	Part     string   `json:"part"`
	Verdict  string   `json:"verdict,omitempty"` // what the line supports by itself
}

// Digest is a hash and what it is of.
type Digest struct {
	Value string `json:"value"`
	Role  string `json:"role"`
}

// Coverage is what was and was not read.
type Coverage struct {
	Complete  bool       `json:"complete"`
	Channels  []Answered `json:"channels"`
	Expected  []Tally    `json:"expected,omitempty"`
	Inventory []string   `json:"inventory,omitempty"` // files that say which hosts there are
	Sources   []Source   `json:"sources"`
	Gaps      []Gap      `json:"gaps"`
}

// Answered says for how many subjects the question is answered on a channel.
type Answered struct {
	Channel  string `json:"channel"`
	Answered int    `json:"answered"`
	Of       int    `json:"of"`
}

// Tally is expected evidence against evidence held.
type Tally struct {
	What    string   `json:"what"`
	Held    int      `json:"held"`
	Of      int      `json:"of"`
	Missing []string `json:"missing,omitempty"` // of many the first
}

// Source is one piece of evidence. From and To are the first and last time in
// it; they prove no coverage.
type Source struct {
	Path    string  `json:"path"`
	SHA256  string  `json:"sha256"`
	Format  string  `json:"format"`
	State   string  `json:"state"`
	Why     string  `json:"why,omitempty"`
	Claim   string  `json:"claim,omitempty"`  // what --subject said; the path where nothing names a subject
	Zone    string  `json:"zone,omitempty"`   // --zone
	Covers  string  `json:"covers,omitempty"` // --covers
	Skew    string  `json:"skew,omitempty"`   // --skew
	From    *string `json:"from"`
	To      *string `json:"to"`
	Events  int64   `json:"events"`
	Skipped int64   `json:"skipped"`
}

// Gap is evidence that is missing, and how to close it.
type Gap struct {
	Subject string `json:"subject"`
	Channel string `json:"channel"`
	Source  string `json:"source,omitempty"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail"`
	Fix     string `json:"fix"` // SUBJECT in it stands for the subject
}

// maxEvidence is how many lines a finding lists beside those that show that the
// release came; explain shows all.
const maxEvidence = 100

// NewDocument makes the document of an answer. It refuses to lose a finding.
func NewDocument(r *matchers.Result) (*Document, error) {
	d, convert := newDocument(r), newConverter(r)
	d.Findings = make([]Finding, len(r.Findings))
	for i := range r.Findings {
		d.Findings[i] = convert(&r.Findings[i])
	}
	if len(d.Findings) != len(r.Findings) {
		return nil, fmt.Errorf("report lost findings: %d in the answer, %d in the document", len(r.Findings), len(d.Findings))
	}
	return d, d.check(r)
}

// NewSummary makes the document of an answer with at most so many findings of
// each verdict; what it counts is all of them.
func NewSummary(r *matchers.Result, most int) *Document {
	d, convert := newDocument(r), newConverter(r)
	listed := map[matchers.Verdict]int{}
	for i := range r.Findings {
		if f := &r.Findings[i]; listed[f.Verdict] < most {
			listed[f.Verdict]++
			d.Findings = append(d.Findings, convert(f))
		}
	}
	return d
}

// newDocument makes a document without findings.
func newDocument(r *matchers.Result) *Document {
	d := &Document{
		Schema: Schema, Findings: []Finding{}, Counts: map[string]int{},
		Incident: newIncident(r.Incident),
		Coverage: Coverage{Complete: r.Complete, Inventory: r.Inventory, Sources: []Source{}},
	}
	for _, v := range matchers.Verdicts {
		d.Counts[string(v)] = 0
	}
	for i := range r.Findings {
		d.Counts[string(r.Findings[i].Verdict)]++
	}
	for _, s := range r.Sources {
		d.Coverage.Sources = append(d.Coverage.Sources, Source{
			Path: s.Path, SHA256: s.SHA256, Format: s.Format, State: string(s.State), Why: s.Why, Claim: s.Claim, Zone: s.Zone,
			Covers: s.Covers, Skew: s.Skew, From: Time(s.First), To: Time(s.Last), Events: s.Events, Skipped: s.Skipped,
		})
	}
	d.Coverage.Gaps = make([]Gap, len(r.Gaps))
	for i := range r.Gaps {
		d.Coverage.Gaps[i] = Gap(r.Gaps[i])
	}
	for _, t := range r.Tallies {
		d.Coverage.Expected = append(d.Coverage.Expected, Tally{t.What, t.Held, t.Of, t.Missing})
	}
	d.Coverage.Channels = answered(r)
	return d
}

// newLazy makes a document whose findings are converted when they are asked for:
// of a hundred thousand only a few exist at a time.
func newLazy(r *matchers.Result) (*Document, error) {
	d := newDocument(r)
	d.from = r
	return d, d.check(r)
}

// every yields the findings, each for as long as it is looked at.
func (d *Document) every() iter.Seq[*Finding] {
	of := d.of("")
	return func(yield func(*Finding) bool) {
		for f := range of {
			if !yield(&f) {
				return
			}
		}
	}
}

// of yields the findings of a verdict, of all for "".
func (d *Document) of(verdict string) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		for i := range d.Findings {
			if (verdict == "" || d.Findings[i].Verdict == verdict) && !yield(d.Findings[i]) {
				return
			}
		}
		if d.from == nil {
			return
		}
		convert := newConverter(d.from)
		for i := range d.from.Findings {
			f := &d.from.Findings[i]
			if (verdict == "" || string(f.Verdict) == verdict) && !yield(convert(f)) {
				return
			}
		}
	}
}

// first lists the first findings, at most so many.
func (d *Document) first(most int) []Finding {
	var out []Finding
	for f := range d.every() {
		if len(out) == most {
			break
		}
		out = append(out, *f)
	}
	return out
}

// newConverter returns what converts the findings of an answer, from one
// goroutine.
func newConverter(r *matchers.Result) func(*matchers.Finding) Finding {
	limits, ends, words := limitsOf(r.Incident), map[int64]*string{}, channelWords()
	return func(f *matchers.Finding) Finding {
		out := newFinding(f, maxEvidence, words)
		out.Uncovered = holes(f.Uncovered, ends)
		if f.Verdict == matchers.Clear {
			out.Limits = limits(out.Channels)
		}
		return out
	}
}

// answered counts, for each channel, the subjects of which something is known.
func answered(r *matchers.Result) []Answered {
	n := map[string]int{}
	count := func(channels map[string]matchers.Verdict, times int) {
		for c, v := range channels {
			if v == matchers.Unknown {
				n[c] += 0
			} else {
				n[c] += times
			}
		}
	}
	var last map[string]matchers.Verdict // subjects of which the same is known share it
	times := 0
	for i := range r.Findings {
		channels := r.Findings[i].Channels
		if reflect.ValueOf(channels).Pointer() != reflect.ValueOf(last).Pointer() {
			count(last, times)
			last, times = channels, 0
		}
		times++
	}
	count(last, times)
	out := []Answered{}
	for _, c := range slices.Sorted(maps.Keys(n)) {
		out = append(out, Answered{c, n[c], len(r.Findings)})
	}
	return out
}

// check compares the document with the answer it was made of.
func (d *Document) check(r *matchers.Result) error {
	for v, n := range r.Counts {
		if d.Counts[string(v)] != n {
			return fmt.Errorf("report lost findings: %d %s in the answer, %d in the document", n, v, d.Counts[string(v)])
		}
	}
	return nil
}

// channelWords converts the verdicts of channels; those of subjects of which
// the same is known are one map, and stay one.
func channelWords() func(map[string]matchers.Verdict) map[string]string {
	known := map[uintptr]map[string]string{}
	return func(verdicts map[string]matchers.Verdict) map[string]string {
		which := reflect.ValueOf(verdicts).Pointer()
		words := known[which]
		if words == nil {
			words = make(map[string]string, len(verdicts))
			for c, v := range verdicts {
				words[c] = string(v)
			}
			known[which] = words
		}
		return words
	}
}

// newFinding converts a finding with the lines that show that the release came,
// and at most so many others; zero means all.
func newFinding(f *matchers.Finding, most int, words func(map[string]matchers.Verdict) map[string]string) Finding {
	out := Finding{
		ID: f.ID, Subject: Subject{string(f.Subject.Kind), f.Subject.ID, f.On}, Verdict: string(f.Verdict),
		Rule: f.Rule, Because: f.Because, Artifact: f.Artifact, From: Time(f.Span.From), To: Time(f.Span.To),
		Channels: words(f.Channels), Reasons: f.Reasons, Egress: f.Egress, EgressBy: f.EgressWhy, Owner: f.Owner, Service: f.Service,
		Evidence: []Evidence{}, Via: append([]string{}, f.Via...), Faults: f.Faults,
		Dispositions: newSaid(f.Dispositions),
	}
	others := 0
	for _, e := range f.Evidence {
		if e.Verdict != matchers.Exposed && e.Verdict != matchers.Pulled {
			if others++; most > 0 && others > most {
				out.More++
				continue
			}
		}
		out.Evidence = append(out.Evidence, newEvidence(e))
	}
	return out
}

func newEvidence(e matchers.Evidence) Evidence {
	out := Evidence{
		Source: e.SHA256, Path: e.Path, Line: e.Line, Offset: e.Offset, Action: e.Action.String(),
		Artifact: e.Item.Artifact, Ref: e.Item.Ref, Digests: []Digest{}, From: Time(e.Span.From), To: Time(e.Span.To),
		Written: e.Span.Written, Clock: string(e.Span.Clock), Text: e.Text, Part: e.Part,
		Verdict: string(e.Verdict),
	}
	for _, d := range e.Item.Digests {
		out.Digests = append(out.Digests, Digest{d.Value, string(d.Role)})
	}
	return out
}

// holes joins the holes of channels that have the same.
func holes(list []matchers.Hole, text map[int64]*string) []Hole {
	end := func(ns int64) *string { // the ends of windows are few: each is written once
		s, ok := text[ns]
		if !ok {
			s = Time(ns)
			text[ns] = s
		}
		return s
	}
	if len(list) == 0 {
		return nil
	}
	var out []Hole
	at := map[[2]int64]int{}
	for _, h := range list {
		i, ok := at[[2]int64{h.From, h.To}]
		if !ok {
			i = len(out)
			at[[2]int64{h.From, h.To}] = i
			out = append(out, Hole{From: end(h.From), To: end(h.To)})
		}
		out[i].Channels = append(out[i].Channels, h.Channel)
	}
	return out
}

// Explain converts one finding with all its evidence.
func Explain(f *matchers.Finding) Finding {
	out := newFinding(f, 0, channelWords())
	out.Uncovered = holes(f.Uncovered, map[int64]*string{})
	return out
}

// Time is an instant as RFC 3339 UTC, nil for an unknown end.
func Time(ns int64) *string {
	if ns == timeline.Beginning || ns == timeline.Forever {
		return nil
	}
	s := timeline.FormatTime(ns)
	return &s
}

// span prints what From and To say, ".." for an unknown end.
func span(from, to *string) string {
	text := func(s *string) string {
		if s == nil {
			return ".."
		}
		return *s
	}
	if text(from) == text(to) {
		return text(from)
	}
	return text(from) + "/" + text(to)
}
