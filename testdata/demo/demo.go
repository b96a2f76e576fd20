// Package demo holds the evidence of a made-up company, Acme, from 20 to 22
// October 2026, in two halves: "incident", in which LiteLLM 1.107.0 came in by
// several ways, and "complete", in which nothing is missing and nothing came.
// Beside them stands "layers": what lies under Acme's AI feature, a week later.
//
// What pip, nginx and the registry print was written by those tools, of
// harmless stand-ins that carry the names of real packages. Frames and records
// around it are made by the program in make. The logs of engines and gateway are
// written by hand, the rows of the canary by this program, of a stand-in.
package demo

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed complete incident layers
var evidence embed.FS

// Halves are the two halves, each a folder.
var Halves = []string{"incident", "complete"}

// Write writes the evidence below dir, over what stands there.
func Write(dir string) error {
	return fs.WalkDir(evidence, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(path))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755) //nolint:gosec // evidence of a made-up company
		}
		data, err := evidence.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644) //nolint:gosec // evidence of a made-up company
	})
}

// Steps are the command lines of a half, or of the layers, as typed in the folder that Write
// wrote to, without the name of the program.
func Steps(half string) ([][]string, error) {
	text, err := evidence.ReadFile(half + "/steps.txt")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	var steps [][]string
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		steps = append(steps, strings.Fields(line)[1:])
	}
	return steps, nil
}
