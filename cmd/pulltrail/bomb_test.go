package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"pulltrail/timeline"
)

// bomb is an archive that is small and unpacks to much.
type bomb struct {
	name  string
	write func(w io.Writer)
	why   string // the gap that it has to leave, "" when all of it is read
}

// bombs are the archives; the long forms are what their names say.
func bombs() []bomb {
	lines := func(n int, line string) func(io.Writer) {
		return func(w io.Writer) {
			block := bytes.Repeat([]byte(line), 1000)
			for range n / 1000 {
				ensure(w.Write(block))
			}
		}
	}
	few, _ := members(size(300, 1_000_000), "")
	over := "lies inside"
	var all []bomb
	if long() {
		all = append(all, bomb{"blank lines.gz", gzipped(lines(2_000<<20, "\n")), "times its size"},
			bomb{"one package again and again.gz", gzipped(lines(30_000_000, "Collecting litellm\n")), "events for each of its bytes"})
	}
	return append(all, []bomb{
		{"the same line.zst", zstandard(lines(size(70_000, 2_000_000), strings.Repeat("x", 1000)+"\n")), "times its size"},
		{"zeros.zst", zstandard(lines(size(80, 2000)<<20, "\x00")), "binary data"},
		{"words.gz in words.gz.gz", gzipped(gzipped(lines(size(70_000, 4_000_000), strings.Repeat("nothing to be seen here ", 40)+"\n"))), "times its size"},
		{"one member many times.zip", overlapping(size(200, 5000), 0), over},
		{"members in members.zip", overlapping(size(200, 5000), 1), over},
		{"empty members.zip", few, map[bool]string{true: "more than 100000 members", false: "no format claims it"}[long()]},
		{"five levels.tar", levels(5), "nested more than 4 deep"},
		{"two archives.zip", directoryOf(func(b []byte) []byte { return append(b[:len(b):len(b)], b...) }), "data follow"},
		{"directory counts too few.zip", directoryOf(func(b []byte) []byte { return set16(b, len(b)-12, 1) }), "zip"},
		{"directory elsewhere.zip", directoryOf(func(b []byte) []byte { return set16(b, len(b)-6, 7) }), ""},
		{"directory behind the end.zip", directoryOf(func(b []byte) []byte { return set16(b, len(b)-4, 0x7fff) }), ""},
	}...)
}

func long() bool { return os.Getenv("PULLTRAIL_SOAK") != "" }

func ensure(_ int, err error) {
	if err != nil {
		panic(err)
	}
}

func gzipped(write func(io.Writer)) func(io.Writer) {
	return func(w io.Writer) {
		z := gzip.NewWriter(w)
		write(z)
		ensure(0, z.Close())
	}
}

func zstandard(write func(io.Writer)) func(io.Writer) {
	return func(w io.Writer) {
		z, err := zstd.NewWriter(w)
		ensure(0, err)
		write(z)
		ensure(0, z.Close())
	}
}

func levels(n int) func(io.Writer) {
	return func(w io.Writer) {
		data := []byte("Successfully installed idna-3.10\n")
		for range n {
			var b bytes.Buffer
			t := tar.NewWriter(&b)
			ensure(0, t.WriteHeader(&tar.Header{Name: "in", Mode: 0o600, Size: int64(len(data))}))
			ensure(t.Write(data))
			ensure(0, t.Close())
			data = b.Bytes()
		}
		ensure(w.Write(data))
	}
}

// members is a zip file of n members.
func members(n int, text string) (func(io.Writer), int) {
	return func(w io.Writer) {
		z := zip.NewWriter(w)
		for i := range n {
			m, err := z.CreateRaw(&zip.FileHeader{
				Name: fmt.Sprintf("d/%07d.log", i), CRC32: crc32.ChecksumIEEE([]byte(text)),
				CompressedSize64: uint64(len(text)), UncompressedSize64: uint64(len(text)),
			})
			ensure(0, err)
			ensure(m.Write([]byte(text)))
		}
		ensure(0, z.Close())
	}, n
}

// overlapping is a zip file of n entries for the bytes of one member, or of
// members that each begin inside the one before.
func overlapping(n, apart int) func(io.Writer) {
	return func(w io.Writer) {
		text := bytes.Repeat([]byte("Successfully installed idna-3.10\n"), 1000)
		var body, directory bytes.Buffer
		at := make([]int, n)
		for i := range n {
			if i == 0 || apart > 0 {
				at[i] = body.Len()
				body.Write(header("PK\x03\x04\x14\x00\x00\x00\x00\x00", text, ""))
			}
		}
		body.Write(text)
		for i := range n {
			directory.Write(header("PK\x01\x02\x14\x00\x14\x00\x00\x00\x00\x00", text, fmt.Sprintf("%04d", i)))
			entry := directory.Bytes()[directory.Len()-50:]
			if i == 0 || apart > 0 {
				copy(entry[46:], "in")
			}
			binary.LittleEndian.PutUint32(entry[42:], uint32(at[i]))
		}
		ensure(w.Write(body.Bytes()))
		ensure(w.Write(directory.Bytes()))
		end := append([]byte("PK\x05\x06"), make([]byte, 18)...)
		binary.LittleEndian.PutUint16(end[8:], uint16(n))
		binary.LittleEndian.PutUint16(end[10:], uint16(n))
		binary.LittleEndian.PutUint32(end[12:], uint32(directory.Len()))
		binary.LittleEndian.PutUint32(end[16:], uint32(body.Len()))
		ensure(w.Write(end))
	}
}

// header is that of a stored member, in front of it (no name: "0000") or in
// the directory.
func header(begin string, text []byte, name string) []byte {
	b := append([]byte(begin), 0, 0, 0x21, 0)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(text))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	b = append(b, 4, 0, 0, 0)
	if name == "" {
		return append(b, "0000"...)
	}
	return append(append(b, make([]byte, 14)...), name...)
}

// directoryOf writes a zip file whose end was changed.
func directoryOf(change func([]byte) []byte) func(io.Writer) {
	return func(w io.Writer) {
		var b bytes.Buffer
		write, _ := members(3, "Successfully installed idna-3.10\n")
		write(&b)
		ensure(w.Write(change(b.Bytes())))
	}
}

func set16(b []byte, at int, n uint16) []byte {
	binary.LittleEndian.PutUint16(b[at:], n)
	return b
}

// maxRSS is what a whole run may hold.
const maxRSS = 300 << 10 // KiB

// TestBombs reads archives that were made to take all time and memory, or whose
// directory lies: what is not read is a gap, and little is held meanwhile.
func TestBombs(t *testing.T) {
	for _, b := range bombs() {
		t.Run(b.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, b.name)
			f, err := os.Create(path)
			ensure(0, err)
			b.write(f)
			ensure(0, f.Close())
			home := filepath.Join(dir, "case")
			begun := time.Now()
			c := exec.Command("pulltrail", "ingest", path, "--json", "--case", home)
			out, err := c.Output()
			state, ends := timeline.Partial, exitIncomplete
			if b.why == "" {
				state, ends = timeline.Read, exitOK
			}
			if code := c.ProcessState.ExitCode(); code != ends {
				t.Errorf("ends %d, want %d: %v", code, ends, err)
			}
			var got struct{ State, Why string }
			ensure(0, json.Unmarshal(out, &got))
			if (got.State == string(timeline.Read)) != (state == timeline.Read) || !strings.Contains(got.Why, b.why) {
				t.Errorf("%s: %q, want %q", got.State, got.Why, b.why)
			}
			usage, _ := c.ProcessState.SysUsage().(*syscall.Rusage)
			t.Logf("%s, %d MiB, %s", time.Since(begun).Round(time.Millisecond), usage.Maxrss>>10, got.Why)
			if long() && usage.Maxrss > maxRSS { // the race detector holds more
				t.Errorf("held %d KiB, want at most %d", usage.Maxrss, maxRSS)
			}
		})
	}
}
