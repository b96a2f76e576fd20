package document

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NexusComponents is what Nexus Repository answers when it is asked which
// components it has.
// https://help.sonatype.com/en/search-api.html
// https://help.sonatype.com/en/components-api.html
var NexusComponents = evidence.Format{
	Name:   "nexus-components",
	Shape:  evidence.ToolShape,
	Title:  "Nexus Repository: search and components API (JSON)",
	Proves: "which packages and images lie in a repository, fetched or uploaded, and since when",
	Cannot: "who fetched them; what was deleted; further pages",
	Doc:    "https://help.sonatype.com/en/search-api.html",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"repository", "format", "name", "version", "assets"}},
	Lists:  []string{"items"},
	Tool:   func() evidence.Parser { return nexusComponents{} },
}

type nexusComponents struct{}

// nexusKinds are the purl types of Nexus' formats.
var nexusKinds = map[string]string{
	"pypi": "pypi", "npm": "npm", "maven2": "maven", "nuget": "nuget", "rubygems": "gem", "cargo": "cargo", "composer": "composer", "go": "golang", "conda": "conda",
}

// Line reads one component, and since when its first file is there.
//
//	{"id":"cHlwaQ","repository":"pypi-proxy","format":"pypi","group":null,"name":"litellm","version":"1.107.0","assets":[{"path":"packages/litellm/1.107.0/litellm-1.107.0-py3-none-any.whl","checksum":{"sha256":"2e37…"},"lastModified":"2026-10-21T11:40:00.000+00:00","blobCreated":"2026-10-21T12:04:51.123+00:00","lastDownloaded":"2026-10-22T08:00:00.000+00:00"}]}
func (nexusComponents) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if !isRecord(l) {
		return evidence.Miss
	}
	v := recordOf(l)
	o.Seen("")
	name, version, group := v.get("name").text(), v.get("version").text(), v.get("group").text()
	var it timeline.Item
	ok := false
	switch kind := v.get("format").text(); {
	case kind == "docker" && name != "" && version != "":
		it, ok = registryImage("", name, version, "", timeline.NoRole), true
	case kind == "maven2":
		it, ok = evidence.ScannedPackage("maven", group+":"+name, version)
	case kind == "npm" && group != "":
		it, ok = evidence.ScannedPackage("npm", "@"+group+"/"+name, version)
	case nexusKinds[kind] != "":
		it, ok = evidence.ScannedPackage(nexusKinds[kind], name, version)
	default:
		return evidence.Done
	}
	repository := v.get("repository").text()
	if !ok || repository == "" {
		o.Skip("a component without repository, name or version")
		return evidence.Done
	}
	e := timeline.Event{Action: timeline.Download, Subject: timeline.Subject{Kind: timeline.Cache, ID: repository}} // it came over, from upstream or from who uploaded it
	if v.get("format").text() == "docker" {
		e.Action = timeline.Present
	}
	for asset := range v.get("assets").elements() {
		if sha := timeline.SHA256(asset.get("checksum", "sha256").text()); sha != "" && !hasDigest(it.Digests, sha) {
			role := timeline.File
			if v.get("format").text() == "docker" {
				role = timeline.NoRole
			}
			it.Digests = append(it.Digests, timeline.Digest{Value: sha, Role: role})
		}
		if span := asset.get("blobCreated").stamp(o); span != (timeline.Span{}) && (e.Span == (timeline.Span{}) || span.From < e.Span.From) {
			e.Span = span
		}
	}
	e.Items = []timeline.Item{it}
	o.Event(e)
	return evidence.Done
}

// End has nothing to do: each component stands alone.
func (nexusComponents) End(timeline.OpState, *evidence.Out) {}
