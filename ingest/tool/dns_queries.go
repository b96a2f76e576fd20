package tool

import (
	"bytes"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DNSQueries is what name servers log of look-ups: dnsmasq and Pi-hole, BIND,
// Unbound, CoreDNS.
// https://bind9.readthedocs.io/en/latest/reference.html#the-category-phrase
// https://coredns.io/plugins/log/
var DNSQueries = evidence.Format{
	Name:   "dns-queries",
	Shape:  evidence.ToolShape,
	Title:  "Query log of a name server (dnsmasq, Pi-hole, BIND, Unbound, CoreDNS)",
	Proves: "which client looked which name up, and when",
	Cannot: "look-ups that a cache nearer to the client answered; that anything was fetched",
	Doc:    "https://bind9.readthedocs.io/en/latest/reference.html#the-category-phrase",
	Sample: "written by hand after the documentation",
	Starts: append(dnsDays(), "query[", "client @0x", "info: ", "[INFO] ", "queries: ", "[1"),
	Looks:  looksQuery,
	Tool:   func() evidence.Parser { return &dnsQueries{} },
}

// dnsDays lists the days that a time of BIND's begins with.
func dnsDays() (starts []string) {
	for _, a := range "0123" {
		for _, b := range "0123456789" {
			starts = append(starts, string(a)+string(b)+"-")
		}
	}
	return starts
}

func looksQuery(text []byte) bool {
	return bytes.HasPrefix(text, []byte("query[")) || bytes.Contains(text, []byte(": query: ")) ||
		bytes.Contains(text, []byte(". A IN")) || bytes.Contains(text, []byte(". AAAA IN")) || bytes.Contains(text, []byte(` "A IN `)) || bytes.Contains(text, []byte(` "AAAA IN `))
}

type dnsQueries struct{ contacts evidence.Contacts }

// Line reads one look-up.
//
//	query[A] files.acme.example from 10.0.4.7
//	21-Oct-2026 12:10:03.118 queries: info: client @0x7f2a 10.0.4.7#51234 (files.acme.example): query: files.acme.example IN A +E(0)K (10.0.0.2)
//	[1792584603] unbound[1:0] info: 10.0.4.7 files.acme.example. A IN
//	[INFO] 10.0.4.7:41234 - 12345 "A IN files.acme.example. udp 41 false 512" NOERROR qr,rd,ra 106 0.04s
func (d *dnsQueries) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	span := o.Mark().Span()
	if l.Stamp.Read == nil {
		span = dnsTime(text, span, &o.Times)
	}
	client, name := dnsQuery(string(text))
	if client == "" || name == "" {
		return evidence.Miss
	}
	o.Seen("")
	if endpoint := evidence.Endpoint(name); endpoint != "" {
		d.contacts.Add(o, timeline.Subject{Kind: timeline.Client, ID: client}, endpoint, span)
	}
	return evidence.Done
}

// dnsQuery takes the client and the name from a line.
func dnsQuery(text string) (client, name string) {
	if rest, ok := strings.CutPrefix(text, "query["); ok { // dnsmasq
		_, rest, _ = strings.Cut(rest, "] ")
		name, client, ok = strings.Cut(rest, " from ")
		if !ok || strings.ContainsAny(name+client, " ") {
			return "", ""
		}
		return client, name
	}
	if before, rest, ok := strings.Cut(text, ": query: "); ok { // BIND
		_, who, _ := strings.Cut(before, "client ")
		for word := range strings.FieldsSeq(who) {
			if address, _, port := strings.Cut(word, "#"); port {
				name, _, _ = strings.Cut(rest, " ")
				return address, name
			}
		}
		return "", ""
	}
	if rest, ok := strings.CutPrefix(text, "[INFO] "); ok { // CoreDNS
		who, rest, _ := strings.Cut(rest, " - ")
		_, asked, _ := strings.Cut(rest, ` "`)
		w := strings.Fields(asked)
		if len(w) < 3 || w[1] != "IN" {
			return "", ""
		}
		return string(address([]byte(who))), w[2]
	}
	_, rest, ok := strings.Cut(text, "info: ") // Unbound
	w := strings.Fields(rest)
	if !ok || len(w) != 4 || w[3] != "IN" || !strings.HasSuffix(w[1], ".") {
		return "", ""
	}
	return w[0], w[1]
}

// dnsTime reads the time of BIND's, or Unbound's seconds.
func dnsTime(text []byte, line timeline.Span, t *evidence.Times) timeline.Span {
	if len(text) > 12 && text[0] == '[' && text[11] == ']' && allDigits(text[1:11]) {
		return evidence.Epoch(length(text[1:11]), time.Second, string(text[1:11]))
	}
	if len(text) < 25 || text[2] != '-' || text[6] != '-' {
		return line
	}
	at, err := time.Parse("02-Jan-2006 15:04:05.000", string(text[:24]))
	if err != nil {
		return line
	}
	m := evidence.Moment{Year: at.Year(), Month: int(at.Month()), Day: at.Day(), Hour: at.Hour(), Minute: at.Minute(), Sec: at.Second(), Nano: at.Nanosecond(), Resolution: time.Millisecond}
	return m.Span(string(text[:24]), t)
}

// End makes the events of what was counted.
func (d *dnsQueries) End(_ timeline.OpState, o *evidence.Out) { d.contacts.Settle(o) }
