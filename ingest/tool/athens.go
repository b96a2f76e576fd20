package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// Athens is the log of the Go module proxy of that name.
// https://docs.gomods.io/configuration/logging/
var Athens = evidence.Format{
	Name:   "athens",
	Shape:  evidence.ToolShape,
	Title:  "Athens log (Go module proxy)",
	Proves: "which modules it served, and when, as JSON",
	Cannot: "who asked: its lines have no address; the day, in the other form",
	Doc:    "https://docs.gomods.io/configuration/logging/",
	Sample: "written by hand after its source",
	Starts: []string{"INFO["},
	Looks:  func(text []byte) bool { return bytes.Contains(text, []byte("http-path=")) },
	Fields: [][]string{{"http-method", "http-path", "http-status"}},
	Tool:   func() evidence.Parser { return &athens{} },
}

type athens struct{ access }

// Line reads one request that was answered.
//
//	{"http-method":"GET","http-path":"/github.com/acme/lib/@v/v1.2.3.zip","http-status":200,"level":"info","msg":"incoming request","request-id":"4a1c…","time":"2026-10-21T12:10:03Z"}
//	INFO[12:10PM]: incoming request	http-method=GET http-path=/github.com/acme/lib/@v/v1.2.3.zip http-status=200 request-id=4a1c…
func (a *athens) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	r := request{size: -1, span: o.Mark().Span()}
	field := func(key, value []byte) {
		switch string(key) {
		case "http-method":
			r.method = value
		case "http-path":
			r.uri = value
		case "http-status":
			r.status, _ = status(value)
		case "time":
			r.span = jsonTime(value, &o.Times, r.span)
		}
	}
	if text[0] == '{' {
		for f := evidence.JSONFields(text); f.Next(); {
			field(f.Key, plain(f.Value))
		}
	} else {
		for word := range bytes.FieldsSeq(text) {
			if key, value, ok := bytes.Cut(word, []byte("=")); ok {
				field(key, value)
			}
		}
	}
	if r.status == 0 || len(r.uri) == 0 {
		return evidence.Miss
	}
	o.Seen("golang")
	a.request(&r, o)
	return evidence.Done
}
