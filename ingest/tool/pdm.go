package tool

import (
	"bytes"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PDM is the output of pdm install, add, sync and remove.
// https://pdm-project.org/latest/usage/dependency/
var PDM = evidence.Format{
	Name:   "pdm",
	Shape:  evidence.ToolShape,
	Title:  "pdm output",
	Proves: "what was installed, replaced and removed, with versions",
	Cannot: "what was only locked",
	Doc:    "https://pdm-project.org/latest/usage/dependency/",
	Sample: "made with pdm 2.2.1 on a closed network, and written by hand after the documentation",
	Starts: []string{
		"✔ Install ", "✔ Update ", "✔ Remove ", "v Install ", "v Update ", "v Remove ", "? Install ", "? Update ", "? Remove ", "Install ", "Update ", "Remove ",
		"Synchronizing working set with ", "All packages are synced to date", "🎉 All complete",
	},
	Looks: looksPDM,
	Tool:  func() evidence.Parser { return &pdm{} },
}

// looksPDM tells rows from sentences that begin with the same word.
func looksPDM(text []byte) bool {
	switch text[0] {
	case 'I', 'U', 'R', 'v', '?':
		return bytes.HasSuffix(bytes.TrimRight(text, " \t"), []byte(" successful"))
	}
	return true
}

// pdmMark is the mark of a row: without Unicode or a terminal it is another
// character, or none.
func pdmMark(w []string) []string {
	if w[0] == "✔" || w[0] == "v" || w[0] == "?" {
		return w
	}
	return append([]string{"✔"}, w...)
}

type pdm struct {
	op   *evidence.Op
	told evidence.Mark // the line that counts the rows
	want int           // rows that are still to come
}

// Line reads one line:
//
//	Synchronizing working set with resolved packages: 5 to add, 0 to update, 0 to remove
//	Synchronizing working set with lock file: 5 to add, 0 to update, 0 to remove
//	  ✔ Install certifi 2024.2.2 successful
//	  v Install idna 3.7 successful                 (Windows)
//	  ✔ Update litellm 1.52.5 -> 1.52.15 successful
//	  ✔ Remove py 1.11.0 successful
func (p *pdm) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := string(bytes.TrimSpace(l.Text))
	if p.op != nil && o.Overtaken(p.op) {
		p.End(timeline.OpOpen, o)
	}
	w := strings.Fields(text)
	if w[0] == "🎉" {
		p.End(timeline.OpDone, o)
		return evidence.Done
	}
	if w[0] == "Synchronizing" || w[0] == "All" { // how much there is to do
		if p.op == nil {
			p.op = o.Invocation("pdm")
		}
		o.Seen(timeline.PyPI)
		if _, counts, ok := strings.Cut(text, ": "); ok {
			p.told, p.want = o.Mark(), 0
			for part := range strings.SplitSeq(counts, ", ") {
				n, _ := strconv.Atoi(firstWord(part))
				p.want += n
			}
		}
		if w[0] == "All" {
			p.op.Answer()
			p.End(timeline.OpDone, o)
		}
		return evidence.Done
	}
	w = pdmMark(w)
	if len(w) < 5 || w[len(w)-1] != "successful" || !evidence.IsDistName(strings.SplitN(w[2], "[", 2)[0]) {
		return evidence.Miss
	}
	name, old, now := strings.SplitN(w[2], "[", 2)[0], w[3], w[len(w)-2]
	replaces := len(w) == 7 && w[4] == "->"
	if !evidence.IsVersion(old) || !evidence.IsVersion(now) || (w[1] == "Update") != replaces || !replaces && len(w) != 5 {
		return evidence.Miss
	}
	if p.op == nil {
		p.op = o.Invocation("pdm")
	}
	o.Seen(timeline.PyPI)
	p.op.Answer()
	p.want--
	if replaces || w[1] == "Remove" {
		o.Emit(timeline.Remove, p.op, timeline.Item{Artifact: timeline.PURL("pypi", "", name, old)})
	}
	if w[1] != "Remove" {
		o.Emit(timeline.Install, p.op, timeline.Item{Artifact: timeline.PURL("pypi", "", name, now)})
	}
	return evidence.Done
}

// End ends the invocation.
func (p *pdm) End(how timeline.OpState, o *evidence.Out) {
	if p.op == nil {
		return
	}
	if p.want > 0 {
		lostRows(p.told, p.op, o)
	}
	o.Close(p.op, how)
	p.op, p.want = nil, 0
}
