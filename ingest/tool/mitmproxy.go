package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Mitmproxy is what mitmdump prints of the requests that passed it.
// https://docs.mitmproxy.org/stable/concepts-options/#flow_detail
var Mitmproxy = evidence.Format{
	Name:   "mitmproxy",
	Shape:  evidence.ToolShape,
	Title:  "mitmdump output",
	Proves: "which client fetched which package file, index page, image manifest and layers, within TLS too",
	Cannot: "when: its flows have no time; addresses that are cut to the width of a terminal",
	Doc:    "https://docs.mitmproxy.org/stable/concepts/options/",
	Sample: "written by hand after the source and public reports",
	Starts: mitmStarts(),
	Looks: func(text []byte) bool {
		i := bytes.IndexByte(text[:min(len(text), 80)], ' ')
		return i > 0 && text[i-1] == ':' && (bytes.HasPrefix(text[i+1:], []byte("GET http")) || bytes.HasPrefix(text[i+1:], []byte("HEAD http")))
	},
	Tool: func() evidence.Parser { return &mitmproxy{} },
}

// mitmStarts lists what an address begins with.
func mitmStarts() (starts []string) {
	for _, a := range "0123456789abcdef[" {
		for _, b := range "0123456789abcdef.:" {
			starts = append(starts, string(a)+string(b))
		}
	}
	return starts
}

type mitmproxy struct {
	access
	client, method, uri []byte // of the request whose answer is the next line
	waits               bool
}

// Line reads the two lines of a flow; newer releases print the version of the
// protocol in both:
//
//	10.0.4.7:52344: GET https://files.acme.example/packages/…/litellm-1.107.0-py3-none-any.whl HTTP/2.0
//	              << HTTP/2.0 200 OK 61.1k
//	10.0.4.7:52344: GET https://files.acme.example/simple/litellm/
//	              << 200 OK 31.2k
func (p *mitmproxy) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	if answer, ok := bytes.CutPrefix(text, []byte("<< ")); ok && p.waits {
		p.waits = false
		p.answered(bytes.Fields(answer), o)
		return evidence.Done
	}
	p.waits = false
	head, rest, ok := bytes.Cut(text, []byte(": "))
	w := bytes.Fields(rest)
	client := address(head)
	if !ok || len(client) == len(head) || len(w) < 2 || len(w) > 3 || !bytes.HasPrefix(w[1], []byte("http")) {
		return evidence.Miss
	}
	o.Seen("")
	p.client, p.method, p.uri = append(p.client[:0], client...), append(p.method[:0], w[0]...), append(p.uri[:0], w[1]...)
	p.waits = !bytes.HasSuffix(w[1], []byte("…"))
	return evidence.More
}

func (p *mitmproxy) answered(w [][]byte, o *evidence.Out) {
	if len(w) > 1 && bytes.HasPrefix(w[0], []byte("HTTP/")) {
		w = w[1:]
	}
	if len(w) == 0 {
		return
	}
	r := request{client: p.client, method: p.method, uri: p.uri, size: -1, span: o.Mark().Span()}
	if r.status, _ = status(w[0]); r.status > 0 {
		p.request(&r, o)
	}
}

// End settles what waited for a later line.
func (p *mitmproxy) End(how timeline.OpState, o *evidence.Out) { p.access.End(how, o) }
