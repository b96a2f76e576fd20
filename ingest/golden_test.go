package ingest_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

var update = flag.Bool("update", false, "write the goldens anew")

// TestGoldens reads every sample of testdata/formats/<format>/ alone and
// compares the dump of its timeline with <sample>.golden beside it. Lines
// "# subject: …", "# zone: …" and "# covers: …" at the top of a golden are the
// flags of the read.
func TestGoldens(t *testing.T) {
	goldens, err := filepath.Glob("../testdata/formats/*/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	if len(goldens) == 0 {
		t.Fatal("no goldens found")
	}
	for _, golden := range goldens {
		if golden, err = filepath.Abs(golden); err != nil {
			t.Fatal(err)
		}
		format := filepath.Base(filepath.Dir(golden))
		sample := strings.TrimSuffix(golden, ".golden")
		t.Run(format+"/"+filepath.Base(sample), func(t *testing.T) {
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			header, opt := flags(t, string(want))
			got := header + dump(t, sample, opt)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("%s differs (go test ./ingest -run Goldens -update writes it anew):\n%s", golden, diff(string(want), got))
			}
		})
	}
}

// flags reads the header of a golden.
func flags(t *testing.T, golden string) (header string, opt ingest.Options) {
	t.Helper()
	for line := range strings.Lines(golden) {
		if !strings.HasPrefix(line, "# ") {
			break
		}
		header += line
		key, value, _ := strings.Cut(strings.TrimSpace(line[2:]), ": ")
		var err error
		switch key {
		case "subject":
			opt.Subject, err = timeline.ParseSubject(value)
		case "zone":
			opt.Zone, err = time.LoadLocation(value)
		case "covers":
			opt.Covers, err = timeline.ParseSpan(value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return header, opt
}

// dump reads one sample into a new case; paths are relative to its folder.
func dump(t *testing.T, sample string, opt ingest.Options) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(filepath.Dir(sample))
	db, err := timeline.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := ingest.Run(t.Context(), db, []string{filepath.Base(sample)}, opt); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := db.Dump(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// diff prints the lines that only one side has.
func diff(want, got string) string {
	var b strings.Builder
	side := func(mark, a, other string) {
		have := map[string]int{}
		for line := range strings.Lines(other) {
			have[line]++
		}
		for line := range strings.Lines(a) {
			if have[line]--; have[line] < 0 {
				b.WriteString(mark + line)
			}
		}
	}
	side("- ", want, got)
	side("+ ", got, want)
	return b.String()
}
