package ingest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pulltrail/ingest"
	"pulltrail/ingest/evidence"
)

// TestClaimedByOne reads the head of every sample against the claims of the
// whole table: one document at most may claim it, and no frame beside that
// document.
func TestClaimedByOne(t *testing.T) {
	claims := 0
	err := filepath.WalkDir("../testdata/formats", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".golden") {
			return err
		}
		data, err := os.ReadFile(path)
		data = []byte(strings.TrimPrefix(string(data[:min(len(data), 64<<10)]), "\xef\xbb\xbf"))
		if err != nil || !utf8.Valid(data) {
			return err
		}
		h := &evidence.Head{Path: path, Name: filepath.Base(path), Dir: filepath.Base(filepath.Dir(path)), Bytes: data}
		var by []string
		documents := 0
		for _, f := range ingest.Formats {
			claimed := f.Claim != nil && f.Claim(h)
			if len(f.Fields) > 0 {
				claimed = f.ClaimsRecords(h)
			}
			if !claimed {
				continue
			}
			claims++
			by = append(by, f.Name)
			if f.Shape == evidence.DocumentShape {
				documents++
			}
		}
		if documents > 1 || documents > 0 && len(by) > 1 {
			t.Errorf("%s is claimed by %s", path, strings.Join(by, " and by "))
		}
		return nil
	})
	if err != nil || claims == 0 {
		t.Errorf("%d claims, %v", claims, err)
	}
}
