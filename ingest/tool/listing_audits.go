package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Audits show the packages of a project that advisories name; scout looks at an
// image.
var (
	cargoAudits  = &listKind{tool: "cargo", action: timeline.Require, row: pairRow("Crate:", "Version:", "cargo"), within: anyLine}
	bundleAudits = &listKind{tool: "bundle", action: timeline.Require, row: pairRow("Name:", "Version:", "gem"), within: anyLine}
	goVulns      = &listKind{tool: "go", action: timeline.Require, row: goVulnRow, within: anyLine}
	scoutList    = &listKind{tool: "docker", fact: scoutFact, within: anyLine}
)

// pairRow reads a package whose version stands on the line behind it.
// https://github.com/rustsec/rustsec/tree/main/cargo-audit
// https://github.com/rubysec/bundler-audit#readme
//
//	Crate:     time
//	Version:   0.1.43
//
//	Name: actionpack
//	Version: 3.2.10
func pairRow(first, second, kind string) func(*list, string) ([]timeline.Item, bool) {
	return func(l *list, row string) ([]timeline.Item, bool) {
		if name, ok := strings.CutPrefix(row, first); ok {
			l.name = strings.TrimSpace(name)
			return nil, l.name != ""
		}
		version, ok := strings.CutPrefix(row, second)
		if !ok || l.name == "" {
			return nil, false
		}
		it, ok := evidence.ScannedPackage(kind, l.name, strings.TrimSpace(version))
		l.name = ""
		return []timeline.Item{it}, ok
	}
}

// goVulnRow reads the module of a finding of govulncheck.
// https://go.dev/doc/security/vuln/
//
//	Found in: golang.org/x/text@v0.3.5
func goVulnRow(_ *list, row string) ([]timeline.Item, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(row), "Found in: ")
	name, version, both := strings.Cut(rest, "@")
	if !ok || !both {
		return nil, false
	}
	it, ok := evidence.ScannedPackage("golang", name, version)
	if !ok { // the standard library
		return nil, true
	}
	return []timeline.Item{it}, true
}

// scoutFact reads docker scout cves, which writes package URLs.
// https://docs.docker.com/reference/cli/docker/scout/cves/
//
//	   0C     1H     0M     0L  litellm 1.107.0
//	pkg:pypi/litellm@1.107.0
func scoutFact(l *list, row string, o *evidence.Out) (e timeline.Event, ok bool) {
	if !strings.HasPrefix(row, "pkg:") || strings.ContainsAny(row, " \t") {
		return e, false
	}
	p := timeline.Split(row)
	if p.Name == "" || p.Version == "" {
		return e, false
	}
	i := strings.LastIndexByte(p.Name, '/')
	return l.found(true, timeline.Item{Artifact: timeline.PURL(p.Type, p.Name[:max(i, 0)], p.Name[i+1:], p.Version)}, o), true
}

// scout knows docker scout, and what it looks at.
func (c listCommand) scout() (*listKind, bool) {
	return c.one(c.is("scout", "cves"), scoutList, "--output", "-o", "--format")
}

// scoutScan tells what docker scout looks at.
//
//	docker scout cves registry.acme.example/api:1.4
//	docker scout cves fs://.
func scoutScan(plain []string) (s scan) {
	if len(plain) != 3 {
		return s
	}
	scheme, rest, ok := strings.Cut(plain[2], "://")
	switch {
	case !ok:
		s.what, s.image = imageScanned, scannedImage(plain[2])
	case scheme == "image" || scheme == "local" || scheme == "registry":
		s.what, s.image = imageScanned, scannedImage(rest)
	case scheme == "fs":
		s.what = projectScanned
	}
	return s
}
