package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Xray is what JFrog Xray and the JFrog CLI report of components.
// https://jfrog.com/help/r/xray-rest-apis/get-violations
// https://jfrog.com/help/r/jfrog-security-user-guide/products/cli/audit
var Xray = evidence.Format{
	Name:   "xray",
	Shape:  evidence.DocumentShape,
	Title:  "JFrog Xray: violations, jf audit and jf scan (JSON)",
	Proves: "which packages a project or an artifact that was scanned names",
	Cannot: "that they lie in it: a project is scanned by what it asks for; in which artifact, where there are many",
	Doc:    "https://jfrog.com/help/r/xray-rest-apis/component-identifiers",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		for violation := range v.get("violations").elements() {
			return ok && (violation.has("infected_components") || violation.has("components"))
		}
		for vulnerability := range v.get("vulnerabilities").elements() {
			if vulnerability.has("impactedPackageName") {
				return ok
			}
			for id := range vulnerability.get("components").fields() {
				return ok && strings.Contains(id, "://")
			}
		}
		return false
	},
	Read: readXray,
}

// readXray reads each component once.
//
//	{"total_violations":1,"violations":[{"infected_components":["pypi://litellm:1.107.0"],"impacted_artifacts":["default/docker-local/api/1.4/manifest.json"]}]}
//	[{"scan_id":"…","vulnerabilities":[{"cves":[…],"components":{"npm://axios:1.14.1":{"fixed_versions":["[1.14.2]"]}}}]}]
//	{"vulnerabilities":[{"severity":"Critical","impactedPackageName":"litellm","impactedPackageVersion":"1.107.0","impactedPackageType":"Python"}]}
func readXray(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	told := map[string]bool{}
	emit := func(where value, it timeline.Item, ok bool) {
		if ok && !told[it.Artifact] {
			told[it.Artifact] = true
			at(d, o, where)
			o.Emit(timeline.Require, nil, it)
		}
	}
	for _, v := range all {
		for _, list := range []string{"violations", "vulnerabilities", "securityViolations"} {
			for finding := range v.get(list).elements() {
				for id := range finding.get("infected_components").elements() {
					it, ok := xrayComponent(id.text())
					emit(id, it, ok)
				}
				for id, component := range finding.get("components").fields() {
					it, ok := xrayComponent(id)
					emit(component, it, ok)
				}
				version := finding.get("impactedPackageVersion")
				if kind := xrayTypes[strings.ToLower(finding.get("impactedPackageType").text())]; kind != "" {
					it, ok := evidence.ScannedPackage(kind, finding.get("impactedPackageName").text(), version.text())
					emit(version, it, ok)
				}
			}
		}
	}
	return err
}

// xrayTypes are the types of packages in reports of the CLI.
var xrayTypes = map[string]string{"python": "pypi", "pip": "pypi", "pypi": "pypi", "npm": "npm", "maven": "maven", "gradle": "maven", "go": "golang", "nuget": "nuget", "cargo": "cargo"}

// xraySchemes are the schemes of identifiers.
var xraySchemes = map[string]string{"pypi": "pypi", "pip": "pypi", "npm": "npm", "gav": "maven", "nuget": "nuget", "go": "golang", "cargo": "cargo", "composer": "composer", "rubygems": "gem", "gem": "gem"}

// xrayComponent reads an identifier of a component; that of a distribution's has
// the distribution before its name.
//
//	pypi://litellm:1.107.0
//	gav://org.slf4j:slf4j-api:2.0.7
//	deb://debian:bookworm:xz-utils:5.6.1-1
//	alpine://3.19:musl:1.2.4-r2
func xrayComponent(id string) (it timeline.Item, ok bool) {
	scheme, rest, ok := strings.Cut(id, "://")
	i := strings.LastIndexByte(rest, ':')
	if !ok || i <= 0 {
		return it, false
	}
	name, version := rest[:i], rest[i+1:]
	w := strings.Split(name, ":")
	switch {
	case scheme == "deb" && len(w) == 3:
		return evidence.ScannedPackage("deb", w[2], version)
	case scheme == "alpine" && len(w) == 2:
		return evidence.ScannedPackage("apk", w[1], version)
	case scheme == "go" && !strings.HasPrefix(version, "v"):
		version = "v" + version
	}
	kind := xraySchemes[scheme]
	it, ok = evidence.ScannedPackage(kind, name, version)
	return it, ok && kind != ""
}
