package document

import (
	"cmp"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Suricata is Suricata's EVE log.
// https://docs.suricata.io/en/latest/output/eve/eve-json-format.html
var Suricata = evidence.Format{
	Name:   "suricata-eve",
	Shape:  evidence.ToolShape,
	Title:  "Suricata EVE (JSON)",
	Proves: "which hosts each address looked up or connected to, with a count per hour; which package files came over plain HTTP",
	Cannot: "what was fetched over TLS",
	Doc:    "https://docs.suricata.io/en/latest/output/eve/eve-json-format.html",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"event_type", "timestamp", "src_ip"}, {"event_type", "timestamp", "stats"}},
	Tool:   func() evidence.Parser { return &suricata{} },
}

type suricata struct{ contacts evidence.Contacts }

// Line reads one event. Of an answer the client is where it went to:
//
//	{"timestamp":"2026-10-21T12:51:20.213418+0000","event_type":"dns","src_ip":"10.0.4.7","dest_ip":"10.0.0.2","dns":{"version":3,"type":"request","queries":[{"rrname":"files.acme.example"}]}}
//	{"timestamp":"…","event_type":"tls","src_ip":"10.0.4.7","dest_ip":"203.0.113.9","tls":{"sni":"files.acme.example"}}
func (s *suricata) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	kind := v.get("event_type").text()
	span := v.get("timestamp").stamp(o)
	if kind == "" || span == (timeline.Span{}) {
		return evidence.Miss
	}
	o.Seen("")
	client, server := v.get("src_ip").text(), v.get("dest_ip").text()
	var hosts []string
	switch kind {
	case "dns":
		dns := v.get("dns")
		if t := dns.get("type").text(); t == "answer" || t == "response" {
			client = server
		}
		hosts = append(hosts, dns.get("rrname").text())
		for q := range dns.get("queries").elements() {
			hosts = append(hosts, q.get("rrname").text())
		}
	case "http":
		http := v.get("http")
		hosts = append(hosts, cmp.Or(http.get("hostname").text(), server))
		h := httpSeen{
			client: client, method: http.get("http_method").text(), host: http.get("hostname").text(), uri: http.get("url").text(),
			agent: http.get("http_user_agent").text(), at: v.get("timestamp").text(),
		}
		h.status, _ = http.get("status").integer()
		h.size, _ = http.get("length").integer()
		h.feed(l, o)
	case "tls":
		hosts = append(hosts, cmp.Or(v.get("tls", "sni").text(), server))
	case "flow":
		hosts = append(hosts, server)
	}
	for _, h := range hosts {
		contacted(&s.contacts, client, h, span, o)
	}
	return evidence.Done
}

// End makes the events of what was counted.
func (s *suricata) End(_ timeline.OpState, o *evidence.Out) { s.contacts.Settle(o) }
