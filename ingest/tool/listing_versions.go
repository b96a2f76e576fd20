package tool

import (
	"regexp"
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
)

// versionOf says whether a command prints the version of a program.
func versionOf(name string, args []string, c listCommand) *listKind {
	switch {
	case name == "trivy" && (c.is("version") || c.f.has("--version", "-v") && len(args) == 1):
		return trivyVersion
	case name == "litellm" && c.f.has("--version", "-v"):
		return litellmVersion
	case isPython(name) && askedVersion(args) != "":
		return distVersion
	}
	return nil
}

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
