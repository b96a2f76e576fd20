package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// AccessObjects is an access log that nginx writes as JSON, with the names of
// its own variables, that of GitLab's registry and Workhorse, and others whose
// objects name what was asked, by whom, and how it was answered.
// https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format
// https://docs.gitlab.com/administration/logs/
// https://istio.io/latest/docs/tasks/observability/logs/access-log/
// https://cloud.google.com/load-balancing/docs/https/https-logging-monitoring
// https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/
// https://developer.konghq.com/plugins/file-log/
// https://www.fastly.com/documentation/guides/integrations/logging/
// https://techdocs.akamai.com/datastream2/docs/data-set-parameters
var AccessObjects = evidence.Format{
	Name:   "access-json",
	Shape:  evidence.ToolShape,
	Title:  "access logs as JSON (nginx's variables, GitLab's registry and Workhorse, Envoy and Istio, Google Cloud, Cloudflare, Fastly, Akamai, Kong, ECS)",
	Proves: "which client fetched which package file, index page, image manifest and layers, when",
	Cannot: "who stands behind an address (inventory), what became of it; objects whose fields have other names",
	Doc:    "https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format",
	Sample: "written by hand after the documentation",
	Fields: [][]string{
		{"remote_addr", "request", "status"},
		{"remote_addr", "request_uri", "status"},
		{"remote_ip", "method", "uri", "status"},
		{"method", "path", "response_code"},
		{"ClientIP", "ClientRequestMethod", "ClientRequestURI", "EdgeResponseStatus"},
		{"httpRequest", "logName"},
		{"request", "response", "client_ip"},
		{"method", "path", "status", "remote_ip"},
		{"remote", "method", "path", "code"},
		{"client_ip", "request_method", "url", "response_status"},
		{"cliIP", "reqMethod", "reqPath", "statusCode"},
		{"@timestamp", "http", "url", "source"},
	},
	Tool: func() evidence.Parser { return &jsonAccess{read: namedRequest} },
}

// AzureAccess is what Azure's Front Door and Application Gateway log of requests,
// through diagnostic settings.
// https://learn.microsoft.com/azure/frontdoor/monitor-front-door
// https://learn.microsoft.com/azure/application-gateway/application-gateway-diagnostics
var AzureAccess = evidence.Format{
	Name:   "azure-access",
	Shape:  evidence.ToolShape,
	Title:  "Access logs of Azure Front Door and Application Gateway (JSON)",
	Proves: "which client fetched which package file, index page, image manifest and layers, when",
	Cannot: "who stands behind an address (inventory), what became of it",
	Doc:    "https://learn.microsoft.com/azure/frontdoor/monitor-front-door",
	Sample: "written by hand after the documentation",
	Claim:  func(h *evidence.Head) bool { return bytes.Contains(h.Bytes, []byte(`AccessLog"`)) },
	Fields: [][]string{{"category", "properties", "operationName"}},
	Tool:   func() evidence.Parser { return &jsonAccess{read: namedRequest} },
}

// namedRequest reads
//
//	{"time_iso8601":"2026-10-21T12:04:51+00:00","remote_addr":"10.0.4.7","request":"GET /simple/litellm/ HTTP/1.1","status":"200","body_bytes_sent":"812"}
//	{"level":"info","method":"GET","msg":"access","remote_addr":"10.0.4.7:51544","remote_ip":"10.0.4.7","status":200,"time":"2026-10-21T12:04:51.251Z","uri":"/v2/acme/api/manifests/1.4","written_bytes":1156}
func namedRequest(text []byte, r *request, t *evidence.Times) bool {
	for f := evidence.JSONFields(text); f.Next(); {
		switch v := plain(f.Value); string(f.Key) {
		case "time_iso8601", "@timestamp", "timestamp", "time", "msec", "timeStamp", "reqTimeSec":
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
			r.client, _, _ = bytes.Cut(v, []byte(","))
		case "request":
			if f.Value[0] == '{' {
				size := r.size
				r.inner(f.Value, t)
				r.size = size // not that of what was sent
				continue
			}
			var rest []byte
			r.method, rest, _ = bytes.Cut(unescaped(f.Value), []byte(" "))
			r.uri, _, _ = bytes.Cut(rest, []byte(" "))
		case "request_uri", "uri":
			if f.Key[0] == 'r' || len(r.uri) == 0 {
				r.uri = unescaped(f.Value)
			}
		case "http_host", "host":
			if f.Value[0] == '"' { // else it is the machine that wrote the log
				r.host = v
			}
		case "http":
			r.ecs(f.Value)
		case "source":
			r.unsized(f.Value)
		case "url":
			if r.uri = unescaped(f.Value); f.Value[0] == '{' {
				r.ecs(f.Value)
			}
		case "reqPath":
			r.uri = append([]byte("/"), bytes.TrimPrefix(unescaped(f.Value), []byte("/"))...)
		case "httpRequest", "response", "properties":
			r.inner(f.Value, t)
		default:
			r.named(string(f.Key), v, f.Value, t)
		}
	}
	if r.broken && r.status == 200 {
		r.status = 206
	}
	return len(r.method) > 0 && len(r.uri) > 0 && (r.uri[0] == '/' || bytes.HasPrefix(r.uri, []byte("http")))
}

// named reads the fields that other servers have:
//
//	{"start_time":"2026-10-21T12:10:03.118Z","method":"GET","path":"/left-pad/-/left-pad-1.3.0.tgz","response_code":200,"response_flags":"-","bytes_sent":4321,"downstream_remote_address":"10.0.4.7:33510","x_forwarded_for":null,"authority":"mirror.acme.example",…}
//	{"ClientIP":"203.0.113.7","ClientRequestMethod":"GET","ClientRequestURI":"/left-pad/-/left-pad-1.3.0.tgz","EdgeResponseStatus":200,"EdgeResponseBytes":4321,"EdgeStartTimestamp":"2026-10-21T12:10:03Z",…}
//	{"httpRequest":{"requestMethod":"GET","requestUrl":"https://mirror.acme.example/left-pad/-/left-pad-1.3.0.tgz","status":200,"responseSize":"4321","remoteIp":"203.0.113.7"},"logName":"projects/acme/logs/requests","timestamp":"2026-10-21T12:10:03.118Z",…}
//	{"request":{"method":"GET","uri":"/left-pad/-/left-pad-1.3.0.tgz",…},"response":{"status":200,"size":"4321",…},"client_ip":"10.0.4.7","started_at":1792584603118,…}
//	{"method":"GET","path":"/api/v4/projects/17/packages/npm/left-pad/-/left-pad-1.3.0.tgz","status":200,"time":"2026-10-21T12:10:03.118Z","remote_ip":"10.0.4.7, 127.0.0.1","ua":"npm/10.8.2",…}
//	{"remote":"10.0.4.7","method":"GET","path":"/left-pad/-/left-pad-1.3.0.tgz","code":"200","size":"4321","agent":"npm/10.8.2",…}
//	{"time":"2026-10-21T12:10:03Z","category":"FrontDoorAccessLog","operationName":"…","properties":{"httpMethod":"GET","requestUri":"https://mirror.acme.example:443/left-pad/-/left-pad-1.3.0.tgz","httpStatusCode":"200","responseBytes":"4721","clientIp":"203.0.113.7",…}}
func (r *request) named(key string, v, raw []byte, t *evidence.Times) {
	switch key {
	case "request_method", "method", "requestMethod", "ClientRequestMethod", "httpMethod", "reqMethod":
		r.method = v
	case "path", "requestUrl", "ClientRequestURI", "requestUri":
		r.uri = unescaped(raw)
	case "status", "response_code", "EdgeResponseStatus", "code", "httpStatus", "httpStatusCode", "response_status", "statusCode":
		r.status = int(max(length(v), 0))
	case "body_bytes_sent", "written_bytes", "bytes_sent", "responseSize", "EdgeResponseBytes", "size", "sentBytes", "responseBytes", "response_body_size", "bytes":
		r.size = length(v)
	case "x_forwarded_for":
		if first, _, _ := bytes.Cut(v, []byte(",")); raw[0] == '"' && len(first) > 1 {
			r.client = first
		}
	case "downstream_remote_address":
		if len(r.client) == 0 {
			r.client = address(v)
		}
	case "client_ip", "ClientIP", "remoteIp", "remote", "clientIP", "clientIp", "cliIP":
		r.client = v
	case "start_time", "started_at", "EdgeStartTimestamp":
		r.span = jsonTime(v, t, r.span)
	case "response_flags":
		r.broken = string(v) != "-" && len(v) > 0
	case "http_user_agent", "user_agent", "userAgent", "ClientRequestUserAgent", "ua", "agent", "request_user_agent", "UA":
		r.agent = v
	case "headers":
		for f := evidence.JSONFields(raw); f.Next(); {
			if string(f.Key) == "user-agent" {
				r.agent = plain(f.Value)
			}
		}
	}
}

// ecs reads the objects that hold a request in the Elastic Common Schema: http,
// url and source.
//
//	{"@timestamp":"2026-10-21T12:10:03.118Z","source":{"ip":"10.0.4.7"},"http":{"request":{"method":"GET"},"response":{"status_code":200,"body":{"bytes":4321}}},"url":{"original":"/left-pad/-/left-pad-1.3.0.tgz"},…}
//
// https://www.elastic.co/guide/en/ecs/current/ecs-http.html
func (r *request) ecs(object []byte) {
	for f := evidence.JSONFields(object); f.Next(); {
		switch v := plain(f.Value); string(f.Key) {
		case "request":
			r.unsized(f.Value)
		case "response", "body":
			r.ecs(f.Value)
		case "method":
			r.method = bytes.ToUpper(v)
		case "status_code":
			r.status = int(max(length(v), 0))
		case "bytes":
			r.size = length(v)
		case "original":
			r.uri = unescaped(f.Value)
		case "path":
			if len(r.uri) == 0 || r.uri[0] == '{' {
				r.uri = unescaped(f.Value)
			}
		case "ip", "address":
			r.client = address(v)
		}
	}
}

// unsized reads an object whose bytes are not those of the answer.
func (r *request) unsized(object []byte) {
	size := r.size
	r.ecs(object)
	r.size = size
}

// inner reads the fields of an object in the object.
func (r *request) inner(object []byte, t *evidence.Times) {
	for f := evidence.JSONFields(object); f.Next(); {
		key := string(f.Key)
		if key == "uri" {
			key = "path"
		}
		r.named(key, plain(f.Value), f.Value, t)
	}
}
