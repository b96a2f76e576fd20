package ingest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// spellings are ways in which the same text reaches a responder.
var spellings = map[string]func(text []byte) []byte{
	"CR LF":              func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) },
	"a mark before it":   func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) },
	"no end of line":     func(b []byte) []byte { return bytes.TrimRight(b, "\n") },
	"UTF-16, compressed": func(b []byte) []byte { return gz(wide(string(b))) },
}

// TestSpellings reads every sample that is one text again, spelled in other
// ways: it must prove the same.
func TestSpellings(t *testing.T) {
	goldens, err := filepath.Glob("../testdata/formats/*/*.golden")
	if err != nil || len(goldens) == 0 {
		t.Fatal(err)
	}
	plain := proved(t, goldens, func(b []byte) []byte { return b })
	for how, spell := range spellings {
		t.Run(how, func(t *testing.T) {
			got := proved(t, goldens, spell)
			for sample, want := range plain {
				if !slices.Equal(got[sample], want) {
					t.Errorf("%s:\n%s", sample, diff(strings.Join(want, ""), strings.Join(got[sample], "")))
				}
			}
		})
	}
}

// proved reads the samples, each spelled anew, into one case, and returns what
// each proves, sorted.
func proved(t *testing.T, goldens []string, spell func([]byte) []byte) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	db, err := timeline.Create(filepath.Join(dir, "case"))
	check(err)
	defer db.Close()
	of, alike := map[string]string{}, map[string][]string{} // folder → sample, flags → paths
	opts := map[string]ingest.Options{}
	for i, golden := range goldens {
		sample := strings.TrimSuffix(golden, ".golden")
		data, err := os.ReadFile(sample)
		if err != nil || !utf8.Valid(data) || bytes.ContainsAny(data, "\x00\r") || bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
			continue // a folder, data, or spelled in its own way
		}
		header, err := os.ReadFile(golden)
		check(err)
		_, opt := flags(t, string(header))
		into := filepath.Join(dir, fmt.Sprint(i))
		check(os.Mkdir(into, 0o700))
		path := filepath.Join(into, filepath.Base(sample))
		check(os.WriteFile(path, spell(data), 0o600))
		of[into] = sample
		alike[fmt.Sprint(opt)] = append(alike[fmt.Sprint(opt)], path)
		opts[fmt.Sprint(opt)] = opt
	}
	for key, paths := range alike {
		_, err := ingest.Run(t.Context(), db, paths, opts[key])
		check(err)
	}
	all := map[string][]string{}
	check(db.Timeline(timeline.Filter{}, func(f timeline.Fact) error {
		sample := of[filepath.Dir(f.Path)]
		all[sample] = append(all[sample], fmt.Sprintf("%s %s %s:%d ref=%s %s\n", f.Action, f.Item.Artifact, filepath.Base(f.Path), f.Line, f.Item.Ref, f.Span))
		return nil
	}))
	for _, lines := range all {
		slices.Sort(lines)
	}
	return all
}
