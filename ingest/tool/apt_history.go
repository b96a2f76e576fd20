package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// AptHistory is the log that apt keeps of its runs.
// https://manpages.debian.org/bookworm/apt/apt.conf.5.en.html
var AptHistory = evidence.Format{
	Name:   "apt-history",
	Shape:  evidence.ToolShape,
	Title:  "apt history.log",
	Proves: "which package versions each run of apt installed, replaced and removed, between its start and its end",
	Cannot: "the zone of its times; where a package came from; what a run that failed got done",
	Doc:    "https://manpages.debian.org/bookworm/apt/apt.conf.5.en.html",
	Sample: "written by hand after the manual",
	Starts: []string{"Start-Date: ", "Commandline: ", "Requested-By: ", "Install: ", "Reinstall: ", "Upgrade: ", "Downgrade: ", "Remove: ", "Purge: ", "Error: ", "End-Date: "},
	Tool:   func() evidence.Parser { return &aptHistory{} },
}

// aptHistory is the block of one run.
type aptHistory struct {
	open    bool
	start   timeline.Span
	command string
	lines   []aptLine
	failed  bool
}

// aptLine is a line of packages, kept until the run's end is known.
type aptLine struct {
	mark               evidence.Mark
	installed, removed []timeline.Item
}

// Line reads one line of a block:
//
//	Start-Date: 2026-10-21  14:08:31
//	Commandline: apt-get install forensics-all
//	Install: chaosreader:amd64 (0.96-2, automatic), forensics-all:amd64 (1.5)
//	Upgrade: openssl:amd64 (3.0.11-1, 3.0.15-1)
//	End-Date: 2026-10-21  14:09:56
func (a *aptHistory) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	key, text, _ := strings.Cut(string(bytes.TrimSpace(l.Text)), ": ")
	if key == "Start-Date" {
		a.close(timeline.Span{}, o)
		span, ok := aptTime(text, o)
		if !ok {
			return evidence.Miss
		}
		*a = aptHistory{open: true, start: span}
		return evidence.Done
	}
	if !a.open {
		return evidence.Miss
	}
	switch key {
	case "Commandline":
		a.command = text
	case "Error":
		a.failed = true
	case "End-Date":
		end, _ := aptTime(text, o)
		a.close(end, o)
	case "Requested-By":
	default:
		line := aptLine{mark: o.Mark()}
		for row := range strings.SplitSeq(text, "), ") {
			line.add(key, strings.TrimSuffix(row, ")"))
		}
		a.lines = append(a.lines, line)
	}
	return evidence.Done
}

// aptTime reads a time, which has two blanks in it.
func aptTime(text string, o *evidence.Out) (timeline.Span, bool) {
	m, n := evidence.ParseISO([]byte(strings.Replace(text, "  ", " ", 1)))
	return m.Span(text, &o.Times), n > 0
}

// add reads one package: name:architecture (version), with "automatic" or the
// version that it replaced.
func (l *aptLine) add(key, row string) {
	name, versions, ok := strings.Cut(row, " (")
	if !ok || !debName(name) {
		return
	}
	first, second, _ := strings.Cut(versions, ", ")
	item := func(version string) timeline.Item { return timeline.Item{Artifact: debPURL(name, version)} }
	switch key {
	case "Install", "Reinstall":
		l.installed = append(l.installed, item(first))
	case "Upgrade", "Downgrade":
		l.removed = append(l.removed, item(first))
		l.installed = append(l.installed, item(second))
	case "Remove", "Purge":
		l.removed = append(l.removed, item(first))
	}
}

// close makes the events of a run. Of one that failed, or has no end, it is
// not known how far it got: its packages were only chosen.
func (a *aptHistory) close(end timeline.Span, o *evidence.Out) {
	if !a.open {
		return
	}
	a.open = false
	span, done := a.start, !a.failed && end != timeline.Span{}
	if end != (timeline.Span{}) && end.To >= span.From {
		span.To = end.To
		if span.Clock == timeline.Exact && span.To != span.From {
			span.Clock = timeline.Section
		}
	}
	op := o.NewOp("apt", a.command)
	op.Answer()
	for _, l := range a.lines {
		if len(l.installed) > 0 {
			action := timeline.Resolve
			if done {
				action = timeline.Install
			}
			o.At(l.mark, timeline.Event{Action: action, Span: span, Op: op.Number, Items: l.installed})
		}
		if len(l.removed) > 0 && done {
			o.At(l.mark, timeline.Event{Action: timeline.Remove, Span: span, Op: op.Number, Items: l.removed})
		}
	}
	state := timeline.OpDone
	switch {
	case a.failed:
		state = timeline.OpFailed
	case !done:
		state = timeline.OpCut
	}
	o.Close(op, state)
	a.lines = nil
}

// End closes a run that has no end.
func (a *aptHistory) End(_ timeline.OpState, o *evidence.Out) { a.close(timeline.Span{}, o) }
