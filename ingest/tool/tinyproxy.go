package tool

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Tinyproxy is the log of the proxy of that name, from LogLevel Connect on.
// https://tinyproxy.github.io/
var Tinyproxy = evidence.Format{
	Name:   "tinyproxy",
	Shape:  evidence.ToolShape,
	Title:  "Tinyproxy log",
	Proves: "which client asked for which package file over plain HTTP, which hosts it was connected to, when (local time)",
	Cannot: "what was answered; what went through a tunnel (CONNECT); the year and the zone: state them with --covers and --zone",
	Doc:    "https://github.com/tinyproxy/tinyproxy/blob/master/src/log.c",
	Sample: "written by hand after logs in public reports",
	Starts: []string{"CONNECT   ", "Connect (file descriptor ", "Request (file descriptor ", "Established connection to "},
	Tool:   func() evidence.Parser { return &tinyproxy{} },
}

// maxDescriptors bounds the connections that are remembered at once.
const maxDescriptors = 4096

type tinyproxy struct {
	clients  map[string]string          // address of the client by file descriptor
	asked    map[string]*gatewayRequest // what waits for its connection, by the name of the host
	contacts evidence.Contacts
}

// Line reads one line. A request that is refused is followed by no connection:
//
//	CONNECT   Oct 21 12:10:03 [7690]: Connect (file descriptor 6): build-1.acme.example [10.0.4.7]
//	CONNECT   Oct 21 12:10:03.118 [7690]: Request (file descriptor 6): GET http://mirror.acme.example/debian/pool/main/c/curl/curl_7.88.1-10_amd64.deb HTTP/1.1
//	CONNECT   Oct 21 12:10:03 [7690]: Established connection to host "mirror.acme.example" using file descriptor 7.
func (p *tinyproxy) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	span := o.Mark().Span()
	if rest, ok := bytes.CutPrefix(text, []byte("CONNECT   ")); ok {
		stamp, message, ok := bytes.Cut(rest, []byte(" ["))
		_, message, closed := bytes.Cut(message, []byte("]: "))
		at, err := time.Parse("Jan 02 15:04:05", string(stamp[:min(len(stamp), 15)]))
		if !ok || !closed || err != nil {
			return evidence.Miss
		}
		m := evidence.Moment{Month: int(at.Month()), Day: at.Day(), Hour: at.Hour(), Minute: at.Minute(), Sec: at.Second(), Resolution: time.Second}
		span, text = m.Span(string(stamp), &o.Times), message
	}
	o.Seen("")
	if name, ok := bytes.CutPrefix(text, []byte(`Established connection to host "`)); ok {
		name, _, _ = bytes.Cut(name, []byte(`"`))
		p.connected(string(name), o)
		return evidence.Done
	}
	what, rest, ok := bytes.Cut(text, []byte(" (file descriptor "))
	number, rest, closed := bytes.Cut(rest, []byte("): "))
	if !ok || !closed {
		return evidence.Done
	}
	switch string(what) {
	case "Connect":
		p.connect(string(number), rest)
	case "Request":
		w := bytes.Fields(append([]byte(nil), rest...))
		if len(w) > 1 {
			p.request(p.clients[string(number)], w[0], w[1], span)
		}
	}
	return evidence.Done
}

// connect notes whose connection it is: the address stands in brackets behind a
// name, where the name is known.
func (p *tinyproxy) connect(number string, rest []byte) {
	if len(p.clients) >= maxDescriptors || p.clients == nil {
		p.clients = map[string]string{}
	}
	if _, inner, ok := bytes.Cut(rest, []byte("[")); ok {
		rest, _, _ = bytes.Cut(inner, []byte("]"))
	}
	p.clients[number] = string(bytes.TrimSpace(rest))
}

// request notes what was asked until the host is reached.
func (p *tinyproxy) request(client string, method, uri []byte, span timeline.Span) {
	if client == "" {
		return
	}
	host, _, _ := bytes.Cut([]byte(afterScheme(string(uri))), []byte("/"))
	if i := bytes.LastIndexByte(host, ':'); i > 0 {
		host = host[:i]
	}
	if len(p.asked) >= maxDescriptors || p.asked == nil {
		p.asked = map[string]*gatewayRequest{}
	}
	p.asked[string(host)] = &gatewayRequest{server: string(host), request: request{client: []byte(client), method: method, uri: uri, span: span}}
}

// connected records what was asked of the host that is reached now.
func (p *tinyproxy) connected(host string, o *evidence.Out) {
	a := p.asked[host]
	if a == nil {
		return
	}
	delete(p.asked, host)
	if endpoint := evidence.Endpoint(host); endpoint != "" {
		p.contacts.Add(o, a.subject(o), endpoint, a.span)
	}
	if string(a.method) == "GET" {
		a.unanswered(o)
	}
}

// End makes the events of what was counted.
func (p *tinyproxy) End(_ timeline.OpState, o *evidence.Out) { p.contacts.Settle(o) }
