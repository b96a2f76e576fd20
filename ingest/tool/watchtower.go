package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Watchtower is the log of a program that pulls the images of the containers of
// a host again and again, and restarts those of which there is a new one.
// https://containrrr.dev/watchtower/
var Watchtower = evidence.Format{
	Name:   "watchtower",
	Shape:  evidence.ToolShape,
	Title:  "Watchtower",
	Proves: "new images that it pulled, by tag, with the image ID where that is whole, and when",
	Cannot: "pulls that brought nothing new, but at the level debug; the host, unless --subject host:… names it",
	Doc:    "https://containrrr.dev/watchtower/",
	Sample: "written by hand after public logs",
	Starts: []string{`time="`, `{"`},
	Looks:  func(text []byte) bool { return ofWatchtower(saying(text)) },
	Tool:   func() evidence.Parser { return &watchtower{} },
}

type watchtower struct {
	line  daemonLine
	known bool // a line that only this program writes was seen
}

// Line reads one line:
//
//	time="2026-10-21T12:20:02Z" level=info msg="Found new ghcr.io/acme/gw:1.4 image (4c9d0ad1d3dd)"
//	time="2026-10-21T12:20:02+08:00" level=info msg="Found new acme/gw:1.4 image (sha256:131f33b02d89fa23da8726ca01043e6ba0f05705f16ae1a7c839d1e4f0edc5f8)"
//	time="2026-10-21T12:20:09Z" level=info msg="Session done" Failed=0 Scanned=4 Updated=1 notify=no
func (w *watchtower) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	message := saying(l.Text)
	found := says(message, "Found new ")
	w.known = w.known || ofWatchtower(message)
	if !found {
		if !w.known {
			return evidence.Miss
		}
		return evidence.Done
	}
	if !w.line.parse(l.Text) {
		return evidence.Miss
	}
	words := strings.Fields(strings.TrimPrefix(string(w.line.msg), "Found new "))
	if len(words) != 3 || words[1] != "image" || !strings.HasPrefix(words[2], "(") {
		return evidence.Miss
	}
	item, ok := image(words[0], "")
	if !ok {
		return evidence.Miss
	}
	if id := timeline.SHA256(strings.Trim(words[2], "()")); id != "" {
		item.Digests = append(item.Digests, timeline.Digest{Value: id, Role: timeline.Config})
	}
	w.known = true
	w.line.event(o, timeline.Pull, item)
	return evidence.Done
}

// ofWatchtower reports whether a message is one that other programs do not write.
func ofWatchtower(message []byte) bool {
	return says(message, "Found new ") || says(message, "Watchtower ") || says(message, `Session done"`)
}

// End has nothing to do: each line stands alone.
func (w *watchtower) End(timeline.OpState, *evidence.Out) {}
