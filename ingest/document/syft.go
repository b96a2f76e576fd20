package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Syft is the content list of Syft in its own JSON.
// https://github.com/anchore/syft/wiki/json
var Syft = evidence.Format{
	Name:   "syft",
	Shape:  evidence.DocumentShape,
	Title:  "Syft content list (JSON)",
	Proves: "packages that are in an image, by its digests, or in the folder that was read; the list of exactly that digest can clear",
	Cannot: "when they came; what an image of the same tag holds",
	Doc:    "https://github.com/anchore/syft/wiki/json",
	Sample: "written by hand after the schema",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		return ok && v.get("artifacts").kind() == '[' && (v.has("artifactRelationships") || v.get("descriptor", "name").text() == "syft" || isSyftArtifact(v))
	},
	Read: func(d *evidence.Doc, o *evidence.Out) error { return readAnchore(d, o, "artifacts") },
}

// isSyftArtifact looks at the first package: what names the list stands behind
// all of them, perhaps far away.
func isSyftArtifact(v value) bool {
	for a := range v.get("artifacts").elements() {
		return a.has("foundBy") && a.has("purl") && a.has("cpes")
	}
	return false
}

// Grype is the report of Grype in its own JSON.
// https://github.com/anchore/grype
var Grype = evidence.Format{
	Name:   "grype",
	Shape:  evidence.DocumentShape,
	Title:  "Grype report (JSON)",
	Proves: "vulnerable packages that are in an image, by its digests, or in the folder that was read",
	Cannot: "when they came; packages that no advisory matched are not listed",
	Doc:    "https://github.com/anchore/grype",
	Sample: "written by hand after the schema",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		if !ok || v.get("matches").kind() != '[' {
			return false
		}
		for m := range v.get("matches").elements() {
			return m.has("artifact") && m.has("vulnerability")
		}
		return v.get("descriptor", "name").text() == "grype"
	},
	Read: func(d *evidence.Doc, o *evidence.Out) error { return readAnchore(d, o, "matches") },
}

// readAnchore reads packages and what they are in: both programs write them
// alike.
//
//	{"artifacts": [{"name": "litellm", "version": "1.107.0", "type": "python", "foundBy": "python-installed-package-cataloger", "purl": "pkg:pypi/litellm@1.107.0"}],
//	 "source": {"type": "image", "metadata": {"userInput": "…", "imageID": "sha256:86ef…", "manifestDigest": "sha256:be5e…", "repoDigests": ["…@sha256:be5e…"]}}}
//	{"matches": [{"vulnerability": {…}, "artifact": {"purl": "pkg:pypi/litellm@1.107.0", …}}],
//	 "source": {"type": "image", "target": {"imageID": "sha256:86ef…", …}}}
func readAnchore(d *evidence.Doc, o *evidence.Out, list string) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		c := &contentList{d: d, o: o, topics: map[string]bool{}, partly: err != nil || list == "matches"}
		for _, place := range []string{"metadata", "target"} {
			image := v.get("source", place)
			c.of(image.get("imageID").text())
			c.of(image.get("manifestDigest").text())
			for _, ref := range image.get("repoDigests").texts() {
				c.of(ref)
			}
		}
		if list == "artifacts" && v.get("source").kind() == 0 {
			c.partly = true
			o.Cut("the list ends before what it is of")
		}
		for p := range v.get(list).elements() {
			if list == "matches" {
				p = p.get("artifact")
			}
			purl := p.get("purl").text()
			switch {
			case purl == "":
				c.partly = true // a package of a kind that has no package URL
			case fromLock(p):
				c.listed(timeline.Require, p.get("purl"), purl)
			default:
				c.component(p.get("purl"), purl, p.get("version").text(), nil)
				if it, ok := evidence.JenkinsPlugin(p.get("name").text(), p.get("version").text()); ok && p.get("type").text() == "jenkins-plugin" {
					c.component(p.get("purl"), it.Artifact, "", nil) // its package URL is one of Maven
				}
			}
		}
		c.cover()
	}
	return err
}

// fromLock reports whether a package was read from a lock file or a list of
// requirements.
func fromLock(p value) bool {
	for _, field := range []string{"metadataType", "foundBy"} {
		text := strings.ToLower(p.get(field).text())
		if strings.Contains(text, "lock") || strings.Contains(text, "requirements") || strings.Contains(text, "pipfile") || strings.Contains(text, "go-mod-") || strings.Contains(text, "gomod") {
			return true
		}
	}
	return false
}
