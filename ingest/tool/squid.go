package tool

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Squid is the access log of the Squid proxy in its own format, also with
// columns that an operator added.
// https://wiki.squid-cache.org/Features/LogFormat
var Squid = evidence.Format{
	Name:   "squid",
	Shape:  evidence.ToolShape,
	Title:  "Squid access log (native format)",
	Proves: "which client fetched which package file or index page over plain HTTP; which hosts it was connected to",
	Cannot: "what went through a tunnel (CONNECT)",
	Doc:    "https://wiki.squid-cache.org/Features/LogFormat",
	Sample: "written by hand after the documentation",
	Starts: squidStarts(),
	Looks: func(text []byte) bool {
		text = bytes.TrimPrefix(text, []byte("Info: "))
		return len(text) >= 30 && text[10] == '.' && text[14] == ' ' || bytes.Contains(text[:min(len(text), 100)], []byte(" TCP_"))
	},
	Tool: func() evidence.Parser { return &squid{} },
}

// squidStarts lists the digits that a time, or what it took, begins with.
func squidStarts() []string {
	starts := []string{"Info: 1"}
	for _, a := range "0123456789" {
		for _, b := range "0123456789/ " {
			starts = append(starts, string(a)+string(b))
		}
	}
	return starts
}

type squid struct {
	access
	contacts evidence.Contacts
}

// Line reads one line: the time it ended, how long it took, client, result,
// size, method and address; columns may stand between them.
//
//	1792585800.899     87 10.0.4.7 TCP_MISS/200 657750 GET http://mirror.acme.example/packages/ec/ab/a440…/litellm-1.107.0-py3-none-any.whl - HIER_DIRECT/203.0.113.9 -
//	1792585801.899  16867 10.0.4.7 TCP_TUNNEL/200 6256 CONNECT files.acme.example:443 - HIER_DIRECT/203.0.113.9 -
func (s *squid) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimPrefix(evidence.TrimIndent(l.Text), []byte("Info: ")) // Cisco's Web Security Appliance, in syslog
	span, written := squidTime(text, &o.Times)
	w := bytes.Fields(text[written:])
	if written == 0 {
		span = o.Mark().Span()
	} else {
		w = append([][]byte{text[:written]}, w...)
	}
	if written == 0 && (len(w) < 6 || !allDigits(w[0]) || !squidResult(w[2])) { // the time is of the line around it
		return evidence.Miss
	} else if written == 0 {
		w = append([][]byte{nil}, w...)
	}
	result, method := -1, -1
	for i := 3; i < len(w) && method < 0; i++ {
		switch {
		case result < 0 && squidResult(w[i]):
			result = i
		case result > 0 && squidMethod(w[i]):
			method = i
		}
	}
	if result < 0 || method < 0 || method+1 >= len(w) {
		return evidence.Miss
	}
	r := request{client: w[2], method: w[method], uri: w[method+1], size: length(w[result+1]), span: span}
	_, code, _ := bytes.Cut(w[result], []byte("/"))
	r.status, _ = status(code)
	o.Seen("")
	if !bytes.Contains(w[result], []byte("ABORTED")) && string(r.method) != "CONNECT" {
		s.request(&r, o)
	}
	if r.status > 0 && r.status < 400 {
		host, plain := r.uri, false
		if _, rest, ok := bytes.Cut(host, []byte("://")); ok {
			host, _, plain = bytes.Cut(rest, []byte("/"))
		}
		if plain {
			url, _, _ := bytes.Cut(r.uri, []byte("?"))
			s.contacts.Add(o, r.subject(o), "url:"+string(url[:min(len(url), maxCommand)]), r.span)
		} else if endpoint := evidence.Endpoint(string(host)); endpoint != "" {
			s.contacts.Add(o, r.subject(o), endpoint, r.span)
		}
	} else if asked := deniedName(r.uri); asked != "" {
		s.contacts.Add(o, r.subject(o), asked, r.span)
	}
	return evidence.Done
}

// deniedName is the name that a request asked for which the proxy did not carry
// out: nothing was connected, but somebody wanted it.
//
//	1792585800.899      0 10.0.4.7 TCP_DENIED/403 3911 CONNECT files.acme.example:443 - HIER_NONE/- text/html
func deniedName(uri []byte) string {
	if _, rest, ok := bytes.Cut(uri, []byte("://")); ok {
		uri, _, _ = bytes.Cut(rest, []byte("/"))
	}
	if endpoint := evidence.Endpoint(string(uri)); strings.HasPrefix(endpoint, "domain:") {
		return endpoint
	}
	return ""
}

// squidTime reads the time that a line begins with, and says how long it is: seconds
// since 1970 with milliseconds, or a time that the operator's logformat prints.
//
//	2026-10-21T12:10:00.123+0000 100 10.0.4.7 TCP_MISS/200 …
//	21/Oct/2026:12:10:00 +0000     87 10.0.4.7 TCP_MISS/200 …
func squidTime(text []byte, t *evidence.Times) (timeline.Span, int) {
	if len(text) < 30 {
		return timeline.Span{}, 0
	}
	if text[10] == '.' && text[14] == ' ' && allDigits(text[:10]) && allDigits(text[11:14]) {
		ms, _ := strconv.ParseInt(string(text[:10])+string(text[11:14]), 10, 64)
		return evidence.Epoch(ms, time.Millisecond, string(text[:14])), 14
	}
	if m, n := evidence.ParseISO(text); n > 0 && n < len(text) && text[n] == ' ' {
		return m.Span(string(text[:n]), t), n
	}
	if m, ok := accessTime(text[:26]); ok && text[26] == ' ' {
		return m.Span(string(text[:26]), t), 26
	}
	return timeline.Span{}, 0
}

// squidResult knows TCP_MISS/200, TCP_MISS_ABORTED/000, NONE/503.
func squidResult(b []byte) bool {
	word, code, ok := bytes.Cut(b, []byte("/"))
	return ok && len(code) == 3 && allDigits(code) && (bytes.HasPrefix(word, []byte("TCP_")) || bytes.HasPrefix(word, []byte("UDP_")) || bytes.HasPrefix(word, []byte("NONE")))
}

func squidMethod(b []byte) bool {
	switch string(b) {
	case "GET", "HEAD", "POST", "PUT", "CONNECT", "DELETE", "OPTIONS", "PATCH":
		return true
	}
	return false
}

// End settles what waited for a later line.
func (s *squid) End(how timeline.OpState, o *evidence.Out) {
	s.access.End(how, o)
	s.contacts.Settle(o)
}
