package tool

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Caddy is the access log of the Caddy web server.
// https://caddyserver.com/docs/caddyfile/directives/log
var Caddy = evidence.Format{
	Name:   "caddy",
	Shape:  evidence.ToolShape,
	Title:  "Caddy access log (JSON, console)",
	Proves: "which client fetched which package file, index page, image manifest and layers, when",
	Cannot: "who stands behind an address (inventory), what became of it",
	Doc:    "https://caddyserver.com/docs/caddyfile/directives/log",
	Sample: "Caddy 2.6 run for this project",
	Fields: [][]string{{"request", "status", "size", "ts"}},
	Starts: []string{"20"},
	Looks:  func(text []byte) bool { return bytes.Contains(text, []byte("handled request\t{")) },
	Tool:   func() evidence.Parser { return &jsonAccess{read: caddyRequest} },
}

// Traefik is the access log of Traefik as JSON; its other form is the common
// log format.
// https://doc.traefik.io/traefik/observability/access-logs/
var Traefik = evidence.Format{
	Name:   "traefik",
	Shape:  evidence.ToolShape,
	Title:  "Traefik access log (JSON)",
	Proves: "which client fetched which package file, index page, image manifest and layers, when",
	Cannot: "who stands behind an address (inventory), what became of it",
	Doc:    "https://doc.traefik.io/traefik/observability/access-logs/",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"RequestMethod", "RequestPath", "DownstreamStatus"}, {"RequestMethod", "RequestPath", "OriginStatus"}},
	Tool:   func() evidence.Parser { return &jsonAccess{read: traefikRequest} },
}

// Zot is the log of the zot registry.
// https://zotregistry.dev/latest/articles/monitoring/
var Zot = evidence.Format{
	Name:   "zot",
	Shape:  evidence.ToolShape,
	Title:  "zot registry log (JSON)",
	Proves: "which client fetched which image manifest and layers, and pushed which, when",
	Cannot: "who stands behind a proxy: the address is that of the connection",
	Doc:    "https://github.com/project-zot/zot/blob/main/pkg/api/session.go",
	Sample: "written by hand after the source",
	Fields: [][]string{{"clientIP", "method", "path", "statusCode"}},
	Tool:   func() evidence.Parser { return &jsonAccess{read: zotRequest} },
}

// jsonAccess reads requests that are logged as objects.
type jsonAccess struct {
	access
	read func(text []byte, r *request, t *evidence.Times) bool
}

// Line reads one object.
func (j *jsonAccess) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	r := request{size: -1, span: o.Mark().Span()}
	if !j.read(l.Text, &r, &o.Times) || r.status == 0 {
		return evidence.Miss
	}
	if len(r.uri) > 0 {
		j.request(&r, o)
	}
	return evidence.Done
}

// caddyRequest reads
//
//	{"level":"info","ts":1792584291.118,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"10.0.4.7","remote_port":"41802","proto":"HTTP/1.1","method":"GET","host":"mirror.acme.example","uri":"/simple/litellm/","headers":{…}},"user_id":"","duration":0.0009,"size":1555,"status":200,"resp_headers":{…}}
//
// which on a console has the time and what else is common before the rest of it:
//
//	2026/10/21 12:04:51.118	INFO	http.log.access.log0	handled request	{"request": {…}, …, "size": 1555, "status": 200, …}
func caddyRequest(text []byte, r *request, t *evidence.Times) bool {
	if _, object, console := bytes.Cut(text, []byte("handled request\t")); console && text[0] != '{' {
		r.span = caddyTime(text, t, r.span)
		text = object
	}
	for f := evidence.JSONFields(text); f.Next(); {
		switch v := plain(f.Value); string(f.Key) {
		case "ts":
			r.span = jsonTime(v, t, r.span)
		case "size":
			r.size = length(v)
		case "status":
			r.status = int(max(length(v), 0))
		case "request":
			for q := evidence.JSONFields(f.Value); q.Next(); {
				switch v := plain(q.Value); string(q.Key) {
				case "client_ip":
					r.client = v
				case "remote_ip", "remote_addr":
					if r.client == nil {
						r.client = address(v)
					}
				case "method":
					r.method = v
				case "uri":
					r.uri = unescaped(q.Value)
				case "host":
					r.host = v
				}
			}
		}
	}
	return len(r.method) > 0
}

// caddyTime reads the time of the console, which has slashes in place of hyphens
// and no zone.
func caddyTime(text []byte, t *evidence.Times, line timeline.Span) timeline.Span {
	if len(text) < 24 || text[4] != '/' || text[7] != '/' {
		return line
	}
	iso := append([]byte(nil), text[:23]...)
	iso[4], iso[7] = '-', '-'
	m, n := evidence.ParseISO(iso)
	if n == 0 {
		return line
	}
	return m.Span(string(text[:n]), t)
}

// traefikRequest reads
//
//	{"ClientAddr":"10.0.4.7:41802","ClientHost":"10.0.4.7","DownstreamContentSize":1555,"DownstreamStatus":200,"RequestHost":"mirror.acme.example","RequestMethod":"GET","RequestPath":"/simple/litellm/","StartUTC":"2026-10-21T12:10:03.118Z","time":"2026-10-21T12:10:03Z",…}
func traefikRequest(text []byte, r *request, t *evidence.Times) bool {
	logged := r.span
	for f := evidence.JSONFields(text); f.Next(); {
		switch v := plain(f.Value); string(f.Key) {
		case "ClientHost":
			r.client = v
		case "ClientAddr": // all that Artifactory's router has
			if len(r.client) == 0 {
				r.client = address(v)
			}
		case "RequestMethod":
			r.method = v
		case "RequestPath":
			r.uri = unescaped(f.Value)
		case "RequestHost":
			r.host = v
		case "DownstreamStatus":
			r.status = int(max(length(v), 0))
		case "OriginStatus":
			if r.status == 0 {
				r.status = int(max(length(v), 0))
			}
		case "DownstreamContentSize":
			r.size = length(v)
		case "StartUTC":
			r.span = jsonTime(v, t, r.span)
		case "time":
			logged = jsonTime(v, t, logged)
		}
	}
	if r.span.Clock != timeline.Exact {
		r.span = logged
	}
	return len(r.method) > 0
}

// zotRequest reads
//
//	{"level":"info","module":"http","component":"session","clientIP":"10.0.4.7:41802","method":"GET","path":"/v2/acme/tiny/manifests/1.0","statusCode":200,"latency":"0s","bodySize":1024,"headers":{…},"goroutine":61,"time":"2026-10-21T12:10:03.118902314Z","message":"HTTP API"}
//
// Other messages have the same fields: only this one stands for each request.
func zotRequest(text []byte, r *request, t *evidence.Times) bool {
	api := false
	for f := evidence.JSONFields(text); f.Next(); {
		switch v := plain(f.Value); string(f.Key) {
		case "clientIP":
			r.client = address(v)
		case "method":
			r.method = v
		case "path":
			r.uri = unescaped(f.Value)
		case "statusCode":
			r.status = int(max(length(v), 0))
		case "bodySize":
			r.size = length(v)
		case "time":
			r.span = jsonTime(v, t, r.span)
		case "message":
			api = string(v) == "HTTP API"
		case "headers":
			r.host = firstOf(f.Value, "Host")
		}
	}
	if !api {
		r.uri = nil // known, and no request
	}
	return true
}

// firstOf returns the first value of a header.
func firstOf(headers []byte, name string) []byte {
	for f := evidence.JSONFields(headers); f.Next(); {
		if !strings.EqualFold(string(f.Key), name) {
			continue
		}
		if e := evidence.JSONElements(f.Value); e.Next() {
			return plain(e.Value)
		}
	}
	return nil
}

// unescaped is the text of a JSON string.
func unescaped(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return plain(raw)
	}
	text, _, _ := evidence.UnquoteJSON(raw, nil)
	return text
}

// epochUnit tells by its digits what a number since 1970 counts.
var epochUnit = map[int]time.Duration{13: time.Millisecond, 16: time.Microsecond, 19: time.Nanosecond}

// jsonTime reads seconds since 1970 with a fraction, milliseconds and smaller units, or ISO 8601; what is
// neither leaves the time of the line.
func jsonTime(v []byte, t *evidence.Times, line timeline.Span) timeline.Span {
	if _, n := evidence.ParseISO(v); n > 0 {
		return evidence.ISOStamp(v, t)
	}
	whole, fraction, _ := strings.Cut(string(v), ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if unit := epochUnit[len(whole)]; err == nil && unit > 0 && fraction == "" {
		return evidence.Epoch(seconds, unit, whole)
	}
	if err != nil || len(whole) < 9 || len(whole) > 11 {
		return line
	}
	nanos, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if err != nil {
		return line
	}
	return evidence.Epoch(seconds*int64(time.Second)+nanos, time.Nanosecond, string(v))
}
