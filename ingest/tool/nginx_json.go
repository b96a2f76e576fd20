package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// AccessObjects is an access log that nginx writes as JSON, with the names of
// its own variables, and that of GitLab's registry and Workhorse.
// https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format
// https://docs.gitlab.com/administration/logs/
var AccessObjects = evidence.Format{
	Name:   "access-json",
	Shape:  evidence.ToolShape,
	Title:  "access logs as JSON (nginx's variables, GitLab's registry and Workhorse)",
	Proves: "which client fetched which package file, index page, image manifest and layers, when",
	Cannot: "who stands behind an address (inventory), what became of it; objects whose fields have other names",
	Doc:    "https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"remote_addr", "request", "status"}, {"remote_addr", "request_uri", "status"}, {"remote_ip", "method", "uri", "status"}},
	Tool:   func() evidence.Parser { return &jsonAccess{read: namedRequest} },
}

// namedRequest reads
//
//	{"time_iso8601":"2026-10-21T12:04:51+00:00","remote_addr":"10.0.4.7","request":"GET /simple/litellm/ HTTP/1.1","status":"200","body_bytes_sent":"812"}
//	{"level":"info","method":"GET","msg":"access","remote_addr":"10.0.4.7:51544","remote_ip":"10.0.4.7","status":200,"time":"2026-10-21T12:04:51.251Z","uri":"/v2/acme/api/manifests/1.4","written_bytes":1156}
func namedRequest(text []byte, r *request, t *evidence.Times) bool {
	for f := evidence.JSONFields(text); f.Next(); {
		switch v := plain(f.Value); string(f.Key) {
		case "time_iso8601", "@timestamp", "timestamp", "time", "msec":
			r.span = jsonTime(v, t, r.span)
		case "time_local":
			if m, ok := accessTime(v); ok {
				r.span = m.Span(string(v), t)
			}
		case "remote_addr":
			if len(r.client) == 0 {
				r.client = address(v)
			}
		case "remote_ip":
			r.client = v
		case "request":
			var rest []byte
			r.method, rest, _ = bytes.Cut(unescaped(f.Value), []byte(" "))
			r.uri, _, _ = bytes.Cut(rest, []byte(" "))
		case "request_method", "method":
			r.method = v
		case "request_uri", "uri":
			if f.Key[0] == 'r' || len(r.uri) == 0 {
				r.uri = unescaped(f.Value)
			}
		case "status":
			r.status = int(max(length(v), 0))
		case "body_bytes_sent", "written_bytes":
			r.size = length(v)
		case "http_host", "host":
			r.host = v
		}
	}
	return len(r.method) > 0 && len(r.uri) > 0 && r.uri[0] == '/'
}
