package ingest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// TestTampered changes every byte of the kept evidence and of the custody log of
// the smallest case, one after the other, each time another bit: verify sees each.
func TestTampered(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "a.log")
	if err := os.WriteFile(log, []byte("Successfully installed litellm-1.107.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := timeline.Create(filepath.Join(dir, "case"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Run(context.Background(), db, []string{log}, ingest.Options{Parser: "test", Command: "test", Keep: true}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = timeline.Open(filepath.Join(dir, "case")); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	worst := func() timeline.Outcome {
		v, err := db.Verify(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return v.Worst()
	}
	kept, err := filepath.Glob(filepath.Join(dir, "case", "evidence", "*"))
	if err != nil || len(kept) != 1 || worst() != timeline.Good {
		t.Fatalf("kept %v, %v, verify says %s", kept, err, worst())
	}
	for _, name := range append(kept, filepath.Join(dir, "case", "custody.jsonl")) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		put := func(at int, c byte) {
			if _, err := f.WriteAt([]byte{c}, int64(at)); err != nil {
				t.Fatal(err)
			}
		}
		for i, c := range data {
			put(i, c^1<<(i%8))
			if got := worst(); got != timeline.Mismatch {
				t.Errorf("%s: byte %d of %d was changed, and verify says %s", filepath.Base(name), i, len(data), got)
			}
			put(i, c)
		}
		// Also what is cut off, or added.
		for _, size := range []int64{int64(len(data)) - 1, int64(len(data)) + 1} {
			if err := f.Truncate(size); err != nil {
				t.Fatal(err)
			}
			if got := worst(); got != timeline.Mismatch {
				t.Errorf("%s: it has %d bytes in place of %d, and verify says %s", filepath.Base(name), size, len(data), got)
			}
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := worst(); got != timeline.Good {
		t.Errorf("put back: verify says %s", got)
	}
}
