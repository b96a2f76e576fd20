package ingest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// TestDamage reads logs as they arrive: wrapped, coloured, cut in pieces, and
// compressed in pieces that are not whole.
func TestDamage(t *testing.T) {
	const installed = "Successfully installed acme-trace-1.4.2 aiohttp-3.9.0 annotated-types-0.7.0 litellm-1.107.0\n"
	wrapped := installed[:86] + "\r\n" + installed[86:]
	long := strings.Replace(installed, "aiohttp-3.9.0", strings.Repeat("aiohttp-3.9.0 ", 1300), 1)
	two := slices.Concat(packed(t, "Collecting acme-trace\n"), packed(t, installed))
	for _, c := range []struct {
		about string
		data  []byte
		state timeline.State
		found bool
	}{
		{"wrapped in the middle of a version, UTF-16", wide(wrapped), timeline.Read, true},
		{"a colour inside a version", []byte(strings.Replace(installed, "1.107.0", "1.\x1b[1m107\x1b[0m.0", 1)), timeline.Read, true},
		{"pieces of 16 kB", inPieces(t, long), timeline.Read, true},
		{"two members of gzip", two, timeline.Read, true},
		{"the second one without its end", two[:len(two)-12], timeline.Partial, true},
		{"the second one cut", two[:len(two)-40], timeline.Partial, false},
		{"cut inside the last line", []byte(installed[:80]), timeline.Read, false},
	} {
		t.Run(c.about, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "x.log")
			check(os.WriteFile(path, c.data, 0o600))
			db, err := timeline.Create(filepath.Join(dir, "case"))
			check(err)
			defer db.Close()
			res, err := ingest.Run(t.Context(), db, []string{path}, ingest.Options{})
			check(err)
			found := false
			check(db.Timeline(timeline.Filter{}, func(f timeline.Fact) error {
				found = found || f.Action == timeline.Install && f.Item.Artifact == "pkg:pypi/litellm@1.107.0"
				if v := timeline.Split(f.Item.Artifact); v.Name == "litellm" && v.Version != "" && v.Version != "1.107.0" {
					t.Errorf("half a version is another one: %s", f.Item.Artifact)
				}
				return nil
			}))
			if got := res.Files[0].State; got != c.state || found != c.found {
				t.Errorf("%s, found %v; want %s, found %v (%s)", got, found, c.state, c.found, res.Files[0].Why)
			}
		})
	}
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	check(err)
	check(w.Close())
	return b.Bytes()
}

// wide is text as PowerShell writes it.
func wide(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// inPieces is a line as Docker's daemon cuts it.
func inPieces(t *testing.T, text string) []byte {
	t.Helper()
	var out []byte
	for len(text) > 0 {
		n := min(16<<10, len(text))
		quoted, err := json.Marshal(text[:n])
		check(err)
		out = fmt.Appendf(out, `{"log":%s,"stream":"stdout","time":"2026-10-21T12:00:00.1Z"}`+"\n", quoted)
		text = text[n:]
	}
	return out
}
