package tool

import (
	"bytes"
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Maven is what Maven and Gradle print of the files that they fetch.
// https://maven.apache.org/ref/current/maven-embedder/cli.html
var Maven = evidence.Format{
	Name:   "maven",
	Shape:  evidence.ToolShape,
	Title:  "Maven's and Gradle's downloads",
	Proves: "archives that came over, with versions; of a .pom that it was read",
	Cannot: "what the local repository had already",
	Doc:    "https://maven.apache.org/ref/current/maven-embedder/cli.html",
	Sample: "written by hand after public logs",
	Starts: []string{"[INFO] Downloaded", "Downloaded from ", "Downloaded: http", "Download http"},
	Tool:   func() evidence.Parser { return maven{} },
}

type maven struct{}

// Line reads one line, which is printed when the file is there; Gradle prints
// its own when it begins, as pip does:
//
//	[INFO] Downloaded from central: https://mirror.acme.example/maven2/junit/junit/4.12/junit-4.12.jar (308 kB at 1.0 MB/s)
//	Downloaded: https://mirror.acme.example/maven2/junit/junit/4.12/junit-4.12.jar (308 KB at 1032.0 KB/sec)      3.3 and older
//	Download https://mirror.acme.example/maven2/junit/junit/4.12/junit-4.12.jar                                   Gradle
func (maven) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := bytes.TrimPrefix(bytes.TrimSpace(l.Text), []byte("[INFO] "))
	for _, w := range bytes.Fields(text[:min(len(text), 512)]) {
		if !bytes.HasPrefix(w, []byte("http")) {
			continue
		}
		u, err := url.Parse(string(w))
		if err != nil || u.Host == "" {
			return evidence.Miss
		}
		item, kind := packagePath(u.EscapedPath())
		action := timeline.Download
		if kind == metadata {
			action = timeline.Resolve
		}
		if kind != wholeFile && kind != metadata || !strings.HasPrefix(item.Artifact, "pkg:maven/") {
			return evidence.Miss
		}
		o.Seen("maven")
		o.Emit(action, nil, item)
		return evidence.Done
	}
	return evidence.Miss
}

// End does nothing: each line stands for itself.
func (maven) End(timeline.OpState, *evidence.Out) {}
