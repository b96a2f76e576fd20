package tool

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
)

// Gin is what servers written with Gin log of requests (Ollama, package
// registries), and the router of Gitea and Forgejo.
// https://gin-gonic.com/en/docs/examples/custom-log-format/
// https://docs.gitea.com/administration/logging-config
var Gin = evidence.Format{
	Name:   "gin",
	Shape:  evidence.ToolShape,
	Title:  "Requests as Gin and as Gitea log them",
	Proves: "which client fetched which package file, index page, image manifest and layers, when (local time)",
	Cannot: "how many bytes were sent; the zone of its times",
	Doc:    "https://gin-gonic.com/en/docs/examples/custom-log-format/",
	Sample: "written by hand after public logs",
	Starts: []string{"[GIN] ", "20", "...", "HTTPRequest ", "router: completed "},
	Looks: func(text []byte) bool {
		return bytes.HasPrefix(text, []byte("[GIN] ")) || bytes.Contains(text[:min(len(text), 120)], []byte("router: completed "))
	},
	Tool: func() evidence.Parser { return &gin{} },
}

type gin struct{ access }

// Line reads one request.
//
//	[GIN] 2026/10/21 - 12:10:03 | 200 |  1.2345s |       10.0.4.7 | GET      "/packages/litellm-1.107.0-py3-none-any.whl"
//	2026/10/21 12:10:03 HTTPRequest [I] router: completed GET /api/packages/acme/npm/left-pad/-/1.3.0/left-pad-1.3.0.tgz for 10.0.4.7:0, 200 OK in 5.2ms @ npm/npm.go:88(npm.DownloadPackageFile)
func (g *gin) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	r := request{size: -1, span: o.Mark().Span()}
	stamp, ok := "", false
	if rest, is := bytes.CutPrefix(text, []byte("[GIN] ")); is {
		w := bytes.SplitN(rest, []byte("|"), 5)
		if len(w) < 5 {
			return evidence.Miss
		}
		stamp = string(bytes.Replace(bytes.TrimSpace(w[0]), []byte(" - "), []byte(" "), 1))
		r.status, ok = status(bytes.TrimSpace(w[1]))
		asked := bytes.Fields(w[4])
		if r.client = bytes.TrimSpace(w[3]); len(asked) < 2 {
			return evidence.Miss
		}
		r.method, r.uri = asked[0], bytes.Trim(asked[1], `"`)
	} else {
		head, rest, _ := bytes.Cut(text, []byte("router: completed "))
		w := bytes.Fields(rest)
		if len(w) < 5 || string(w[2]) != "for" {
			return evidence.Miss
		}
		stamp = string(head[:min(len(head), 19)])
		r.method, r.uri, r.client = w[0], w[1], address(bytes.TrimSuffix(w[3], []byte(",")))
		r.status, ok = status(w[4])
	}
	if !ok {
		return evidence.Miss
	}
	if l.Stamp.Read == nil {
		if at, err := time.Parse("2006/01/02 15:04:05", stamp); err == nil {
			m := evidence.Moment{Year: at.Year(), Month: int(at.Month()), Day: at.Day(), Hour: at.Hour(), Minute: at.Minute(), Sec: at.Second(), Resolution: time.Second}
			r.span = m.Span(stamp, &o.Times)
		}
	}
	g.request(&r, o)
	return evidence.Done
}
