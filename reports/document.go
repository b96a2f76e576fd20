package reports

import (
	"iter"

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

// NewDocument makes the document of an answer. It refuses an answer whose counts
// are not those of its findings.
func NewDocument(r *matchers.Result) (*Document, error) {
	d, convert := newDocument(r), newConverter(r)
	d.Findings = make([]Finding, len(r.Findings))
	for i := range r.Findings {
		d.Findings[i] = convert(&r.Findings[i])
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
