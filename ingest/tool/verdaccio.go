package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Verdaccio is the log of the npm registry and proxy of that name, as it prints
// it and as JSON.
// https://verdaccio.org/docs/logger
var Verdaccio = evidence.Format{
	Name:   "verdaccio",
	Shape:  evidence.ToolShape,
	Title:  "Verdaccio log (pretty and JSON)",
	Proves: "which client fetched which package file or page; what the server fetched itself",
	Cannot: "when, in the pretty form without times",
	Doc:    "https://verdaccio.org/docs/logger",
	Sample: "written by hand after public logs of 2 to 6",
	Starts: []string{"http <-", "http -->", "http --- ", "info <--", "info --> ", "warn --- ", "info --- ", "error---", "fatal---", "http--> ", "http<-- "},
	Looks:  func(text []byte) bool { return bytes.HasPrefix(text, []byte("http")) },
	Fields: [][]string{{"request", "remoteIP", "status"}, {"request", "status", "bytes", "sub"}},
	Tool:   func() evidence.Parser { return &verdaccio{} },
}

type verdaccio struct{ access }

// Line reads one answer to a client, or of another registry to the server:
//
//	http <-- 200, user: null(10.0.4.7 via 172.18.0.1), req: 'GET /left-pad/-/left-pad-1.3.0.tgz', bytes: 0/0
//	http <-- 200, user: null(10.0.4.7 via 172.18.0.1), req: 'GET /left-pad/-/left-pad-1.3.0.tgz', bytes: 0/4321
//	http --> 200, req: 'GET https://registry.npmjs.tld/left-pad/-/left-pad-1.3.0.tgz', bytes: 0/4321
//	{"level":35,"request":{"method":"GET","url":"/left-pad/-/left-pad-1.3.0.tgz"},"user":null,"remoteIP":"10.0.4.7","status":200,"bytes":{"in":0,"out":4321},"sub":"in","time":"2026-10-21T12:10:03.118Z",…}
func (v *verdaccio) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	r := request{size: -1, span: o.Mark().Span(), agent: []byte("npm/")}
	if text[0] == '{' {
		if !verdaccioObject(text, &r, o) {
			return evidence.Miss
		}
	} else if is, whole := verdaccioLine(text, &r); !is {
		return evidence.Miss
	} else if !whole {
		return evidence.Done
	}
	o.Seen(timeline.NPM)
	if bytes.Contains(r.uri, []byte("://")) {
		v.uplink(&r, o)
		return evidence.Done
	}
	if r.status == 200 && r.size == 0 && string(r.method) == "GET" {
		return evidence.Done // the line with what was sent follows
	}
	v.request(&r, o)
	return evidence.Done
}

// verdaccioLine reads the pretty form; whole is false when the line is another
// one of Verdaccio's.
func verdaccioLine(text []byte, r *request) (is, whole bool) {
	level, message, ok := bytes.Cut(text, []byte("--"))
	message = bytes.TrimLeft(message, "->< ")
	level = bytes.TrimRight(level, "< ")
	if !ok || len(level) > 5 {
		return false, false
	}
	code, rest, ok := bytes.Cut(message, []byte(", "))
	at := bytes.Index(rest, []byte("req: '"))
	if !ok || len(code) != 3 || at < 0 {
		return bytes.HasPrefix(message, []byte("making request: '")), false
	}
	if _, who, named := bytes.Cut(rest[:at], []byte("(")); named {
		r.client = verdaccioClient(who)
	}
	asked, after, closed := bytes.Cut(rest[at+len("req: '"):], []byte("'"))
	r.status, ok = status(code)
	r.method, r.uri, _ = bytes.Cut(asked, []byte(" "))
	if size, counted := bytes.CutPrefix(after, []byte(", bytes: ")); counted {
		_, sent, _ := bytes.Cut(size, []byte("/"))
		r.size = length(bytes.TrimRight(sent, " \r"))
	}
	return ok && closed, ok && closed && !bytes.Contains(after, []byte("(streaming)")) && len(r.uri) > 0
}

// verdaccioClient takes the address of "10.0.4.7 via 172.18.0.1".
func verdaccioClient(text []byte) []byte {
	end := bytes.IndexAny(text, " )")
	if end < 0 {
		end = len(text)
	}
	return text[:end]
}

func verdaccioObject(text []byte, r *request, o *evidence.Out) bool {
	for f := evidence.JSONFields(text); f.Next(); {
		switch v := plain(f.Value); string(f.Key) {
		case "time":
			r.span = jsonTime(v, &o.Times, r.span)
		case "remoteIP":
			r.client = verdaccioClient(v)
		case "status":
			r.status, _ = status(v)
		case "request":
			for q := evidence.JSONFields(f.Value); q.Next(); {
				switch string(q.Key) {
				case "method":
					r.method = plain(q.Value)
				case "url":
					r.uri = unescaped(q.Value)
				}
			}
		case "bytes":
			for q := evidence.JSONFields(f.Value); q.Next(); {
				if string(q.Key) == "out" {
					r.size = length(plain(q.Value))
				}
			}
		}
	}
	return len(r.method) > 0 && len(r.uri) > 0 && r.status > 0
}

// uplink records what the server fetched itself.
func (v *verdaccio) uplink(r *request, o *evidence.Out) {
	item, kind := npmAddress(strings.Clone(string(r.uri)))
	if kind != wholeFile || string(r.method) != "GET" || r.status != 200 {
		return
	}
	o.Event(timeline.Event{Action: timeline.Download, Span: r.span, Items: []timeline.Item{item}})
}
