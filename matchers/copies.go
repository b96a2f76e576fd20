package matchers

import (
	"fmt"
	"path"
	"strings"

	"pulltrail/timeline"
)

// spelledAnew reports whether a tag names one of the listed releases in another
// way: 1.107.0, main-v1.107.0 or v1.107.0-arm64 for v1.107.0. A tag without a
// dot is no release.
func spelledAnew(tag string, listed []string) bool {
	for _, l := range listed {
		release := strings.TrimLeft(strings.ToLower(l), "v")
		if !strings.Contains(release, ".") || strings.Trim(release[:1], "0123456789") != "" {
			continue
		}
		text := strings.ToLower(tag)
		for at := strings.Index(text, release); at >= 0; {
			end := at + len(release)
			before, after := byte('-'), byte('-')
			if at > 0 {
				before = text[at-1]
			}
			if end < len(text) {
				after = text[end]
			}
			if !inVersion(before) && !inVersion(after) {
				return true
			}
			next := strings.Index(text[end:], release)
			if next < 0 {
				break
			}
			at = end + next
		}
	}
	return false
}

// inVersion reports whether a byte beside a version makes it another one:
// 11.107.0, 1.107.0.1.
func inVersion(c byte) bool { return c == '.' || c >= '0' && c <= '9' }

// copied finds the rule of a listed repository that an image may be a copy of:
// its last name and its release are the same, under another path. Moving tags
// say nothing there.
//
//	ghcr.io/acme/litellm:v1.107.0    localhost/litellm:v1.107.0
func (q *question) copied(p timeline.Parts) *imageRule {
	rules := q.imageBases[path.Base(p.Name)]
	if len(rules) == 0 || p.Version == "" {
		return nil
	}
	if own, _ := q.imageRules(p.Name); own != nil {
		return nil
	}
	for _, r := range rules {
		if contains(r.Tags, p.Version) || spelledAnew(p.Version, r.Tags) {
			return r
		}
	}
	return nil
}

// judgeCopy judges an image that may be a copy of a listed one.
func (q *question) judgeCopy(f *timeline.Fact, r *imageRule) judged {
	j := judged{Fact: f, channel: r.Channel, key: "image/" + f.Parts.Name}
	if f.Action == timeline.Contact {
		return j
	}
	j.rule, j.verdict, j.ask = "may-be-a-copy", Possible, true
	j.because = fmt.Sprintf("%s %s, which has the name and the release of %s under another path; nothing says whether it is a copy", verb(f.Action), short(f.Item.Artifact), r.Repository)
	return j
}
