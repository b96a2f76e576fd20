package matchers

import (
	"fmt"
	"strings"
	"time"

	"pulltrail/timeline"
)

// Words of statements. "no-CHANNEL" says that a subject has no such channel;
// "no-images" that it runs no container runtime.
const (
	noWord     = "no-"
	egressWord = "egress="
	isWord     = "is="
	notWord    = "not="
	withdrawn  = "withdrawn "

	// scriptsRead says that somebody read the scripts and tasks that a job, or
	// all jobs of a project, ran: they install nothing that the log does not show.
	scriptsRead = "scripts=read"

	// cachesRead says that somebody looked at the caches that a job, or all jobs
	// of a project, took installed packages from: they were made before the
	// release was there, or do not hold it.
	cachesRead = "caches=read"
)

// ParseStatement reads what a person states of a subject: no-pypi, no-docker,
// no-ghcr; egress=none or egress=seen; scripts=read and caches=read of a job or of all jobs of a
// project; is=NAME, another name of the same
// machine, or not=NAME, that of another one. It returns the word that is stored.
func ParseStatement(about timeline.Subject, text string) (string, error) {
	switch name, value, _ := strings.Cut(text, "="); {
	case strings.HasPrefix(text, noWord):
		channel := strings.TrimPrefix(text, noWord)
		switch channel {
		case "docker", "containers", "container-runtime", string(timeline.Images):
			return noWord + string(timeline.Images), nil
		}
		if KnownChannel(channel) && channel != "none" {
			return text, nil
		}
		hint := "'pulltrail incidents show ID' names the channels of an incident"
		if near := NearChannel(channel); near != "" {
			hint = "did you mean no-" + near + "?"
		}
		return "", fmt.Errorf("%q: no such channel: %s", text, hint)
	case name+"=" == egressWord && (value == "none" || value == "seen"):
		return text, nil
	case (text == scriptsRead || text == cachesRead) && about.Kind == timeline.Job:
		return text, nil
	case (name+"=" == isWord || name+"=" == notWord) && about.Kind == timeline.Host:
		value = strings.TrimPrefix(value, "host:")
		if value == "" || strings.ContainsAny(value, " \t/") || value == about.ID {
			return "", fmt.Errorf("%q: want the other name of the machine, such as is=web1", text)
		}
		return name + "=" + value, nil
	}
	return "", fmt.Errorf("%q: want no-CHANNEL (no-pypi, no-docker), egress=none, egress=seen, for a job scripts=read or caches=read, or for a host is=NAME or not=NAME", text)
}

// Withdrawn is the word that takes a statement back.
func Withdrawn(word string) string { return withdrawn + word }

// statements are what people state of subjects, the last word of each.
type statements map[timeline.Subject]map[string]timeline.Decision

func newStatements(all []timeline.Decision) statements {
	out := statements{}
	for _, d := range all {
		s, err := timeline.ParseSubject(d.About)
		if d.Act != timeline.Stated || err != nil {
			continue
		}
		word, back := strings.CutPrefix(d.Value, withdrawn)
		if back {
			delete(out[s], word)
			continue
		}
		if out[s] == nil {
			out[s] = map[string]timeline.Decision{}
		}
		out[s][word] = d
	}
	return out
}

// spanOf is when a statement holds: always, unless it says from or to when.
func spanOf(d timeline.Decision) timeline.Span {
	s := timeline.Always()
	if d.At != 0 {
		s.From = d.At
	}
	if d.Until != 0 {
		s.To = d.Until
	}
	return s
}

// saying is a statement as a reason: who said it, and when.
func saying(d timeline.Decision) string {
	text := d.Who + " stated on " + time.Unix(0, d.Said).UTC().Format(time.DateTime) + " UTC: "
	if d.Value == scriptsRead {
		text += "the scripts and tasks that it ran were read, and install nothing that the log does not show"
	} else if d.Value == cachesRead {
		text += "the caches that it took installed packages from were made before the release, or do not hold it"
	} else if channel, ok := strings.CutPrefix(d.Value, noWord); ok {
		text += "it has no " + map[bool]string{true: "container runtime", false: channel}[channel == string(timeline.Images)]
	} else {
		text += d.Value
	}
	if d.Reason != "" {
		text += " (" + d.Reason + ")"
	}
	return text
}

// without finds the statement that a subject does not have a channel.
func (c *covers) without(s timeline.Subject, channel string) (timeline.Decision, bool) {
	if len(c.m.said) == 0 {
		return timeline.Decision{}, false
	}
	said := c.m.said[s]
	if len(said) == 0 {
		return timeline.Decision{}, false
	}
	words := []string{noWord + channel, noWord + base(channel)}
	for topic := range c.m.q.topics[channel] {
		words = append(words, noWord+string(topic))
	}
	for _, w := range words {
		if d, ok := said[w]; ok {
			return d, true
		}
	}
	return timeline.Decision{}, false
}

// lookedInto takes back what a command that no line shows may have done, or what may
// be in a cache, where somebody looked.
func (m *matching) lookedInto(a *about, j judged) *cleared {
	word := map[string]string{ruleUnseen: scriptsRead, ruleFromCache: cachesRead, ruleFound: cachesRead}[j.rule]
	if word == "" {
		return nil
	}
	for _, s := range []timeline.Subject{a.subject, projectOf(a.subject)} {
		if d, ok := m.said[s][word]; ok {
			if when := spanOf(d); j.Span.From >= when.From && j.Span.To <= when.To {
				return &cleared{ask: j, how: saying(d)}
			}
		}
	}
	return nil
}

// isProject reports whether a statement is about all jobs of a project, which
// is no subject itself.
func isProject(s timeline.Subject, words map[string]timeline.Decision) bool {
	for w := range words {
		if w != scriptsRead && w != cachesRead {
			return false
		}
	}
	return len(words) > 0 && s.Kind == timeline.Job && projectOf(s) == s
}

// contradicts names the evidence that a subject has what a statement says it
// does not have: something came over the channel, or a source speaks of it.
func (c *covers) contradicts(a *about, channel string, d timeline.Decision) string {
	when := spanOf(d)
	for i := range a.judged {
		j := &a.judged[i]
		if j.channel == channel && !asks(j.Action) && j.via == "" && j.Action != timeline.Contact && j.Span.Overlaps(when.From, when.To) {
			return fmt.Sprintf("%s:%d", j.Path, j.Line)
		}
	}
	for _, r := range a.rows {
		if c.m.q.topics[channel][r.Topic] {
			return c.m.source(r.Source).Path
		}
	}
	return c.m.against[a.subject][d.Value]
}

// gainsay looks for packages and images of which a statement says that a host
// has none, whatever they are: where one came others could.
func (m *matching) gainsay() error {
	m.against = map[timeline.Subject]map[string]string{}
	for s, words := range m.said {
		for word, d := range words {
			kind, no := strings.CutPrefix(word, noWord)
			if !no || s.Kind != timeline.Host {
				continue
			}
			if kind == string(timeline.Images) {
				kind = "image"
			}
			for _, who := range m.r.names.every([]timeline.Subject{s}) {
				place, err := m.r.shown(who, kind, spanOf(d))
				if err != nil {
					return err
				}
				if place != "" && m.against[s] == nil {
					m.against[s] = map[string]string{}
				}
				if place != "" {
					m.against[s][word] = place
				}
			}
		}
	}
	return nil
}

// dispositions puts beside each finding what people said of its subject.
func (res *Result) dispositions(db *timeline.DB) error {
	decisions, err := db.Decisions()
	if err != nil {
		return err
	}
	said := map[string][]timeline.Decision{}
	for _, d := range decisions {
		if d.Act == timeline.Disposed && (d.Incident == "" || d.Incident == res.Incident.ID) {
			said[d.About] = append(said[d.About], d)
		}
	}
	for i := range res.Findings {
		res.Findings[i].Dispositions = said[res.Findings[i].Subject.String()]
	}
	return nil
}
