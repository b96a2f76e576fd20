package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// listing reads the answers of commands that list packages: what is installed
// (pip freeze, conda list, npm ls --json), or what a lock file or a resolver says
// (poetry show, uv tree, pip-compile). Without the command the rows prove
// nothing: a requirements file looks the same.
type listing struct {
	lists  []*list // asked for, in the order of their commands
	output bool    // something was printed since the last command
}

// list is one of these commands at work.
type list struct {
	kind    *listKind
	op      *evidence.Op
	waiting int    // lines that may still come before the first row
	name    string // of a row whose version stands on a later one
	begun   bool
	scan    scan // what a scanner looks at
}

// listKind is how one kind of command prints packages.
type listKind struct {
	tool   string          // as invocations of it are called
	topic  timeline.Topic  // that a source with such a list speaks of, "" for what only a lock file says
	action timeline.Action // what a row says: Present, or Require
	// row reads one line; ok without an item is a heading, or a row that names
	// none.
	row func(l *list, row string) (items []timeline.Item, ok bool)
	// fact reads one line in place of row, where a row says more: whose package it
	// is, or that a lock file alone names it. An event without items is a heading.
	fact func(l *list, row string, o *evidence.Out) (e timeline.Event, ok bool)
	// within reports whether a line that is no row may stand among them.
	within func(row string) bool
}

// maxWaiting bounds the lines between the command and its first row: warnings,
// lines of the runner. Behind a script of several commands, there is no telling
// how much the others print.
const (
	maxWaiting = 20
	maxLists   = 16
)

// asked reports whether a command lists packages, and waits for its rows;
// script tells that the command is one of several whose output follows.
func (t *listing) asked(name string, args []string, muted, script bool, o *evidence.Out) bool {
	kind, quiet := listOf(name, args)
	if kind == nil {
		return false
	}
	lists := kind.fact == nil // a scanner fetches what it looks at
	if muted || quiet || len(t.lists) >= maxLists {
		return lists
	}
	l := &list{kind: kind, op: o.NewOp(kind.tool, name+" "+strings.Join(args, " ")), waiting: maxWaiting}
	if script {
		l.waiting = -1
	}
	if len(args) > 0 {
		l.name = shownName(kind, args)
	}
	if !lists {
		l.scan = scanOf(name, args)
		t.blur(l)
	}
	if t.lists = append(t.lists, l); len(t.lists) == 1 {
		o.Listen()
	}
	return lists
}

// shownName is the package of "pip show litellm", whose name a filter may have
// taken out of its answer, and that of which a program prints the version.
func shownName(kind *listKind, args []string) string {
	switch kind {
	case distVersion:
		return askedVersion(args)
	case showList:
	default:
		return ""
	}
	_, plain := splitFlags(args, listValued)
	if n := len(plain); n > 1 && plain[n-2] == "show" && evidence.IsDistName(plain[n-1]) {
		return plain[n-1]
	}
	return ""
}

// command says that another command begins: lists before it have ended, unless
// it is the next line of the script whose output is still to come.
func (t *listing) command(script bool, o *evidence.Out) {
	if !script || t.output {
		t.stop(o)
	}
}

// interrupt ends the list at work: a command printed itself behind it. What
// else a script was to list may still come.
func (t *listing) interrupt(o *evidence.Out) {
	if len(t.lists) > 0 && (t.lists[0].begun || t.lists[0].waiting >= 0) {
		t.drop(1, o)
	}
}

// stop ends all lists.
func (t *listing) stop(o *evidence.Out) {
	if len(t.lists) > 0 {
		o.Deafen()
	}
	for _, l := range t.lists {
		l.end(o)
	}
	*t = listing{}
}

// end closes the invocation of a list that printed something.
func (l *list) end(o *evidence.Out) {
	if l.begun {
		o.Close(l.op, timeline.OpDone)
	}
}

// drop ends the first n lists.
func (t *listing) drop(n int, o *evidence.Out) {
	for _, l := range t.lists[:n] {
		l.end(o)
	}
	if t.lists = t.lists[n:]; len(t.lists) == 0 && n > 0 {
		o.Deafen()
	}
}

// read reads one line as a row of the list.
func (l *list) read(row string, o *evidence.Out) (timeline.Event, bool) {
	if l.kind.fact != nil {
		return l.kind.fact(l, row, o)
	}
	items, ok := l.kind.row(l, row)
	return timeline.Event{Action: l.kind.action, Items: items}, ok
}

// line reads one line of output.
func (t *listing) line(text []byte, o *evidence.Out) evidence.Result {
	t.output = true
	if len(t.lists) == 0 {
		return evidence.Miss
	}
	row := string(bytes.TrimRight(text, " \t"))
	for i, l := range t.lists {
		e, ok := l.read(row, o)
		if !ok {
			continue
		}
		t.drop(i, o) // those before it are done
		l.begun = true
		o.Seen(l.kind.topic)
		if len(e.Items) > 0 {
			if e.Subject.IsZero() {
				e.Op = l.op.Number
			}
			o.Event(e)
		}
		return evidence.Done
	}
	t.other(row, o)
	return evidence.Miss
}

// other decides whether a line that is no row ends the list at work.
func (t *listing) other(row string, o *evidence.Out) {
	l := t.lists[0]
	switch {
	case row == "" || strings.HasPrefix(row, "#") || strings.HasPrefix(row, "WARNING: ") || strings.HasPrefix(row, "[notice]"):
	case l.begun && l.kind.within != nil && l.kind.within(row):
	case l.begun || l.waiting == 0:
		t.drop(1, o)
	case l.waiting > 0:
		l.waiting--
	}
}
