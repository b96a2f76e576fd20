package tool

import (
	"strings"
	"testing"
)

// TestMakeAsk tells what runs a recipe from what says something of one: the same
// letter is verbose to just and the version to make.
func TestMakeAsk(t *testing.T) {
	for line, runs := range map[string]bool{
		"just -v install": true, "just install": true, "just -q install": true, "just --list": false, "just -l": false, "just -V": false, "just -s install": false, "just -n install": false,
		"make install": true, "make -s install": true, "make -v": false, "make install -n": false, "make -q": false,
	} {
		words := strings.Fields(line)
		if got := makeAsk(words[0], words[1:]) != nil; got != runs {
			t.Errorf("%s: runs a recipe: %v, want %v", line, got, runs)
		}
	}
}
