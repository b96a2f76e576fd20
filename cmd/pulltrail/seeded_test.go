package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pulltrail/testdata/secrets"
)

// TestNoSecretIsPrinted runs every verb that prints what evidence says over a
// log with secrets of all shapes and encodings.
func TestNoSecretIsPrinted(t *testing.T) {
	maker := secrets.NewMaker(5)
	dir := t.TempDir()
	for n, e := range secrets.Encodings {
		var log strings.Builder
		for i, shape := range secrets.Shapes {
			fmt.Fprintf(&log, "+ pip install litellm==1.107.%d # seed%02d %s\n", i, i, shape.Text(maker, e))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.log", n)), e.File(log.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(t.TempDir(), "case")
	shown := 0
	call := func(args ...string) {
		t.Helper()
		var out bytes.Buffer
		run(t.Context(), append(args, "--case", home), strings.NewReader(""), &out, &out)
		for shape, at := range maker.Leaks(out.Bytes()) {
			t.Errorf("pulltrail %s prints a secret (%s): %q", strings.Join(args, " "), shape, out.Bytes()[max(0, at-100):min(out.Len(), at+60)])
		}
		shown += bytes.Count(out.Bytes(), []byte("seed"))
	}
	call("ingest", dir, "--subject", "host:prod-3")
	for _, form := range [][]string{nil, {"--json"}} {
		for _, verb := range [][]string{
			{"ingest", dir, "--subject", "host:prod-4", "--zone", "UTC"},
			{"timeline"},
			{"explain", "host:prod-3"},
			{"match", "litellm-1.107.0"},
			{"coverage", "litellm-1.107.0"},
			{"verify"},
			{"sql", "SELECT * FROM sources"},
			{"sql", "SELECT * FROM events"},
		} {
			call(append(verb, form...)...)
		}
	}
	for _, report := range []string{"responder", "rotation"} {
		for _, kind := range []string{"html", "md", "csv", "json"} {
			file := filepath.Join(t.TempDir(), "report."+kind)
			call("report", report, "-o", file)
			data, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
			}
			for shape := range maker.Leaks(data) {
				t.Errorf("%s of the report %s holds a secret (%s)", kind, report, shape)
			}
		}
	}
	if shown < 4*len(secrets.Shapes) {
		t.Errorf("%d lines with a secret were shown: too little was tried", shown)
	}
}
