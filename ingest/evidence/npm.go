package evidence

import (
	"strings"

	"pulltrail/timeline"
)

// IsNPMName reports whether s can be the name of an npm package, with its
// scope or without: axios, @acme/ui, JSONStream.
// https://docs.npmjs.com/cli/configuring-npm/package-json#name
func IsNPMName(s string) bool {
	if scope, name, ok := strings.Cut(s, "/"); ok {
		return strings.HasPrefix(scope, "@") && isNPMWord(scope[1:]) && isNPMWord(name)
	}
	return isNPMWord(s)
}

func isNPMWord(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' || c == '-' || c == '~' || c == '.' && i > 0 {
			continue
		}
		return false
	}
	return s != "" && len(s) <= 214
}

// IsSemver reports whether s is one whole version as npm writes it: three
// numbers, and what may follow them (1.14.1, 2.0.0-rc.1, 1.0.0+build.5).
// https://semver.org/spec/v2.0.0.html
func IsSemver(s string) bool {
	core, build, hasBuild := strings.Cut(s, "+")
	core, pre, hasPre := strings.Cut(core, "-")
	numbers := strings.Split(core, ".")
	if len(numbers) != 3 || hasBuild && !isSemverTail(build) || hasPre && !isSemverTail(pre) {
		return false
	}
	for _, n := range numbers {
		if !allDigits(n) || len(n) > 16 {
			return false
		}
	}
	return true
}

func isSemverTail(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		for i := 0; i < len(part); i++ {
			c := part[i]
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '-') {
				return false
			}
		}
		if part == "" {
			return false
		}
	}
	return true
}

// SplitNPM splits name@version at the last @ that is no scope's; ok is false
// when the name is none or the version is not exact.
func SplitNPM(text string) (name, version string, ok bool) {
	i := strings.LastIndexByte(text, '@')
	if i <= 0 {
		return "", "", false
	}
	name, version = text[:i], text[i+1:]
	return name, version, IsNPMName(name) && IsSemver(version)
}

// CutNPM splits name@range at the first @ that is no scope's; without one the
// range is "".
//
//	@acme/ui@^2.0.0
//	cache@npm:keyv@6.0.0
func CutNPM(text string) (name, spec string) {
	i := strings.IndexByte(text[min(1, len(text)):], '@')
	if i < 0 {
		return text, ""
	}
	return text[:i+1], text[i+2:]
}

// NPMItem is an exact version of an npm package.
func NPMItem(name, version string) timeline.Item {
	return timeline.Item{Artifact: timeline.PURL("npm", "", name, version)}
}

// NPMRequirement reads what a project asks for under a name: the version only
// of an exact one, what was asked in Ref. An alias names the real package; ok
// is false for folders of the project itself.
//
//	"axios": "^1.14.0"
//	"cache": "npm:keyv@^6.0.0"
//	"ui": "workspace:*"
//
// https://docs.npmjs.com/cli/configuring-npm/package-json#dependencies
func NPMRequirement(name, spec string) (it timeline.Item, ok bool) {
	spec = strings.TrimSpace(spec)
	for _, own := range [...]string{"file:", "link:", "portal:", "workspace:", "./", "../", "/", "~/"} {
		if strings.HasPrefix(spec, own) {
			return it, false
		}
	}
	if alias, is := strings.CutPrefix(spec, "npm:"); is {
		spec = alias
		if i := strings.LastIndexByte(alias, '@'); i > 0 {
			name, spec = alias[:i], alias[i+1:]
		} else if IsNPMName(alias) && !isDigit(alias[0]) {
			name, spec = alias, ""
		}
	}
	if !IsNPMName(name) {
		return it, false
	}
	it = timeline.Item{Artifact: timeline.PURL("npm", "", name, ""), Ref: Redact(spec)}
	if exact := strings.TrimLeft(spec, "=v "); IsSemver(exact) {
		it = NPMItem(name, exact)
	}
	// Behind an archive stands its SHA-1, behind a repository the commit.
	from, commit, _ := strings.Cut(spec, "#")
	if commit = strings.TrimPrefix(commit, "commit="); timeline.IsCommit(commit) && !strings.HasSuffix(from, ".tgz") {
		it.Digests = []timeline.Digest{{Value: commit, Role: timeline.Commit}}
	}
	return it, true
}
