package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/frame"
	"pulltrail/timeline"
)

// reading is what one source came to, kept in memory.
type reading struct {
	info  timeline.SourceInfo
	batch timeline.Batch
}

// readBytes reads bytes as a file of a case, without a case.
func readBytes(t testing.TB, machine *evidence.Machine, data []byte, format string) (r reading) {
	t.Helper()
	g := &ingester{machine: machine, opt: Options{Format: format}}
	s := &source{
		g: g, ctx: t.Context(), info: timeline.SourceInfo{Path: "in"},
		file: io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))),
		write: func(b *timeline.Batch) error { // the rows are used again
			r.batch.Events = append(r.batch.Events, b.Events...)
			r.batch.Links = append(r.batch.Links, b.Links...)
			r.batch.Skips = append(r.batch.Skips, b.Skips...)
			r.batch.Ops = append(r.batch.Ops, b.Ops...)
			return nil
		},
	}
	if err := s.read(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	r.info = s.info
	return r
}

// FuzzPipeline reads any bytes as a file and asks what must hold whatever they
// are: every byte is accounted for and nothing panics; every event names a
// subject and a place inside the source, with a time that does not end before
// it starts and artifacts that the notation can write and read back; the same
// lines in pieces, and the same in colours, say the same.
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
	for _, data := range archiveSeeds() {
		f.Add(data)
	}
	machine := evidence.NewMachine(Formats)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		r := readBytes(t, machine, data, "")
		r.accounted(t, len(data))
		size := len(data)
		if sniff(data) == packed {
			size = maxRatio * size // lines are those of what it unpacks to
		}
		for i := range r.batch.Events {
			sound(t, &r.batch.Events[i], size)
		}
		if bytes.ContainsAny(data, "\x1b\r\x00") || sniff(data) != plain {
			return // what a terminal was told is no text, and cannot be cut; with NUL it may be none at all
		}
		lines := strings.Split(string(data), "\n")
		whole := readBytes(t, machine, wrapped(lines, func(l string) []string { return []string{l} }), frame.CRI.Name).said()
		for name, change := range map[string]func(string) []string{"in pieces": inPieces, "in colours": inColours} {
			if got := readBytes(t, machine, wrapped(lines, change), frame.CRI.Name).said(); !reflect.DeepEqual(got, whole) {
				t.Errorf("%s:\n%s\nwhole:\n%s", name, strings.Join(got, "\n"), strings.Join(whole, "\n"))
			}
		}
	})
}

// accounted checks the sums of a reading.
func (r *reading) accounted(t *testing.T, size int) {
	t.Helper()
	if r.info.Bytes != int64(size) {
		t.Errorf("%d of %d bytes are accounted for", r.info.Bytes, size)
	}
	if r.info.Events != int64(len(r.batch.Events)) || r.info.Skipped != int64(len(r.batch.Skips)) {
		t.Errorf("%d events and %d skips are told of, %d and %d came", r.info.Events, r.info.Skipped, len(r.batch.Events), len(r.batch.Skips))
	}
	if r.info.State == timeline.Read && r.info.Skipped > 0 || r.info.State != timeline.Read && r.info.Why == "" {
		t.Errorf("%s with %d skipped: %q", r.info.State, r.info.Skipped, r.info.Why)
	}
	for _, s := range r.batch.Skips {
		if strings.Contains(s.Reason, "please report it") {
			t.Errorf("a reader panicked: %s", s.Reason)
		}
	}
}

// sound checks one event.
func sound(t *testing.T, e *timeline.Event, size int) {
	t.Helper()
	switch {
	case e.Subject.IsZero() || e.Subject.ID == "":
		t.Errorf("no subject: %+v", e)
	case e.Path != "in" && !strings.HasPrefix(e.Path, "in!"):
		t.Errorf("a place outside the source: %+v", e)
	case e.Span.From > e.Span.To:
		t.Errorf("ends before it starts: %+v", e)
	case e.Path == "in" && (e.Line > int64(size)+1 || e.Offset > 2*int64(size)):
		t.Errorf("a line behind the end of %d bytes: %+v", size, e)
	}
	for _, n := range timeline.Notation(*e) {
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
}

// said lists what a reading says, without where.
func (r reading) said() (all []string) {
	for _, e := range r.batch.Events {
		all = append(all, fmt.Sprint(e.Action, e.Subject, e.Items, e.Op, e.Span, e.Text))
	}
	for _, o := range r.batch.Ops {
		all = append(all, fmt.Sprint(o))
	}
	slices.SortFunc(all, cmp.Compare)
	return all
}

// wrapped writes lines as a container's log, each as the pieces that change
// makes of it.
func wrapped(lines []string, change func(string) []string) []byte {
	var b bytes.Buffer
	for i, l := range lines {
		pieces := change(l)
		for k, p := range pieces {
			flag := "P"
			if k == len(pieces)-1 {
				flag = "F"
			}
			fmt.Fprintf(&b, "2026-10-21T12:%02d:%02d.000000000Z stdout %s %s\n", i/60%60, i%60, flag, p)
		}
	}
	return b.Bytes()
}

func inPieces(l string) (pieces []string) {
	for len(l) > 24 {
		pieces, l = append(pieces, l[:24]), l[24:]
	}
	return append(pieces, l)
}

func inColours(l string) []string {
	var b strings.Builder
	for i := range len(l) {
		if i%3 == 1 && utf8.RuneStart(l[i]) {
			b.WriteString("\x1b[1;31m")
		}
		b.WriteByte(l[i])
	}
	return []string{b.String() + "\x1b[0m"}
}

func BenchmarkPipeline(b *testing.B) {
	machine := evidence.NewMachine(Formats)
	data := []byte("Collecting idna\nSuccessfully installed idna-3.10\n")
	for b.Loop() {
		readBytes(b, machine, data, "")
	}
}

// archiveSeeds are a log in a zip file, and in a tar file that is compressed.
func archiveSeeds() [][]byte {
	text := []byte("Collecting idna\nSuccessfully installed idna-3.10\n")
	var zipped, packed bytes.Buffer
	z := zip.NewWriter(&zipped)
	m, err := z.Create("a.log")
	_, write := m.Write(text)
	c := gzip.NewWriter(&packed)
	t := tar.NewWriter(c)
	header := t.WriteHeader(&tar.Header{Name: "a.log", Mode: 0o600, Size: int64(len(text))})
	_, body := t.Write(text)
	if err := errors.Join(err, write, z.Close(), header, body, t.Close(), c.Close()); err != nil {
		panic(err)
	}
	return [][]byte{zipped.Bytes(), packed.Bytes()}
}
