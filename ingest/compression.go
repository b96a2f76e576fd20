package ingest

import (
	"bytes"
	"compress/bzip2"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// maxWindow bounds what a decompressor holds of what it wrote: what 'xz -9'
// needs, and eight times what zstd asks of every decoder.
const maxWindow = 64 << 20

// compression is a way to compress a stream.
type compression struct {
	name string
	mark func(head []byte) bool
	open func(io.Reader) (io.Reader, error)
}

var compressions = []compression{
	// https://www.rfc-editor.org/rfc/rfc1952
	{"gzip", func(head []byte) bool {
		return len(head) > 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8 && head[3]&0xe0 == 0
	}, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	// https://www.rfc-editor.org/rfc/rfc8878: a frame, or one to be skipped
	{"zstd", func(head []byte) bool {
		return bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")) || len(head) > 3 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:4], []byte("\x2a\x4d\x18"))
	}, func(r io.Reader) (io.Reader, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return z, nil
	}},
	// https://tukaani.org/xz/xz-file-format.txt
	{"xz", func(head []byte) bool { return bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")) }, func(r io.Reader) (io.Reader, error) {
		return xz.NewReader(r, maxWindow)
	}},
	// The sixth byte on is π, which no text begins with.
	{"bzip2", func(head []byte) bool {
		return len(head) >= 10 && bytes.HasPrefix(head, []byte("BZh")) && (bytes.Equal(head[4:10], []byte("1AY&SY")) || bytes.Equal(head[4:10], []byte("\x17rE8P\x90")))
	}, func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
}

// compressed finds the compression that the first bytes of a stream tell, nil
// for none.
func compressed(head []byte) *compression {
	for i := range compressions {
		if compressions[i].mark(head) {
			return &compressions[i]
		}
	}
	return nil
}

// decompressor opens a stream that is compressed; nil for one that is not.
func decompressor(r io.Reader, head []byte) (z io.Reader, name string, err error) {
	c := compressed(head)
	if c == nil {
		return nil, "", nil
	}
	if z, err = c.open(r); err != nil {
		return nil, c.name, fmt.Errorf("%s: %w", c.name, cut(err))
	}
	return z, c.name, nil
}
