package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PipAudit is what pip-audit -f json prints. It looks at an environment or at a
// list of requirements, and does not say which.
// https://github.com/pypa/pip-audit#usage
var PipAudit = evidence.Format{
	Name:   "pip-audit",
	Shape:  evidence.DocumentShape,
	Title:  "pip-audit report (JSON)",
	Proves: "packages of an environment, or of a list of requirements, with versions",
	Cannot: "which of the two it was; when they came",
	Doc:    "https://github.com/pypa/pip-audit#usage",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v := value{h.Bytes, 0, len(h.Bytes)}
		list := v.get("dependencies")
		if v.kind() == '[' {
			list = v
		}
		for p := range list.elements() {
			return p.has("name") && (p.has("vulns") && p.has("version") || p.has("skip_reason"))
		}
		return false
	},
	Read: readPipAudit,
}

// readPipAudit reads each package once. Releases before 2 print the list alone.
//
//	{"dependencies": [{"name": "flask", "version": "0.5", "vulns": [{"id": "PYSEC-2019-179", …}]},
//	  {"name": "acme-agent", "skip_reason": "Dependency not found on …"}], "fixes": []}
func readPipAudit(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		list := v.get("dependencies")
		if v.kind() == '[' {
			list = v
		}
		for p := range list.elements() {
			if !p.has("version") {
				continue // skipped, as it said
			}
			name, version := p.get("name").text(), p.get("version").text()
			if at(d, o, p.get("version")); !evidence.IsDistName(name) || !evidence.IsVersion(version) {
				o.Skip("a package without name or version")
				continue
			}
			o.Emit(timeline.Require, nil, timeline.Item{Artifact: timeline.PURL("pypi", "", name, version)})
		}
	}
	return err
}

// OSVScanner is what osv-scanner --format json prints.
// https://google.github.io/osv-scanner/output/#json
var OSVScanner = evidence.Format{
	Name:   "osv-scanner",
	Shape:  evidence.DocumentShape,
	Title:  "OSV-Scanner report (JSON)",
	Proves: "packages that lock files and lists name; of an image or a folder, those in place",
	Cannot: "of which image: say it with --subject; packages that no advisory was known for, unless --all-packages listed them",
	Doc:    "https://google.github.io/osv-scanner/output/#json",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		for result := range v.get("results").elements() {
			return ok && result.get("source").has("path") && result.get("packages").kind() == '['
		}
		return false
	},
	Read: readOSVScanner,
}

// osvKinds are the purl types of ecosystems; a suffix (Debian:12) is a release.
// https://ossf.github.io/osv-schema/#defined-ecosystems
var osvKinds = map[string]string{
	"PyPI": "pypi", "npm": "npm", "RubyGems": "gem", "crates.io": "cargo", "Packagist": "composer", "Maven": "maven", "NuGet": "nuget", "Go": "golang",
	"Hex": "hex", "Pub": "pub", "Debian": "deb", "Ubuntu": "deb", "Alpine": "apk", "Wolfi": "apk", "Chainguard": "apk",
	"Red Hat": "rpm", "Rocky Linux": "rpm", "AlmaLinux": "rpm", "openSUSE": "rpm", "SUSE": "rpm",
}

// readOSVScanner reads the packages of each source. What a lock file or a content
// list names lies nowhere for that.
//
//	{"results": [{"source": {"path": "/src/requirements.txt", "type": "lockfile"},
//	  "packages": [{"package": {"name": "litellm", "version": "1.107.0", "ecosystem": "PyPI"}, "vulnerabilities": […], "groups": […]}]}]}
func readOSVScanner(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		who := timeline.Subject{}
		if v.has("image_metadata") && o.Claim.Kind != timeline.Image {
			who = timeline.Subject{Kind: timeline.Source, ID: o.Path()} // of an image that it does not name
		}
		for result := range v.get("results").elements() {
			action := timeline.Require
			switch result.get("source", "type").text() {
			case "docker", "os", "artifact":
				action = timeline.Present
			}
			for p := range result.get("packages").elements() {
				p = p.get("package")
				eco, _, _ := strings.Cut(p.get("ecosystem").text(), ":")
				version := p.get("version").text()
				if eco == "Go" && version != "" && version[0] != 'v' {
					version = "v" + version
				}
				if it, ok := evidence.ScannedPackage(osvKinds[eco], p.get("name").text(), version); ok && osvKinds[eco] != "" {
					at(d, o, p.get("version"))
					about(o, who, func() { o.Emit(action, nil, it) })
				}
			}
		}
	}
	return err
}

// Snyk is what snyk test --json prints of the packages of a project.
// https://docs.snyk.io/developer-tools/snyk-cli/commands/test
var Snyk = evidence.Format{
	Name:   "snyk",
	Shape:  evidence.DocumentShape,
	Title:  "Snyk report (JSON)",
	Proves: "vulnerable packages that a project asks for, with versions; of an image, those that are in it",
	Cannot: "packages that no advisory was known for; of an image the digest",
	Doc:    "https://docs.snyk.io/developer-tools/snyk-cli/commands/test",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		for p := range v.get("vulnerabilities").elements() {
			return ok && p.has("id") && (p.has("packageManager") || p.has("moduleName") || p.has("packageName"))
		}
		return ok && v.has("vulnerabilities") && v.has("dependencyCount") && v.has("packageManager")
	},
	Read: readSnyk,
}

// snykManagers are the purl types of what Snyk calls package managers.
var snykManagers = map[string]string{
	"pip": "pypi", "pipenv": "pypi", "poetry": "pypi", "npm": "npm", "yarn": "npm", "pnpm": "npm", "maven": "maven", "gradle": "maven", "sbt": "maven",
	"rubygems": "gem", "gomodules": "golang", "golang": "golang", "nuget": "nuget", "composer": "composer", "hex": "hex", "cargo": "cargo",
	"deb": "deb", "apk": "apk", "rpm": "rpm",
}

// readSnyk reads each package once. What was tested as an image says so, and
// names it.
//
//	{"vulnerabilities": [{"id": "SNYK-PYTHON-FLASK-42185", "packageName": "flask", "name": "flask", "version": "0.5", "packageManager": "pip", "from": ["api@0.0.0", "flask@0.5"]}],
//	  "ok": false, "dependencyCount": 40, "packageManager": "pip", "projectName": "api", "path": "/src/api"}
//	{"vulnerabilities": […], "docker": {"baseImage": "python:3.12"}, "packageManager": "deb", "path": "registry.acme.example/api:1.4"}
func readSnyk(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	for _, v := range all {
		action, who := timeline.Require, timeline.Subject{}
		if v.has("docker") {
			action = timeline.Present
			_, image, scheme := strings.Cut(v.get("path").text(), "|")
			if !scheme {
				image = v.get("path").text()
			}
			if image = timeline.NormalizeImage(image); image != "" {
				who = timeline.Subject{Kind: timeline.Image, ID: image}
			}
		}
		told := map[string]bool{}
		for p := range v.get("vulnerabilities").elements() {
			kind := snykManagers[p.get("packageManager").text()]
			if kind == "" {
				kind = snykManagers[v.get("packageManager").text()]
			}
			name := p.get("packageName").text()
			if i := strings.LastIndexByte(name, '/'); i >= 0 && (kind == "deb" || kind == "apk" || kind == "rpm") {
				name = name[i+1:] // openssl/libssl3: the package behind its source
			}
			it, ok := evidence.ScannedPackage(kind, name, p.get("version").text())
			if !ok || kind == "" || told[it.Artifact] {
				continue
			}
			told[it.Artifact] = true
			at(d, o, p.get("version"))
			about(o, who, func() { o.Emit(action, nil, it) })
		}
	}
	return err
}
