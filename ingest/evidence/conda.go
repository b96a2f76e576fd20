package evidence

import (
	"strings"

	"pulltrail/timeline"
)

// IsCondaName reports whether s can be the name of a conda package.
// https://docs.conda.io/projects/conda-build/en/stable/resources/package-spec.html
func IsCondaName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-.") == ""
}

// IsCondaVersion reports whether s can be the version of a conda package.
// https://docs.conda.io/projects/conda-build/en/stable/resources/package-spec.html
func IsCondaVersion(s string) bool {
	return s != "" && isDigit(s[0]) && s[len(s)-1] != '.' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_.!+") == ""
}

// CondaItem is a version of a conda package.
func CondaItem(name, version string) timeline.Item {
	return timeline.Item{Artifact: timeline.PURL("conda", "", name, version)}
}

// SplitConda splits name-version at the last hyphen: a version has none. ok is
// false when either can be none.
// https://docs.conda.io/projects/conda-build/en/stable/resources/package-spec.html
func SplitConda(text string) (name, version string, ok bool) {
	i := strings.LastIndexByte(text, '-')
	if i <= 0 {
		return "", "", false
	}
	return text[:i], text[i+1:], IsCondaName(text[:i]) && IsCondaVersion(text[i+1:])
}

// SplitCondaBuild splits name-version-build, a package as conda names the files
// of one.
func SplitCondaBuild(text string) (name, version string, ok bool) {
	i := strings.LastIndexByte(text, '-')
	if i <= 0 {
		return "", "", false
	}
	return SplitConda(text[:i])
}
