package tool

import (
	"regexp"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Programs that print their own version, and name themselves in it or are known
// by their command.
var (
	trivyVersion   = &listKind{tool: "trivy", action: timeline.Present, row: trivyRow}
	litellmVersion = &listKind{tool: "litellm", topic: timeline.PyPI, action: timeline.Present, row: litellmRow}
	distVersion    = &listKind{tool: "python", topic: timeline.PyPI, action: timeline.Present, row: distVersionRow}
	nxReport       = &listKind{tool: "nx", topic: timeline.NPM, action: timeline.Present, row: nxReportRow, within: anyLine}
	nxVersion      = &listKind{tool: "nx", topic: timeline.NPM, action: timeline.Present, row: nxVersionRow}
	envInfo        = &listKind{tool: "envinfo", topic: timeline.NPM, action: timeline.Present, row: envInfoRow, within: anyLine}
	npmWhy         = &listKind{tool: "npm", topic: timeline.NPM, action: timeline.Present, row: npmWhyRow, within: anyLine}
	repoDigests    = &listKind{tool: "docker", topic: timeline.Images, action: timeline.Present, row: repoDigestRow, within: anyLine}
)

// versionOf says whether a command prints the version of a program.
func versionOf(name string, args []string, c listCommand) *listKind {
	if runners[name] && len(c.plain) > 0 {
		name, _, _ = strings.Cut(c.plain[0], "@")
		c.plain = c.plain[1:]
	}
	switch {
	case name == "nx" && c.is("report"):
		return nxReport
	case name == "nx" && c.f.has("--version"):
		return nxVersion
	case name == "envinfo" && !c.f.has("--json", "--markdown"):
		return envInfo
	case name == "npm" && (c.is("explain") || c.is("why")) && !c.f.has("--json"):
		return npmWhy
	case (name == "docker" || name == "podman") && (c.is("image", "inspect") || c.is("inspect")) && strings.Contains(strings.Join(args, " "), "RepoDigests"):
		return repoDigests
	case name == "trivy" && (c.is("version") || c.f.has("--version", "-v") && len(args) == 1):
		return trivyVersion
	case name == "litellm" && c.f.has("--version", "-v"):
		return litellmVersion
	case isPython(name) && askedVersion(args) != "":
		return distVersion
	}
	return nil
}

// runners run a program of a package.
var runners = wordSet("npx pnpx bunx")

// asksVersion is the call that prints the version of an installed distribution:
//
//	from importlib.metadata import version; print(version("litellm"))
//	import importlib.metadata as m; print(m.version('litellm'))
var asksVersion = regexp.MustCompile(`\bprint\( ?[\w.]*\bversion\( ?["']([A-Za-z0-9._-]+)["'] ?\) ?\)`)

// askedVersion is the distribution whose version a program given with -c prints
// and nothing else.
func askedVersion(args []string) string {
	if len(args) != 2 || args[0] != "-c" || strings.Count(args[1], "print(") != 1 || !strings.Contains(args[1], "metadata") {
		return ""
	}
	if m := asksVersion.FindStringSubmatch(args[1]); m != nil && evidence.IsDistName(m[1]) {
		return m[1]
	}
	return ""
}

// trivyRow reads the first line of trivy version, as text or as JSON:
//
//	Version: 0.69.4
//	{"Version":"0.69.4","VulnerabilityDB":{"Version":2,…}}
func trivyRow(l *list, row string) ([]timeline.Item, bool) {
	version, ok := strings.CutPrefix(row, "Version: ")
	if after, found := strings.CutPrefix(row, `{"Version":"`); found {
		version, _, ok = strings.Cut(after, `"`)
	}
	if version = strings.TrimPrefix(version, "v"); !ok || l.begun || !evidence.IsSemver(version) {
		return nil, false
	}
	return []timeline.Item{{Artifact: timeline.PURL("github", "aquasecurity", "trivy", version)}}, true
}

// litellmRow reads
//
//	LiteLLM: Current Version = 1.107.0
func litellmRow(_ *list, row string) ([]timeline.Item, bool) {
	version, ok := strings.CutPrefix(row, "LiteLLM: Current Version = ")
	if !ok || !evidence.IsVersion(version) {
		return nil, false
	}
	return pypiItems("litellm", version), true
}

// distVersionRow reads the version, which stands alone.
func distVersionRow(l *list, row string) ([]timeline.Item, bool) {
	if l.begun || l.name == "" || !strings.ContainsRune(row, '.') || !evidence.IsVersion(row) {
		return nil, false
	}
	return pypiItems(l.name, row), true
}

// nxReportRow reads a row of nx report; what runs nx is no package of it.
//
//	nx                     : 21.5.0
//	@nx/js                 : 21.5.0
func nxReportRow(l *list, row string) ([]timeline.Item, bool) {
	name, version, ok := strings.Cut(row, ": ")
	name = strings.TrimSpace(name)
	if !ok || name != "nx" && name != "typescript" && !strings.HasPrefix(name, "@") || !evidence.IsNPMName(name) || !evidence.IsSemver(version) {
		return nil, !l.begun && strings.Contains(row, "Report complete")
	}
	return []timeline.Item{evidence.NPMItem(name, version)}, true
}

// nxVersionRow reads
//
//	Nx Version:
//	- Local: v21.5.0
//	- Global: Not found
func nxVersionRow(l *list, row string) ([]timeline.Item, bool) {
	if row == "Nx Version:" || row == "- Local: Not found" || row == "- Global: Not found" {
		return nil, true
	}
	version, ok := strings.CutPrefix(row, "- Local: v")
	if !ok {
		version, ok = strings.CutPrefix(row, "- Global: v")
	}
	if !ok || !l.begun || !evidence.IsSemver(version) {
		return nil, false
	}
	return []timeline.Item{evidence.NPMItem("nx", version)}, true
}

// envInfoRow reads a package of envinfo: what is asked for, and what is there.
// https://github.com/tabrindle/envinfo
//
//	npmPackages:
//	  axios: ^1.14.0 => 1.14.1
//	npmGlobalPackages:
//	  npm: 10.9.2
func envInfoRow(l *list, row string) ([]timeline.Item, bool) {
	text := strings.TrimSpace(row)
	if text == "npmPackages:" || text == "npmGlobalPackages:" {
		l.name = text
		return nil, true
	}
	name, rest, ok := strings.Cut(text, ": ")
	if l.name == "" || !ok || !strings.HasPrefix(row, "    ") || !evidence.IsNPMName(name) {
		return nil, false
	}
	_, versions, found := strings.Cut(rest, "=> ")
	if !found && l.name == "npmGlobalPackages:" {
		versions = rest
	}
	var items []timeline.Item
	for v := range strings.SplitSeq(versions, ", ") {
		if v = strings.TrimSpace(v); evidence.IsSemver(v) {
			items = append(items, evidence.NPMItem(name, v))
		}
	}
	return items, items != nil
}

// npmKinds are what npm explain says of a package behind its version.
var npmKinds = wordSet("dev optional peer bundled extraneous overridden workspace")

// npmWhyRow reads the head of a block of npm explain: the package that is in
// place.
// https://docs.npmjs.com/cli/commands/npm-explain
//
//	axios@1.14.1
//	node_modules/axios
//	  axios@"^1.14.0" from the root project
func npmWhyRow(_ *list, row string) ([]timeline.Item, bool) {
	words := strings.Fields(row)
	if len(words) == 0 || strings.HasPrefix(row, " ") || slices.ContainsFunc(words[1:], func(w string) bool { return !npmKinds[w] }) {
		return nil, false
	}
	name, version, ok := evidence.SplitNPM(words[0])
	if !ok {
		return nil, false
	}
	return []timeline.Item{evidence.NPMItem(name, version)}, true
}

// repoDigestRow reads the digest of an image in a store, as a format of docker
// image inspect prints it:
//
//	aquasec/trivy@sha256:2d7cee41048988eec27615412e7c6e2e21046f2b5faa888c24e11ca6764058ed
//	[aquasec/trivy@sha256:2d7c… ghcr.io/aquasecurity/trivy@sha256:2d7c…]
//	["aquasec/trivy@sha256:2d7c…"]
func repoDigestRow(_ *list, row string) ([]timeline.Item, bool) {
	var items []timeline.Item
	for w := range strings.FieldsFuncSeq(strings.Trim(row, "[]'"), func(r rune) bool { return r == ' ' || r == ',' || r == '"' }) {
		_, digest, ok := strings.Cut(w, "@")
		image := timeline.NormalizeImage(w)
		if !ok || timeline.SHA256(digest) == "" || image == "" {
			return nil, false
		}
		items = append(items, timeline.Item{Artifact: image, Digests: []timeline.Digest{{Value: timeline.SHA256(digest)}}})
	}
	return items, items != nil
}
