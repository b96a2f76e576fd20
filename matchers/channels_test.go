package matchers

import (
	"strings"
	"testing"
)

// TestKnownChannel wants every channel of the library in the list of words.
func TestKnownChannel(t *testing.T) {
	for _, id := range Library() {
		inc, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, ch := range inc.Channels {
			if !strings.Contains(ch.Name, " ") && !KnownChannel(ch.Name) {
				t.Errorf("%s: channel %s is not in channelWords", id, ch.Name)
			}
		}
	}
	for word, near := range map[string]string{"docker": "dockerhub", "pypl": "pypi", "pip": "pypi", "docker.io": "dockerhub", "xyz": "", "ghcr.io": "ghcr", "hub": ""} {
		if KnownChannel(word) {
			t.Errorf("%s is no channel", word)
		}
		if got := NearChannel(word); got != near {
			t.Errorf("%s: near %q, want %q", word, got, near)
		}
	}
}
