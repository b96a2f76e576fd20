package tool

import (
	"bytes"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Artifactory is the request, outbound request and access logs of JFrog
// Artifactory.
// https://jfrog.com/help/r/jfrog-platform-administration-documentation/request-log
var Artifactory = evidence.Format{
	Name:   "artifactory-log",
	Shape:  evidence.ToolShape,
	Title:  "JFrog Artifactory request and access logs",
	Proves: "which client fetched which package file, index page, image manifest and layers; what a remote repository fetched itself",
	Cannot: "who is behind another Artifactory; that an accepted download was completed (access.log)",
	Doc:    "https://jfrog.com/help/r/jfrog-platform-administration-documentation/request-log",
	Sample: "written by hand after the documentation",
	Starts: artifactoryStarts(),
	Tool:   func() evidence.Parser { return &artifactory{} },
}

// artifactoryStarts lists the year, and the trace that a frame leaves where it
// took the time off.
func artifactoryStarts() []string {
	starts := []string{"20"}
	for _, c := range "0123456789abcdef" {
		starts = append(starts, "["+string(c))
	}
	return starts
}

type artifactory struct{ access }

// Line reads one line: request.log of release 7, 6, request-out.log, access.log.
//
//	2026-10-21T12:09:49.465Z|a1347a2e5ad0d45b|10.0.4.7|ci|GET|/api/pypi/pypi/packages/packages/ec/ab/a440…/litellm-1.107.0-py3-none-any.whl|200|-1|161300|6|pip/24.2 {…}
//	20261021120949|6|REQUEST|10.0.4.7|ci|GET|/api/pypi/pypi/simple/litellm/|HTTP/1.1|200|1555
//	2026-10-21T12:09:48.465Z|a1347a2e5ad0d45b|pypi-remote|ci|GET|https://files.acme.example/packages/ec/ab/a440…/litellm-1.107.0-py3-none-any.whl|200|-1|161300|80
//	2026-10-21 12:09:49,456 [a1347a2e5ad0d45b] [ACCEPTED DOWNLOAD] pypi-cache:ec/ab/a440…/litellm-1.107.0-py3-none-any.whl for ci/10.0.4.7.
//	2026-10-21T12:09:49.456Z [a1347a2e5ad0d45b] [ACCEPTED DOWNLOAD] npm-remote-cache:left-pad/-/left-pad-1.3.0.tgz  for client : ci / 10.0.4.7 [token]
func (a *artifactory) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	if bytes.Contains(text[:min(len(text), 100)], []byte("] [ACCEPTED ")) || bytes.Contains(text[:min(len(text), 100)], []byte("] [DENIED ")) {
		return accepted(text, o)
	}
	w := bytes.SplitN(text, []byte("|"), 11)
	if len(w) < 10 || len(w[4]) == 0 && len(w[5]) == 0 {
		return evidence.Miss
	}
	var r request
	if len(w[0]) == 14 && string(w[2]) == "REQUEST" {
		at, err := time.Parse("20060102150405", string(w[0]))
		if err != nil {
			return evidence.Miss
		}
		m := evidence.Moment{Year: at.Year(), Month: int(at.Month()), Day: at.Day(), Hour: at.Hour(), Minute: at.Minute(), Sec: at.Second(), Resolution: time.Second}
		r = request{client: w[3], method: w[5], uri: w[6], size: length(w[9]), span: m.Span(string(w[0]), &o.Times)}
		r.status, _ = status(w[8])
	} else {
		m, n := evidence.ParseISO(w[0])
		if n == 0 || n != len(w[0]) || len(w[4]) < 3 || w[4][0] < 'A' || w[4][0] > 'Z' {
			return evidence.Miss
		}
		r = request{client: w[2], method: w[4], uri: w[5], size: length(w[8]), span: m.Span(string(w[0]), &o.Times)}
		r.status, _ = status(w[6])
	}
	o.Seen("")
	if bytes.Contains(r.uri, []byte("://")) {
		r.fetched(o)
		return evidence.Done
	}
	if len(r.client) == 0 {
		r.client = w[3]
	}
	a.request(&r, o)
	return evidence.Done
}

// fetched records what a remote repository got from its upstream: the third
// column is the repository's name.
func (r *request) fetched(o *evidence.Out) {
	_, rest, _ := bytes.Cut(r.uri, []byte("://"))
	_, path, _ := strings.Cut(string(rest), "/")
	path, _, _ = strings.Cut(path, "?")
	item, kind := packagePath("/" + path)
	if kind != wholeFile || string(r.method) != "GET" || r.status != 200 {
		return
	}
	o.Event(timeline.Event{Action: timeline.Download, Span: r.span, Items: []timeline.Item{item}, Subject: timeline.Subject{Kind: timeline.Cache, ID: string(r.client)}})
}

// accepted reads a line of access.log: a permission, no transfer.
func accepted(text []byte, o *evidence.Out) evidence.Result {
	var span timeline.Span
	if m, n := evidence.ParseISO(text); n > 0 {
		span = m.Span(string(text[:n]), &o.Times)
	}
	_, rest, ok := bytes.Cut(text, []byte("] [ACCEPTED DOWNLOAD] "))
	what, who, named := strings.Cut(string(rest), " for ")
	o.Seen("")
	if !ok || !named {
		return evidence.Done
	}
	_, path, _ := strings.Cut(strings.TrimSpace(what), ":")
	item, kind := packagePath("/packages/" + path)
	if kind == noPath {
		item, ok = mavenPath(path)
	}
	if !ok {
		return evidence.Done
	}
	who = strings.TrimPrefix(strings.TrimSpace(who), "client : ")
	who, _, _ = strings.Cut(who, " [") // what kind of login it was
	user, client, both := strings.Cut(strings.TrimSuffix(who, "."), "/")
	if client = strings.TrimSpace(client); !both || client == "" {
		client = strings.TrimSpace(user)
	}
	o.Event(timeline.Event{Action: timeline.Check, Span: span, Items: []timeline.Item{item}, Subject: timeline.Subject{Kind: timeline.Client, ID: client}})
	return evidence.Done
}

// mavenPath reads the layout of Maven repositories, in which the folders repeat
// what the file's name says:
//
//	org/iostreams/iostreams/0.2/iostreams-0.2.jar
func mavenPath(path string) (timeline.Item, bool) {
	w := strings.Split(strings.Trim(path, "/"), "/")
	n := len(w)
	if n < 4 || !strings.HasPrefix(w[n-1], w[n-3]+"-"+w[n-2]) || w[n-2] == "" || strings.ContainsAny(path, " \"") {
		return timeline.Item{}, false
	}
	return timeline.Item{Artifact: timeline.PURL("maven", strings.Join(w[:n-3], "."), w[n-3], w[n-2])}, true
}
