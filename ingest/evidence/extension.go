package evidence

import (
	"net/url"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// CutExtension splits the name of an editor extension into publisher and name:
// nrwl.angular-console. Neither has a dot, and case makes no difference.
// https://code.visualstudio.com/api/references/extension-manifest
func CutExtension(id string) (publisher, name string, ok bool) {
	publisher, name, ok = strings.Cut(id, ".")
	return publisher, name, ok && isExtensionWord(publisher) && isExtensionWord(name)
}

func isExtensionWord(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '-' || c == '_' && i > 0 || c == '+' && i > 0) {
			return false
		}
	}
	return s != "" && s[0] != '-' && len(s) <= 128
}

// extensionPlatforms are what an extension can be built for.
// https://code.visualstudio.com/api/working-with-extensions/publishing-extension#platformspecific-extensions
var extensionPlatforms = []string{
	"win32-x64", "win32-ia32", "win32-arm64", "linux-x64", "linux-arm64", "linux-armhf", "alpine-x64", "alpine-arm64",
	"darwin-x64", "darwin-arm64", "web", "universal", "undefined", "unknown",
}

// ExtensionItem is an extension of an editor at a version, "" for none. The
// platform that it was built for is a qualifier; ok is false when name or version
// can be none.
func ExtensionItem(id, version, platform string) (it timeline.Item, ok bool) {
	publisher, name, ok := CutExtension(id)
	if !ok || version != "" && !IsSemver(version) {
		return it, false
	}
	it.Artifact = timeline.PURL(timeline.VSCodeExtension, publisher, name, version)
	if version != "" && slices.Contains(extensionPlatforms[:10], platform) {
		it.Artifact += "?platform=" + url.QueryEscape(platform)
	}
	return it, true
}

// ExtensionFolder reads what an editor calls the folder of an extension, and
// what its file is called:
//
//	nrwl.angular-console-18.95.0
//	redhat.java-1.30.0-linux-x64
//	13xforever.language-x86-64-assembly-3.1.4
func ExtensionFolder(folder string) (it timeline.Item, ok bool) {
	for i := 1; i+1 < len(folder) && len(folder) <= 300; i++ {
		if folder[i] != '-' || !isDigit(folder[i+1]) {
			continue
		}
		version, platform := folder[i+1:], ""
		for _, p := range extensionPlatforms {
			if rest, cut := strings.CutSuffix(version, "-"+p); cut {
				version, platform = rest, p
			} else if rest, cut := strings.CutSuffix(version, "@"+p); cut {
				version, platform = rest, p
			}
		}
		if IsSemver(version) {
			return ExtensionItem(folder[:i], version, platform)
		}
	}
	return it, false
}

// JenkinsPlugin is a plugin of Jenkins at a version, "" for none. There is no
// type of package URL for them: it goes by its id. ok is false when id or version
// can be none.
// https://www.jenkins.io/doc/developer/publishing/requesting-hosting/
func JenkinsPlugin(id, version string) (it timeline.Item, ok bool) {
	if !IsDistName(id) || len(id) > 128 || version != "" && !isPluginVersion(version) {
		return it, false
	}
	return timeline.Item{Artifact: timeline.PURL(timeline.JenkinsPlugin, "", id, version)}, true
}

// isPluginVersion knows 1.34, 2.0.13-829.vc72453fa_1c16, 185.v303dc7c645f9.
func isPluginVersion(s string) bool {
	if s == "" || len(s) > 128 || !isDigit(s[0]) {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '.' || c == '-' || c == '_' || c == '+') {
			return false
		}
	}
	return true
}
