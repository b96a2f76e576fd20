package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// FishHistory is the history file of fish.
// https://fishshell.com/docs/current/cmds/history.html
var FishHistory = evidence.Format{
	Name:   "fish-history",
	Shape:  evidence.ToolShape,
	Title:  "Shell history of fish",
	Proves: "which commands were typed, when: what they were told to fetch",
	Cannot: "that a command succeeded; the host, unless --subject host:… names it; that nothing was edited",
	Doc:    "https://fishshell.com/docs/current/cmds/history.html",
	Sample: "written by hand after the documentation",
	Starts: []string{"- cmd: "},
	Tool:   func() evidence.Parser { return &fishHistory{} },
}

type fishHistory struct {
	command []byte
	no, off int64
	asked   bool // the time comes next
}

// Line reads a command and its time:
//
//   - cmd: pip install litellm
//     when: 1792584291
func (h *fishHistory) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if command, ok := bytes.CutPrefix(text, []byte("- cmd: ")); ok {
		h.flush(nil, o)
		command = bytes.ReplaceAll(command, []byte(`\n`), []byte("\n"))
		h.command, h.no, h.off, h.asked = append(h.command[:0], command...), l.No, l.Off, true
		return evidence.More
	}
	if !h.asked {
		return evidence.Miss
	}
	when, ok := bytes.CutPrefix(text, []byte("when: "))
	if !ok || !allDigits(when) {
		h.asked, h.command = false, h.command[:0] // a list of something else
		return evidence.Miss
	}
	o.Seen("")
	h.flush(append([]byte(nil), when...), o)
	return evidence.Done
}

// flush passes the command on; without a time it is none of a history.
func (h *fishHistory) flush(when []byte, o *evidence.Out) {
	if h.asked && when != nil {
		o.SetLine(h.no, h.off, h.command)
		o.Ran(timeline.Subject{}, evidence.Stamp{Text: when, Read: historyTime}, h.command)
	}
	h.asked = false
}

// End forgets a command without a time.
func (h *fishHistory) End(timeline.OpState, *evidence.Out) { h.asked = false }
