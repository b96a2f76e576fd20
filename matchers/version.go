package matchers

import (
	"slices"
	"strings"

	"pulltrail/timeline"
)

// versionSet is the bad versions of one package, and the ones stated to be
// safe, read by the rules of its ecosystem: PEP 440 for pypi, Semantic
// Versioning for npm and extensions of editors, equal text for the rest. Versions are never compared as
// substrings.
type versionSet struct {
	scheme versionScheme
	any    bool // "*": bad by time, not by version
	bad    []versionEntry
	safe   []versionEntry
}

// versionEntry is one entry of a versions or safe list: one version, or the
// clauses of a range.
type versionEntry struct {
	text    string
	version parsedVersion
	clauses []clause // of a range; empty for one version
}

// clause is one comparison of a range, such as >=1.95.6.
type clause struct {
	op    string // <= >= < >
	bound parsedVersion
}

// parsedVersion is a version that its ecosystem understands; nil is none.
type parsedVersion interface {
	// compare orders two versions of one scheme. Equal spellings are 0.
	compare(parsedVersion) int
}

// versionScheme is what an ecosystem knows about versions.
type versionScheme interface {
	// parse returns nil for what is no version.
	parse(text string) parsedVersion
	// equal compares two versions whose spelling may differ.
	equal(a, b string) bool
	// public strips what was added to a release locally; local tells whether
	// there was something.
	public(text string) (stripped string, local bool)
	// spec reads the text of a requirement; ok is false for a text that says
	// nothing about versions that this scheme understands.
	spec(text string) (admits func(version string) bool, ok bool)
	// above returns a version just above another, to try an open bound.
	above(version string) string
}

func schemeOf(kind string) versionScheme {
	switch kind {
	case "pypi":
		return pep440{}
	case "npm", timeline.VSCodeExtension:
		return semverScheme{}
	}
	if released[kind] {
		return releaseVersions{kind: kind}
	}
	return plainVersions{}
}

// newVersionSet builds the set of a package of the purl type kind from the
// versions and safe lists of an incident.
func newVersionSet(kind string, versions, safe []string) *versionSet {
	s := &versionSet{scheme: schemeOf(kind)}
	for _, v := range versions {
		if v == "*" {
			s.any = true
			continue
		}
		s.bad = append(s.bad, s.entry(v))
	}
	for _, v := range safe {
		s.safe = append(s.safe, s.entry(v))
	}
	return s
}

func (s *versionSet) entry(text string) versionEntry {
	e := versionEntry{text: text}
	if !isRange(text) {
		e.version = s.scheme.parse(text)
		return e
	}
	for part := range strings.SplitSeq(text, ",") {
		op, bound := cutOperator(strings.TrimSpace(part))
		e.clauses = append(e.clauses, clause{op, s.scheme.parse(bound)})
	}
	return e
}

func isRange(text string) bool { return strings.HasPrefix(text, "<") || strings.HasPrefix(text, ">") }

// operators of ranges, longest first.
var operators = []string{"===", "==", "~=", "!=", "<=", ">=", "<", ">", "=", "^", "~"}

// cutOperator splits a clause such as ">= 1.2" into operator and version.
func cutOperator(text string) (op, version string) {
	for _, o := range operators {
		if rest, ok := strings.CutPrefix(text, o); ok {
			return o, strings.TrimSpace(rest)
		}
	}
	return "", text
}

// Any reports whether every version counts inside the window: the release is
// bad by time, not by its number.
func (s *versionSet) Any() bool { return s.any }

// Exact reports whether version is a listed bad one.
func (s *versionSet) Exact(version string) bool {
	return !s.Safe(version) && s.listed(s.bad, version)
}

// Safe reports whether version is stated to be safe.
func (s *versionSet) Safe(version string) bool { return s.listed(s.safe, version) }

// Local reports whether version may be a bad one under a name of its own: a
// local version (1.107.0+acme.1) of a bad release, whose code nobody knows, or
// a text that cannot be compared with a listed range.
func (s *versionSet) Local(version string) bool {
	if version == "" || s.Exact(version) || s.Safe(version) {
		return false
	}
	if base, local := s.scheme.public(version); local {
		return s.Exact(base)
	}
	return s.scheme.parse(version) == nil && slices.ContainsFunc(s.bad, func(e versionEntry) bool { return len(e.clauses) > 0 })
}

func (s *versionSet) listed(entries []versionEntry, version string) bool {
	if version == "" {
		return false
	}
	v := s.scheme.parse(version)
	_, local := s.scheme.public(version)
	if _, ok := s.scheme.(releaseVersions); ok {
		local = false // ranges are of the project's versions
	}
	return slices.ContainsFunc(entries, func(e versionEntry) bool {
		if len(e.clauses) > 0 {
			return v != nil && !local && e.holds(v)
		}
		return s.scheme.equal(version, e.text)
	})
}

func (e versionEntry) holds(v parsedVersion) bool {
	for _, c := range e.clauses {
		if c.bound == nil {
			return false
		}
		n := v.compare(c.bound)
		if c.op == "<=" && n > 0 || c.op == ">=" && n < 0 || c.op == "<" && n >= 0 || c.op == ">" && n <= 0 {
			return false
		}
	}
	return true
}

// Admits reports whether a requirement with this text (">=1.80,!=1.107.0",
// "~=1.107", "^4.1.0", "latest", "" for none) could select a bad version. It
// is careful: what it cannot read, it admits.
func (s *versionSet) Admits(spec string) bool {
	admits, ok := s.scheme.spec(spec)
	if !ok {
		return s.any || len(s.bad) > 0
	}
	if s.any && !s.onlySafe(spec) {
		return true
	}
	for _, e := range s.bad {
		if len(e.clauses) == 0 {
			if !s.Safe(e.text) && admits(e.text) {
				return true
			}
		} else if s.meet(e, spec, admits) {
			return true
		}
	}
	return false
}

// onlySafe reports whether spec pins one version that is stated to be safe.
func (s *versionSet) onlySafe(spec string) bool {
	_, version := cutOperator(strings.TrimSpace(spec))
	return s.Safe(version)
}

// meet tries whether a bad range and a requirement have a version in common:
// two intervals that meet do so at one of their bounds or just above it.
func (s *versionSet) meet(e versionEntry, spec string, admits func(string) bool) bool {
	for part := range strings.FieldsFuncSeq(e.text+","+spec, func(r rune) bool { return strings.ContainsRune(" ,|;()", r) }) {
		_, bound := cutOperator(part)
		bound = strings.TrimSuffix(bound, ".*")
		for _, v := range []string{bound, s.scheme.above(bound), "0.0.0"} {
			if s.Safe(v) {
				continue
			}
			if p := s.scheme.parse(v); p != nil && e.holds(p) && admits(v) {
				return true
			}
		}
	}
	return false
}
