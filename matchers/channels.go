package matchers

import (
	"slices"
	"strings"
)

// channelWords are the words for channels that an inventory may state: those
// of the incidents, and other places that packages and images come from. A
// host without any has "none".
var channelWords = strings.Fields(`
	alpm apk bitrise-step cargo circleci-orb conda deb dockerhub ecr ecr-public gar gcr gem ghcr github-actions
	github-releases go golang hex hosted https-script jenkins-marketplace maven mcr none npm nuget openvsx
	packagist pypi quay rpm source-tarball vscode-marketplace winget`)

// KnownChannel reports whether a word of an inventory names a channel. What a
// misspelt one should say is not known, so it rules nothing out.
func KnownChannel(word string) bool {
	return slices.Contains(channelWords, base(word))
}

// NearChannel returns the channel that a word may have meant, "" for none.
func NearChannel(word string) string {
	if strings.HasPrefix(word, "pip") {
		return "pypi"
	}
	for _, c := range channelWords {
		if len(word) >= 3 && strings.HasPrefix(c, word[:3]) {
			return c
		}
	}
	return ""
}

// stated maps hosts to the channels that the inventory states for them. A host
// with a word that nobody knows is left out: it counts as not stated.
func (c *covers) stated() map[string]map[string]bool {
	here := map[string]bool{}
	for _, ch := range c.m.q.inc.Channels {
		here[ch.Name] = true
	}
	had, unclear := map[string]map[string]bool{}, map[string]bool{}
	for _, row := range c.m.r.inventory {
		if len(row.Channels) > 0 && had[row.Host] == nil {
			had[row.Host] = map[string]bool{}
		}
		for _, ch := range row.Channels {
			had[row.Host][ch], had[row.Host][base(ch)] = true, true
			unclear[row.Host] = unclear[row.Host] || !here[ch] && !KnownChannel(ch)
		}
	}
	for host := range unclear {
		if unclear[host] {
			delete(had, host)
		}
	}
	return had
}
