package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// npmExec is what npx and npm init say before they fetch a package that is not
// there: its name, and whether they may.
//
//	Need to install the following packages:
//	create-next-app@16.1.1
//	Ok to proceed? (y) y
type npmExec struct {
	asked []npmPlace
	phase npmPhase
}

type npmPhase uint8

const (
	npmIdle   npmPhase = iota
	npmNames           // the lines that come are packages
	npmWaits           // it was answered, and what comes next tells whether it went on
	npmReport          // npm audit's report
)

const npmNeeds = "Need to install the following packages:"

// exec reads a line of the question, and the first line behind its answer: an
// error of npm, or what the package printed.
func (n *npm) exec(text string, o *evidence.Out) evidence.Result {
	x := &n.asks
	if strings.HasSuffix(text, npmNeeds) { // a spinner may stand before it
		n.given(o)
		x.phase = npmNames
		return evidence.More
	}
	switch {
	case x.phase == npmNames && strings.HasPrefix(text, "Ok to proceed?"):
		_, answer, _ := strings.Cut(text, ")")
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "n" || answer == "no" {
			n.proceed(npmRefused, o)
			return evidence.Done
		}
		x.phase = npmWaits
		return evidence.More
	case x.phase == npmNames && len(x.asked) < maxNPMNames:
		if text == "" {
			return evidence.More
		}
		if it, ok := npmSpec(text); ok && it.Artifact != "" {
			x.asked = append(x.asked, npmPlace{o.Mark(), text})
			return evidence.More
		}
		n.proceed(npmUnknown, o)
	case x.phase == npmWaits:
		if len(text) < 2 || strings.Trim(text, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ") == "" { // what was typed, a spinner
			return evidence.More
		}
		switch {
		case text == "npm ERR! canceled" || text == "npm error canceled":
			n.proceed(npmRefused, o)
			return evidence.Done
		case strings.HasPrefix(text, "npm ERR!") || strings.HasPrefix(text, "npm error"):
			n.proceed(npmUnknown, o)
		default:
			n.proceed(npmWent, o)
		}
	}
	return evidence.Miss
}

// npmSpec reads name, name@version or name@tag.
func npmSpec(text string) (timeline.Item, bool) {
	if name, version, ok := npmPackage(text); ok {
		return evidence.NPMItem(name, version), true
	}
	name, ref := evidence.CutNPM(text)
	if !evidence.IsNPMName(name) || strings.ContainsAny(ref, " \t") {
		return timeline.Item{}, false
	}
	return timeline.Item{Artifact: timeline.PURL("npm", "", name, ""), Ref: evidence.Redact(ref)}, true
}

// npmAnswer is what became of the question.
type npmAnswer uint8

const (
	npmUnknown npmAnswer = iota // the log ends, or npm failed
	npmRefused
	npmWent
)

// given ends a question behind which the next command stands: when it was
// answered, it went on.
func (n *npm) given(o *evidence.Out) {
	switch n.asks.phase {
	case npmWaits:
		n.proceed(npmWent, o)
	case npmNames:
		n.proceed(npmUnknown, o)
	case npmIdle, npmReport:
	}
}

// proceed makes events of the packages that were asked about: when it went on
// they were installed into npx's cache, with whatever they depend on.
func (n *npm) proceed(answer npmAnswer, o *evidence.Out) {
	went := answer == npmWent
	x := &n.asks
	asked := x.asked
	x.asked, x.phase = nil, npmIdle
	if len(asked) == 0 {
		return
	}
	o.Seen(timeline.NPM)
	asker := "npx"
	if !o.Awaited(asker) && o.Awaited("npm create") {
		asker = "npm create"
	}
	op := o.Invocation(asker)
	exact := true
	for _, a := range asked {
		it, _ := npmSpec(a.text)
		action := timeline.Resolve
		switch {
		case timeline.Split(it.Artifact).Version == "":
			exact = false
			action = timeline.Require
		case went:
			action = timeline.Install
		}
		o.At(a.mark, timeline.Event{Action: action, Op: op.Number, Items: []timeline.Item{it}})
		if action == timeline.Require && went {
			o.At(a.mark, timeline.Event{Action: timeline.Opaque, Op: op.Number, Items: []timeline.Item{it}})
		}
	}
	switch answer {
	case npmWent:
		uncounted(op, &asked[0].mark, "npm", o)
		if exact {
			op.Answer()
		}
		o.Close(op, timeline.OpDone)
	case npmRefused:
		op.Answer() // that nothing came
		o.Close(op, timeline.OpFailed)
	case npmUnknown:
		o.Close(op, timeline.OpOpen)
	}
}

// npxCount reads what npx of npm 6 and older prints of what it fetched:
//
//	npx: installed 67 in 8.4s
func (n *npm) npxCount(text string, o *evidence.Out) evidence.Result {
	if !strings.HasPrefix(text, "npx: installed ") || !strings.HasSuffix(text, "s") {
		return evidence.Miss
	}
	o.Seen(timeline.NPM)
	op := o.Invocation("npx")
	mark := o.Mark()
	uncounted(op, &mark, "npm", o)
	o.Close(op, timeline.OpOpen)
	return evidence.Done
}

// report reads npm audit: of what the tree holds, and a report knows as
// vulnerable, the range of such versions, which is one version if no other is.
//
//	@acme/ui  1.2.3
//	Severity: critical
func (n *npm) report(text string, o *evidence.Out) evidence.Result {
	x := &n.asks
	last := npmPlace{}
	if len(x.asked) > 0 {
		last = x.asked[0]
	}
	x.asked = append(x.asked[:0], npmPlace{o.Mark(), text})
	if strings.HasPrefix(text, "Severity: ") {
		name, affected, ok := strings.Cut(last.text, "  ")
		if ok && evidence.IsNPMName(name) {
			it := timeline.Item{Artifact: timeline.PURL("npm", "", name, ""), Ref: affected}
			if evidence.IsSemver(strings.TrimLeft(affected, "=v")) {
				it = evidence.NPMItem(name, strings.TrimLeft(affected, "=v"))
			}
			o.At(last.mark, timeline.Event{Action: timeline.Require, Items: []timeline.Item{it}})
		}
		return evidence.Done
	}
	if count, rest, _ := strings.Cut(text, " "); count != "" && strings.Trim(count, "0123456789") == "" && strings.Contains(rest, "vulnerabilit") {
		x.asked, x.phase = nil, npmIdle
		o.Deafen()
		return evidence.Done
	}
	return evidence.Miss
}
