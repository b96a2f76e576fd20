package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// S3Access is the server access log of an S3 bucket: an index, mirror or cache
// that is kept in one.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
var S3Access = evidence.Format{
	Name:   "s3-access-log",
	Shape:  evidence.ToolShape,
	Title:  "Amazon S3 server access log",
	Proves: "which client fetched which package file, when (UTC); transfers that broke off",
	Cannot: "who stands behind an address (inventory); all requests: delivery is best effort",
	Doc:    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html",
	Sample: "written by hand after the documentation",
	Starts: hexStarts(),
	Looks:  func(text []byte) bool { return len(text) > ownerLength+20 && text[ownerLength] == ' ' },
	Tool:   func() evidence.Parser { return &s3Access{} },
}

// ownerLength is the length of a canonical user, the first column.
const ownerLength = 64

// hexStarts lists what a number in hex can start with.
func hexStarts() (starts []string) {
	const hex = "0123456789abcdef"
	for _, a := range hex {
		for _, b := range hex {
			starts = append(starts, string(a)+string(b))
		}
	}
	return starts
}

type s3Access struct{ access }

// Line reads one line: owner, bucket, time, address, requester, request,
// operation, key, what was asked, status, error, bytes sent, size of the object.
//
//	79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be acme-index [21/Oct/2026:12:10:03 +0000] 10.0.4.7 - 3E57427F33A59F07 REST.GET.OBJECT packages/litellm-1.107.0-py3-none-any.whl "GET /packages/litellm-1.107.0-py3-none-any.whl HTTP/1.1" 200 - 12480311 12480311 70 10 "-" "pip/24.2" - …
func (s *s3Access) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	if len(text) < ownerLength+20 || !isHex(text[:ownerLength]) {
		return evidence.Miss
	}
	_, rest, ok := bytes.Cut(text, []byte(" ["))
	date, rest, closed := bytes.Cut(rest, []byte("] "))
	if !ok || !closed {
		return evidence.Miss
	}
	w := quotedWords(rest, 13)
	r := request{date: date}
	if r.moment, ok = accessTime(date); !ok || len(w) < 10 || bytes.Count(w[3], []byte(".")) < 2 {
		return evidence.Miss
	}
	var known bool
	if r.client = w[0]; string(r.client) == "-" { // the service itself, by a rule of the bucket
		r.client = nil
	}
	r.status, known = status(w[6])
	asked := bytes.Split(w[3], []byte("."))
	if !known || string(w[4]) == "-" || string(asked[0]) == "BATCH" || string(asked[len(asked)-1]) != "OBJECT" {
		return evidence.Done
	}
	r.method, r.uri, r.size = asked[1], append([]byte("/"), w[4]...), max(length(w[8]), 0)
	if size := length(w[9]); r.status == 200 && r.size > 0 && size > r.size {
		r.status = 206 // it broke off
	}
	if len(w) > 13-1 {
		r.agent = w[12]
	}
	s.request(&r, o)
	return evidence.Done
}

// ELBAccess is the access log of AWS load balancers that speak HTTP: Application
// and Classic Load Balancer.
// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html
// https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/access-log-collection.html
var ELBAccess = evidence.Format{
	Name:   "elb-access-log",
	Shape:  evidence.ToolShape,
	Title:  "AWS Application and Classic Load Balancer access log",
	Proves: "which client fetched which package file, index page, image manifest and layers, when (UTC)",
	Cannot: "who stands behind an address (inventory); all requests: delivery is best effort",
	Doc:    "https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html",
	Sample: "written by hand after the documentation",
	Starts: elbStarts(),
	Looks:  looksELB,
	Tool:   func() evidence.Parser { return &elbAccess{} },
}

// elbStarts lists what a line can start with: the kind of the request, or, as
// the time is taken off, the name of a load balancer.
func elbStarts() (starts []string) {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz"
	for _, a := range letters {
		for _, b := range letters + "-" {
			starts = append(starts, string(a)+string(b))
		}
	}
	return starts
}

// looksELB wants an address with a port behind the name of a load balancer, or a
// kind of request before a time.
func looksELB(text []byte) bool {
	i := bytes.IndexByte(text[:min(len(text), 64)], ' ')
	if i > 20 && text[10] == 'T' && text[13] == ':' { // a time that was not taken off
		text = text[i+1:]
		i = bytes.IndexByte(text[:min(len(text), 64)], ' ')
	}
	if i < 0 || len(text) < i+100 {
		return false
	}
	rest := text[i+1:]
	if rest[0] < '0' || rest[0] > '9' {
		return false
	}
	end := bytes.IndexByte(rest[:64], ' ')
	return end > 8 && (bytes.IndexByte(rest[:end], ':') > 0) && (rest[end+1] == '-' || rest[end+1] == '[' || rest[end+1] >= '0' && rest[end+1] <= '9' || bytes.HasPrefix(rest[end+1:], []byte("app/")))
}

type elbAccess struct{ access }

// Line reads one line: kind, time, load balancer, client, target, three times
// that it took, its status and that of the target, bytes, what was asked. The
// classic ones have no kind.
//
//	https 2026-10-21T12:10:03.186641Z app/mirror/50dc6c495c0c9188 10.0.4.7:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 12480620 "GET https://mirror.acme.example:443/packages/litellm-1.107.0-py3-none-any.whl HTTP/1.1" "pip/24.2" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 …
//	2026-10-21T12:10:03.186641Z mirror 10.0.4.7:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 12480620 "GET http://mirror.acme.example:80/simple/litellm/ HTTP/1.1" "pip/24.2" - -
func (e *elbAccess) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	w := quotedWords(evidence.TrimIndent(l.Text), 14)
	r := request{span: o.Mark().Span()}
	for range 2 { // the kind, and the time unless it was taken off
		if len(w) < 12 {
			return evidence.Miss
		}
		if m, n := evidence.ParseISO(w[0]); n > 0 && n == len(w[0]) {
			r.span, w = m.Span(string(w[0]), &o.Times), w[1:]
		} else if _, n := evidence.ParseISO(w[1]); n > 0 && n == len(w[1]) {
			w = w[1:]
		}
	}
	if len(w) < 11 || bytes.IndexByte(w[1], ':') < 0 || bytes.IndexByte(w[3], '.') < 0 && string(w[3]) != "-1" {
		return evidence.Miss
	}
	asked := bytes.Split(w[10], []byte(" "))
	if len(asked) != 3 || length(w[8]) < 0 || length(w[9]) < 0 {
		return evidence.Miss
	}
	r.client, r.method, r.uri, r.size = address(w[1]), asked[0], asked[1], length(w[9])
	if len(w) > 11 {
		r.agent = w[11]
	}
	known := false
	if r.status, known = status(w[6]); known {
		e.request(&r, o)
	}
	return evidence.Done
}

// End settles what waited for a later line.
func (e *elbAccess) End(how timeline.OpState, o *evidence.Out) { e.access.End(how, o) }
