package document

import (
	"strings"

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

// trivyKinds are the types of packages, and whether they are in place: the
// others are read from lock files.
var trivyKinds = map[string]struct {
	kind  string
	place bool
}{
	"python-pkg": {"pypi", true}, "pip": {"pypi", false}, "pipenv": {"pypi", false}, "poetry": {"pypi", false}, "uv": {"pypi", false}, "pylock": {"pypi", false},
	"node-pkg": {"npm", true}, "npm": {"npm", false}, "yarn": {"npm", false}, "pnpm": {"npm", false}, "bun": {"npm", false},
	"gemspec": {"gem", true}, "bundler": {"gem", false}, "gobinary": {"golang", true}, "gomod": {"golang", false},
	"rustbinary": {"cargo", true}, "cargo": {"cargo", false}, "conda-pkg": {"conda", true}, "conda-environment": {"conda", false},
	"debian": {"deb", true}, "ubuntu": {"deb", true}, "alpine": {"apk", true}, "wolfi": {"apk", true}, "chainguard": {"apk", true},
	"redhat": {"rpm", true}, "centos": {"rpm", true}, "rocky": {"rpm", true}, "alma": {"rpm", true}, "oracle": {"rpm", true}, "amazon": {"rpm", true},
	"fedora": {"rpm", true}, "photon": {"rpm", true}, "azurelinux": {"rpm", true}, "cbl-mariner": {"rpm", true},
	"suse linux enterprise server": {"rpm", true}, "opensuse-leap": {"rpm", true}, "opensuse.leap": {"rpm", true},
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
	k, known := trivyKinds[strings.ToLower(result.get("Type").text())]
	if purl == "" && known && name != "" && version != "" {
		purl = timeline.PURL(k.kind, "", name, version)
	}
	if purl == "" || told[purl] {
		return // files of code and settings are scanned too
	}
	told[purl] = true
	action := timeline.Present
	if known && !k.place {
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
