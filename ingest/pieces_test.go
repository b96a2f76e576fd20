package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// TestTwice reads all samples a second time: nothing changes.
func TestTwice(t *testing.T) {
	db, err := timeline.Create(t.TempDir())
	check(err)
	defer db.Close()
	var dumps [2]bytes.Buffer
	for i := range dumps {
		res, err := ingest.Run(t.Context(), db, []string{"../testdata/formats"}, ingest.Options{})
		check(err)
		for _, f := range res.Files {
			if f.Changed != (i == 0) && !strings.HasSuffix(f.Path, ".golden") {
				t.Errorf("reading %d, %s: changed %t", i+1, f.Path, f.Changed)
			}
		}
		check(db.Dump(&dumps[i]))
	}
	if dumps[0].String() != dumps[1].String() {
		t.Errorf("read a second time the case differs:\n%s", diff(dumps[0].String(), dumps[1].String()))
	}
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
