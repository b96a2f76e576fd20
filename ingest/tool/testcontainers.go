package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Testcontainers is what tests print that start containers of their own.
// https://java.testcontainers.org/features/configuration/
// https://testcontainers-python.readthedocs.io/
// https://golang.testcontainers.org/
var Testcontainers = evidence.Format{
	Name:   "testcontainers",
	Shape:  evidence.ToolShape,
	Title:  "containers that tests start (Testcontainers)",
	Proves: "images that tests asked for, and those that came over",
	Cannot: "which image a tag named; that the container ran",
	Doc:    "https://java.testcontainers.org/features/configuration/",
	Sample: "written by hand after the sources of the libraries",
	Starts: []string{"🐳 ", "[main] INFO ", "[Test worker] INFO ", "Pulling image ", "Pulling docker image: ", "INFO:testcontainers.", "INFO     testcontainers.", "20"},
	Looks: func(text []byte) bool {
		if text[0] == '2' && (len(text) < 30 || text[4] != '/' || text[7] != '/') { // a date, as programs in Go write it
			return false
		}
		return bytes.Contains(text, []byte("ulling ")) || bytes.Contains(text, []byte("reating container for image")) || bytes.Contains(text, []byte(" pull took "))
	},
	Tool: func() evidence.Parser { return testcontainers{} },
}

type testcontainers struct{}

// containerLines are what stands before the name of an image.
//
//	[main] INFO  🐳 [acme/db:16] - Pulling docker image: acme/db:16. Please be patient; this may take some time but only needs to be done once.
//	[main] INFO  tc.acme/db:16 - Creating container for image: acme/db:16
//	2026/10/21 12:31:05 🐳 Creating container for image acme/db:16
//	INFO:testcontainers.core.container:Pulling image acme/db:16
//	Pulling image acme/db:16
var containerLines = [][]byte{
	[]byte("Pulling docker image: "), []byte("Creating container for image: "), []byte("Creating container for image "), []byte("Pulling image "),
}

// Line reads one line; when the image is there, Java's says how long that took:
//
//	[main] INFO  🐳 [acme/db:16] - Image acme/db:16 pull took PT4.1S
func (testcontainers) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	action, text := timeline.Require, bytes.TrimSpace(l.Text)
	name, took, ok := bytes.Cut(text, []byte(" pull took "))
	if ok && len(took) > 0 {
		_, name, ok = bytes.Cut(name, []byte("Image "))
		action = timeline.Pull
	} else {
		for _, mark := range containerLines {
			if _, name, ok = bytes.Cut(text, mark); ok {
				break
			}
		}
	}
	if !ok {
		return evidence.Miss
	}
	if bytes.HasPrefix(text, []byte("20")) && !bytes.Contains(text, []byte("🐳")) {
		return evidence.Miss
	}
	word, rest, _ := bytes.Cut(name, []byte(" "))
	word = bytes.TrimRight(word, ".")
	image := timeline.NormalizeImage(string(word))
	if image == "" || len(rest) > 0 && !bytes.HasPrefix(rest, []byte("Please")) || len(word) > 256 || bytes.ContainsAny(word, `"'`) {
		return evidence.Miss
	}
	o.Seen(timeline.Images)
	o.Emit(action, nil, timeline.Item{Artifact: image})
	return evidence.Done
}

// End does nothing: each line stands for itself.
func (testcontainers) End(timeline.OpState, *evidence.Out) {}
