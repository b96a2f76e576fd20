package tool

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Poetry is the output of poetry install, add, update and remove.
// https://python-poetry.org/docs/cli/
var Poetry = evidence.Format{
	Name:   "poetry",
	Shape:  evidence.ToolShape,
	Title:  "poetry output",
	Proves: "what was installed, replaced and removed, with versions",
	Cannot: "the end of an operation: rows are printed at its start, and an error that does not name it may follow",
	Doc:    "https://python-poetry.org/docs/cli/",
	Sample: "made with poetry 1.3.2 on a closed network, and written by hand after the documentation",
	Starts: append([]string{
		"- Installing ", "- Updating ", "- Downgrading ", "- Removing ", "• Installing ", "• Updating ", "• Downgrading ", "• Removing ",
		"Package operations: ", "Poetry (", "No dependencies to install or update", "Cannot install ",
		"EnvCommandError", "CalledProcessError", "Stack trace:", "ChefBuildError", "ChefInstallError", "PoetryException", "RuntimeError", "HTTPError", "ConnectionError", "ReadTimeout",
	}, poetryVerbose...),
	Tool: func() evidence.Parser { return &poetry{} },
}

type poetry struct {
	op   *evidence.Op
	done map[string]*poetryChange // a terminal redraws its rows
	all  []*poetryChange          // in the order they came
	rows bool
	told evidence.Mark // the line that counts the rows
	want int           // rows that it counts
}

// poetryChange is one operation: what came of it is known when the next begins, or
// nothing says that it failed.
type poetryChange struct {
	mark           evidence.Mark
	verb, name     string
	old, now       string
	begun          bool // it is shown as done, or, without a terminal, as begun
	failed, passed bool
	there          bool // it was passed over, for it is installed
}

// Line reads one line.
func (p *poetry) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if l.Echo {
		return evidence.Miss
	}
	if len(text) > 0 && (text[0] == 'P' || text[0] == 'S' || isDecimal(text[0])) && !bytes.HasPrefix(text, []byte("Pa")) {
		if r := p.resolved(string(text), o); r != evidence.Miss {
			return r
		}
	}
	if rest, ok := bytes.CutPrefix(text, []byte("Package operations: ")); ok {
		p.End(timeline.OpOpen, o)
		p.op = o.Invocation("poetry")
		o.Seen(timeline.PyPI)
		// Package operations: 0 installs, 0 updates, 0 removals, 2 skipped
		p.told, p.want = o.Mark(), 0
		for _, part := range strings.Split(string(rest), ", ") {
			n, _ := strconv.Atoi(firstWord(part))
			if !strings.HasSuffix(part, "skipped") {
				p.want += n
			}
		}
		p.rows = p.want == 0
		return evidence.Done
	}
	if bytes.HasPrefix(text, []byte("No dependencies to install")) {
		p.End(timeline.OpOpen, o)
		p.op, p.rows = o.Invocation("poetry"), true
		p.End(timeline.OpOpen, o)
		o.Seen(timeline.PyPI)
		return evidence.Done
	}
	if bytes.HasPrefix(text, []byte("Poetry (")) {
		return p.itself(string(text), o)
	}
	if name, ok := bytes.CutPrefix(text, []byte("Cannot install ")); ok {
		return p.cannot(strings.TrimSuffix(string(name), "."))
	}
	if bytes.IndexByte(text, ' ') < 0 || bytes.Equal(text, []byte("Stack trace:")) {
		return p.broke()
	}
	return p.row(string(text), o)
}

// itself reads the last line of the script that installs poetry:
//
//	Poetry (1.8.3) is installed now. Great!
//
// https://python-poetry.org/docs/#installing-with-the-official-installer
func (p *poetry) itself(text string, o *evidence.Out) evidence.Result {
	version, rest, _ := strings.Cut(strings.TrimPrefix(text, "Poetry ("), ")")
	if !evidence.IsVersion(version) || !strings.HasPrefix(rest, " is installed now.") {
		return evidence.Miss
	}
	o.Seen(timeline.PyPI)
	o.Emit(timeline.Install, nil, timeline.Item{Artifact: timeline.PURL("pypi", "", "poetry", version)})
	return evidence.Done
}

// broke reads the head of an error, alone on its line. Versions that do not say
// which operation it is of print it behind that one:
//
//   - Updating opencv-contrib-python (4.1.2.30 -> 4.4.0.42)
//
//     EnvCommandError
func (p *poetry) broke() evidence.Result {
	if len(p.all) == 0 {
		return evidence.Miss
	}
	if !slices.ContainsFunc(p.all, func(r *poetryChange) bool { return r.failed }) {
		p.all[len(p.all)-1].failed = true
	}
	return evidence.Done
}

// cannot reads which of the operations an error is of:
//
//	Cannot install mysqlclient.
func (p *poetry) cannot(name string) evidence.Result {
	for _, r := range p.all {
		if r.name == name && r.verb != "Removing" {
			r.failed = true
			return evidence.Done
		}
	}
	return evidence.Miss
}

// row reads one operation, and how far it has come:
//
//	Package operations: 1 install, 1 update, 1 removal
//	  - Installing wsproto (1.2.0)
//	  - Updating litellm (1.52.5 -> 1.52.15)
//	  • Removing py (1.11.0): Pending...
//	  • Installing six (1.16.0): Skipped for the following reason: Already installed
//	  • Installing mysqlclient (2.0.3): Failed
func (p *poetry) row(text string, o *evidence.Out) evidence.Result {
	r, after := poetryOperation(text)
	if r == nil {
		return evidence.Miss
	}
	if p.op == nil || o.Overtaken(p.op) {
		p.End(timeline.OpOpen, o)
		p.op = o.Invocation("poetry")
	}
	p.rows = true
	o.Seen(timeline.PyPI)
	key := r.verb + r.name
	if had := p.done[key]; had != nil {
		r = had
	} else {
		if p.done == nil {
			p.done = map[string]*poetryChange{}
		}
		p.done[key] = r
		p.all = append(p.all, r)
		r.mark = o.Mark()
	}
	switch after = strings.TrimPrefix(after, ": "); {
	case strings.Contains(after, "Skipped"), strings.Contains(after, "Already installed"):
		r.passed, r.there, r.mark = true, strings.Contains(after, "lready installed") && r.verb != "Removing", o.Mark()
	case strings.HasPrefix(after, "Failed"), strings.HasPrefix(after, "Cancelled"):
		r.failed = true
	case after == "" && !r.begun:
		r.begun, r.mark = true, o.Mark()
	}
	return evidence.Done
}

// poetryOperation takes a row apart; after is what stands behind its versions.
func poetryOperation(text string) (r *poetryChange, after string) {
	_, rest, _ := strings.Cut(text, " ")
	verb, rest, _ := strings.Cut(rest, " ")
	name, rest, ok := strings.Cut(rest, " (")
	versions, after, closed := strings.Cut(rest, ")")
	if !ok || !closed || !evidence.IsDistName(name) {
		return nil, ""
	}
	old, now, replaces := strings.Cut(versions, " -> ")
	if !replaces {
		now = old
	}
	// A version of a repository is followed by its commit: "0.6.0 4f2c9ab".
	now, old = firstWord(now), firstWord(old)
	if !evidence.IsVersion(now) || !evidence.IsVersion(old) || (verb == "Updating" || verb == "Downgrading") != replaces {
		return nil, ""
	}
	return &poetryChange{verb: verb, name: name, old: old, now: now}, after
}

// tell records what came of an operation. What was only pending or failed was
// chosen, and no more is known.
func (p *poetry) tell(r *poetryChange, o *evidence.Out) {
	emit := func(a timeline.Action, version string) {
		o.At(r.mark, timeline.Event{Action: a, Op: p.op.Number, Items: []timeline.Item{{Artifact: timeline.PURL("pypi", "", r.name, version)}}})
	}
	switch {
	case r.there:
		emit(timeline.Present, r.now)
	case r.passed:
	case r.failed || !r.begun || strings.Contains(p.op.Command, "--dry-run"):
		if r.verb != "Removing" {
			emit(timeline.Resolve, r.now)
		}
	default:
		if r.old != r.now || r.verb == "Removing" {
			emit(timeline.Remove, r.old)
		}
		if r.verb != "Removing" {
			emit(timeline.Install, r.now)
		}
	}
}

// End ends the invocation.
func (p *poetry) End(how timeline.OpState, o *evidence.Out) {
	if p.op == nil {
		return
	}
	came := 0
	for _, r := range p.all {
		p.tell(r, o)
		if !r.passed {
			came++
		}
	}
	if p.rows {
		p.op.Answer()
		if how == timeline.OpOpen {
			how = timeline.OpDone
		}
	}
	if p.rows && came < p.want && !strings.Contains(p.op.Command, "--dry-run") {
		lostRows(p.told, p.op, o)
	}
	o.Close(p.op, how)
	*p = poetry{}
}
