package evidence

import (
	"strings"

	"pulltrail/timeline"
)

// NuGet makes a package of .NET; ok is false for what is no name, or no version.
// Without a version it is what was asked for. Names are compared without case,
// and are kept as they are written.
// https://learn.microsoft.com/en-us/nuget/reference/nuspec#id
func NuGet(name, version string) (it timeline.Item, ok bool) {
	if !isNuGetName(name) || version != "" && !IsNuGetVersion(version) {
		return it, false
	}
	return timeline.Item{Artifact: timeline.PURL("nuget", "", name, version)}, true
}

func isNuGetName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !isDigit(c) && (i == 0 || c != '.' && c != '-') && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= 100
}

// IsNuGetVersion reports whether s is one version: two to four numbers, and what
// may follow them (13.0.1, 1.2.3.4, 2.0.0-beta.1, 1.0.0+build.5).
// https://learn.microsoft.com/en-us/nuget/concepts/package-versioning
func IsNuGetVersion(s string) bool {
	core, build, hasBuild := strings.Cut(s, "+")
	core, pre, hasPre := strings.Cut(core, "-")
	numbers := strings.Split(core, ".")
	if len(numbers) > 4 || hasBuild && !isSemverTail(build) || hasPre && !isSemverTail(pre) {
		return false
	}
	for _, n := range numbers {
		if !allDigits(n) || len(n) > 16 {
			return false
		}
	}
	return true
}

// Maven makes a package of a Maven repository of its coordinates; ok is false for
// what are none. Without a version it is what was asked for.
// https://maven.apache.org/pom.html#Maven_Coordinates
func Maven(group, name, version string) (it timeline.Item, ok bool) {
	if !isMavenWord(group) || !isMavenWord(name) || version != "" && !IsMavenVersion(version) {
		return it, false
	}
	return timeline.Item{Artifact: timeline.PURL("maven", group, name, version)}, true
}

// IsMavenVersion reports whether s can be one version of a package: it has a
// digit, unlike a word of a sentence, and no sign of a range or a property.
func IsMavenVersion(s string) bool { return isMavenWord(s) && strings.ContainsAny(s, "0123456789") }

// isMavenWord reports whether s can be a group, a name or a version.
func isMavenWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !isDigit(c) && (i == 0 || c != '.' && c != '-' && c != '+') && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= 200
}
