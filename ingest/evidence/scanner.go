package evidence

import (
	"strings"

	"pulltrail/timeline"
)

// trivyKinds are Trivy's types of packages, and whether they are in place: the
// others are read from lock files.
// https://trivy.dev/latest/docs/coverage/language/
// https://trivy.dev/latest/docs/coverage/os/
var trivyKinds = map[string]struct {
	kind  string
	place bool
}{
	"python-pkg": {"pypi", true}, "pip": {"pypi", false}, "pipenv": {"pypi", false}, "poetry": {"pypi", false}, "uv": {"pypi", false}, "pylock": {"pypi", false},
	"node-pkg": {"npm", true}, "npm": {"npm", false}, "yarn": {"npm", false}, "pnpm": {"npm", false}, "bun": {"npm", false},
	"gemspec": {"gem", true}, "bundler": {"gem", false}, "gobinary": {"golang", true}, "gomod": {"golang", false},
	"rustbinary": {"cargo", true}, "cargo": {"cargo", false}, "conda-pkg": {"conda", true}, "conda-environment": {"conda", false},
	"jar": {"maven", true}, "pom": {"maven", false}, "gradle": {"maven", false}, "sbt": {"maven", false},
	"composer": {"composer", false}, "composer-vendor": {"composer", true}, "nuget": {"nuget", false}, "dotnet-core": {"nuget", true}, "packages-props": {"nuget", false},
	"debian": {"deb", true}, "ubuntu": {"deb", true}, "alpine": {"apk", true}, "wolfi": {"apk", true}, "chainguard": {"apk", true},
	"redhat": {"rpm", true}, "centos": {"rpm", true}, "rocky": {"rpm", true}, "alma": {"rpm", true}, "oracle": {"rpm", true}, "amazon": {"rpm", true},
	"fedora": {"rpm", true}, "photon": {"rpm", true}, "azurelinux": {"rpm", true}, "cbl-mariner": {"rpm", true},
	"suse linux enterprise server": {"rpm", true}, "opensuse-leap": {"rpm", true}, "opensuse.leap": {"rpm", true},
}

// TrivyKind is what Trivy calls a type of packages: the purl type, and whether
// such packages are in place, not only asked for by a lock file.
func TrivyKind(name string) (kind string, place, ok bool) {
	k, ok := trivyKinds[strings.ToLower(name)]
	return k.kind, k.place, ok
}

// ScannedPackage makes a package of a row that a scanner shows: a Maven package
// is group:name, the Go module is spelt whole, the rest as its registry names it;
// ok is false for what has no such name or version.
func ScannedPackage(kind, name, version string) (it timeline.Item, ok bool) {
	if version == "" || strings.ContainsAny(name+version, " \t|…") || strings.HasSuffix(name, "...") {
		return it, false
	}
	switch kind {
	case "pypi":
		return timeline.Item{Artifact: timeline.PURL("pypi", "", name, version)}, IsDistName(name) && IsVersion(version)
	case "npm":
		return NPMItem(name, version), IsNPMName(name) && IsSemver(version)
	case "nuget":
		return NuGet(name, version)
	case "maven":
		group, artifact, both := strings.Cut(name, ":")
		it, ok = Maven(group, artifact, version)
		return it, ok && both
	case "composer":
		return Composer(name, version)
	case "golang":
		i := strings.LastIndexByte(name, '/')
		return timeline.Item{Artifact: timeline.PURL(kind, name[:max(i, 0)], name[i+1:], version)}, strings.Contains(name, ".") && i > 0
	case "gem":
		return GemItem(name, version, "")
	case "deb":
		return SystemItem(kind, "", name, "", version), IsDebName(name) && IsDebVersion(version)
	}
	return timeline.Item{Artifact: timeline.PURL(kind, "", name, version)}, name != "" && strings.ContainsAny(version, "0123456789")
}
