package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// FuzzPipeline reads any bytes as a file and asks what must hold whatever they
// are: every byte is accounted for; every event names a subject and a place
// inside the source, with a time that does not end before it starts and
// artifacts that the notation can write and read back; reading them a second
// time changes nothing.
func FuzzPipeline(f *testing.F) {
	samples, err := filepath.Glob("../testdata/formats/*/*.golden")
	if err != nil || len(samples) == 0 {
		f.Fatal(samples, err)
	}
	for _, golden := range samples {
		if data, err := os.ReadFile(strings.TrimSuffix(golden, ".golden")); err == nil && len(data) < 8<<10 { // else a folder
			f.Add(data)
		}
	}
	f.Add(zipOf(file{"a.log", []byte(installed)}))
	f.Add(gz(tarOf(file{"a.log", []byte(installed)})))
	dir := f.TempDir()
	cases := 0
	f.Fuzz(func(t *testing.T, data []byte) {
		cases++
		home := filepath.Join(dir, fmt.Sprint(os.Getpid(), "-", cases))
		check(os.MkdirAll(home, 0o700))
		defer os.RemoveAll(home)
		path := filepath.Join(home, "in")
		check(os.WriteFile(path, data, 0o600))
		db, err := timeline.Create(filepath.Join(home, "case"))
		check(err)
		defer db.Close()
		first := readOnce(t, db, path, len(data))
		invariants(t, db, path, len(data))
		if again := readOnce(t, db, path, len(data)); again != first {
			t.Errorf("read a second time the case differs:\n%s", diff(first, again))
		}
	})
}

// readOnce reads a file and returns the dump of the case.
func readOnce(t *testing.T, db *timeline.DB, path string, size int) string {
	t.Helper()
	res, err := ingest.Run(t.Context(), db, []string{path}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := res.Files[0]
	if got.Bytes != int64(size) {
		t.Errorf("%d of %d bytes are accounted for", got.Bytes, size)
	}
	if got.State == timeline.Read && got.Skipped > 0 || got.State != timeline.Read && got.Why == "" {
		t.Errorf("%s with %d skipped: %q", got.State, got.Skipped, got.Why)
	}
	if strings.Contains(got.Why, "please report it") {
		t.Errorf("a reader panicked: %s", got.Why)
	}
	var b bytes.Buffer
	check(db.Dump(&b))
	return b.String()
}

func invariants(t *testing.T, db *timeline.DB, path string, size int) {
	t.Helper()
	check(db.Timeline(timeline.Filter{}, func(f timeline.Fact) error {
		e := timeline.Event{Action: f.Action, Subject: f.Subject, Items: []timeline.Item{f.Item}, Span: f.Span, Op: f.Op, Origin: f.Origin}
		switch {
		case f.Subject.IsZero() || f.Subject.ID == "":
			t.Errorf("no subject: %+v", e)
		case f.Path != path && !strings.HasPrefix(f.Path, path+"!"):
			t.Errorf("a place outside the source: %+v", e)
		case f.Span.From > f.Span.To:
			t.Errorf("ends before it starts: %+v", e)
		case f.Path == path && (f.Line > int64(size)+1 || f.Offset > 2*int64(size)):
			t.Errorf("a line behind the end of %d bytes: %+v", size, e)
		}
		for _, n := range timeline.Notation(e) {
			if !utf8.ValidString(n) {
				t.Errorf("no UTF-8: %q", n)
			}
			back, err := timeline.ParseNotation(n)
			if err != nil {
				t.Errorf("%q cannot be read back: %v", n, err)
			} else if again := timeline.Notation(back); !slices.Contains(again, n) {
				t.Errorf("%q is read back as %q", n, again)
			}
		}
		return nil
	}))
}

// TestColoursAndPieces reads the samples of all tools with colours between
// their characters, and cut into pieces as runtimes cut long lines: the events
// are the same.
func TestColoursAndPieces(t *testing.T) {
	// What a terminal was told is no text: its own sequences cannot be cut.
	samples := slices.DeleteFunc(toolSamples(t), func(s *sampleFile) bool {
		return strings.ContainsAny(strings.Join(s.lines, ""), "\x1b\r")
	})
	at := func(i int) string { return time.Unix(1792584000+int64(i), 123).UTC().Format(nano) }
	for _, w := range []wrapping{
		{frame: "colours", wrap: func(lines []string) []string {
			var out []string
			for _, l := range lines {
				var b strings.Builder
				for i, r := range l {
					if i%3 == 1 {
						b.WriteString("\x1b[1;31m")
					}
					b.WriteRune(r)
				}
				out = append(out, b.String()+"\x1b[0m")
			}
			return out
		}},
		{frame: "kubernetes-cri", wrap: func(lines []string) []string {
			var out []string
			for i, l := range lines {
				for len(l) > 24 {
					out, l = append(out, at(i)+" stdout P "+l[:24]), l[24:]
				}
				out = append(out, at(i)+" stdout F "+l)
			}
			return out
		}},
		{frame: "docker-json", wrap: func(lines []string) []string {
			var out []string
			for i, l := range lines {
				half := len(l) / 2
				for half > 0 && !utf8.RuneStart(l[half]) {
					half--
				}
				// The daemon cuts at 16 KiB; colours fill them up and say nothing.
				pad := 16<<10 - half
				fill := strings.Repeat("\x1b[0m", pad/4-1) + "\x1b[" + strings.Repeat("0", 1+pad%4) + "m"
				out = append(out, fmt.Sprintf(`{"log":%s,"stream":"stdout","time":%q}`, quoted(fill+l[:half]), at(i)), fmt.Sprintf(`{"log":%s,"stream":"stdout","time":%q}`, quoted(l[half:]+"\n"), at(i)))
			}
			return out
		}},
	} {
		t.Run(w.frame, func(t *testing.T) { compose(t, w, samples) })
	}
}

// quoted is a string of JSON.
func quoted(s string) string {
	b, err := json.Marshal(s)
	check(err)
	return string(b)
}
