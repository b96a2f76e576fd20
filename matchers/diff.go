package matchers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pulltrail/timeline"
)

// ErrNoAnswer is returned when the case holds no such answer.
var ErrNoAnswer = errors.New("no such answer is stored")

// Side is one of two answers that are compared: one that the case stores, or
// one that was made now, which has the number 0.
type Side struct {
	timeline.AnswerRow
	verdicts []timeline.VerdictRow
}

// VerdictChange is a subject that two answers say different things of. The
// verdict is "" on the side that does not know the subject.
type VerdictChange struct {
	Subject       string
	Before, After timeline.VerdictRow
	Why           []string // sentences; what was read or stated otherwise when nothing else is known
}

// Comparison is what changed between two answers to one incident.
type Comparison struct {
	Before, After Side
	Incident      []IncidentChange
	Changed       []VerdictChange // another verdict, the strongest of the later answer first
	Otherwise     []VerdictChange // the same verdict by another rule, or of another artifact
	Same          int
}

// NewSide makes a side of an answer that was made now.
func NewSide(r *Result) Side {
	s := Side{AnswerRow: answerOf(r)}
	for i := range r.Findings {
		s.verdicts = append(s.verdicts, verdictRow(&r.Findings[i], channelsText(r.Findings[i].Channels)))
	}
	slices.SortFunc(s.verdicts, func(x, y timeline.VerdictRow) int { return strings.Compare(x.Subject, y.Subject) })
	s.Subjects = len(s.verdicts)
	return s
}

// StoredSide finds an answer that the case stores: by its number, or the last one
// of a revision, of which at least six digits are named.
func StoredSide(db *timeline.DB, incident, name string) (Side, error) {
	all, err := db.Answers(incident)
	if err != nil {
		return Side{}, err
	}
	number, numberErr := strconv.ParseInt(name, 10, 64)
	for _, a := range slices.Backward(all) {
		if numberErr == nil && a.ID == number || len(name) >= 6 && strings.HasPrefix(a.Revision, strings.ToLower(name)) {
			return readSide(db, a)
		}
	}
	return Side{}, fmt.Errorf("%w: of %s none has the number or revision %q: 'pulltrail diff %s --list' shows what there is", ErrNoAnswer, incident, name, incident)
}

func readSide(db *timeline.DB, a timeline.AnswerRow) (Side, error) {
	verdicts, err := db.VerdictsOf(a)
	return Side{a, verdicts}, err
}

// Previous finds the last stored answer to an incident that is another one than
// now.
func Previous(db *timeline.DB, now Side) (Side, error) {
	all, err := db.Answers(now.Incident)
	if err != nil {
		return Side{}, err
	}
	for _, a := range slices.Backward(all) {
		s, err := readSide(db, a)
		if err != nil {
			return Side{}, err
		}
		if s.Revision != now.Revision || s.Complete != now.Complete || s.Sources != now.Sources || !slices.Equal(s.verdicts, now.verdicts) {
			return s, nil
		}
	}
	if len(all) > 0 {
		return Side{}, fmt.Errorf("%w: the only one of %s says what is answered now", ErrNoAnswer, now.Incident)
	}
	return Side{}, fmt.Errorf("%w: run 'pulltrail match %s' first, and again when the advisory or the evidence changed", ErrNoAnswer, now.Incident)
}

// Compare says which subjects changed from one answer to another, and why.
func Compare(db *timeline.DB, before, after Side) (*Comparison, error) {
	sources, err := db.Sources()
	if err != nil {
		return nil, err
	}
	c := &Comparison{Before: before, After: after, Incident: changesOf(before.Says, after.Says)}
	w := newReasons(c, sources)
	known := map[string]timeline.VerdictRow{}
	for _, v := range before.verdicts {
		known[v.Subject] = v
	}
	note := func(was, is timeline.VerdictRow) {
		ch := VerdictChange{Subject: cmp.Or(is.Subject, was.Subject), Before: was, After: is}
		switch {
		case was.Verdict != is.Verdict:
			ch.Why = w.why(&ch)
			c.Changed = append(c.Changed, ch)
		case was.Rule != is.Rule || was.Artifact != is.Artifact || was.Because != is.Because:
			ch.Why = w.why(&ch)
			c.Otherwise = append(c.Otherwise, ch)
		default:
			c.Same++
		}
	}
	for _, v := range after.verdicts {
		note(known[v.Subject], v)
		delete(known, v.Subject)
	}
	for _, v := range before.verdicts {
		if _, gone := known[v.Subject]; gone {
			note(v, timeline.VerdictRow{})
		}
	}
	slices.SortStableFunc(c.Changed, func(x, y VerdictChange) int {
		return cmp.Or(Verdict(x.After.Verdict).rank()-Verdict(y.After.Verdict).rank(), strings.Compare(x.Subject, y.Subject))
	})
	return c, nil
}

// reasons finds out why a verdict changed.
type reasons struct {
	c     *Comparison
	newer map[string]timeline.SourceRow // by the first digits of the hash: read after the earlier answer
}

func newReasons(c *Comparison, sources []timeline.SourceRow) *reasons {
	r := &reasons{c: c, newer: map[string]timeline.SourceRow{}}
	for _, s := range sources {
		if c.Before.ID > 0 && s.ReadAt > c.Before.At && (c.After.ID == 0 || s.ReadAt <= c.After.At) {
			r.newer[fmt.Sprintf("%.12s", s.SHA256)] = s
		}
	}
	return r
}

// maxReasons is how many lines and facts of the incident one change names.
const maxReasons = 4

func (r *reasons) why(ch *VerdictChange) []string {
	out := firstFew(r.said(ch))
	var lines []string
	had := strings.Split(ch.Before.Origins, "\n")
	for origin := range strings.SplitSeq(ch.After.Origins, "\n") {
		sha, at, _ := strings.Cut(origin, " ")
		if _, newer := r.newer[sha]; newer && at != "" && !slices.Contains(had, origin) {
			lines = append(lines, "new evidence: "+at)
		}
	}
	out = append(out, firstFew(lines)...)
	switch {
	case len(out) > 0:
	case ch.Before.Verdict == "":
		out = append(out, "nothing spoke of it before")
	case ch.After.Verdict == "":
		out = append(out, "nothing speaks of it any more")
	case len(r.newer) > 0:
		out = append(out, fmt.Sprintf("%d sources were read in between, none of whose lines it stands on", len(r.newer)))
	case len(r.c.Incident) > 0:
		out = append(out, "what the incident says otherwise; see above")
	default:
		out = append(out, "what is read, stated or known of the hosts is another than before")
	}
	return out
}

// said lists the facts of the incident that changed a verdict. Where something
// is listed by its version, tag or digest, no window decides; where it was only
// asked for, the window does.
func (r *reasons) said(ch *VerdictChange) []string {
	exact := exactRule(ch.Before.Rule) || exactRule(ch.After.Rule)
	var windows, others []string
	for _, c := range r.c.Incident {
		if !c.concerns(ch) {
			continue
		}
		sentence := "the incident " + map[bool]string{true: "now names ", false: "no longer names "}[c.Added] + c.String()
		if c.Kind == "window" {
			windows = append(windows, sentence)
		} else {
			others = append(others, sentence)
		}
	}
	if len(windows) == 0 || exact && len(others) > 0 {
		return others
	}
	return windows
}

// exactRule reports whether a rule goes by what the incident lists, at any time.
func exactRule(rule string) bool {
	return strings.HasPrefix(rule, "exact-") || rule == "release-tag" || rule == "indicator"
}

func firstFew(list []string) []string {
	if more := len(list) - maxReasons; more > 0 {
		return append(list[:maxReasons], fmt.Sprintf("and %d more of the kind", more))
	}
	return list
}

// concerns reports whether a fact of the incident can have changed the verdict
// of a subject: it names what the verdict is of, or it is of a channel of which
// the two answers say different things.
func (c IncidentChange) concerns(ch *VerdictChange) bool {
	for _, v := range []timeline.VerdictRow{ch.Before, ch.After} {
		artifact, _, _ := strings.Cut(v.Artifact, "@")
		switch {
		case v.Artifact == "":
		case c.Name != "" && (artifact == c.Name || strings.HasPrefix(artifact, c.Name+":") || strings.HasSuffix(artifact, "/"+c.Name)):
			return c.Kind != "version" && c.Kind != "safe version" || strings.HasPrefix(c.Value, "<") || strings.HasPrefix(c.Value, ">") ||
				c.Value == "*" || v.Artifact == c.Name || strings.HasPrefix(v.Artifact, c.Name+"@"+c.Value)
		case c.Kind == "indicator":
			_, value, _ := strings.Cut(c.Value, " ")
			if strings.Contains(v.Artifact+v.Because, value) {
				return true
			}
		case c.Kind == "digest" || c.Kind == "file":
			for word := range strings.FieldsSeq(c.Value) {
				if strings.HasPrefix(word, "sha256:") && strings.Contains(v.Artifact+v.Because, word) {
					return true
				}
			}
		}
	}
	if c.Kind == "list" {
		return strings.HasPrefix(ch.Before.Rule, "unlisted-") || strings.HasPrefix(ch.After.Rule, "unlisted-")
	}
	return c.Name == "" && c.Channel != "" && channelIn(ch.Before.Channels, c.Channel) != channelIn(ch.After.Channels, c.Channel)
}

// channelIn is the verdict of one channel in a stored row.
func channelIn(channels, name string) string {
	for word := range strings.FieldsSeq(channels) {
		if v, ok := strings.CutPrefix(word, name+"="); ok {
			return v
		}
	}
	return ""
}
