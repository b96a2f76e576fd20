package reports

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

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

// orEmpty is a time of a document, "" for an unknown end.
func orEmpty(at *string) string {
	if at == nil {
		return ""
	}
	return *at
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
