package tool

import (
	"encoding/json"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ArtifactoryItems is what Artifactory answers when it is asked for files (AQL),
// and for the statistics of one.
// https://jfrog.com/help/r/jfrog-rest-apis/aql-execution
// https://jfrog.com/help/r/jfrog-rest-apis/file-statistics
var ArtifactoryItems = evidence.Format{
	Name:   "artifactory-items",
	Shape:  evidence.ToolShape,
	Title:  "JFrog Artifactory: results of AQL, statistics of files",
	Proves: "which package files a remote repository has fetched, and when; what lies in others; who fetched a file last, and when",
	Cannot: "who fetched it before; addresses; files that were deleted, or that the query left out",
	Doc:    "https://jfrog.com/help/r/jfrog-rest-apis/aql-execution",
	Sample: "written by hand after the documentation",
	Fields: [][]string{
		{"repo", "path", "name", "created"},
		{"repo", "path", "name", "type"},
		{"repo", "path", "name", "stats"},
		{"repo", "path", "name", "sha256"},
		{"uri", "lastDownloaded", "downloadCount"},
	},
	Lists: []string{"results"},
	Tool:  func() evidence.Parser { return artifactoryItems{} },
}

type artifactoryItems struct{}

// artifactoryItem is one file; of what was not asked for a field is empty.
type artifactoryItem struct {
	Repo, Path, Name, Type string
	Created, SHA256        string
	Stats                  []struct {
		Downloaded   string
		DownloadedBy string `json:"downloaded_by"`
	}

	URI              string
	LastDownloaded   int64
	LastDownloadedBy string
}

// Line reads one file.
//
//	{"repo":"pypi-remote-cache","path":"ec/ab/a440","name":"litellm-1.107.0-py3-none-any.whl","type":"file","created":"2026-10-21T12:04:51.123Z","sha256":"2e37…","stats":[{"downloaded":"2026-10-22T08:00:00.000Z","downloaded_by":"ci","downloads":7}]}
//	{"uri":"https://artifactory.acme.example/artifactory/api/storage/pypi-remote-cache/ec/ab/a440/litellm-1.107.0-py3-none-any.whl","lastDownloaded":1792656000000,"downloadCount":7,"lastDownloadedBy":"ci"}
func (artifactoryItems) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	var f artifactoryItem
	if text := evidence.TrimIndent(l.Text); len(text) == 0 || text[0] != '{' || json.Unmarshal(text, &f) != nil {
		return evidence.Miss
	}
	o.Seen("")
	if _, at, ok := strings.Cut(f.URI, "/api/storage/"); ok && f.LastDownloaded > 0 {
		f.Repo, f.Path, _ = strings.Cut(at, "/")
		f.fetched(f.LastDownloadedBy, evidence.Epoch(f.LastDownloaded, time.Millisecond, ""), o)
		return evidence.Done
	}
	item, ok := f.item()
	if f.Type == "folder" || !ok {
		return evidence.Done
	}
	// It came over, from upstream or from who uploaded it; what a remote repository
	// fetches lies in one that is called after it.
	e := timeline.Event{Action: timeline.Download, Items: []timeline.Item{item}, Subject: timeline.Subject{Kind: timeline.Cache, ID: strings.TrimSuffix(f.Repo, "-cache")}}
	if span := evidence.ISOStamp([]byte(f.Created), &o.Times); f.Created != "" && span.Clock != timeline.Unset {
		e.Span = span
	}
	o.Event(e)
	for _, s := range f.Stats {
		if span := evidence.ISOStamp([]byte(s.Downloaded), &o.Times); s.Downloaded != "" && span.Clock != timeline.Unset {
			f.fetched(s.DownloadedBy, span, o)
		}
	}
	return evidence.Done
}

// item is the package that the file is.
func (f *artifactoryItem) item() (timeline.Item, bool) {
	path := strings.Trim(f.Path+"/"+f.Name, "/.")
	it, kind := packagePath("/packages/" + path)
	if kind != wholeFile {
		var ok bool
		if it, ok = mavenPath(path); !ok || !strings.HasSuffix(path, ".jar") && !strings.HasSuffix(path, ".war") && !strings.HasSuffix(path, ".aar") {
			return it, false
		}
	}
	if sha := timeline.SHA256(f.SHA256); sha != "" {
		it.Digests = []timeline.Digest{{Value: sha, Role: timeline.File}}
	}
	return it, true
}

// fetched records who fetched the file last; nobody is known by the name of all.
func (f *artifactoryItem) fetched(who string, span timeline.Span, o *evidence.Out) {
	item, ok := f.item()
	if !ok || who == "" || who == "anonymous" || who == "_anonymous_" || who == "_system_" {
		return
	}
	o.Event(timeline.Event{Action: timeline.Download, Span: span, Items: []timeline.Item{item}, Subject: timeline.Subject{Kind: timeline.Client, ID: who}})
}

// End does nothing: each file stands for itself.
func (artifactoryItems) End(timeline.OpState, *evidence.Out) {}
