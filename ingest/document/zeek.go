package document

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Zeek is the logs of Zeek, as JSON or as tables.
// https://docs.zeek.org/en/master/logs/
var Zeek = evidence.Format{
	Name:   "zeek",
	Shape:  evidence.ToolShape,
	Title:  "Zeek logs (JSON, TSV)",
	Proves: "which hosts each address looked up or connected to, with a count per hour; which package files came over plain HTTP",
	Cannot: "what was fetched over TLS",
	Doc:    "https://docs.zeek.org/en/master/logs/",
	Sample: "written by hand after the documentation",
	Starts: []string{"#separator ", "#fields\t"},
	Fields: [][]string{{"ts", "uid", "id.orig_h"}},
	Tool:   func() evidence.Parser { return &zeek{} },
}

type zeek struct {
	contacts evidence.Contacts
	columns  map[string]int // of the table that is being read
}

// Line reads one record, or one row of a table below its header:
//
//	{"ts":1792585879.306059,"uid":"CMdzit1AMNsmfAIiQc","id.orig_h":"10.0.4.7","id.resp_h":"10.0.0.2","query":"files.acme.example","qtype_name":"A"}
//	#fields	ts	uid	id.orig_h	id.orig_p	id.resp_h	id.resp_p	query
func (z *zeek) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if isRecord(l) {
		v := recordOf(l)
		z.row(l, v.get("ts"), o, func(name string) string { return string(v.get(name).raw()) })
		return evidence.Done
	}
	if names, ok := bytes.CutPrefix(l.Text, []byte("#fields\t")); ok {
		z.columns = map[string]int{}
		for i, name := range strings.Split(string(names), "\t") {
			z.columns[name] = i
		}
		o.Listen()
		return evidence.Done
	}
	if bytes.HasPrefix(l.Text, []byte("#")) {
		return evidence.Done
	}
	cells := strings.Split(string(l.Text), "\t")
	if len(cells) != len(z.columns) || len(cells) < 3 {
		return evidence.Miss
	}
	text := []byte(cells[0])
	z.row(l, value{text, 0, len(text)}, o, func(name string) string {
		if i, ok := z.columns[name]; ok && cells[i] != "-" {
			return cells[i]
		}
		return ""
	})
	return evidence.Done
}

// row counts a look-up (dns), a host that was asked for (http, ssl), a
// connection (conn), and hands on what was asked in the clear (http).
func (z *zeek) row(l *evidence.Line, ts value, o *evidence.Out, field func(string) string) {
	o.Seen("")
	span := zeekTime(ts, o)
	if field("method") != "" {
		h := httpSeen{client: field("id.orig_h"), method: field("method"), host: field("host"), uri: field("uri"), agent: field("user_agent"), at: string(ts.raw())}
		h.status, _ = strconv.ParseInt(field("status_code"), 10, 64)
		h.size, _ = strconv.ParseInt(field("response_body_len"), 10, 64)
		h.feed(l, o)
	}
	for _, name := range []string{"query", "server_name", "host"} {
		if host := field(name); host != "" {
			contacted(&z.contacts, field("id.orig_h"), host, span, o)
			return
		}
	}
	if field("qtype_name") == "" {
		contacted(&z.contacts, field("id.orig_h"), field("id.resp_h"), span, o)
	}
}

// zeekTime reads seconds since 1970 with a fraction, or ISO 8601.
func zeekTime(ts value, o *evidence.Out) timeline.Span {
	if s := ts.stamp(o); s != (timeline.Span{}) {
		return s
	}
	seconds, fraction, _ := strings.Cut(string(ts.raw()), ".")
	n, err := strconv.ParseInt(seconds+(fraction + "000000")[:6], 10, 64)
	if err != nil {
		return o.Mark().Span()
	}
	return evidence.Epoch(n, time.Microsecond, string(ts.raw()))
}

// End makes the events of what was counted.
func (z *zeek) End(_ timeline.OpState, o *evidence.Out) { z.contacts.Settle(o) }
