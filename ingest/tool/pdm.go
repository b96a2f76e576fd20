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
	Sample: "written by hand after the documentation",
	Starts: []string{"✔ Install ", "✔ Update ", "✔ Remove ", "Synchronizing working set with resolved packages: ", "All packages are synced to date", "🎉 All complete"},
	Tool:   func() evidence.Parser { return &pdm{} },
}

type pdm struct {
	op   *evidence.Op
	told evidence.Mark // the line that counts the rows
	want int           // rows that are still to come
}

// Line reads one line:
//
//	Synchronizing working set with resolved packages: 5 to add, 0 to update, 0 to remove
//	  ✔ Install certifi 2024.2.2 successful
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
	if w[0] != "✔" { // how much there is to do
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
