package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	headSize = 64 << 10
)

// decoded is a member as text: byte order marks and UTF-16 are dealt with here
// and nowhere else.
type decoded struct {
	*bufio.Reader
	head   []byte
	binary bool // no text in any encoding
}

// decode looks at the first bytes of r. PowerShell redirects are UTF-16LE with
// or without a mark; GitHub writes a UTF-8 mark before every file.
func decode(r io.Reader) (*decoded, error) {
	b := bufio.NewReaderSize(r, headSize)
	head, err := b.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, byteOrderMark):
		_, _ = b.Discard(3) // it was just peeked
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return fromUTF16(b, unicode.UseBOM, unicode.LittleEndian)
	case looksUTF16(head, 1):
		return fromUTF16(b, unicode.IgnoreBOM, unicode.LittleEndian)
	case looksUTF16(head, 0):
		return fromUTF16(b, unicode.IgnoreBOM, unicode.BigEndian)
	}
	d := &decoded{Reader: b}
	if d.head, err = b.Peek(headSize); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	d.binary = isBinary(d.head)
	return d, nil
}

// isBinary tells data from text. NUL bytes alone do not: a machine that lost its
// power leaves a run of them in its logs, and the lines around it count.
func isBinary(head []byte) bool {
	if bytes.IndexByte(head, 0) < 0 {
		return false
	}
	strange, all := 0, 0
	for i := 0; i < len(head); all++ {
		r, n := utf8.DecodeRune(head[i:])
		switch {
		case r == 0:
			for i+n < len(head) && head[i+n] == 0 {
				n++ // a run counts once
			}
			strange++
		case r == utf8.RuneError && n == 1 && i+utf8.UTFMax < len(head), r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != 0x1b:
			strange++
		}
		i += n
	}
	return strange*10 > all
}

// looksUTF16 reports whether every second byte, from the given one on, is
// mostly NUL and the others are not: ASCII in UTF-16.
func looksUTF16(head []byte, from int) bool {
	head = head[:min(len(head), 4096)&^1]
	if len(head) < 4 {
		return false
	}
	zeros, others := 0, 0
	for i := range head {
		if head[i] != 0 {
			continue
		}
		if i&1 == from {
			zeros++
		} else {
			others++
		}
	}
	return zeros > len(head)*3/8 && others == 0
}

func fromUTF16(r io.Reader, bom unicode.BOMPolicy, order unicode.Endianness) (*decoded, error) {
	t := transform.NewReader(r, unicode.UTF16(order, bom).NewDecoder())
	d := &decoded{Reader: bufio.NewReaderSize(t, 256<<10)}
	var err error
	if d.head, err = d.Peek(headSize); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	d.binary = isBinary(d.head)
	return d, nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")
