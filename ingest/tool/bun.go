package tool

import (
	"bytes"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Bun is the output of bun install, add and remove.
// https://bun.sh/docs/cli/install
var Bun = evidence.Format{
	Name:   "bun",
	Shape:  evidence.ToolShape,
	Title:  "bun output",
	Proves: "the project's own dependencies that were installed, with versions",
	Cannot: "the versions of what they depend on, and what an alias stands for: bun.lock of that commit has them",
	Doc:    "https://bun.sh/docs/pm/cli/install",
	Sample: "bun 1.1.38 and 1.3.0 run for this project",
	Starts: []string{"bun ", "+ ", "installed ", "Checked "},
	Tool:   func() evidence.Parser { return &bun{} },
}

type bun struct {
	op    *evidence.Op
	named int
}

// Line reads one line.
func (b *bun) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := string(bytes.TrimSpace(l.Text))
	word, rest, _ := strings.Cut(text, " ")
	if word == "bun" {
		return b.header(rest, o)
	}
	if b.op == nil {
		return evidence.Miss
	}
	if o.Overtaken(b.op) {
		b.finish(0, timeline.OpOpen, o)
		return evidence.Miss
	}
	switch word {
	case "+", "installed":
		return b.row(rest, o)
	case "Checked":
		if strings.HasSuffix(rest, "]") && strings.Contains(rest, "(no changes)") {
			b.finish(0, timeline.OpDone, o)
			return evidence.Done
		}
		return evidence.Miss
	}
	return b.summary(word, rest, o)
}

// header begins an invocation:
//
//	bun install v1.1.38 (bf2f153f)
func (b *bun) header(rest string, o *evidence.Out) evidence.Result {
	words := strings.Fields(rest)
	if len(words) < 2 || words[1][0] != 'v' || !evidence.IsSemver(words[1][1:]) {
		return evidence.Miss
	}
	b.finish(0, timeline.OpOpen, o)
	switch words[0] {
	case "install", "add", "update":
		b.op = o.Invocation("bun")
		o.Seen(timeline.NPM)
		o.Listen() // the last line starts with a number
	}
	return evidence.Done
}

// row reads one dependency of the project:
//
//	installed core-js@3.0.0 with binaries:
//	+ ms@2.1.3
//	+ chalk@4.1.2 (v5.3.0 available)
func (b *bun) row(rest string, o *evidence.Out) evidence.Result {
	id, _, _ := strings.Cut(rest, " ")
	name, version, ok := evidence.SplitNPM(id)
	if !ok {
		return evidence.Miss
	}
	b.named++
	o.Emit(timeline.Install, b.op, evidence.NPMItem(name, version))
	return evidence.Done
}

// summary reads the last line:
//
//	26 packages installed [1.20s]
func (b *bun) summary(count, rest string, o *evidence.Out) evidence.Result {
	n, err := strconv.Atoi(count)
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "packages "), "package ")
	if err != nil || !strings.HasPrefix(rest, "installed [") {
		return evidence.Miss
	}
	b.finish(n, timeline.OpDone, o)
	return evidence.Done
}

// finish ends the invocation, on the line that counts its packages when there
// is one. What was counted and not named is opaque.
func (b *bun) finish(fetched int, how timeline.OpState, o *evidence.Out) {
	if b.op == nil {
		return
	}
	if fetched > b.named {
		mark := o.Mark()
		uncounted(b.op, &mark, "npm", o)
	}
	if fetched > 0 || b.named > 0 {
		b.op.Answer()
	}
	o.Deafen()
	o.Close(b.op, how)
	*b = bun{}
}

// End ends the invocation.
func (b *bun) End(how timeline.OpState, o *evidence.Out) { b.finish(0, how, o) }
