package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFormatsPage compares FORMATS.md with what 'pulltrail formats' prints: each
// row of the one stands in the other. 'make update' writes the page anew.
func TestFormatsPage(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"formats", "--json"}, nil, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	page := strings.Builder{}
	page.WriteString("# What can be read\n\nThe table that `pulltrail formats` prints. A frame takes one layer off a line and knows when and where;\n" +
		"a tool knows what one line says, in any frame or in none; a document is read whole.\n\n" +
		"| name | shape | what it is | proves | cannot | sample |\n|---|---|---|---|---|---|\n")
	rows := 0
	for line := range strings.Lines(out.String()) {
		var f formatJSON
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		rows++
		cells := []string{fmt.Sprintf("[%s](%s)", f.Name, f.Doc), f.Shape, f.Title, f.Proves, f.Cannot, f.Sample}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		page.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	const path = "../../ingest/FORMATS.md"
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page.String() || rows == 0 {
		t.Errorf("FORMATS.md and 'pulltrail formats' differ ('make update' writes the page anew): %d bytes, want %d", len(got), page.Len())
	}
	text := bytes.Buffer{}
	if code := run(t.Context(), []string{"formats"}, nil, &text, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for line := range strings.Lines(out.String()) {
		var f formatJSON
		_ = json.Unmarshal([]byte(line), &f) // it was read above
		for _, cell := range []string{f.Name, f.Title, f.Proves, f.Cannot, f.Doc, f.Sample} {
			if !strings.Contains(text.String(), cell) {
				t.Errorf("'pulltrail formats' does not say of %s: %s", f.Name, cell)
			}
		}
	}
}
