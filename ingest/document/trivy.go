package document

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Trivy is the report of Trivy in its own JSON.
// https://trivy.dev/latest/docs/configuration/reporting/#json
var Trivy = evidence.Format{
	Name:   "trivy",
	Shape:  evidence.DocumentShape,
	Title:  "Trivy report (JSON)",
	Proves: "packages that are in an image, by its digests, or in the folder that was scanned",
	Cannot: "when they came; that a package is not there: without --list-all-pkgs only vulnerable ones are listed",
	Doc:    "https://trivy.dev/latest/docs/configuration/reporting/#json",
	Sample: "written by hand after the documentation and the source of the report's types",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		return ok && (v.has("SchemaVersion") && v.has("ArtifactName") || v.has("ArtifactType") && v.has("Results"))
	},
	Read: readTrivy,
}

// readTrivy reads what each target holds.
//
//	"Metadata": {"ImageID": "sha256:86ef…", "RepoDigests": ["registry.acme.example/api@sha256:be5e…"]},
//	"Results": [{"Target": "Python", "Class": "lang-pkgs", "Type": "python-pkg",
//	  "Packages": [{"Name": "litellm", "Version": "1.107.0", "Identifier": {"PURL": "pkg:pypi/litellm@1.107.0"}}],
//	  "Vulnerabilities": [{"PkgName": "litellm", "InstalledVersion": "1.107.0", …}]}]
func readTrivy(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		c := &contentList{d: d, o: o, topics: map[string]bool{}}
		c.of(v.get("Metadata", "ImageID").text())
		for _, ref := range v.get("Metadata", "RepoDigests").texts() {
			c.of(ref)
		}
		for result := range v.get("Results").elements() {
			told := map[string]bool{}
			for p := range result.get("Packages").elements() {
				version := p.get("Version").text()
				if release := p.get("Release").text(); release != "" {
					version += "-" + release
				}
				c.scanned(result, p, p.get("Name").text(), version, p.get("Identifier", "PURL").text(), told)
			}
			for p := range result.get("Vulnerabilities").elements() {
				c.scanned(result, p, p.get("PkgName").text(), p.get("InstalledVersion").text(), p.get("PkgIdentifier", "PURL").text(), told)
			}
		}
	}
	return err
}

// scanned records one package of a target once.
func (c *contentList) scanned(result, p value, name, version, purl string, told map[string]bool) {
	kind, place, known := evidence.TrivyKind(result.get("Type").text())
	if purl == "" && known {
		if it, ok := evidence.ScannedPackage(kind, name, version); ok {
			purl = it.Artifact
		}
	}
	if purl == "" || told[purl] {
		return // files of code and settings are scanned too
	}
	told[purl] = true
	action := timeline.Present
	if known && !place {
		action = timeline.Require
	}
	c.listed(action, p, purl)
}

// listed records a package of a report; where is the value that proves it.
func (c *contentList) listed(action timeline.Action, where value, purl string) {
	artifact, _ := normalizePURL(purl, "")
	at(c.d, c.o, where)
	if artifact == "" {
		c.o.Skip("a package with a broken package URL")
		return
	}
	c.each(func() { c.o.Emit(action, nil, timeline.Item{Artifact: artifact}) })
}
