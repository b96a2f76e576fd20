package matchers

import (
	"strings"

	"github.com/Masterminds/semver/v3"
)

// semverScheme is the scheme of npm packages
// (https://github.com/npm/node-semver#ranges).
type semverScheme struct{}

type semVersion struct{ *semver.Version }

func (v semVersion) compare(o parsedVersion) int { return v.Version.Compare(o.(semVersion).Version) }

// parse reads a whole version, as npm does: with an optional = or v before it.
func (semverScheme) parse(text string) parsedVersion {
	v, err := semver.StrictNewVersion(strings.TrimLeft(strings.TrimSpace(text), "=v"))
	if err != nil {
		return nil
	}
	return semVersion{v}
}

// equal ignores build metadata, which npm does not keep.
func (s semverScheme) equal(a, b string) bool {
	v, w := s.parse(a), s.parse(b)
	if v == nil || w == nil {
		return a == b
	}
	return v.compare(w) == 0
}

func (semverScheme) public(text string) (string, bool) { return text, false }

func (s semverScheme) above(version string) string {
	v, err := semver.NewVersion(version)
	if err != nil {
		return version
	}
	return v.IncPatch().String()
}

// spec reads npm ranges. Dist-tags (latest), aliases, addresses and workspace
// references say nothing about versions.
func (s semverScheme) spec(text string) (func(string) bool, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.Contains(text, ":") {
		return nil, false
	}
	c, err := semver.NewConstraint(text)
	if err != nil {
		return nil, false
	}
	c.IncludePrerelease = true // careful: npm takes some pre-releases, and --pre all
	return func(version string) bool {
		v := s.parse(version)
		return v == nil || c.Check(v.(semVersion).Version)
	}, true
}

// plainVersions is the scheme of ecosystems whose rules are not read here:
// versions are equal when their text is, but for a leading v. Distribution
// revisions and epochs of deb and rpm are part of the text.
type plainVersions struct{}

func (plainVersions) parse(text string) parsedVersion {
	v, err := semver.NewVersion(text)
	if err != nil {
		return nil
	}
	return semVersion{v}
}

func (plainVersions) equal(a, b string) bool { return trimV(a) == trimV(b) }

func (plainVersions) public(text string) (string, bool) { return text, false }

func (plainVersions) above(version string) string { return semverScheme{}.above(version) }

// spec reads a whole version alone; anything else is not understood: v1 may
// be a name that moves.
func (p plainVersions) spec(text string) (func(string) bool, bool) {
	op, version := cutOperator(strings.TrimSpace(text))
	if op != "" && op != "=" && op != "==" || (semverScheme{}).parse(version) == nil {
		return nil, false
	}
	return func(v string) bool { return p.equal(v, version) }, true
}

// releaseVersions are those of distributions, which put a number of their own
// behind the project's. A listed version without one stands for the first build
// of it: rpm, pacman and apk know no package without. What was built again may be
// repaired, and what Debian builds was made elsewhere, so that nobody knows.
//
//	0.69.4 is 0.69.4-1.el9 and may be 0.69.4-2, but 5.6.1-1 is not 5.6.1-2, and 5.6.1 not 5.6.1+really5.4.5-1
type releaseVersions struct {
	plainVersions
	kind string
}

var released = map[string]bool{"deb": true, "rpm": true, "apk": true, "alpm": true}

func (r releaseVersions) equal(version, listed string) bool {
	if r.plainVersions.equal(version, listed) {
		return true
	}
	first, _, _ := strings.Cut(version[strings.LastIndexByte(version, '-')+1:], ".")
	return r.kind != "deb" && (first == "1" || first == "r0") && !strings.Contains(listed, "-") && r.plainVersions.equal(upstream(r.kind, version), listed)
}

// public is the project's version.
func (r releaseVersions) public(text string) (string, bool) {
	base := upstream(r.kind, text)
	return base, base != text
}

// trimV takes the v off v1.2.3.
func trimV(version string) string {
	if rest, ok := strings.CutPrefix(version, "v"); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		return rest
	}
	return version
}
