package tool

import (
	"bytes"
	"encoding/json"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Renovate is the log of a run of Renovate, as text or as JSON.
// https://docs.renovatebot.com/troubleshooting/
var Renovate = evidence.Format{
	Name:   "renovate",
	Shape:  evidence.ToolShape,
	Title:  "Renovate runs",
	Proves: "the commands of package managers that it ran, with LOG_LEVEL=debug",
	Cannot: "which versions came: it hides their output; without debug not even the commands",
	Doc:    "https://docs.renovatebot.com/troubleshooting/",
	Sample: "written by hand after logs of public issues",
	Starts: []string{"INFO: ", "DEBUG: ", `"command": "`, `{"name":"renovate"`},
	Looks: func(text []byte) bool {
		return text[0] == '"' || text[0] == '{' || bytes.Contains(text[:min(len(text), 80)], []byte("(repository=")) || bytes.Contains(text[:min(len(text), 80)], []byte("(branch=")) || bytes.HasPrefix(text, []byte("DEBUG: Executing command"))
	},
	Tool: func() evidence.Parser { return &renovate{} },
}

type renovate struct {
	begun     bool
	executing bool // the fields of a command follow
}

// Line reads one line:
//
//	 INFO: Repository started (repository=acme/web)
//	DEBUG: Executing command (repository=acme/web, branch=renovate/axios-1.x)
//	       "command": "npm install --package-lock-only --no-audit --ignore-scripts"
//	{"name":"renovate","hostname":"ci","pid":8,"level":20,"repository":"acme/web","command":"npm install","msg":"Executing command","time":"2026-03-31T01:00:02.000Z","v":0}
func (r *renovate) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if l.Echo {
		return evidence.Miss
	}
	switch text[0] {
	case '{':
		return r.record(l, text, o)
	case '"':
		if !r.executing {
			return evidence.Miss
		}
		value, _ := bytes.CutPrefix(bytes.TrimSuffix(text, []byte(",")), []byte(`"command": `))
		var command string
		if json.Unmarshal(value, &command) != nil {
			return evidence.Miss
		}
		r.executing = false
		r.ran(command, evidence.Stamp{}, o)
		return evidence.Done
	}
	_, message, _ := strings.Cut(string(text), ": ")
	message, _, _ = strings.Cut(message, "(")
	r.executing = message == "Executing command " || message == "Executing command"
	r.begins(o.Mark().Span(), o)
	o.Seen("")
	o.Heed()
	return evidence.Done
}

// record reads a line of LOG_FORMAT=json.
func (r *renovate) record(l *evidence.Line, text []byte, o *evidence.Out) evidence.Result {
	var v struct{ Name, Msg, Command, Time string }
	if json.Unmarshal(text, &v) != nil || v.Name != "renovate" || v.Msg == "" {
		return evidence.Miss
	}
	o.Seen("")
	stamp, span := l.Stamp, o.Mark().Span()
	if stamp.Read == nil && v.Time != "" {
		stamp = evidence.Stamp{Read: evidence.ISOStamp, Text: []byte(v.Time)}
		span = evidence.ISOStamp(stamp.Text, &o.Times)
	}
	r.begins(span, o)
	if v.Msg == "Executing command" {
		r.ran(v.Command, stamp, o)
	}
	return evidence.Done
}

// begins asks for anything, once: what Renovate runs it shows in its debug log
// alone, and what came of it nowhere.
func (r *renovate) begins(span timeline.Span, o *evidence.Out) {
	if r.begun {
		return
	}
	r.begun = true
	o.Event(timeline.Event{Action: timeline.Opaque, Span: span, Items: []timeline.Item{{Artifact: timeline.Anything}}})
}

func (r *renovate) ran(command string, stamp evidence.Stamp, o *evidence.Out) {
	o.Ran(timeline.Subject{}, stamp, []byte(command))
}

// End forgets a command that did not come.
func (r *renovate) End(timeline.OpState, *evidence.Out) { r.executing = false }
