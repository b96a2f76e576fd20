package tool

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// HAProxy is the HTTP log of HAProxy (option httplog). Its TCP log names no
// request.
// https://docs.haproxy.org/2.8/configuration.html#8.2.3
var HAProxy = evidence.Format{
	Name:   "haproxy",
	Shape:  evidence.ToolShape,
	Title:  "HAProxy HTTP log (option httplog)",
	Proves: "which client fetched which package file, index page, image manifest and layers, when; answers that broke off",
	Cannot: "the zone of the time at which a connection was accepted: state it with --zone; who stands behind another proxy; what TCP mode passed on",
	Doc:    "https://docs.haproxy.org/2.8/configuration.html#8.2.3",
	Sample: "HAProxy 2.6 run for this project",
	Starts: haproxyStarts(),
	Looks:  looksHAProxy,
	Tool:   func() evidence.Parser { return &haproxy{} },
}

// haproxyStarts lists what an address can start with.
func haproxyStarts() []string {
	starts := []string{"::"}
	const hex = "0123456789abcdef"
	for _, a := range hex {
		for _, b := range hex + ".:" {
			starts = append(starts, string(a)+string(b))
		}
	}
	return starts
}

// looksHAProxy wants a date in brackets as the second column.
func looksHAProxy(text []byte) bool {
	i := bytes.IndexByte(text[:min(len(text), maxClient+1)], ' ')
	return i > 0 && i+1 < len(text) && text[i+1] == '['
}

// maxClient is longer than an address with a port.
const maxClient = 64

type haproxy struct{ access }

// Line reads one line: client, time, frontend, backend and server, timers,
// status, bytes, cookies, how the session ended, counters, headers, request.
//
//	10.0.4.7:41802 [21/Oct/2026:12:10:03.118] mirror pypi/nginx1 0/0/1/3/412 200 161300 - - ---- 1/1/0/0/0 0/0 {pip/24.2} "GET /packages/ec/ab/a440…/litellm-1.107.0-py3-none-any.whl HTTP/1.1"
func (h *haproxy) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimLeft(l.Text, " \t")
	client, rest, ok := bytes.Cut(text[:min(len(text), maxCommand)], []byte(" ["))
	if !ok || len(client) > maxClient || bytes.IndexByte(client, ' ') >= 0 || bytes.LastIndexByte(client, ':') < 1 {
		return evidence.Miss
	}
	date, rest, ok := bytes.Cut(rest, []byte("] "))
	if !ok || len(date) > 40 {
		return evidence.Miss
	}
	w := bytes.SplitN(rest, []byte(" "), 11)
	if len(w) < 11 || bytes.Count(w[2], []byte("/")) != 4 || len(w[7]) != 4 || bytes.Count(w[8], []byte("/")) != 4 {
		return evidence.Miss
	}
	r := request{client: client[:bytes.LastIndexByte(client, ':')], size: length(bytes.TrimPrefix(w[4], []byte("+")))}
	if r.span, ok = accessTimeFraction(date, &o.Times); !ok {
		return evidence.Miss
	}
	if l.Stamp.Read != nil { // syslog around it may know the zone: it writes when the request ended
		if s := l.Stamp.Read(l.Stamp.Text, &o.Times); s.Clock == timeline.Exact && r.span.Clock != timeline.Exact {
			r.span = s
		}
	}
	quote := bytes.IndexByte(w[10], '"')
	if quote < 0 {
		return evidence.Miss
	}
	asked, _, whole := bytes.Cut(w[10][quote+1:], []byte(`"`))
	if r.status, ok = status(w[3]); !ok || !whole { // <BADREQ>, or the line was cut
		return evidence.Done
	}
	r.method, r.uri, _ = bytes.Cut(asked, []byte(" "))
	r.uri, _, _ = bytes.Cut(r.uri, []byte(" "))
	if w[7][0] != '-' && r.status == 200 {
		r.status = 206 // the client or the server went away
	}
	h.request(&r, o)
	return evidence.Done
}

// accessTimeFraction reads "21/Oct/2026:12:10:03.118", also with a zone.
func accessTimeFraction(b []byte, t *evidence.Times) (timeline.Span, bool) {
	whole, end, nanos := b, 0, 0
	if len(b) > 20 && b[20] == '.' {
		end = 21
		for unit := 100_000_000; end < len(b) && b[end] >= '0' && b[end] <= '9'; end++ {
			nanos += int(b[end]-'0') * unit
			unit /= 10
		}
		whole = append(append([]byte(nil), b[:20]...), b[end:]...)
	}
	m, ok := accessTime(whole)
	if !ok {
		return timeline.Span{}, false
	}
	if end > 0 {
		m.Nano, m.Resolution = nanos, time.Millisecond
	}
	return m.Span(string(b), t), true
}
