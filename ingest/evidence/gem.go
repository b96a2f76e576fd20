package evidence

import (
	"net/url"
	"strings"

	"pulltrail/timeline"
)

// GemItem is a version of a gem. Its platform is a qualifier unless it is ruby,
// the default, or of more than one word; ok is false when name or version can
// be none.
// https://guides.rubygems.org/specification-reference/
func GemItem(name, version, platform string) (it timeline.Item, ok bool) {
	if !IsDistName(name) || version == "" || !isDigit(version[0]) ||
		strings.Trim(version, "0123456789.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return it, false
	}
	it.Artifact = timeline.PURL("gem", "", name, version)
	if platform != "" && platform != "ruby" && !strings.Contains(platform, " ") {
		it.Artifact += "?platform=" + url.QueryEscape(platform)
	}
	return it, true
}
