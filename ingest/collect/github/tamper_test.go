package github

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

// TestTampering changes the bytes of the evidence and of the custody log of a
// small case, one after the other, each time another bit: verify sees each.
// PULLTRAIL_SOAK changes every byte, else it is every third.
func TestTampering(t *testing.T) {
	in := begin.Add(1)
	w := newWorld(t, &services.GitHub{Repos: []*services.Repo{{Name: "acme/api", Runs: []*services.Run{run(7, in, attempt(job(1, "a", in)))}}}})
	w.opt.Repos = []string{"acme/api"}
	w.collect()
	if err := w.db.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := timeline.Open(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if v, err := db.Verify(context.Background()); err != nil || v.Worst() != timeline.Good {
		t.Fatalf("untouched: %v, %+v", err, v.Checks)
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "evidence", "*"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files are kept, want 4: %v", len(files), err)
	}
	tried := 0
	for _, name := range append(files, filepath.Join(w.dir, "custody.jsonl")) {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range data {
			if i%3 != 0 && os.Getenv("PULLTRAIL_SOAK") == "" {
				continue
			}
			put(t, f, i, c^1<<(i/3%8))
			if v, err := db.Verify(context.Background()); err != nil || v.Worst() != timeline.Mismatch {
				t.Errorf("%s: byte %d of %d was changed, and verify says %s, %v", filepath.Base(name), i, len(data), v.Worst(), err)
			}
			put(t, f, i, c)
			tried++
		}
		f.Close()
	}
	t.Logf("%d bytes", tried)
	if v, err := db.Verify(context.Background()); err != nil || v.Worst() != timeline.Good {
		t.Errorf("put back: %v, %+v", err, v.Checks)
	}
}

func put(t *testing.T, f *os.File, at int, c byte) {
	t.Helper()
	if _, err := f.WriteAt([]byte{c}, int64(at)); err != nil {
		t.Fatal(err)
	}
}
