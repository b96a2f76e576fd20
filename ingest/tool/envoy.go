package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Envoy is Envoy's access log in its default format, and that of Istio.
// https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage#default-format-string
// https://istio.io/latest/docs/tasks/observability/logs/access-log/
var Envoy = evidence.Format{
	Name:   "envoy",
	Shape:  evidence.ToolShape,
	Title:  "Envoy and Istio access log (default format)",
	Proves: "which client fetched which package file, index page, image manifest and layers, when; answers that broke off",
	Cannot: "the client, where the log names neither a forwarded address nor the peer",
	Doc:    "https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage",
	Sample: "written by hand after the documentation",
	Starts: []string{"[2", `"GET `, `"HEAD `, `"PUT `},
	Tool:   func() evidence.Parser { return &envoy{} },
}

type envoy struct{ access }

// Line reads one line; the time in brackets may have been taken off as that of
// the line. Istio has three more columns behind the flags, and addresses at the
// end.
//
//	[2026-10-21T12:10:03.118Z] "GET /simple/litellm/ HTTP/1.1" 200 - 0 1555 5 4 "10.0.4.7" "pip/24.2" "c1a…" "mirror.acme.example" "10.1.0.9:8080"
//	[2026-10-21T12:10:03.118Z] "GET /simple/litellm/ HTTP/1.1" 200 - via_upstream - "-" 0 1555 5 4 "-" "pip/24.2" "c1a…" "mirror.acme.example" "10.1.0.9:8080" outbound|80||mirror 10.1.0.7:51822 10.1.0.9:8080 10.0.4.7:41802 - default
func (e *envoy) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimLeft(l.Text, " \t")
	var r request
	if text[0] == '[' {
		stamp, rest, ok := bytes.Cut(text[1:min(len(text), maxCommand)], []byte("] "))
		m, n := evidence.ParseISO(stamp)
		if !ok || n == 0 || n != len(stamp) {
			return evidence.Miss
		}
		r.span, text = m.Span(string(stamp), &o.Times), rest
	}
	w := quotedWords(text, 24)
	if len(w) < 10 {
		return evidence.Miss
	}
	asked := bytes.Fields(w[0])
	ok := false
	if r.status, ok = status(w[1]); !ok || len(asked) != 3 || !bytes.HasPrefix(asked[2], []byte("HTTP/")) {
		return evidence.Miss
	}
	at := 3
	if length(w[at]) < 0 {
		at += 3
	}
	if len(w) < at+9 || length(w[at]) < 0 || length(w[at+1]) < 0 || length(w[at+2]) < 0 {
		return evidence.Miss
	}
	r.method, r.uri, r.size = asked[0], asked[1], length(w[at+1])
	if r.client, _, _ = bytes.Cut(w[at+4], []byte(",")); string(r.client) == "-" {
		if r.client = nil; at > 3 && len(w) > at+12 {
			r.client = address(w[at+12])
		}
	}
	if string(w[2]) != "-" && r.status == 200 {
		r.status = 206 // DC: the client went away
	}
	if r.span == (timeline.Span{}) {
		r.span = o.Mark().Span()
	}
	e.request(&r, o)
	return evidence.Done
}

// quotedWords splits a line at blanks, most words at most; quotes keep words
// together.
func quotedWords(text []byte, most int) (words [][]byte) {
	for text = bytes.TrimLeft(text, " "); len(text) > 0 && len(words) < most; text = bytes.TrimLeft(text, " ") {
		end := bytes.IndexByte(text, ' ')
		if text[0] == '"' {
			if end = quoted(text); end < 0 {
				return words
			}
			words, text = append(words, text[1:end-1]), text[end:]
			continue
		}
		if end < 0 {
			end = len(text)
		}
		words, text = append(words, text[:end]), text[end:]
	}
	return words
}
