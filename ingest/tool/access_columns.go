package tool

import (
	"bytes"
	"net/netip"

	"pulltrail/ingest/evidence"
)

// dateless returns where the request stands in a line of an nginx that leaves the
// time to syslog, 0 when it is none. Harbor's proxy does:
//
//	10.0.4.7 - "GET /v2/acme/api/manifests/1.4 HTTP/1.1" 200 1570 "-" "docker/24.0.7 go/go1.20" 0.021 0.020 .
//
// https://github.com/goharbor/harbor/blob/main/make/photon/prepare/templates/nginx/nginx.http.conf.jinja
func dateless(text []byte) int {
	i := bytes.IndexByte(text[:min(len(text), maxClient)], ' ')
	if i < 7 || !bytes.HasPrefix(text[i:], []byte(` - "`)) {
		return 0
	}
	return i + 4
}

// forwardedFor reads the last of three quoted columns, as nginx's own format
// "main" has it: X-Forwarded-For, of which the first address is the client.
//
//	"-" "pip/25.2" "10.20.9.5, 10.0.0.3"
//
// https://nginx.org/en/docs/http/ngx_http_log_module.html
func forwardedFor(columns []byte) []byte {
	columns = bytes.TrimRight(columns, " ")
	if len(columns) < 12 || columns[len(columns)-1] != '"' || bytes.Count(columns, []byte(`" "`)) < 2 {
		return nil
	}
	columns = columns[:len(columns)-1]
	first, _, _ := bytes.Cut(columns[bytes.LastIndexByte(columns, '"')+1:], []byte(","))
	if _, err := netip.ParseAddr(string(first)); err != nil {
		return nil
	}
	return first
}

// who takes the columns before the date: [virtual host] client identity user.
// The client may be left out.
func (r *request) who(text []byte) bool {
	var w [5][]byte
	n := 0
	for text = evidence.TrimIndent(text); len(text) > 0; text = evidence.TrimIndent(text) {
		if n == len(w) {
			return false
		}
		i := 0
		for i < len(text) && text[i] != ' ' && text[i] != '\t' {
			i++
		}
		w[n], text = text[:i], text[i:]
		n++
	}
	if n == 1 { // aiohttp, as Pulp sets it
		r.client = w[0]
		_, err := netip.ParseAddr(string(w[0]))
		return err == nil
	}
	if n < 2 || n > 4 || string(w[n-2]) != "-" {
		return false
	}
	switch {
	case n > 2 && string(w[n-3]) != "-":
		r.client = w[n-3]
	case string(w[n-1]) != "-":
		r.client = w[n-1]
	}
	return true
}

// upperWord reports whether a method stands first: GET, HEAD.
func upperWord(text []byte) bool {
	n := 0
	for n < len(text) && n < 9 && text[n] >= 'A' && text[n] <= 'Z' {
		n++
	}
	return n > 2 && n < len(text) && text[n] == ' '
}
