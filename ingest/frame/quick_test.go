package frame

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestQuickLooks holds the quick looks at a line to the thorough ones: what these
// know, those let through.
func TestQuickLooks(t *testing.T) {
	samples, err := filepath.Glob("../../testdata/formats/*/*")
	if err != nil || len(samples) == 0 {
		t.Fatal(samples, err)
	}
	prompt, tool := 0, 0
	for _, path := range samples {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // a folder
		}
		for line := range bytes.Lines(data) {
			line = bytes.TrimRight(line, "\r\n")
			if prompts().Match(line[:min(len(line), 512)]) {
				if prompt++; !endsPrompt(line) {
					t.Errorf("a prompt, and not seen: %q", line)
				}
			}
			if toolLines().Match(line) {
				if tool++; !mentionsTool(line) {
					t.Errorf("a line of a tool, and not seen: %q", line)
				}
			}
		}
	}
	if prompt < 10 || tool < 100 {
		t.Errorf("%d prompts and %d lines of tools in all samples: the test proves nothing", prompt, tool)
	}
}
