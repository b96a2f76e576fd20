package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"pulltrail/ingest/evidence"
)

// allLines reads every line; those that are too long are marked.
func allLines(t *testing.T, r io.Reader) (texts []string, numbers []int64) {
	t.Helper()
	in := newLines(r)
	defer in.close()
	var l evidence.Line
	for {
		tooLong, err := in.read(&l)
		if errors.Is(err, io.EOF) {
			return texts, numbers
		}
		if err != nil {
			t.Fatal(err)
		}
		text := string(l.Text)
		if tooLong {
			text = "(too long)"
		}
		texts, numbers = append(texts, text), append(numbers, l.No)
	}
}

func inUTF16(text string, mark, big bool) []byte {
	if mark {
		text = "\ufeff" + text
	}
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

func TestEncodings(t *testing.T) {
	text := "Collecting idna\r\nSuccessfully installed idna-3.10 \u2713\r\n"
	for name, data := range map[string][]byte{
		"UTF-8": []byte(text), "UTF-8 with mark": []byte("\ufeff" + text),
		"UTF-16LE with mark": inUTF16(text, true, false), "UTF-16BE with mark": inUTF16(text, true, true),
		"UTF-16LE": inUTF16(text, false, false), "UTF-16BE": inUTF16(text, false, true),
	} {
		d, err := decode(bytes.NewReader(data))
		if err != nil || d.binary {
			t.Fatalf("%s: binary %v, %v", name, d.binary, err)
		}
		got, numbers := allLines(t, d.Reader)
		if len(got) != 2 || got[0] != "Collecting idna" || got[1] != "Successfully installed idna-3.10 \u2713" || numbers[1] != 2 {
			t.Errorf("%s: %q, lines %v", name, got, numbers)
		}
	}
}

func TestBinary(t *testing.T) {
	hole := "Oct 20 09:14:02 web1 kernel: up\n" + strings.Repeat("\x00", 4096) + strings.Repeat("Oct 20 09:15:00 web1 cron: run\n", 50)
	for data, want := range map[string]bool{
		"plain": false, "": false, hole: false, "\xff invalid \xfe bytes": false,
		"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00\x01\x00": true,
		"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x01\x90\x00\x00\x00\xe1\x08\x06":   true,
	} {
		if got := isBinary([]byte(data)); got != want {
			t.Errorf("isBinary(%.20q) = %v", data, got)
		}
	}
}

func TestHole(t *testing.T) {
	for data, want := range map[string]bool{
		strings.Repeat("Oct 20 09:15:00 web1 cron: run\n", 50) + strings.Repeat("\x00", 1024) + "Oct 20 09:16:00 web1 cron: run\n": true,
		strings.Repeat("\x00", 4096) + "Oct 20 09:16:00 web1 cron: run\n":                                                          true,
		strings.Repeat("a\x00b\n", 4096): false, "": false,
	} {
		in := newLines(strings.NewReader(data))
		var line evidence.Line
		for err := error(nil); err == nil; {
			_, err = in.read(&line)
		}
		if in.hole != want {
			t.Errorf("%.20q: got %v, want %v", data, in.hole, want)
		}
		in.close()
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	fits := strings.Repeat("y", maxLine-1)
	got, numbers := allLines(t, bufio.NewReaderSize(strings.NewReader("a\n"+long+"\nb\n"+fits+"\n"+long), 4096))
	want := []string{"a", "(too long)", "b", fits, "(too long)"}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] || numbers[i] != int64(i+1) {
			t.Errorf("line %d: number %d, %.20q, want %.20q", i+1, numbers[i], got[i], want[i])
		}
	}
}

// TestLinesAcrossReads has marks of every kind on both sides of what one read
// returns.
func TestLinesAcrossReads(t *testing.T) {
	var data, want []string
	for i := range 40_000 {
		plain := strings.Repeat("x", i%61)
		data = append(data, []string{plain, plain + "\r", "\x1b[1m" + plain + "\x1b[0m", plain + "\ry"}[i%7%4])
		want = append(want, []string{plain, plain, plain, plain + "\ry"}[i%7%4])
	}
	text := strings.Join(data, "\n")
	for _, r := range []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
		got, numbers := allLines(t, r)
		if !slices.Equal(got, want) || numbers[len(numbers)-1] != int64(len(want)) {
			t.Errorf("%T: %d lines, the last %q; want %d", r, len(got), got[len(got)-1], len(want))
		}
	}
}

// FuzzLines compares the reader with the definition of a physical line: it ends
// at LF, CRs before that and marks at its start are no text, and nor are escape
// sequences.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"a\nb", "a\r\r\nb\r\n", "\n\n", "\ufeffa\n\ufeffb\n", "\x1b[36;1mpip\x1b[0m\n", "10%\r20%\r\nx", strings.Repeat("z", 70) + "\n", "\xff\xfe"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := allLines(t, iotest.OneByteReader(bytes.NewReader(data)))
		var want []string
		for line := range bytes.Lines(data) {
			line = bytes.TrimRight(bytes.TrimPrefix(bytes.TrimSuffix(line, []byte("\n")), byteOrderMark), "\r")
			want = append(want, string(evidence.StripEscapes(bytes.Clone(line))))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	})
}

// FuzzDecode: whatever comes, reading ends and does not panic.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00\n\x00"))
	f.Add([]byte("a\x00b\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		allLines(t, d.Reader)
	})
}
