package matchers

import (
	"fmt"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// State is how far the rotation of a credential has come.
type State string

// The states of a row. Only Verified and Waived are done.
const (
	Open         State = "open"          // nobody says that it was rotated
	Rotated      State = "rotated"       // somebody says so, and no list since then shows it
	Verified     State = "verified"      // lists show a value made after safe after, and no older one that works
	Failed       State = "fail"          // lists, or the times themselves, say otherwise
	CannotVerify State = "cannot verify" // somebody says so, and nothing that can be had would show it
	WaivedState  State = "waived"        // somebody approved that it stays, until a day
)

// States lists the states, in the order in which they want work.
var States = []State{Failed, Open, Rotated, CannotVerify, WaivedState, Verified}

// Done reports whether a row in this state needs nothing more.
func (s State) Done() bool { return s == Verified || s == WaivedState }

// Last returns what was said last of the row by an act; ok is false when nobody
// said it.
func (c *Credential) Last(act timeline.Act) (d timeline.Decision, ok bool) {
	for _, s := range c.Said {
		if s.Act == act {
			d, ok = s, true
		}
	}
	return d, ok
}

// proof is what the lists say, weighed against the moment that is safe.
type proof struct {
	burnt   []Record // made no later than that, and not known to be inactive
	fresh   []Record // made after it
	undated []Record // no date
	retired []Record // made no later, and inactive
}

// prove settles the state of the row.
func (c *Credential) prove(asOf int64) {
	slices.SortFunc(c.Records, func(a, b Record) int {
		return strings.Compare(recordKey(&a), recordKey(&b))
	})
	var p proof
	issued := slices.ContainsFunc(c.Records, func(r Record) bool {
		return !r.Loose && r.everywhere() && (r.made() != 0 || r.State == timeline.Inactive)
	})
	for _, r := range c.Records {
		switch {
		case r.Loose:
		case issued && !r.everywhere(): // who issues it knows whether a value works; a copy says nothing against that
		case r.State == timeline.Inactive || r.Expires > 0 && asOf > 0 && r.Expires <= asOf:
			p.retired = append(p.retired, r)
		case r.made() == 0:
			p.undated = append(p.undated, r)
		case c.Safe.At > 0 && r.made() > c.Safe.At:
			p.fresh = append(p.fresh, r)
		default:
			p.burnt = append(p.burnt, r)
		}
	}
	said, rotated := c.Last(timeline.Rotated)
	c.State, c.Because = c.shown(&p, said, rotated)
	if c.State == Verified {
		return
	}
	if w, ok := c.Last(timeline.Waived); ok {
		until := timeline.FormatTime(w.Until)
		if asOf == 0 || w.Until > asOf {
			c.State, c.Because = WaivedState, fmt.Sprintf("%s approved until %s: %s", w.Who, until, w.Reason)
			return
		}
		c.Because = fmt.Sprintf("the waiver of %s ended at %s; %s", w.Who, until, c.Because)
	}
}

func recordKey(r *Record) string {
	return strings.Join([]string{r.Store, r.Subject.String(), r.Name, r.Part, r.Path}, "\x00")
}

// shown is the state without waivers.
func (c *Credential) shown(p *proof, said timeline.Decision, rotated bool) (State, string) {
	known := c.Safe.At > 0
	switch {
	case known && c.ofJobs():
		return Verified, "it is made for each job, and ended with the last one at " + timeline.FormatTime(c.Safe.At)
	case known && len(p.burnt) == 0 && len(p.undated) == 0 && len(p.fresh)+len(p.retired) > 0 && c.lacks() == "":
		return Verified, c.verified(p)
	case known && len(p.burnt) > 0 && len(p.fresh) > 0:
		return Failed, fmt.Sprintf("a new one was made, and the old one still works: %s", describe(&p.burnt[0]))
	case !rotated && len(p.burnt) > 0:
		return Open, "not rotated: " + describe(&p.burnt[0])
	case !rotated:
		return Open, "nobody says that it was rotated"
	case known && said.At <= c.Safe.At:
		return Failed, fmt.Sprintf("rotated at %s, and only after %s it is safe: the new one is burnt again", timeline.FormatTime(said.At), timeline.FormatTime(c.Safe.At))
	}
	by := fmt.Sprintf("%s says that it was rotated at %s", said.Who, timeline.FormatTime(said.At))
	for i := range p.burnt {
		if r := &p.burnt[i]; known && r.ReadAt > said.Said || r.Listed > said.At {
			return Failed, by + "; a later list says otherwise: " + describe(r)
		}
	}
	switch {
	case !known:
		return CannotVerify, by + "; " + c.Safe.Because
	case len(p.undated) > 0:
		return CannotVerify, fmt.Sprintf("%s; %s gives no date", by, where(&p.undated[0]))
	case len(p.burnt) > 0:
		return Rotated, by + "; no list was read since"
	case len(c.Records) == 0:
		return CannotVerify, by + "; no list that was read has it"
	}
	if s := c.lacks(); s != "" {
		return CannotVerify, fmt.Sprintf("%s; %s held it, and no list says of what it holds now", by, s)
	}
	return CannotVerify, by + "; lists have its name, and whose it is they do not say: read them with --store or --subject"
}

// jobTokens are made by the CI system for one job, and end with it.
// https://docs.github.com/en/actions/concepts/security/github_token
// https://docs.gitlab.com/ci/jobs/ci_job_token/
var jobTokens = []string{"GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "CI_JOB_TOKEN", "CI_REGISTRY_PASSWORD", "CI_DEPENDENCY_PROXY_PASSWORD"}

// ofJobs reports whether the credential is the token of jobs, and nobody else
// holds one of its name.
func (c *Credential) ofJobs() bool {
	return slices.Contains(jobTokens, c.Name) && len(c.Held) > 0 && len(c.Records) == 0 &&
		!slices.ContainsFunc(c.Held, func(h Holding) bool { return h.Subject.Kind != timeline.Job })
}

// lacks names a holder of which no list speaks, "" when lists speak of all.
func (c *Credential) lacks() string {
	for i := range c.Records {
		if r := &c.Records[i]; !r.Loose && r.everywhere() {
			return ""
		}
	}
	for _, h := range c.Held {
		if !slices.ContainsFunc(c.Records, func(r Record) bool {
			return !r.Loose && (r.Store == "" && r.Subject == h.Subject || keeps(r.Store, h.Subject))
		}) {
			return h.Subject.String()
		}
	}
	return ""
}

// verified says on what the proof stands.
func (c *Credential) verified(p *proof) string {
	var words []string
	for i := range p.fresh {
		words = append(words, describe(&p.fresh[i]))
	}
	for i := range p.retired {
		words = append(words, describe(&p.retired[i]))
	}
	text := strings.Join(words, "; ") + "; safe after " + timeline.FormatTime(c.Safe.At)
	if len(p.retired) == 0 && !slices.ContainsFunc(p.fresh, func(r Record) bool { return r.State == timeline.Active }) {
		text += "; whether the old value still works, no list says"
	}
	return text
}

// where names a list.
func where(r *Record) string {
	if r.Store != "" {
		return r.Store
	}
	return r.Path
}

// describe says what a list says.
func describe(r *Record) string {
	words := []string{r.Name}
	if r.Part != "" {
		words[0] += " " + r.Part
	}
	words[0] += " in " + where(r)
	add := func(what string, ns int64) {
		if ns > 0 {
			words = append(words, what+" "+timeline.FormatTime(ns))
		}
	}
	add("made", r.Created)
	if r.Updated != r.Created {
		add("changed", r.Updated)
	}
	add("expires", r.Expires)
	if r.State != "" {
		words = append(words, string(r.State))
	}
	add("last used", r.Used)
	return strings.Join(words, ", ")
}
