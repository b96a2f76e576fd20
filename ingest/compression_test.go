package ingest_test

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// What zstd 1.5, xz 5.4 and bzip2 1.0 made of installed.
const (
	zstdLog  = "KLUv/QRYiQEAQ29sbGVjdGluZyBpZG5hClN1Y2Nlc3NmdWxseSBpbnN0YWxsZWQgaWRuYS0zLjEwCvL3c7c="
	xzLog    = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAwQ29sbGVjdGluZyBpZG5hClN1Y2Nlc3NmdWxseSBpbnN0YWxsZWQgaWRuYS0zLjEwCgAAAAASttJppNeE7QABSTFdQeNQH7bzfQEAAAAABFla"
	bzip2Log = "QlpoOTFBWSZTWRQASsEAAAVfgAAQQANoAAgACAAvpY4gIAAxQAYjTTRoNU09Ro9qnojB6pw9YTEkuLjS+sMDIZdXHcuQvS1gRkx5vGk/4u5IpwoSAoAJWCA="
)

func decoded(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCompressions reads each compression whole, cut, damaged, twice in a row,
// and with a member inside.
func TestCompressions(t *testing.T) {
	want := []string{"pkg:pypi/idna@3.10 in:2"}
	for name, text := range map[string]string{"zstd": zstdLog, "xz": xzLog, "bzip2": bzip2Log} {
		data := decoded(t, text)
		for _, c := range []struct {
			name  string
			data  []byte
			state timeline.State
			why   string
			want  []string
		}{
			{"whole", data, timeline.Read, "", want},
			{"in tar", tarOf(file{"x", data}), timeline.Read, "", []string{"pkg:pypi/idna@3.10 in!x:2"}},
			{"in gzip", gz(data), timeline.Read, "", want},
			{"twice", append(slices.Clone(data), data...), timeline.Read, "", []string{"pkg:pypi/idna@3.10 in:2", "pkg:pypi/idna@3.10 in:4"}},
			{"cut", data[:len(data)-3], timeline.Partial, name + ": ", nil},
			{"head alone", data[:12], timeline.Partial, name + ": ", nil},
			{"garbage behind", append(slices.Clone(data), "garbage"...), timeline.Partial, name + ": ", want},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				got := readFiles(t, ingest.Options{}, file{"in", c.data})[0]
				if got.State != c.state || !strings.Contains(got.Why, c.why) {
					t.Errorf("%s: %q, want %s: %q", got.State, got.Why, c.state, c.why)
				}
				if list := got.installs(); c.want != nil && !slices.Equal(list, c.want) {
					t.Errorf("installs %q, want %q", list, c.want)
				}
			})
		}
	}
}

// wideXZ asks for a dictionary of 4 GiB: 21 01 28 is the filter and its size.
func wideXZ(t *testing.T) []byte {
	data := decoded(t, xzLog)
	block := data[12:24]
	block[4] = 40
	binary.LittleEndian.PutUint32(block[8:], crc32.ChecksumIEEE(block[:8]))
	return data
}

// TestWideWindow: what a stream asks its reader to hold is bounded.
func TestWideWindow(t *testing.T) {
	// A frame whose header asks for a window of 128 GiB, and an xz stream whose
	// dictionary is 4 GiB.
	for name, data := range map[string][]byte{
		"zstd": []byte("\x28\xb5\x2f\xfd\x00\xd8\x01\x00\x00"),
		"xz":   wideXZ(t),
	} {
		got := readFiles(t, ingest.Options{}, file{"in", data})[0]
		if got.State != timeline.Partial || !strings.Contains(got.Why, "size") {
			t.Errorf("%s: %s: %q, want a complaint about a size", name, got.State, got.Why)
		}
	}
}
