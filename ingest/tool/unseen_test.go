package tool

import (
	"maps"
	"slices"
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

// TestMayNameTask holds the quick look to the thorough one.
func TestMayNameTask(t *testing.T) {
	words := slices.Concat(taskStems[:], slices.Collect(maps.Keys(taskWords)), slices.Collect(maps.Keys(taskPrograms)))
	found := 0
	for _, w := range words {
		for _, file := range []string{w + ".py", "tools/" + w + ".py", "a/" + strings.ToUpper(w) + ".py", `a\` + w + "_x.py", "x/pre-" + w + ".py", "x/pre" + w + "s.py", "ci/" + w + ".py", ".ci/test.py"} {
			if namesTask(file) {
				if found++; !mayNameTask([]byte(file)) {
					t.Errorf("%s names a task, and the quick look passes over it", file)
				}
			}
		}
	}
	if found < 3*len(words) || mayNameTask([]byte("tests/unit/test_window.py")) {
		t.Errorf("%d files of %d words name a task; the quick look stops at all", found, len(words))
	}
}

// TestExecutes finds what the exec of npm's kin runs, which fetches nothing.
func TestExecutes(t *testing.T) {
	for line, want := range map[string]string{
		"pnpm exec pip install -q litellm":        "pip install -q litellm",
		"pnpm --filter web exec -- ./ci/setup.sh": "./ci/setup.sh",
		"yarn workspace web exec pip install x":   "pip install x",
		"pnpm dlx create-app":                     "",
		"yarn":                                    "",
	} {
		words := strings.Fields(line)
		if got := strings.Join(behind(words[0], words[1:]), " "); got != want {
			t.Errorf("%s runs %q, want %q", line, got, want)
		}
	}
	if got := behind("bun", []string{"exec", "pip install -q litellm"}); len(got) != 2 || got[0] != "eval" {
		t.Errorf("the script of bun exec is %q", got)
	}
}
