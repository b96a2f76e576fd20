package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHears holds the quick looks at a line to the thorough ones: what these
// know, those let through.
func TestHears(t *testing.T) {
	lines := []string{
		"make[1]: Entering directory '/srv'", "$PYTHON -m pip install x", "PIP_QUIET=1 pip install x", "./scripts/ci.sh all", "sub/ci.sh", "tools/setup_deps.py -q",
		"/usr/local/bin/anything", `.\build.ps1`, "npx.exe eslint", "[ -d venv ]", ". venv/bin/activate", "caf\u00e9\u00a0x", "python3.12 -m build", "go build ./...",
	}
	for name := range recipePrograms {
		lines = append(lines, name+" x")
	}
	samples, err := filepath.Glob("../../testdata/formats/*/*.golden")
	if err != nil || len(samples) == 0 {
		t.Fatal(samples, err)
	}
	for _, golden := range samples {
		data, err := os.ReadFile(strings.TrimSuffix(golden, ".golden"))
		if err != nil {
			continue // a folder
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			lines = append(lines, line, strings.TrimLeft(line, " "))
		}
	}
	known := 0
	for _, l := range lines {
		if isRecipe(l) {
			known++
			if !beginsRecipe([]byte(l)) {
				t.Errorf("not heard, and a recipe: %q", l)
			}
		}
		if p := (&pip{}); bytes.Contains([]byte(l), []byte(", but you have ")) && strings.HasSuffix(strings.TrimSpace(l), ".") && !p.Hears([]byte(l)) {
			t.Errorf("not heard, and a conflict: %q", l)
		}
	}
	if known < len(recipePrograms) {
		t.Errorf("only %d recipes in %d lines", known, len(lines))
	}
}

// TestProgressIsNoRecipe: what cmake says of its progress begins like a test of
// a shell.
func TestProgressIsNoRecipe(t *testing.T) {
	for line, want := range map[string]bool{
		"[ 50%] Building CXX object src/billing/CMakeFiles/flow.dir/writer.cpp.o": false,
		"[       OK ] digest_test.queue_region_handles_runner (939 ms)":           false,
		"[ -d venv ]; make venv":                                              true,
		"[100%] Linking CXX executable api":                                   false,
		"[ -d venv ] || python3 -m venv venv":                                 true,
		"/usr/bin/c++ -DNDEBUG -I/srv/include -o flow.o -c /srv/src/flow.cpp": true,
	} {
		if got := isRecipe(line); got != want {
			t.Errorf("%q is a recipe: %t", line, got)
		}
	}
	for w := range proseWords {
		if len(w) > longestProse {
			t.Errorf("longestProse is too short for %q", w)
		}
	}
}
