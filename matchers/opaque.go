package matchers

import (
	"fmt"
	"maps"
	"slices"

	"pulltrail/timeline"
)

// projectKind is a project, or any other subject, and a kind of package.
type projectKind struct {
	project timeline.Subject
	kind    string
}

// use is what shows that a project uses a listed package: one invocation, or
// more than that.
type use struct {
	source, op int64 // op is 0 where it is more
}

// users lists the projects that are known to use a listed package. A version that
// a command pins or got is known of that command alone.
func (m *matching) users() map[projectKind]use {
	known, got := map[projectKind]use{}, map[opKey]bool{}
	for a := range m.people.all() {
		for i := range a.judged {
			if j := &a.judged[i]; j.Action == timeline.Install && j.Op != 0 {
				got[opKey{j.Source, j.Op, packageKey(j.Parts)}] = true
			}
		}
	}
	for a := range m.people.all() {
		for i := range a.judged {
			j := &a.judged[i]
			if j.Parts.Name == "" || m.q.packages[packageKey(j.Parts)] == nil || j.Action == timeline.Contact {
				continue
			}
			k, by := projectKind{projectOf(a.subject), j.Parts.Type}, use{}
			if pinned := j.Action == timeline.Require && j.Parts.Version != ""; pinned || got[opKey{j.Source, j.Op, packageKey(j.Parts)}] {
				by = use{j.Source, j.Op}
			}
			if had, ok := known[k]; ok && had != by {
				by = use{}
			}
			known[k] = by
		}
	}
	return known
}

// uses reports whether the project of a subject is known to use a listed package
// by anything but the command itself: what that names is judged by its name.
func (m *matching) uses(s timeline.Subject, f *timeline.Fact) bool {
	by, known := m.known[projectKind{projectOf(s), f.Parts.Type}]
	return known && (by.op == 0 || by != use{f.Source, f.Op})
}

// opaque places the commands that may have fetched packages and did not name
// them. There are many, and few count: those in a window, and where it is open
// those of a project that is known to use a listed package. The others say
// nothing of the incident.
func (m *matching) opaque() error {
	if len(m.q.ecosystems) == 0 {
		return nil
	}
	m.known = m.users()
	closed, open := m.q.spans()
	facts, err := m.r.during(closed)
	if err != nil {
		return err
	}
	later, err := m.restoredLater(closed)
	if err != nil {
		return err
	}
	facts = append(facts, later...)
	if len(open) > 0 && len(m.known) > 0 {
		more, err := m.r.opaqueOf(m.subjectsOf(m.known))
		if err != nil {
			return err
		}
		facts = append(facts, more...)
	}
	sortFacts(facts)
	for _, f := range facts {
		k := keyOf(f)
		if m.r.seen[k] || m.q.ecosystems[f.Parts.Type] == "" && f.Item.Artifact != timeline.Anything {
			continue
		}
		m.r.seen[k] = true
		if js := m.q.judge(f); m.counts(f, js) {
			m.place(f, js)
		}
	}
	return nil
}

// restoredLater reads what came out of caches from the first of the windows on.
func (m *matching) restoredLater(closed []timeline.Span) ([]*timeline.Fact, error) {
	from := timeline.Forever
	for _, s := range closed {
		from = min(from, s.From)
	}
	var all []*timeline.Fact
	for _, kind := range slices.Sorted(maps.Keys(m.q.ecosystems)) {
		facts, err := m.r.restored(kind, from)
		if err != nil || len(closed) == 0 {
			return nil, err
		}
		all = append(all, facts...)
	}
	return all, nil
}

// hush notes the jobs that ran a command which names no package while a window is
// open. Such a command makes no suspicion, since there are many; but the log of
// its job shows nothing of what came, however whole it is.
func (m *matching) hush() error {
	m.silent = map[jobKind]bool{}
	if len(m.q.ecosystems) == 0 {
		return nil
	}
	_, open := m.q.spans()
	for _, c := range m.q.inc.Channels {
		if len(m.q.windows[c.Name]) == 0 {
			open = append(slices.Clip(open), timeline.Span{From: timeline.Beginning, To: timeline.Forever})
			break
		}
	}
	return m.r.silent(open, func(job timeline.Subject, kind string) { m.silent[jobKind{job, timeline.Topic(kind)}] = true })
}

// jobKind is a job, and a kind of package that it fetched without a word.
type jobKind struct {
	job  timeline.Subject
	kind timeline.Topic
}

// counts reports whether what a command that was read for its time alone says
// of the incident counts.
func (m *matching) counts(f *timeline.Fact, js []judged) bool {
	known := m.uses(m.whose(f), f)
	for i := range js {
		if known || js[i].rule != ruleOpenWindow {
			return true
		}
	}
	return false
}

// subjectsOf lists the subjects whose project is one of those, and the
// addresses that a host among them had.
func (m *matching) subjectsOf(known map[projectKind]use) []timeline.Subject {
	projects := make(map[timeline.Subject]bool, len(known))
	for k := range known {
		projects[k.project] = true
	}
	var out []timeline.Subject
	for i := range m.people.known {
		s := m.people.known[i].subject
		of := projects[projectOf(s)]
		if s.Kind == timeline.Client && !of {
			of = slices.ContainsFunc(m.clients[s.ID], func(r timeline.InventoryRow) bool {
				return projects[timeline.Subject{Kind: timeline.Host, ID: r.Host}]
			})
		}
		if of {
			out = append(out, s)
		}
	}
	return out
}

// judgeUnseen judges a command that ran others which no line shows. What runs
// on a host leaves traces in other evidence, and the content of an image says
// what is in it: of a job there is only the log. Nothing says that such a
// command installed anything, so it is never more than unknown, and counts only
// where the window has two ends.
func (q *question) judgeUnseen(f *timeline.Fact) []judged {
	if f.Subject.Kind != timeline.Job && f.Subject.Kind != timeline.Source {
		return nil
	}
	var out []judged
	for _, c := range q.inc.Channels {
		w := q.during(c.Name, f.Span)
		if w == nil || w.open() || !q.fetched(c.Name) || f.Item.Ref != "" && !q.topics[c.Name][timeline.Topic(f.Item.Ref)] {
			continue
		}
		j := judged{Fact: f, channel: c.Name, key: "ecosystem/" + f.Parts.Type, rule: ruleUnseen, verdict: Unknown, ask: true}
		j.because = fmt.Sprintf("ran %s %s, and the log does not show which commands that ran", quoteCommand(f), q.when(w, f.Span))
		out = append(out, j)
	}
	return out
}

// fetched reports whether a channel serves packages or images, which a command
// can fetch.
func (q *question) fetched(channel string) bool {
	for topic := range q.topics[channel] {
		if topic == timeline.Images || q.ecosystems[string(topic)] != "" {
			return true
		}
	}
	return false
}

// ruleUnseen is the rule of a command that ran others which no line shows.
const ruleUnseen = "unseen-in-window"

// unseenGap says how to close what no line shows: somebody reads it.
func unseenGap(f *Finding) Gap {
	return Gap{
		Subject: f.Subject.String(), Reason: reasonUnseen, Detail: f.Because,
		Fix: "read what it ran, in the repository at that commit; where that installs nothing, 'pulltrail state " + SubjectWord + " " + scriptsRead +
			" --by NAME' (of " + projectOf(f.Subject).String() + ": for all jobs of the project)",
	}
}
