// Package matchers asks the timeline the questions of an incident. Incidents
// are data files; the package holds no fact of any of them in code.
package matchers

import (
	"pulltrail/timeline"
)

// Incident is one incident file, version 1: what was bad, where and when it was
// served, and what follows from it.
type Incident struct {
	Schema        string
	ID            string
	Title         string
	Kind          string // malicious-release, engine-flaw, vendor-breach
	Aliases       []string
	Published     string
	Summary       string
	References    []string
	Channels      []Channel
	Packages      []Package
	Images        []Image
	Actions       []CIAction
	Indicators    []Indicator
	Complete      Completeness
	ResponseOrder []Step
	Rotation      []Rotation
	NotAffected   []NotAffected
	Disagreements []string
	Unknown       []string
	Hits          []string
	Misses        []string
	Engines       []Engine
	Vendors       []Vendor

	// Revision is the SHA-256 of the file, 64 hex; for an ad-hoc question that
	// of the question.
	Revision string
}

// Cite is what every listed fact carries: where it was read, a note, and
// whether sources contradict each other. A disputed fact never says more than
// possible, and never clears.
type Cite struct {
	Source   Reference
	Note     string
	Disputed bool
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
	Name    string // a base word, and a qualifier after a slash: npm, npm/squawk
	Windows []Window
}

// Package is a package with its bad versions.
type Package struct {
	PURL     string
	Channel  string
	Versions []string // exact, "*", or ranges
	Safe     []string
	Role     string
	Trigger  string
	Files    []PackageFile
	Cite
}

// PackageFile is a file of a bad release. Its citation is the package's when it
// has none of its own; so is that of an ImageDigest.
type PackageFile struct {
	Name   string
	SHA256 string // 64 hex
	Cite
}

// Image is an image repository with its bad tags and digests.
type Image struct {
	Repository string
	Channel    string
	Tags       []string
	MovingTags []string
	Digests    []ImageDigest
	Cite
}

// ImageDigest is a digest of a bad image.
type ImageDigest struct {
	Digest   string
	Role     timeline.Role
	Platform string
	Cite
}

// CIAction is an action repository whose refs were moved.
type CIAction struct {
	Repository  string
	Channel     string
	Refs        []string
	Commits     []string
	SafeCommits []string
	Cite
}

// Indicator is a contact or residue, not a release.
type Indicator struct {
	Type  string
	Value string
	Cite
}

// Completeness says of each kind of evidence whether the lists are whole.
type Completeness struct {
	Versions bool
	Tags     bool
	Digests  bool
	Commits  bool
}

// Step is one step of the response, in order.
type Step struct {
	Step string
	Cite
}

// Rotation is a class of credentials that the release could read.
type Rotation struct {
	Class string
	Scope string // job, container, host, org
	Why   string
	Cite
}

// NotAffected is what the sources state to be unaffected.
type NotAffected struct {
	What string
	Cite
}

// Engine is an affected engine of an engine-flaw incident.
type Engine struct {
	PURL     string
	Affected string
	When     map[string]any
	Fixed    map[string]string
	Checks   []string
	Cite
}

// Vendor is a breached vendor.
type Vendor struct {
	Name    string
	Domains []string
	What    string
	Windows []Window
	Cite
}
