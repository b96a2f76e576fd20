package tool

import (
	"bytes"
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Bandersnatch is the log of bandersnatch, which mirrors PyPI. It is the mirror
// that gets the files; who reads them from it stands in the log of the web
// server before it.
// https://github.com/pypa/bandersnatch
var Bandersnatch = evidence.Format{
	Name:   "bandersnatch",
	Shape:  evidence.ToolShape,
	Title:  "bandersnatch log",
	Proves: "files that the mirror fetched, projects that it looked up, and when (local time)",
	Cannot: "that the file was whole: a wrong hash is told later; the zone of its times",
	Doc:    "https://github.com/pypa/bandersnatch",
	Sample: "written by hand after its source",
	Starts: []string{"20", "INFO: "},
	Tool:   func() evidence.Parser { return bandersnatch{} },
}

type bandersnatch struct{}

// Line reads one line:
//
//	2026-10-21 12:04:51,251 INFO: Fetching metadata for package: litellm (serial 26012345) (package.py:58)
//	2026-10-21 12:04:52,251 INFO: Downloading: https://files.acme.example/packages/23/bd/18d1/litellm-1.107.0-py3-none-any.whl (mirror.py:901)
func (bandersnatch) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	span := o.Mark().Span()
	if m, n := evidence.ParseISO(text); n > 0 && n < len(text) && text[n] == ' ' {
		if l.Stamp.Read == nil {
			span = m.Span(string(text[:n]), &o.Times)
		}
		text = text[n+1:]
	}
	message, ok := strings.CutPrefix(string(text), "INFO: ")
	if !ok {
		return evidence.Miss
	}
	if name, ok := strings.CutPrefix(message, "Fetching metadata for package: "); ok {
		name, rest, _ := strings.Cut(name, " ")
		if !evidence.IsDistName(name) || !strings.HasPrefix(rest, "(serial ") {
			return evidence.Miss
		}
		o.Seen("")
		o.Event(timeline.Event{Action: timeline.Resolve, Span: span, Items: []timeline.Item{{Artifact: timeline.PURL("pypi", "", name, "")}}})
		return evidence.Done
	}
	address, ok := strings.CutPrefix(message, "Downloading: ")
	address, _, _ = strings.Cut(address, " ")
	u, err := url.Parse(address)
	if !ok || err != nil {
		return evidence.Miss
	}
	item, kind := packagePath(u.EscapedPath())
	if kind != wholeFile {
		return evidence.Miss
	}
	o.Seen("")
	o.Event(timeline.Event{Action: timeline.Download, Span: span, Items: []timeline.Item{item}})
	return evidence.Done
}

// End has nothing to do: each line stands alone.
func (bandersnatch) End(timeline.OpState, *evidence.Out) {}
