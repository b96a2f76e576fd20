package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CondaMeta is the record that conda, mamba and pixi keep of each package in an
// environment.
// https://docs.conda.io/projects/conda-build/en/stable/resources/package-spec.html
var CondaMeta = evidence.Format{
	Name:   "conda-meta",
	Shape:  evidence.DocumentShape,
	Title:  "conda-meta records of an environment",
	Proves: "a conda package is in the environment, and from which archive (sha256)",
	Cannot: "when it was installed; what pip added to the environment",
	Doc:    "https://docs.conda.io/projects/conda-build/en/stable/resources/package-spec.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		return ok && placeCondaMeta(h.Path) && v.has("name") && v.has("version")
	},
	Read:  readCondaMeta,
	Place: placeCondaMeta,
	Topic: "conda",
}

// placeCondaMeta knows opt/conda/conda-meta/litellm-1.107.0-pyhd8ed1ab_0.json.
func placeCondaMeta(path string) bool {
	dir, file, ok := cutLast(path)
	return ok && strings.HasSuffix(file, ".json") && (dir == "conda-meta" || strings.HasSuffix(dir, "/conda-meta") || strings.HasSuffix(dir, "!conda-meta"))
}

// cutLast cuts a path before its last element.
func cutLast(path string) (dir, file string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// readCondaMeta takes the package from the record.
//
//	{"build": "pyhd8ed1ab_0", "name": "litellm", "sha256": "4f0c…", "version": "1.107.0", "url": "https://…conda"}
func readCondaMeta(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	for _, v := range all {
		name, version := v.get("name").text(), v.get("version")
		at(d, o, version)
		if name == "" || version.text() == "" {
			o.Skip("a record without name or version")
			continue
		}
		item := timeline.Item{Artifact: timeline.PURL("conda", "", name, version.text())}
		if digest := timeline.SHA256(v.get("sha256").text()); digest != "" {
			item.Digests = []timeline.Digest{{Value: digest, Role: timeline.File}}
		}
		o.Emit(timeline.Present, nil, item)
	}
	return err
}
