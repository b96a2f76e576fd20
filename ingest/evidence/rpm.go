package evidence

import (
	"strings"

	"pulltrail/timeline"
)

// NEVRA splits name-[epoch:]version-release.arch of an RPM package; yum of old
// puts the epoch first.
func NEVRA(text string) (timeline.Item, bool) {
	i := strings.LastIndexByte(text, '.')
	if i <= 0 {
		return timeline.Item{}, false
	}
	text, arch := text[:i], text[i+1:]
	epoch := ""
	if n := strings.IndexByte(text, ':'); n > 0 && strings.Trim(text[:n], "0123456789") == "" {
		epoch, text = text[:n+1], text[n+1:]
	}
	release := strings.LastIndexByte(text, '-')
	if release <= 0 {
		return timeline.Item{}, false
	}
	version := strings.LastIndexByte(text[:release], '-')
	if version <= 0 {
		return timeline.Item{}, false
	}
	return RPMItem(text[:version], epoch+text[version+1:], arch)
}

// RPMItem is a package; its epoch is a qualifier
// (https://github.com/package-url/purl-spec).
func RPMItem(name, evr, arch string) (timeline.Item, bool) {
	epoch, version, ok := strings.Cut(evr, ":")
	if !ok {
		epoch, version = "", evr
	}
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._") != "" ||
		!IsDebVersion(strings.ReplaceAll(version, "_", "")) || strings.Trim(epoch, "0123456789") != "" || strings.Trim(arch, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return timeline.Item{}, false
	}
	it := SystemItem("rpm", "", name, arch, version)
	if epoch != "" && epoch != "0" {
		mark := "&"
		if arch == "" {
			mark = "?"
		}
		it.Artifact += mark + "epoch=" + epoch
	}
	return it, true
}
