package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NexusOutbound is what Sonatype Nexus fetches itself: its outbound request log,
// and the same in nexus.log where that is set to DEBUG.
// https://support.sonatype.com/hc/en-us/articles/36498209356307
var NexusOutbound = evidence.Format{
	Name:   "nexus-outbound",
	Shape:  evidence.ToolShape,
	Title:  "Outbound requests of Sonatype Nexus (outbound-request.log, nexus.log at DEBUG)",
	Proves: "which package file, index page, image manifest and layers the server itself fetched from its upstream, when",
	Cannot: "for which client; what it gave out of its own store (request.log)",
	Doc:    "https://support.sonatype.com/hc/en-us/articles/36498209356307",
	Sample: "written by hand after the documentation and public logs",
	Starts: []string{"[0", "[1", "[2", "[3", "20", "DEBUG  [", "DEBUG ["},
	Looks: func(text []byte) bool {
		return text[0] == '[' && bytes.Contains(text[:min(len(text), 120)], []byte(` "GET http`)) || bytes.Contains(text, []byte("httpclient.outbound - "))
	},
	Tool: func() evidence.Parser { return &nexusOutbound{} },
}

type nexusOutbound struct {
	access
	method []byte // of the last request that was sent
}

// Line reads one line: the user for whom it is, the request, its status, sizes.
//
//	[21/Oct/2026:12:10:03 +0000] - "GET https://repo.acme.example/maven2/abbot/abbot/0.13.0/abbot-0.13.0.jar HTTP/1.1" 200 166 285 "Nexus/3.63.0-01 (PRO; …)" [qtp1085283394-921]
//	2026-10-21 12:10:03,283+0000 DEBUG [qtp1541073089-902]  *UNKNOWN org.sonatype.nexus.httpclient.outbound - https://index.acme.example/simple/pandas/ > GET /simple/pandas/ HTTP/1.1
//	2026-10-21 12:10:03,453+0000 DEBUG [qtp1541073089-902]  *UNKNOWN org.sonatype.nexus.httpclient.outbound - https://index.acme.example/simple/pandas/ < HTTP/1.1 304 Not Modified @ 170.5 ms
func (n *nexusOutbound) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	r := request{size: -1, span: o.Mark().Span()}
	if text[0] == '[' {
		date, rest, ok := bytes.Cut(text[1:], []byte("] "))
		_, rest, quoted := bytes.Cut(rest, []byte(` "`))
		line, rest, ends := bytes.Cut(rest, []byte(`" `))
		w := bytes.Fields(line)
		if !ok || !quoted || !ends || len(w) != 3 || !bytes.HasPrefix(w[1], []byte("http")) {
			return evidence.Miss
		}
		code, _, _ := bytes.Cut(rest, []byte(" "))
		if r.moment, ok = accessTime(date); !ok {
			return evidence.Miss
		}
		r.date, r.method, r.uri = date, w[0], w[1]
		r.status, _ = status(code)
		o.Seen("")
		n.request(&r, o)
		return evidence.Done
	}
	if m, i := evidence.ParseISO(text); i > 0 {
		r.span = m.Span(string(text[:i]), &o.Times)
	}
	_, message, ok := bytes.Cut(text, []byte("httpclient.outbound - "))
	w := bytes.Fields(message)
	if !ok || len(w) < 4 || !bytes.HasPrefix(w[0], []byte("http")) {
		return evidence.Miss
	}
	o.Seen("")
	switch string(w[1]) {
	case ">":
		n.method = append(n.method[:0], w[2]...)
	case "<":
		r.method, r.uri = n.method, w[0]
		r.status, _ = status(w[3])
		n.request(&r, o)
	}
	return evidence.Done
}

// End settles what waited for a later line.
func (n *nexusOutbound) End(how timeline.OpState, o *evidence.Out) { n.access.End(how, o) }
