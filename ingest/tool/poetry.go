package tool

import (
	"bytes"
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
	Cannot: "the end of an operation: rows are printed at its start, and an error may follow",
	Doc:    "https://python-poetry.org/docs/cli/",
	Sample: "written by hand after the documentation",
	Starts: []string{
		"- Installing ", "- Updating ", "- Downgrading ", "- Removing ", "• Installing ", "• Updating ", "• Downgrading ", "• Removing ",
		"Package operations: ", "No dependencies to install or update",
	},
	Tool: func() evidence.Parser { return &poetry{} },
}

type poetry struct {
	op   *evidence.Op
	done map[string]bool // a terminal redraws its rows
	rows bool
	told evidence.Mark // the line that counts the rows
	want int           // rows that it counts
}

// Line reads one line.
func (p *poetry) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if l.Echo {
		return evidence.Miss
	}
	if rest, ok := bytes.CutPrefix(text, []byte("Package operations: ")); ok {
		p.End(timeline.OpOpen, o)
		p.op = o.Invocation("poetry")
		o.Seen(timeline.PyPI)
		// Package operations: 0 installs, 0 updates, 0 removals
		p.rows = !bytes.ContainsAny(rest, "123456789")
		p.told, p.want = o.Mark(), 0
		for _, part := range strings.Split(string(rest), ", ") {
			n, _ := strconv.Atoi(firstWord(part))
			p.want += n
		}
		return evidence.Done
	}
	if bytes.HasPrefix(text, []byte("No dependencies to install")) {
		p.End(timeline.OpOpen, o)
		p.op, p.rows = o.Invocation("poetry"), true
		p.End(timeline.OpOpen, o)
		o.Seen(timeline.PyPI)
		return evidence.Done
	}
	return p.row(string(text), o)
}

// row reads one operation:
//
//	Package operations: 1 install, 1 update, 1 removal
//	  - Installing wsproto (1.2.0)
//	  - Updating litellm (1.52.5 -> 1.52.15)
//	  • Removing py (1.11.0): Pending...
func (p *poetry) row(text string, o *evidence.Out) evidence.Result {
	_, rest, _ := strings.Cut(text, " ")
	verb, rest, _ := strings.Cut(rest, " ")
	name, rest, ok := strings.Cut(rest, " (")
	versions, after, closed := strings.Cut(rest, ")")
	if !ok || !closed || !evidence.IsDistName(name) {
		return evidence.Miss
	}
	old, now, replaces := strings.Cut(versions, " -> ")
	if !replaces {
		now = old
	}
	// A version of a repository is followed by its commit: "0.6.0 4f2c9ab".
	now, old = firstWord(now), firstWord(old)
	if !evidence.IsVersion(now) || !evidence.IsVersion(old) || (verb == "Updating" || verb == "Downgrading") != replaces {
		return evidence.Miss
	}
	if p.op == nil || o.Overtaken(p.op) {
		p.End(timeline.OpOpen, o)
		p.op = o.Invocation("poetry")
	}
	p.rows = true
	o.Seen(timeline.PyPI)
	if strings.Contains(after, "Skipped") || strings.Contains(after, "Already installed") {
		p.want-- // of those it counts the others alone, in some versions
	}
	if key := verb + name; p.done[key] || strings.Contains(after, "Skipped") || strings.Contains(after, "Already installed") {
		return evidence.Done
	} else if p.done == nil {
		p.done = map[string]bool{key: true}
	} else {
		p.done[key] = true
	}
	if strings.Contains(p.op.Command, "--dry-run") {
		if verb != "Removing" {
			o.Emit(timeline.Resolve, p.op, timeline.Item{Artifact: timeline.PURL("pypi", "", name, now)})
		}
		return evidence.Done
	}
	if replaces || verb == "Removing" {
		o.Emit(timeline.Remove, p.op, timeline.Item{Artifact: timeline.PURL("pypi", "", name, old)})
	}
	if verb != "Removing" {
		o.Emit(timeline.Install, p.op, timeline.Item{Artifact: timeline.PURL("pypi", "", name, now)})
	}
	return evidence.Done
}

// End ends the invocation.
func (p *poetry) End(how timeline.OpState, o *evidence.Out) {
	if p.op == nil {
		return
	}
	if p.rows {
		p.op.Answer()
		if how == timeline.OpOpen {
			how = timeline.OpDone
		}
	}
	if p.rows && len(p.done) < p.want && !strings.Contains(p.op.Command, "--dry-run") {
		lostRows(p.told, p.op, o)
	}
	o.Close(p.op, how)
	p.op, p.done, p.rows, p.want = nil, nil, false, 0
}
