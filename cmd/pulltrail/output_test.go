package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestLostOutput: what could not be printed is a failure, and is said once.
func TestLostOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("pip.log", []byte("Successfully installed idna-3.10\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(out io.Writer, words ...string) (int, string) {
		var complaint bytes.Buffer
		return run(t.Context(), append(words, "--case", filepath.Join(".", "case")), strings.NewReader(""), out, &complaint), complaint.String()
	}
	for _, words := range [][]string{
		{"ingest", "pip.log"},
		{"timeline"},
		{"match", "litellm-1.107.0"},
		{"coverage", "litellm-1.107.0"},
		{"incidents"},
		{"formats"},
		{"verify"},
		{"state", "host:a", "no-docker", "--by", "mia"},
		{"sql", "SELECT 1"},
		{"ingest", "pip.log", "--json"},
	} {
		if code, said := ask(fullDisk{}, words...); code != exitFailure || strings.Count(said, syscall.ENOSPC.Error()) != 1 {
			t.Errorf("%q: exit %d, %q", words, code, said)
		}
	}
	if code, said := ask(io.Discard, "ingest", "pip.log"); code != exitOK {
		t.Errorf("exit %d, %q", code, said)
	}
}
