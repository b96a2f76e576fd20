package matchers

import (
	"fmt"
	"strings"

	"pulltrail/timeline"
)

// SelfTest runs an incident's own hits and misses: every hit must get its
// verdict, no miss may get exposed, pulled or possible. Each line stands alone,
// as if it were all the evidence there is.
func SelfTest(inc *Incident) []error {
	q := newQuestion(inc, nil)
	var errs []error
	for _, line := range inc.Hits {
		want, text, ok := strings.Cut(line, ": ")
		got, err := q.alone(text)
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("hit %q: want VERDICT: EVENT", line))
		case err != nil:
			errs = append(errs, fmt.Errorf("hit %q: %w", line, err))
		case string(got) != want:
			errs = append(errs, fmt.Errorf("hit %q: is %s", line, orNothing(got)))
		}
	}
	for _, line := range inc.Misses {
		got, err := q.alone(line)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("miss %q: %w", line, err))
		case got == Exposed || got == Pulled || got == Possible:
			errs = append(errs, fmt.Errorf("miss %q: is %s", line, got))
		}
	}
	return errs
}

func orNothing(v Verdict) string {
	if v == "" {
		return "nothing"
	}
	return string(v)
}

// alone judges one event in the notation.
func (q *question) alone(line string) (Verdict, error) {
	e, err := timeline.ParseNotation(line)
	if err != nil {
		return "", err
	}
	var verdict Verdict
	for _, it := range e.Items {
		f := &timeline.Fact{Action: e.Action, Subject: e.Subject, Item: it, Parts: timeline.Split(it.Artifact), Span: e.Span, Op: e.Op, Origin: e.Origin}
		if d := f.Parts.Digest; d != "" {
			f.Item.Digests = append(f.Item.Digests, timeline.Digest{Value: d})
		}
		for _, j := range q.judge(f) {
			if j.verdict != "" && (verdict == "" || j.verdict.rank() < verdict.rank()) {
				verdict = j.verdict
			}
		}
	}
	return verdict, nil
}
