package tool

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// W3C is a log in the extended format of the W3C: Amazon CloudFront, Microsoft
// IIS. Its times are UTC.
// https://www.w3.org/TR/WD-logfile.html
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html
var W3C = evidence.Format{
	Name:   "w3c-log",
	Shape:  evidence.ToolShape,
	Title:  "Access log in the W3C extended format (CloudFront, IIS)",
	Proves: "which client fetched which package file, index page, image manifest and layers, when (UTC)",
	Cannot: "who stands behind an address (inventory); lines above which no #Fields names the columns",
	Doc:    "https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html",
	Sample: "written by hand after the documentation",
	Starts: []string{"#Fields:", "#Version: ", "#Software: ", "#Date: ", "20"},
	Looks: func(text []byte) bool {
		return text[0] == '#' || len(text) > 20 && text[10] == '\t' && text[19] == '\t'
	},
	Tool: func() evidence.Parser { return &w3c{columns: bytes.Split(cloudFront, []byte(" "))} },
}

// cloudFront are the columns of a log of CloudFront whose head is missing.
var cloudFront = []byte("date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent)")

type w3c struct {
	access
	columns [][]byte
	named   bool // by the log itself
}

// Line reads one line.
//
//	#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken
//	2026-10-21 12:10:03 10.0.0.2 GET /npm/left-pad/-/left-pad-1.3.0.tgz - 443 - 10.0.4.7 npm/10.8.2+node/v20 - 200 0 0 15
func (x *w3c) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	if text[0] == '#' {
		if fields, ok := bytes.CutPrefix(text, []byte("#Fields:")); ok {
			x.columns, x.named = bytes.Fields(append([]byte(nil), fields...)), true
		}
		o.Heed()
		return evidence.Done
	}
	tab := bytes.IndexByte(text, '\t') == 10
	var w [][]byte
	if tab {
		w = bytes.Split(text, []byte("\t"))
	} else if w = quotedWords(text, 64); !x.named {
		return evidence.Miss
	}
	if len(w) < len(x.columns) || len(w) > len(x.columns) && x.named {
		return evidence.Miss
	}
	r := request{size: -1}
	if !x.request(&r, w) {
		return evidence.Miss
	}
	x.access.request(&r, o)
	return evidence.Done
}

// request reads the columns of one line; ok is false when it is no request.
func (x *w3c) request(r *request, w [][]byte) (ok bool) {
	var day, clock []byte
	content := int64(-1)
	for i, name := range x.columns {
		switch string(name) {
		case "date":
			day = w[i]
		case "time":
			clock = w[i]
		case "c-ip":
			r.client = w[i]
		case "cs-method":
			r.method = w[i]
		case "cs-uri-stem", "cs-uri-path":
			r.uri = w[i]
		case "sc-status":
			r.status, ok = status(w[i])
		case "sc-bytes":
			r.size = length(w[i])
		case "sc-content-len":
			content = length(w[i])
		case "cs(User-Agent)":
			r.agent = w[i]
		}
	}
	at, err := time.Parse(time.DateTime, string(day)+" "+string(clock))
	if err != nil || len(r.uri) == 0 {
		return false
	}
	if r.status == 200 && r.size > 0 && content > r.size {
		r.status = 206 // it broke off
	}
	r.span = timeline.At(at, string(day)+" "+string(clock))
	return ok && bytes.IndexByte(r.method, '.') < 0
}
