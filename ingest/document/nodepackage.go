package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NodePackage is the package.json of a package in node_modules.
// https://docs.npmjs.com/cli/configuring-npm/package-json
var NodePackage = evidence.Format{
	Name:   "node-package",
	Shape:  evidence.DocumentShape,
	Title:  "package.json in node_modules",
	Proves: "an npm package is in place",
	Cannot: "when it was installed; that its scripts ran; what a bundler copied elsewhere",
	Doc:    "https://github.com/npm/cli/blob/latest/docs/lib/content/configuring-npm/package-json.md",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		_, ok := headRecord(h)
		return ok && placeNodePackage(h.Path)
	},
	Read:  readNodePackage,
	Place: placeNodePackage,
	Topic: timeline.NPM,
}

// placeNodePackage wants the folder of a package itself: further down, a
// package.json only sets options of a part.
//
//	usr/app/node_modules/chalk/package.json, node_modules/@scope/name/package.json
func placeNodePackage(path string) bool {
	dir, ok := strings.CutSuffix(path, "/package.json")
	if !ok {
		return false
	}
	dir, _, ok = cutLast(dir)
	if !ok {
		return false
	}
	if parent, scope, cut := cutLast(dir); cut && strings.HasPrefix(scope, "@") {
		dir = parent
	}
	return dir == "node_modules" || strings.HasSuffix(dir, "/node_modules") || strings.HasSuffix(dir, "!node_modules")
}

// readNodePackage takes name and version; a package without a version is a
// folder of the project that was linked in.
//
//	{"name": "chalk", "version": "5.6.1", …
func readNodePackage(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		name, version := v.get("name").text(), v.get("version")
		if name == "" || version.text() == "" {
			continue
		}
		at(d, o, version)
		o.Emit(timeline.Present, nil, timeline.Item{Artifact: timeline.PURL("npm", "", name, version.text())})
	}
	return err
}
