package tool

import (
	"bytes"
	"encoding/csv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// WebGateway is what gateways and firewalls log of the addresses that their
// clients asked for: FortiGate and FortiProxy, Sophos Firewall, Zscaler's feeds,
// URL and traffic logs of Palo Alto Networks.
// https://docs.fortinet.com/document/fortigate/7.4.0/fortios-log-message-reference
// https://docs.paloaltonetworks.com/ngfw/administration/monitoring/use-syslog-for-monitoring/syslog-field-descriptions
// https://help.zscaler.com/zia/nss-feed-output-format-web-logs
var WebGateway = evidence.Format{
	Name:  "web-gateway",
	Shape: evidence.ToolShape,
	Title: "Web gateways and firewalls (Fortinet, Sophos, Zscaler, Palo Alto Networks)",
	Proves: "which client asked for which package file and was let through, which hosts it was connected to; " +
		"where the status of the answer is logged (Zscaler, Sophos), which file came",
	Cannot: "what was asked within TLS that the gateway does not open; what became of a request without a status; the zone of Palo Alto's times: state it with --zone",
	Doc:    "https://docs.fortinet.com/document/fortigate/7.4.0/fortios-log-message-reference",
	Sample: "written by hand after the documentation and public logs",
	Starts: gatewayStarts(),
	Looks:  looksGateway,
	Fields: [][]string{{"sourcetype", "event"}, {"ClientIP", "url", "requestmethod"}},
	Tool:   func() evidence.Parser { return &gateway{} },
}

// gatewayStarts lists the first fields of the makers, and what a syslog sender puts
// before them: its header names no program.
func gatewayStarts() []string {
	starts := []string{"date=", "time=", "logver=", "eventtime=", "timestamp=", "devname=", "device=", "device_name=", "logid=", "<1", "1,20", "0,20", ",20", "20", "reason="}
	for m := time.January; m <= time.December; m++ {
		starts = append(starts, m.String()[:3]+" ")
	}
	return starts
}

// maxPaloHead is longer than what stands before the kind of Palo Alto's lines.
const maxPaloHead = 120

// looksGateway wants what each maker writes in every line.
func looksGateway(text []byte) bool {
	switch text[0] {
	case '2':
		return len(text) > 20 && text[19] == '\t' && bytes.Contains(text, []byte("\tClientIP="))
	case 'r':
		return bytes.Contains(text, []byte("\tClientIP="))
	case 't':
		if len(text) > 5 && text[5] == '"' {
			return false // time="…" of logrus
		}
	case '0', '1', ',':
		return paloAltoLine(text)
	}
	return bytes.Contains(text, []byte(" logid=")) || bytes.Contains(text, []byte(` device_name="`)) || paloAltoLine(text)
}

func paloAltoLine(text []byte) bool {
	head := text[:min(len(text), maxPaloHead)]
	return bytes.Contains(head, []byte(",THREAT,url,")) || bytes.Contains(head, []byte(",TRAFFIC,"))
}

type gateway struct {
	access
	contacts evidence.Contacts
}

// gatewayRequest is what a gateway tells of one request or connection.
type gatewayRequest struct {
	request
	kind    string // "url" or "traffic", "" for what is of no use here
	server  string // name or address
	refused bool
	answer  bool // the status is logged
}

// Line reads one line:
//
//	date=2026-10-21 time=14:10:03 devname="fw-1" eventtime=1792584603118000000 tz="+0200" logid="0317013312" type="utm" subtype="webfilter" … srcip=10.0.4.7 … hostname="files.acme.example" action="passthrough" url="http://files.acme.example/packages/…/litellm-1.107.0-py3-none-any.whl" …
//	2026-10-21 12:10:03	reason=Allowed	…	action=Allowed	…	requestmethod=GET	…	ClientIP=10.0.4.7	status=200	…	url=files.acme.example/packages/…/litellm-1.107.0-py3-none-any.whl	…
//	1,2026/10/21 14:10:03,001801000000,THREAT,url,2305,2026/10/21 14:10:03,10.0.4.7,203.0.113.9,…,tcp,alert,"files.acme.example/packages/…/litellm-1.107.0-py3-none-any.whl",(9999),…
//	{"sourcetype":"zscalernss-web","event":{"datetime":"2026-10-21 12:10:03","action":"Allowed","ClientIP":"10.0.4.7","status":"200","url":"…",…}}
func (g *gateway) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	a := gatewayRequest{request: request{size: -1, span: o.Mark().Span()}}
	ok := false
	switch {
	case text[0] == '{':
		ok = a.object(text, &o.Times)
	case bytes.Contains(text, []byte("\tClientIP=")):
		ok = a.tabs(text, &o.Times)
	case paloAltoLine(text):
		ok = a.paloAlto(text, &o.Times)
	default:
		ok = a.pairs(text, &o.Times)
	}
	if !ok {
		return evidence.Miss
	}
	o.Seen("")
	if a.kind == "" || a.refused || len(a.client) == 0 {
		return evidence.Done
	}
	if endpoint := evidence.Endpoint(a.server); endpoint != "" {
		g.contacts.Add(o, a.subject(o), endpoint, a.span)
	}
	if len(a.method) == 0 {
		a.method = []byte("GET")
	}
	switch {
	case a.kind != "url" || string(a.method) == "CONNECT":
	case a.answer:
		g.request(&a.request, o)
	case string(a.method) == "GET":
		a.unanswered(o)
	}
	return evidence.Done
}

// unanswered records that a file was asked for: what came is not told.
func (a *gatewayRequest) unanswered(o *evidence.Out) {
	_, path, _ := strings.Cut(afterScheme(string(a.uri)), "/")
	path, _, _ = strings.Cut(path, "?")
	item, kind := packagePath("/" + path)
	action := timeline.Require
	switch kind {
	case noPath:
		return
	case indexPage, metadata:
		action = timeline.Resolve
	case wholeFile:
	}
	o.Event(timeline.Event{Action: action, Subject: a.subject(o), Span: a.span, Items: []timeline.Item{item}})
}

func afterScheme(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		return rest
	}
	return url
}

// pairs reads names and values of Fortinet and Sophos. Fortinet has no status.
func (a *gatewayRequest) pairs(text []byte, t *evidence.Times) bool {
	if text[0] == '<' { // the priority that a syslog sender puts before it
		_, text, _ = bytes.Cut(text, []byte(">"))
	}
	var f struct{ day, clock, zone, kind, sub, event string }
	for p := (logfmt{rest: text}); p.next(); {
		switch v := plain(p.value); string(p.key) {
		case "date":
			f.day = string(v)
		case "time":
			f.clock = string(v)
		case "tz":
			f.zone = string(v)
		case "eventtime":
			f.event = string(v)
		case "type", "log_type":
			f.kind = string(v)
		case "subtype":
			f.sub = string(v)
		case "action", "log_subtype", "status":
			a.refused = a.refused || refusal(string(v))
		case "srcip", "src_ip":
			a.client = v
		case "hostname", "domain", "qname":
			a.server = string(v)
		case "dstip", "dst_ip":
			if a.server == "" {
				a.server = string(v)
			}
		case "url":
			a.uri = v
		case "httpmethod", "http_method":
			a.method = v
		case "status_code", "statuscode", "httpcode":
			a.status, a.answer = status(v)
		}
	}
	if f.kind == "" || f.day == "" && f.event == "" {
		return false
	}
	a.span = gatewayTime(f.day+" "+f.clock+f.zone, f.event, t, a.span)
	switch {
	case f.sub == "webfilter" || strings.EqualFold(f.kind, "Content Filtering"):
		a.kind = "url"
	case f.kind == "traffic" || f.sub == "dns":
		a.kind = "traffic"
	}
	return true
}

// refusal knows the words for what was not let through.
func refusal(action string) bool {
	action = strings.ToLower(action)
	return strings.HasPrefix(action, "block") || strings.HasPrefix(action, "den") || action == "drop" || action == "timeout" || action == "warned"
}

// gatewayTime reads seconds or nanoseconds since 1970, else date and time, with the
// zone behind them where the log has it.
func gatewayTime(written, event string, t *evidence.Times, line timeline.Span) timeline.Span {
	if len(event) == 10 || len(event) == 19 {
		return jsonTime([]byte(event), t, line)
	}
	if m, n := evidence.ParseISO([]byte(written)); n > 0 {
		return m.Span(strings.TrimSpace(written), t)
	}
	return line
}

// tabs reads the feed of Zscaler as it goes to Splunk. Its zone is what the feed
// was set to, which it does not tell.
func (a *gatewayRequest) tabs(text []byte, t *evidence.Times) bool {
	for field := range bytes.SplitSeq(text, []byte("\t")) {
		key, v, ok := bytes.Cut(field, []byte("="))
		if m, n := evidence.ParseISO(field); !ok && n > 0 && n == len(field) {
			a.span = m.Span(string(field), t)
		} else if ok {
			a.zscaler(string(key), v)
		}
	}
	return len(a.uri) > 0
}

// object reads the same as an object, alone or in the envelope of Splunk.
func (a *gatewayRequest) object(text []byte, t *evidence.Times) bool {
	zscaler := false
	for f := evidence.JSONFields(text); f.Next(); {
		switch v := plain(f.Value); string(f.Key) {
		case "sourcetype":
			zscaler = string(v) == "zscalernss-web"
		case "event":
			if f.Value[0] == '{' && a.object(f.Value, t) {
				continue
			}
		case "datetime", "time":
			if m, n := evidence.ParseISO(v); n > 0 {
				a.span = m.Span(string(v), t)
			}
		default:
			zscaler = zscaler || string(f.Key) == "ClientIP"
			a.zscaler(string(f.Key), unescaped(f.Value))
		}
	}
	return zscaler && len(a.uri) > 0
}

func (a *gatewayRequest) zscaler(key string, v []byte) {
	switch key {
	case "action":
		a.refused = !bytes.EqualFold(v, []byte("Allowed"))
	case "requestmethod":
		a.method = v
	case "ClientIP":
		a.client = v
	case "hostname":
		a.server = string(v)
	case "status":
		a.status, a.answer = status(v)
	case "responsesize":
		a.size = length(v)
	case "useragent":
		a.agent = v
	case "url":
		a.uri, a.kind = v, "url"
		if !bytes.Contains(v, []byte("://")) {
			a.uri = append([]byte("https://"), v...)
		}
	}
}

// The columns of Palo Alto's lines that are read.
const (
	paloKind, paloSub, paloTime, paloSource, paloServer, paloAction, paloURL = 3, 4, 6, 7, 8, 30, 31
)

// paloAlto reads a line of columns; what the request was answered is in none.
func (a *gatewayRequest) paloAlto(text []byte, t *evidence.Times) bool {
	r := csv.NewReader(bytes.NewReader(text))
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	w, err := r.Read()
	if err != nil || len(w) <= paloURL {
		return false
	}
	at, err := time.Parse("2006/01/02 15:04:05", w[paloTime])
	if err != nil {
		return false
	}
	m := evidence.Moment{Year: at.Year(), Month: int(at.Month()), Day: at.Day(), Hour: at.Hour(), Minute: at.Minute(), Sec: at.Second(), Resolution: time.Second}
	a.span, a.client, a.server = m.Span(w[paloTime], t), []byte(w[paloSource]), w[paloServer]
	a.refused = w[paloAction] != "alert" && w[paloAction] != "allow" && w[paloAction] != "continue" && w[paloAction] != "override"
	switch {
	case w[paloKind] == "THREAT" && w[paloSub] == "url":
		a.kind, a.uri = "url", []byte("http://"+w[paloURL])
		a.server, _, _ = strings.Cut(w[paloURL], "/")
	case w[paloKind] == "TRAFFIC" && w[paloSub] != "start": // its end says it again
		a.kind = "traffic"
	}
	return true
}

// End settles what waited for a later line.
func (g *gateway) End(how timeline.OpState, o *evidence.Out) {
	g.access.End(how, o)
	g.contacts.Settle(o)
}
