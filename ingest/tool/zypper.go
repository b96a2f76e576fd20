package tool

import (
	"bytes"
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Zypper is the output of zypper, and the history of libzypp.
// https://en.opensuse.org/SDB:Zypper_usage
// https://doc.opensuse.org/projects/libzypp/HEAD/zypp-history.html
var Zypper = evidence.Format{
	Name:   "zypper",
	Shape:  evidence.ToolShape,
	Title:  "zypper output, /var/log/zypp/history",
	Proves: "packages fetched, installed and removed, with versions; in the history, when (local time)",
	Cannot: "the zone of the history's times: state it with --zone",
	Doc:    "https://en.opensuse.org/SDB:Zypper_usage",
	Sample: "written by hand after the documentation",
	Starts: []string{"Retrieving", "( ", "(1", "(2", "(3", "(4", "(5", "(6", "(7", "(8", "(9", "20"},
	Tool:   func() evidence.Parser { return &zypper{} },
}

type zypper struct{ op *evidence.Op }

// Line reads one line:
//
//	Retrieving: curl-7.88.1-150400.5.x86_64.rpm [done (1.2 MiB/s)]
//	(1/3) Installing: curl-7.88.1-150400.5.x86_64 [......done]
//	2026-10-21 12:00:01|install|curl|7.88.1-150400.5|x86_64|root@web1|repo-oss|9b32…|
func (z *zypper) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := string(bytes.TrimSpace(l.Text))
	if text[0] == '2' {
		return zyppHistory(text, o)
	}
	action := timeline.Download
	rest, ok := strings.CutPrefix(text, "Retrieving: ")
	if ok {
		file, how, _ := strings.Cut(rest, " ")
		if rest, ok = strings.CutSuffix(file, ".rpm"); !ok || !strings.Contains(how, "done") {
			return evidence.Miss // begun
		}
	} else if action, rest = zypperRow(text); action == timeline.NoAction {
		return evidence.Miss
	}
	it, named := evidence.NEVRA(firstWord(rest))
	if !named {
		return evidence.Miss
	}
	if z.op == nil || o.Overtaken(z.op) {
		z.End(timeline.OpDone, o)
		z.op = o.Invocation("zypper")
	}
	z.op.Answer()
	o.Seen("rpm")
	o.Emit(action, z.op, it)
	return evidence.Done
}

// zypperRow reads an operation that is done; NoAction for what is begun, or
// failed.
func zypperRow(text string) (a timeline.Action, rest string) {
	count, rest, ok := strings.Cut(strings.TrimLeft(text[1:], " "), ") ")
	if !ok || text[0] != '(' || strings.Trim(count, "0123456789/ ") != "" || !strings.HasSuffix(rest, "done]") {
		return timeline.NoAction, ""
	}
	verb, named, _ := strings.Cut(rest, ": ")
	switch verb {
	case "Installing":
		return timeline.Install, named
	case "Removing":
		return timeline.Remove, named
	}
	return timeline.NoAction, ""
}

// zyppHistory reads a row of the history.
func zyppHistory(text string, o *evidence.Out) evidence.Result {
	w := strings.Split(text, "|")
	if len(w) < 6 || w[1] != "install" && w[1] != "remove " && w[1] != "remove" || w[2] == "" || w[3] == "" {
		return evidence.Miss
	}
	m, n := evidence.ParseISO([]byte(w[0]))
	if n == 0 || n != len(w[0]) {
		return evidence.Miss
	}
	artifact := timeline.PURL("rpm", "", w[2], w[3])
	if evidence.IsDistName(w[4]) {
		artifact += "?arch=" + url.QueryEscape(w[4])
	}
	action := timeline.Install
	if w[1] != "install" {
		action = timeline.Remove
	}
	o.Seen("rpm")
	o.Event(timeline.Event{Action: action, Span: m.Span(w[0], &o.Times), Items: []timeline.Item{{Artifact: artifact}}})
	return evidence.Done
}

// End closes what is open.
func (z *zypper) End(how timeline.OpState, o *evidence.Out) {
	o.Close(z.op, how)
	z.op = nil
}
