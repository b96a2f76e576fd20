// Package matchers asks the timeline the questions of an incident. Incidents
// are data files; the package holds no fact of any of them in code.
package matchers

import (
	"pulltrail/timeline"
)

// Incident is one incident file, version 1: what was bad, where and when it was
// served, and what follows from it.
type Incident struct {
	Schema        string        `yaml:"schema"`
	ID            string        `yaml:"id"`
	Title         string        `yaml:"title"`
	Kind          string        `yaml:"kind"` // malicious-release, engine-flaw, vendor-breach
	Aliases       []string      `yaml:"aliases"`
	Published     string        `yaml:"published"`
	Summary       string        `yaml:"summary"`
	References    []string      `yaml:"references"`
	Channels      []Channel     `yaml:"channels"`
	Packages      []Package     `yaml:"packages"`
	Images        []Image       `yaml:"images"`
	Actions       []CIAction    `yaml:"actions"`
	Indicators    []Indicator   `yaml:"indicators"`
	Complete      Completeness  `yaml:"complete"`
	ResponseOrder []Step        `yaml:"response_order"`
	Rotation      []Rotation    `yaml:"rotation"`
	NotAffected   []NotAffected `yaml:"not_affected"`
	Disagreements []string      `yaml:"disagreements"`
	Unknown       []string      `yaml:"unknown"`
	Hits          []string      `yaml:"hits"`
	Misses        []string      `yaml:"misses"`
	Engines       []Engine      `yaml:"engines"`
	Vendors       []Vendor      `yaml:"vendors"`

	// Revision is the SHA-256 of the file, 64 hex; for an ad-hoc question that
	// of the question.
	Revision string `yaml:"-"`
}

// Cite is what every listed fact carries: where it was read, a note, and
// whether sources contradict each other. A disputed fact never says more than
// possible, and never clears.
type Cite struct {
	Source   Reference `yaml:"source"`
	Note     string    `yaml:"note"`
	Disputed bool      `yaml:"disputed"`
}

// Reference is an index into references, or a URL.
type Reference struct {
	Index int
	URL   string // "" when Index counts
}

// Window is an interval in which a channel served the release, UTC. To is
// inclusive and already widened to its precision: 14:20 to the minute ends at
// 14:20:59.999999999. Unknown ends are timeline.Beginning and
// timeline.Forever.
type Window struct {
	From, To  int64
	Precision string // second, minute, hour, day
	Basis     string // stated, outer-bound, derived
	Cite
}

// Channel is where the release was served, and when. Several windows are
// disagreement: the union counts.
type Channel struct {
	Name    string   `yaml:"name"`
	Windows []Window `yaml:"windows"`
	Cite    `yaml:",inline"`
}

// Package is a package with its bad versions.
type Package struct {
	PURL     string        `yaml:"purl"`
	Channel  string        `yaml:"channel"`
	Versions []string      `yaml:"versions"` // exact, "*", or ranges
	Safe     []string      `yaml:"safe"`
	Role     string        `yaml:"role"`
	Trigger  string        `yaml:"trigger"`
	Files    []PackageFile `yaml:"files"`
	Cite     `yaml:",inline"`
}

// PackageFile is a file of a bad release.
type PackageFile struct {
	Name   string `yaml:"name"`
	SHA256 string `yaml:"sha256"`
}

// Image is an image repository with its bad tags and digests.
type Image struct {
	Repository string        `yaml:"repository"`
	Channel    string        `yaml:"channel"`
	Tags       []string      `yaml:"tags"`
	MovingTags []string      `yaml:"moving_tags"`
	Digests    []ImageDigest `yaml:"digests"`
	Cite       `yaml:",inline"`
}

// ImageDigest is a digest of a bad image.
type ImageDigest struct {
	Digest   string        `yaml:"digest"`
	Role     timeline.Role `yaml:"role"`
	Platform string        `yaml:"platform"`
	Cite     `yaml:",inline"`
}

// CIAction is an action repository whose refs were moved.
type CIAction struct {
	Repository  string   `yaml:"repository"`
	Channel     string   `yaml:"channel"`
	Refs        []string `yaml:"refs"`
	Commits     []string `yaml:"commits"`
	SafeCommits []string `yaml:"safe_commits"`
	Cite        `yaml:",inline"`
}

// Indicator is a contact or residue, not a release.
type Indicator struct {
	Type  string `yaml:"type"`
	Value string `yaml:"value"`
	Cite  `yaml:",inline"`
}

// Completeness says of each kind of evidence whether the lists are whole.
type Completeness struct {
	Versions bool `yaml:"versions"`
	Tags     bool `yaml:"tags"`
	Digests  bool `yaml:"digests"`
	Commits  bool `yaml:"commits"`
}

// Step is one step of the response, in order.
type Step struct {
	Step string `yaml:"step"`
	Cite `yaml:",inline"`
}

// Rotation is a class of credentials that the release could read.
type Rotation struct {
	Class string `yaml:"class"`
	Scope string `yaml:"scope"` // job, container, host, org
	Why   string `yaml:"why"`
	Cite  `yaml:",inline"`
}

// NotAffected is what the sources state to be unaffected.
type NotAffected struct {
	What string `yaml:"what"`
	Cite `yaml:",inline"`
}

// Engine is an affected engine of an engine-flaw incident.
type Engine struct {
	PURL     string            `yaml:"purl"`
	Affected string            `yaml:"affected"`
	When     map[string]any    `yaml:"when"`
	Fixed    map[string]string `yaml:"fixed"`
	Checks   []string          `yaml:"checks"`
	Cite     `yaml:",inline"`
}

// Vendor is a breached vendor.
type Vendor struct {
	Name    string   `yaml:"name"`
	Domains []string `yaml:"domains"`
	What    string   `yaml:"what"`
	Windows []Window `yaml:"windows"`
	Cite    `yaml:",inline"`
}
