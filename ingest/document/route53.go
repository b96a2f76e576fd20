package document

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Route53 is the query log of Amazon's Route 53 Resolver.
// https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-query-logs-format.html
var Route53 = evidence.Format{
	Name:   "route53-resolver",
	Shape:  evidence.ToolShape,
	Title:  "Route 53 Resolver query log",
	Proves: "which names each address or instance looked up, with a count per hour",
	Cannot: "look-ups that a cache answered; that anything was fetched",
	Doc:    "https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-query-logs-format.html",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"query_name", "query_timestamp", "srcaddr"}},
	Tool:   func() evidence.Parser { return &route53{} },
}

type route53 struct{ contacts evidence.Contacts }

// Line reads one look-up:
//
//	{"query_timestamp":"2026-10-21T12:46:26Z","query_name":"files.acme.example.","query_type":"A","rcode":"NOERROR","answers":[],"srcaddr":"172.31.86.159","srcids":{"instance":"i-0123456789abcdef0"}}
func (r *route53) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	span := v.get("query_timestamp").stamp(o)
	if v.get("query_name").kind() != '"' || span == (timeline.Span{}) {
		return evidence.Miss
	}
	o.Seen("")
	contacted(&r.contacts, v.get("srcaddr").text(), v.get("query_name").text(), span, o)
	return evidence.Done
}

// End makes the events of what was counted.
func (r *route53) End(_ timeline.OpState, o *evidence.Out) { r.contacts.Settle(o) }
