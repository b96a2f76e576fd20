package pkglist

import (
	"regexp"
	"strings"
	"time"

	"pulltrail/timeline"
)

// IsHelmHead reports whether a line is the head of helm list.
func IsHelmHead(line string) bool {
	w := strings.Fields(line)
	return len(w) > 5 && w[0] == "NAME" && w[1] == "NAMESPACE" && w[2] == "REVISION" && w[3] == "UPDATED" && w[4] == "STATUS" && w[5] == "CHART"
}

// helmRow is a release, in which only a chart's app version may be missing.
var helmRow = regexp.MustCompile(`^\S+\s+\S+\s+\d+\s+(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{4} \S+)\s+(\S+)\s+(\S+)(?:\s+\S+)?\s*$`)

// Helm reads a row of helm list: a chart, and when it was installed or changed
// last. One that is still being installed or taken away says nothing.
// https://helm.sh/docs/helm/helm_list/
//
//	litellm	ai	3	2026-10-21 12:04:51.123456789 +0000 UTC	deployed	litellm-0.1.772	v1.107.0
func Helm(row string) (e timeline.Event, ok bool) {
	m := helmRow.FindStringSubmatch(row)
	if m == nil {
		return e, false
	}
	return HelmRelease(m[3], m[2], m[1])
}

// HelmRelease makes an event of a release: its chart with version, its status, and
// when it was changed last.
func HelmRelease(chart, status, updated string) (e timeline.Event, ok bool) {
	name, version, ok := splitChart(chart)
	if !ok {
		return e, false
	}
	if status != "deployed" && status != "superseded" {
		return e, true
	}
	e = timeline.Event{Action: timeline.Present, Items: []timeline.Item{{Artifact: timeline.PURL("helm", "", name, version)}}}
	for _, layout := range [...]string{"2006-01-02 15:04:05.999999999 -0700 MST", time.RFC3339Nano} {
		if t, err := time.Parse(layout, updated); err == nil {
			e.Span = timeline.At(t, updated)
			break
		}
	}
	return e, true
}

// splitChart splits name-version; a name may have hyphens and numbers in it.
func splitChart(text string) (name, version string, ok bool) {
	for i := 1; i+1 < len(text); i++ {
		if text[i] == '-' && chartVersion.MatchString(text[i+1:]) {
			return text[:i], text[i+1:], true
		}
	}
	return "", "", false
}

var chartVersion = regexp.MustCompile(`^v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$`)
