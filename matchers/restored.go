package matchers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pulltrail/timeline"
)

// ruleFromCache is the rule of installed packages that came out of a cache.
const ruleFromCache = "restored-in-window"

// judgeRestored judges packages that were installed elsewhere and came out of a
// cache while the release was served or at any time after: a cache keeps what it
// got then. Nothing says that it is among them, so it is never more than unknown.
// Where nobody knows when the window ended it says nothing.
func (q *question) judgeRestored(f *timeline.Fact) []judged {
	var out []judged
	for _, c := range q.inc.Channels {
		from, to, windowed := q.union(c.Name)
		if !windowed || from == timeline.Beginning || to == timeline.Forever || f.Span.To < from || !q.topics[c.Name][timeline.Topic(f.Parts.Type)] {
			continue
		}
		j := judged{Fact: f, channel: c.Name, key: "ecosystem/" + f.Parts.Type, rule: ruleFromCache, verdict: Unknown, ask: true}
		when := "after the window"
		if w := q.during(c.Name, f.Span); w != nil {
			when = q.when(w, f.Span)
		}
		j.because = fmt.Sprintf("took installed packages out of the cache %s %s, and nothing that was read says who put them there, and when", cacheKey(f), when)
		switch named, bad := q.namedBy(c.Name, f); {
		case bad:
			j.verdict, j.because = Possible, fmt.Sprintf("took installed packages out of the cache %s %s, which is called like a release that the incident lists", cacheKey(f), when)
		case named:
			continue
		}
		out = append(out, j)
	}
	return out
}

// namedBy reports whether the key of a cache of programs is called like a release
// of a package of the channel, and whether that is a bad one. People choose keys:
// one that names the release says what was meant to be kept.
//
//	trivy-binary-v0.69.4-Linux-X64
func (q *question) namedBy(channel string, f *timeline.Fact) (named, bad bool) {
	words := strings.FieldsFunc(strings.ToLower(strings.TrimPrefix(f.Item.Ref, timeline.CacheEnd)), func(r rune) bool { return strings.ContainsRune("-_/:@ |", r) })
	for _, p := range q.inc.Packages {
		parts := timeline.Split(p.PURL)
		name := strings.ToLower(parts.Name[strings.LastIndexByte(parts.Name, '/')+1:])
		at := slices.Index(words, name)
		if p.Channel != channel || parts.Type != f.Parts.Type || at < 0 {
			continue
		}
		for _, w := range words[at+1:] {
			version := strings.TrimPrefix(w, "v")
			if strings.Count(version, ".") < 2 || version[0] < '0' || version[0] > '9' {
				continue
			}
			if slices.Contains(p.Versions, version) {
				return true, true
			}
			named = named || parts.Type == "github"
		}
	}
	return named, false
}

func cacheKey(f *timeline.Fact) string {
	return "“" + strings.TrimPrefix(f.Item.Ref, timeline.CacheEnd) + "”"
}

// restoredFrom answers what came out of a cache: the log of the job that wrote
// it was read, and what that got is followed from there; or all runs of the
// project in the window were fetched, and none of them wrote it, so that it is
// older.
func (m *matching) restoredFrom(a *about, j judged) (*cleared, error) {
	cache, ok := cacheOf(a.subject, j.Item.Ref)
	if !ok {
		return nil, nil //nolint:nilnil // no answer is an answer
	}
	if err := m.readWriters(); err != nil {
		return nil, err
	}
	var by *timeline.LinkRow // the last one before
	for i := range m.wrote[cache] {
		switch l := &m.wrote[cache][i]; {
		case l.Span.From > j.Span.To: // later
		case l.Span.To > j.Span.From:
			return nil, nil //nolint:nilnil // before or after: nobody knows
		case by == nil || l.Span.To > by.Span.To:
			by = l
		}
	}
	if by != nil {
		if !writesOnce(a.subject) {
			return nil, nil //nolint:nilnil // another job may have written it again
		}
		who, err := timeline.ParseSubject(by.From)
		if err != nil {
			return nil, err
		}
		writer := m.people.find(who)
		if writer == nil || whole(writer.rows, timeline.Always()) == 0 || slices.ContainsFunc(writer.judged, func(j judged) bool { return j.verdict == Unknown }) {
			return nil, nil //nolint:nilnil // no answer is an answer
		}
		return &cleared{ask: j, how: fmt.Sprintf("took installed packages out of the cache %s, which %s wrote: what that got is followed from there", cacheKey(j.Fact), by.From)}, nil
	}
	if c := m.collected(a.subject, j.channel); c != nil {
		return &cleared{ask: j, how: fmt.Sprintf("took installed packages out of the cache %s, which none of the runs of the window wrote: all of them were fetched on %s", cacheKey(j.Fact), time.Unix(0, c.Ended).UTC().Format(time.DateTime)+" UTC")}, nil
	}
	return nil, nil //nolint:nilnil // no answer is an answer
}

// readWriters reads who wrote which cache.
func (m *matching) readWriters() error {
	if m.wrote != nil {
		return nil
	}
	links, err := m.r.more(timeline.Saves)
	if err != nil {
		return err
	}
	m.wrote = map[timeline.Subject][]timeline.LinkRow{}
	for _, l := range links {
		if who, err := timeline.ParseSubject(l.From); err == nil {
			if c, ok := cacheOf(who, l.To); ok {
				m.wrote[c] = append(m.wrote[c], l)
			}
		}
	}
	return nil
}

// writesOnce reports whether the caches of a job's service are written once: of
// a key there is one writer then, and what came is what it wrote. GitLab and
// others write a cache anew at the end of each job.
func writesOnce(job timeline.Subject) bool {
	service, _, _ := strings.Cut(job.ID, ":")
	return service == "github" || service == "circleci"
}

// collected finds a collection that has all runs of a job's project in the window
// of a channel.
func (m *matching) collected(job timeline.Subject, channel string) *timeline.Collection {
	service, project, ok := strings.Cut(projectOf(job).ID, ":")
	from, to, windowed := m.q.union(channel)
	if !ok || !windowed || job.Kind != timeline.Job {
		return nil
	}
	for i := range m.r.done {
		c := &m.r.done[i]
		words, _, _ := strings.Cut(c.Target, "at ")
		if c.Collector == service && c.Span.From <= from && c.Span.To >= to && slices.ContainsFunc(strings.Fields(words), func(w string) bool {
			return project == w || strings.HasPrefix(project, w+"/")
		}) {
			return c
		}
	}
	return nil
}

// restoredGap says how to close what nobody knows of a cache.
func restoredGap(f *Finding) Gap {
	project := projectOf(f.Subject)
	return Gap{
		Subject: f.Subject.String(), Reason: "cache", Detail: f.Because,
		Fix: "fetch the log of the job that wrote it, or all runs of the window ('pulltrail collect " + strings.Replace(project.ID, ":", " ", 1) +
			" --incident …'); or look when it was made ('gh cache list' has it): where that was before the window, 'pulltrail state " + SubjectWord + " " + cachesRead +
			" --by NAME' (of " + project.String() + ": for all jobs of the project)",
	}
}

// ruleFound is the rule of installed packages that a job used and no line of its
// log put there.
const ruleFound = "found-in-window"

// judgeFound judges the use of an environment that stood there when a job began:
// it came with the files of another job, out of a cache that the log does not
// describe, or was left by an earlier job at the same place. Like what came out
// of a cache it is never more than unknown.
func (q *question) judgeFound(f *timeline.Fact) []judged {
	if f.Subject.Kind != timeline.Job && f.Subject.Kind != timeline.Source {
		return nil
	}
	var out []judged
	for _, c := range q.inc.Channels {
		w := q.during(c.Name, f.Span)
		if w == nil || w.open() || !q.topics[c.Name][timeline.Topic(f.Parts.Type)] {
			continue
		}
		j := judged{Fact: f, channel: c.Name, key: "ecosystem/" + f.Parts.Type, rule: ruleFound, verdict: Unknown, ask: true}
		j.because = fmt.Sprintf("used the packages installed in “%s” %s, and no line of its log put them there",
			strings.TrimPrefix(f.Item.Ref, timeline.EnvironmentEnd), q.when(w, f.Span))
		out = append(out, j)
	}
	return out
}

// madeHere answers for an environment that another log of the job makes: each
// step may have one of its own.
func (m *matching) madeHere(a *about, j judged) *cleared {
	made := timeline.MadeHere(j.Parts.Type)
	for i := range m.r.coverage {
		if r := &m.r.coverage[i]; r.Topic == made && r.Subject == a.subject && r.Span.From <= j.Span.To {
			return &cleared{ask: j, how: "makes the environment that it uses"}
		}
	}
	return nil
}

// foundGap says how to close what nobody knows of an environment.
func foundGap(f *Finding) Gap {
	return Gap{
		Subject: f.Subject.String(), Reason: "cache", Detail: f.Because,
		Fix: "find out who made it: an earlier job of the pipeline whose files it got, a cache, or a job before it at the same place; where that was before the window, " +
			"or its log shows what came, 'pulltrail state " + SubjectWord + " " + cachesRead + " --by NAME' (of " + projectOf(f.Subject).String() + ": for all jobs of the project)",
	}
}
