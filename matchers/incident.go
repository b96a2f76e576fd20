// Package matchers asks the timeline the questions of an incident. Incidents
// are data files; the package holds no fact of any of them in code.
package matchers

import (
	"encoding/json"

	"pulltrail/timeline"
)

// Incident is one incident file, version 1: what was bad, where and when it was
// served, and what follows from it.
type Incident struct {
	Schema        string        `json:"schema"`
	ID            string        `json:"id"`
	Title         string        `json:"title"`
	Kind          string        `json:"kind"` // malicious-release, engine-flaw, vendor-breach
	Aliases       []string      `json:"aliases"`
	Published     string        `json:"published"`
	Summary       string        `json:"summary"`
	References    []string      `json:"references"`
	Channels      []Channel     `json:"channels"`
	Packages      []Package     `json:"packages"`
	Images        []Image       `json:"images"`
	Actions       []CIAction    `json:"actions"`
	Indicators    []Indicator   `json:"indicators"`
	Complete      Completeness  `json:"complete"`
	ResponseOrder []Step        `json:"response_order"`
	Rotation      []Rotation    `json:"rotation"`
	NotAffected   []NotAffected `json:"not_affected"`
	Disagreements []string      `json:"disagreements"`
	Unknown       []string      `json:"unknown"`
	Hits          []string      `json:"hits"`
	Misses        []string      `json:"misses"`
	Engines       []Engine      `json:"engines,omitempty"`
	Vendors       []Vendor      `json:"vendors,omitempty"`

	// Revision is the SHA-256 of the file, 64 hex; for an ad-hoc question that
	// of the question.
	Revision string `json:"revision"`
}

// Cite is what every listed fact carries: where it was read, a note, and
// whether sources contradict each other. A disputed fact never says more than
// possible, and never clears.
type Cite struct {
	Source   Reference `json:"source"`
	Note     string    `json:"note,omitempty"`
	Disputed bool      `json:"disputed,omitempty"`
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
	From, To  int64  `json:"-"`
	Precision string `json:"precision"` // second, minute, hour, day
	Basis     string `json:"basis"`     // stated, outer-bound, derived
	Cite
}

// Served is the time from the first to the last moment at which any channel
// served the release, in nanoseconds since 1970 UTC. ok is false when the
// incident does not say both.
func (inc *Incident) Served() (from, to int64, ok bool) {
	from, to = timeline.Forever, timeline.Beginning
	for _, c := range inc.Channels {
		for _, w := range c.Windows {
			from, to = min(from, w.From), max(to, w.To)
		}
	}
	return from, to, from <= to && from != timeline.Beginning && to != timeline.Forever
}

// Channel is where the release was served, and when. Several windows are
// disagreement: the union counts.
type Channel struct {
	Name    string   `json:"name"` // a base word, and a qualifier after a slash: npm, npm/squawk
	Windows []Window `json:"windows"`
}

// Package is a package with its bad versions.
type Package struct {
	PURL     string        `json:"purl"`
	Channel  string        `json:"channel"`
	Versions []string      `json:"versions"` // exact, "*", or ranges
	Safe     []string      `json:"safe,omitempty"`
	Role     string        `json:"role"`    // payload, or puller of one
	Trigger  string        `json:"trigger"` // what runs it: install, import, interpreter-start, start, unknown
	Files    []PackageFile `json:"files,omitempty"`
	Cite
}

// PackageFile is a file of a bad release. Its citation is the package's when it
// has none of its own; so is that of an ImageDigest.
type PackageFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // 64 hex
	Cite
}

// Image is an image repository with its bad tags and digests.
type Image struct {
	Repository string        `json:"repository"`
	Channel    string        `json:"channel"`
	Tags       []string      `json:"tags"`
	MovingTags []string      `json:"moving_tags,omitempty"`
	Digests    []ImageDigest `json:"digests"`
	Cite
}

// ImageDigest is a digest of a bad image.
type ImageDigest struct {
	Digest   string        `json:"digest"`
	Role     timeline.Role `json:"role"`
	Platform string        `json:"platform,omitempty"`
	Cite
}

// CIAction is an action repository whose refs were moved.
type CIAction struct {
	Repository  string   `json:"repository"`
	Channel     string   `json:"channel"`
	Refs        []string `json:"refs"`
	Commits     []string `json:"commits"`
	SafeCommits []string `json:"safe_commits,omitempty"`
	Cite
}

// Indicator is a contact or residue, not a release.
type Indicator struct {
	Type  string `json:"type"` // domain, ip, url, file, sha256, …; a context is for people alone
	Value string `json:"value"`
	Cite
}

// Completeness says of each kind of evidence whether the lists are whole.
type Completeness struct {
	Versions bool `json:"versions"`
	Tags     bool `json:"tags"`
	Digests  bool `json:"digests"`
	Commits  bool `json:"commits"`
}

// Step is one step of the response, in order.
type Step struct {
	Step string `json:"step"`
	Cite
}

// Rotation is a class of credentials that the release could read.
type Rotation struct {
	Class string `json:"class"`
	Scope string `json:"scope"` // job, container, host, org
	Why   string `json:"why"`
	Cite
}

// NotAffected is what the sources state to be unaffected.
type NotAffected struct {
	What string `json:"what"`
	Cite
}

// Engine is an affected engine of an engine-flaw incident.
type Engine struct {
	PURL     string            `json:"purl"`
	Affected string            `json:"affected"` // a range of versions
	When     map[string]any    `json:"when"`     // its configuration: disaggregation, transfer_backends
	Fixed    map[string]string `json:"fixed"`    // transfer backend → first version that is fixed for it
	Checks   []string          `json:"checks"`   // what shows that a node is safe: pool-covers-context
	Cite
}

// Vendor is a breached vendor.
type Vendor struct {
	Name    string   `json:"name"`
	Domains []string `json:"domains"` // none: nobody says how it is to be told
	What    string   `json:"what"`    // was taken from it
	Windows []Window `json:"windows"`
	Cite
}

// MarshalJSON writes a reference as the file does: its number, or its address.
func (r Reference) MarshalJSON() ([]byte, error) {
	if r.URL != "" {
		return json.Marshal(r.URL)
	}
	return json.Marshal(r.Index)
}

// MarshalJSON writes the ends as RFC 3339 UTC, null when unknown.
func (w Window) MarshalJSON() ([]byte, error) {
	end := func(ns int64) *string {
		if ns == timeline.Beginning || ns == timeline.Forever {
			return nil
		}
		s := timeline.FormatTime(ns)
		return &s
	}
	return json.Marshal(struct {
		From      *string `json:"from"`
		To        *string `json:"to"`
		Precision string  `json:"precision"`
		Basis     string  `json:"basis"`
		Cite
	}{end(w.From), end(w.To), w.Precision, w.Basis, w.Cite})
}
