package evidence

import (
	"strings"

	"pulltrail/timeline"
)

// Composer names a package of Packagist: vendor and name, which know no case.
// https://getcomposer.org/doc/04-schema.md#name
func Composer(name, version string) (timeline.Item, bool) {
	vendor, pkg, ok := strings.Cut(strings.ToLower(name), "/")
	if !ok || !IsDistName(vendor) || !IsDistName(pkg) {
		return timeline.Item{}, false
	}
	return timeline.Item{Artifact: timeline.PURL("composer", vendor, pkg, version)}, true
}
