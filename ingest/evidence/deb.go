package evidence

import (
	"strings"

	"pulltrail/timeline"
)

// IsDebName reports whether s can be the name of a Debian package: xz-utils,
// libstdc++6, g++.
// https://www.debian.org/doc/debian-policy/ch-controlfields.html#source
func IsDebName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || isDigit(c) || i > 0 && (c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return len(s) > 1
}

// IsDebVersion reports whether s can be the version of a Debian package, with
// epoch and revision.
// https://www.debian.org/doc/debian-policy/ch-controlfields.html#version
func IsDebVersion(s string) bool {
	digit := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		digit = digit || isDigit(c)
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || strings.IndexByte(".+-:~", c) >= 0) {
			return false
		}
	}
	return digit
}

// SystemItem is a package of a distribution, its architecture as a qualifier
// where it is a word. kind is the type of the purl: deb, apk, alpm, brew; distro
// is "" where the source does not say which distribution it is.
// https://github.com/package-url/purl-spec/tree/main/types
func SystemItem(kind, distro, name, arch, version string) timeline.Item {
	artifact := timeline.PURL(kind, distro, name, version)
	if arch != "" && strings.Trim(arch, "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" {
		artifact += "?arch=" + arch
	}
	return timeline.Item{Artifact: artifact}
}
