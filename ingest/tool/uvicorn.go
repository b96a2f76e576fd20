package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// Uvicorn is the access log of uvicorn, which many package indexes in Python
// run in, and of hypercorn.
// https://www.uvicorn.org/settings/#logging
var Uvicorn = evidence.Format{
	Name:   "uvicorn",
	Shape:  evidence.ToolShape,
	Title:  "uvicorn access log",
	Proves: "which client fetched which package file, index page, image manifest and layers; when, where its logging was set up to say so",
	Cannot: "how many bytes were sent: its lines have no size; the zone of its times",
	Doc:    "https://www.uvicorn.org/settings/#logging",
	Sample: "uvicorn 0.17 run for this project",
	Starts: uvicornStarts(),
	Looks:  looksUvicorn,
	Tool:   func() evidence.Parser { return &uvicorn{} },
}

// uvicornStarts lists its level, a time, an address, and brackets around them.
func uvicornStarts() []string {
	starts := []string{"INFO: ", "INFO ", "20", "[2", "[I", "::", "- "}
	for a := '1'; a <= '9'; a++ {
		for _, b := range "0123456789." {
			starts = append(starts, string(a)+string(b))
		}
	}
	return starts
}

// looksUvicorn wants the client's port and a method behind a dash.
func looksUvicorn(text []byte) bool {
	i := bytes.Index(text[:min(len(text), maxColumns)], []byte(` - "`))
	return i > 0 && text[i-1] >= '0' && text[i-1] <= '9' && bytes.Contains(text[i:], []byte(" HTTP/"))
}

type uvicorn struct{ access }

// Line reads one line.
//
//	INFO:     10.0.4.7:59830 - "GET /simple/litellm/ HTTP/1.1" 200 OK
//	2026-10-21 12:10:03,403 [INFO] 10.0.4.7:57368 - "GET /packages/litellm-1.107.0-py3-none-any.whl HTTP/1.1" 200
func (u *uvicorn) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	head, rest, ok := bytes.Cut(text, []byte(` - "`))
	if !ok || len(head) > maxColumns {
		return evidence.Miss
	}
	asked, rest, ok := bytes.Cut(rest, []byte(`" `))
	w := bytes.Split(asked, []byte(" "))
	if !ok || len(w) != 3 || !bytes.HasPrefix(w[2], []byte("HTTP/")) {
		return evidence.Miss
	}
	client := head[bytes.LastIndexByte(head, ' ')+1:]
	r := request{client: address(client), method: w[0], uri: w[1], size: -1, span: o.Mark().Span()}
	if len(r.client) == len(client) {
		return evidence.Miss // without a port: another server
	}
	if r.status, ok = status(bytes.TrimRight(rest, "\r")); !ok {
		return evidence.Miss
	}
	if l.Stamp.Read == nil {
		stamp := bytes.TrimPrefix(head, []byte("["))
		if m, n := evidence.ParseISO(stamp); n > 0 {
			r.span = m.Span(string(stamp[:n]), &o.Times)
		}
	}
	u.request(&r, o)
	return evidence.Done
}
