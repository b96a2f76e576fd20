package ingest_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// notReal marks the values of secrets in all samples.
const notReal = "EXAMPLE-NOT-REAL"

// TestNoSecretIsStored reads every sample and looks for the values of their
// secrets in the bytes of the case.
func TestNoSecretIsStored(t *testing.T) {
	samples, err := filepath.Abs("../testdata/formats")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, err := timeline.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Run(t.Context(), db, []string{samples}, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if i := bytes.Index(data, []byte(notReal)); i >= 0 {
			t.Errorf("%s holds the value of a secret: %q", path, data[max(0, i-100):min(len(data), i+40)])
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatal(files, err)
	}
}
