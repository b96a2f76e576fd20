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

// trimV takes the v off v1.2.3.
func trimV(version string) string {
	if rest, ok := strings.CutPrefix(version, "v"); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		return rest
	}
	return version
}
