package matchers

import (
	"fmt"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// spread follows the exposure to a fixed point: from a job to the self-hosted
// runner it ran on and to the images it built after the install, from a runner
// to the jobs that ran on it later, from an image to whoever pulled or ran
// exactly it. Each step names the finding that it follows from. It only ever
// raises a verdict.
func (m *matching) spread() error {
	ran := map[timeline.Subject][]timeline.LinkRow{} // jobs by host, and hosts by job
	for _, l := range m.r.links {
		from, err := timeline.ParseSubject(l.From)
		if l.Relation != timeline.On || err != nil || from.Kind != timeline.Job {
			continue
		}
		if to, err := timeline.ParseSubject(l.To); err == nil {
			ran[from] = append(ran[from], l)
			ran[to] = append(ran[to], l)
		}
	}
	var queue []timeline.Subject
	for s, a := range m.about {
		if exposure(a) != nil {
			queue = append(queue, s)
		}
	}
	slices.SortFunc(queue, func(a, b timeline.Subject) int { return strings.Compare(a.String(), b.String()) })
	done := map[timeline.Subject]bool{}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if done[s] {
			continue
		}
		done[s] = true
		next, err := m.step(s, ran[s])
		if err != nil {
			return err
		}
		queue = append(queue, next...)
	}
	return nil
}

// exposure is the earliest fact that exposes a subject, nil when none does.
func exposure(a *about) *judged {
	var first *judged
	for i := range a.judged {
		j := &a.judged[i]
		if j.verdict == Exposed && (first == nil || j.Span.From < first.Span.From || j.Span.From == first.Span.From && origin(j.Fact, first.Fact) < 0) {
			first = j
		}
	}
	return first
}

// step carries the exposure of one subject one step on; it returns the subjects
// that are exposed by it.
func (m *matching) step(s timeline.Subject, ran []timeline.LinkRow) ([]timeline.Subject, error) {
	cause := *exposure(m.about[s])
	cause.via = FindingID(m.q.inc.ID, s)
	switch s.Kind {
	case timeline.Job:
		next := m.toRunner(s, cause, ran)
		built, err := m.toBuilt(s, cause)
		return append(next, built...), err
	case timeline.Host:
		m.toLaterJobs(s, cause, ran)
	case timeline.Image:
		next := m.toDerived(s, cause)
		if cause.rule != ruleBuilt && cause.rule != ruleLayer {
			return next, nil // who has an image of known content was judged by its content
		}
		holders, err := m.toPullers(s, cause)
		return append(next, holders...), err
	case timeline.Container, timeline.Client, timeline.Cache, timeline.Source:
	}
	return nil, nil
}

// Rules of steps.
const (
	ruleRunner = "spread-runner"
	ruleLater  = "spread-later-job"
	ruleBuilt  = "spread-built-image"
	ruleLayer  = "spread-layer"
	rulePuller = "spread-image"
	ruleName   = "spread-image-name"
)

// follows makes the judgement of a step.
func follows(cause judged, f timeline.Fact, v Verdict, rule, because string) judged {
	return judged{Fact: f, channel: cause.channel, key: "spread/" + cause.via, verdict: v, rule: rule, because: because, via: cause.via}
}

// toRunner: what a job installs on a self-hosted runner stays there.
func (m *matching) toRunner(job timeline.Subject, cause judged, ran []timeline.LinkRow) []timeline.Subject {
	var next []timeline.Subject
	for _, l := range ran {
		host, err := timeline.ParseSubject(l.To)
		if err != nil {
			continue
		}
		a := m.of(host)
		a.judged = append(a.judged, follows(cause, cause.Fact, Exposed, ruleRunner,
			fmt.Sprintf("%s ran on this machine and %s", job, cause.because)))
		next = append(next, host)
	}
	return next
}

// toLaterJobs: a job that ran on an exposed machine afterwards met what was
// left there; whether it used it is not known.
func (m *matching) toLaterJobs(host timeline.Subject, cause judged, ran []timeline.LinkRow) {
	for _, l := range ran {
		job, err := timeline.ParseSubject(l.From)
		if err != nil || job == cause.Subject || l.Span.To < cause.Span.From {
			continue
		}
		a := m.of(job)
		f := cause.Fact
		f.Origin, f.SHA256, f.Source, f.Span = l.Origin, l.SHA256, l.Source, l.Span
		a.judged = append(a.judged, follows(cause, f, Possible, ruleLater,
			fmt.Sprintf("ran on %s after it was exposed", host)))
	}
}

// toBuilt: an image that a job built after the install may hold it.
func (m *matching) toBuilt(job timeline.Subject, cause judged) ([]timeline.Subject, error) {
	facts, err := m.r.made(job)
	if err != nil {
		return nil, err
	}
	var next []timeline.Subject
	for _, f := range facts {
		if f.Span.To < cause.Span.From {
			continue
		}
		because := fmt.Sprintf("%s built it after it %s", job, cause.because)
		if d := builtDigest(f); d != "" {
			image := m.imageOf(d)
			a := m.of(image)
			a.judged = append(a.judged, follows(cause, f, Exposed, ruleBuilt, because))
			next = append(next, image)
			continue
		}
		if err := m.toNamed(job, cause, f); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// builtDigest is the digest that names a built image best.
func builtDigest(f timeline.Fact) string {
	best, rank := "", len(builtRoles)
	for _, d := range f.Item.Digests {
		if i := slices.Index(builtRoles, d.Role); i >= 0 && i < rank {
			best, rank = d.Value, i
		}
	}
	return best
}

var builtRoles = []timeline.Role{timeline.Index, timeline.Manifest, timeline.NoRole, timeline.Config}

// imageOf is the subject of an image: the one that is known under one of its
// digests, else the digest itself.
func (m *matching) imageOf(digest string) timeline.Subject {
	for _, d := range m.holds.same(digest) {
		s := timeline.Subject{Kind: timeline.Image, ID: d}
		if m.about[s] != nil {
			return s
		}
	}
	return timeline.Subject{Kind: timeline.Image, ID: digest}
}

// toPullers: whoever pulled or ran exactly this image has it.
func (m *matching) toPullers(image timeline.Subject, cause judged) ([]timeline.Subject, error) {
	facts, err := m.r.with(m.holds.same(image.ID))
	if err != nil {
		return nil, err
	}
	var next []timeline.Subject
	for _, f := range facts {
		if f.Subject == image || f.Subject == cause.Subject || f.Action == timeline.Build || f.Action == timeline.Push || f.Action == timeline.Tag {
			continue
		}
		v := exact(f.Action, true)
		m.place(f, []judged{follows(cause, f, v, rulePuller,
			fmt.Sprintf("%s %s, the image that %s", verb(f.Action), short(f.Item.Artifact), cause.because))})
		if v == Exposed {
			next = append(next, f.Subject)
		}
	}
	return next, nil
}

// toDerived: an image whose layers include the one that holds the package was
// built on it, whenever that was. Sharing any other layer is nothing.
func (m *matching) toDerived(image timeline.Subject, cause judged) []timeline.Subject {
	var next []timeline.Subject
	for _, j := range m.about[image].judged {
		if j.verdict != Exposed {
			continue
		}
		for _, d := range j.Item.Digests {
			if d.Role != timeline.Diff {
				continue
			}
			for _, id := range m.holds.up[d.Value] {
				other := m.imageOf(id)
				if slices.Contains(m.holds.same(image.ID), id) || other == image {
					continue
				}
				a := m.of(other)
				a.judged = append(a.judged, follows(cause, j.Fact, Exposed, ruleLayer,
					fmt.Sprintf("its layers include %s, which holds %s", d.Value, j.Item.Artifact)))
				next = append(next, other)
			}
		}
	}
	return next
}

// toNamed: of an image pushed without a digest only the name is known, and
// names move: a later pull of it is possible, no more.
func (m *matching) toNamed(job timeline.Subject, cause judged, made timeline.Fact) error {
	if made.Parts.Type != "image" {
		return nil
	}
	facts, err := m.r.named(made.Parts)
	if err != nil {
		return err
	}
	for _, f := range facts {
		if f.Subject == job || f.Span.To < made.Span.From || asks(f.Action) {
			continue
		}
		m.place(f, []judged{follows(cause, f, Possible, ruleName,
			fmt.Sprintf("%s %s, a name that %s gave to an image it built after it %s; which image came is not known", verb(f.Action), short(f.Item.Artifact), job, cause.because))})
	}
	return nil
}
