package main

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestMade checks that the evidence is what this program makes. Archives are
// compared by their members: compression may change with the compiler.
func TestMade(t *testing.T) {
	dir := t.TempDir()
	if err := writeAll(dir); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		made, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		kept, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			return err
		}
		if filepath.Ext(name) == ".zip" {
			made, kept = members(t, made), members(t, kept)
		}
		if !bytes.Equal(made, kept) {
			t.Errorf("%s differs: 'go run ./testdata/demo/make testdata/demo' writes it anew", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 20 {
		t.Errorf("%d files were made", n)
	}
}

// members are the names and contents of an archive, one after the other.
func members(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, f := range r.File {
		m, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, f.Name+"\n"...), text...)
	}
	return out
}
