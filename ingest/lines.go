package ingest

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"pulltrail/ingest/evidence"
)

const (
	maxLine = 1 << 20 // longer lines are skipped
	window  = 256 << 10
)

// lines reads physical lines: they end at LF; a CR before it is dropped.
// Escape sequences are stripped here and nowhere else; only Buildkite's time
// marks are left for its frame.
type lines struct {
	r   io.Reader
	buf []byte // at[end:] is not read yet
	at  int
	end int
	err error // of the reader

	// Where the next escape and the next CR stand in buf, end when there is
	// none: most lines have neither and are not searched.
	escape, cr int

	no   int64
	off  int64
	next int64
	open bool // the last line has no end
	hole bool // there are bytes that nobody wrote
	lost bool // the bytes that begin escape sequences are gone, the rest of these is not
}

// read fills l with the next line; its text is valid until the next call.
// tooLong tells that the line was dropped because it is longer than maxLine;
// io.EOF that there is none.
func (s *lines) read(l *evidence.Line) (tooLong bool, err error) {
	s.no++
	s.off = s.next
	n := bytes.IndexByte(s.buf[s.at:s.end], '\n')
	if n < 0 {
		if n, err = s.more(); err != nil {
			return false, err
		}
	}
	from, to := s.at, s.at+n
	text := s.buf[from:to]
	s.at = to
	if s.open = to == s.end; !s.open {
		s.at++
	}
	s.next += int64(s.at - from)
	if s.at-from > maxLine {
		return true, s.drop(l, text)
	}
	if len(text) > 0 && text[0] == byteOrderMark[0] {
		text = bytes.TrimPrefix(text, byteOrderMark) // of a file that was appended
	}
	flat := true
	if s.cr < to {
		s.cr = s.find(s.cr, from, '\r')
		for s.cr < to && len(text) > 0 && text[len(text)-1] == '\r' {
			text = text[:len(text)-1]
		}
		flat = s.cr >= to || bytes.IndexByte(text, '\r') < 0
	}
	*l = evidence.Line{Text: text, No: s.no, Off: s.off, Flat: flat}
	if s.escape < to {
		if s.escape = s.find(s.escape, from, 0x1b); s.escape < to {
			l.Strip(text)
		}
	}
	if s.lost {
		l.Text = evidence.StripColours(l.Text)
	}
	return false, nil
}

// pass offers the whole lines that are in the buffer to over, which tells how
// many of them it passed over and how long they are with their ends. Lines that
// read would change are not offered, nor what comes behind them.
func (s *lines) pass(over func(block []byte) (lines, size int64)) {
	if s.at == s.end || s.lost || len(s.buf) > window { // with room for lines that are too long
		return
	}
	if s.cr < s.end {
		s.cr = s.find(s.cr, s.at, '\r')
	}
	if s.escape < s.end {
		s.escape = s.find(s.escape, s.at, 0x1b)
	}
	n, size := over(s.buf[s.at:min(s.cr, s.escape, s.end)])
	s.no += n
	s.next += size
	s.at += int(size)
}

// find returns where the next c at or behind from stands, the end when there is
// none; known is what it returned before.
func (s *lines) find(known, from int, c byte) int {
	if known >= from && known < s.end && s.buf[known] == c {
		return known
	}
	if i := bytes.IndexByte(s.buf[from:s.end], c); i >= 0 {
		return from + i
	}
	return s.end
}

// more reads on until a line is whole and returns its length; that of a line
// that is too long, or that the data end in, is what there is of it.
func (s *lines) more() (int, error) {
	for {
		if s.err != nil {
			if n := s.end - s.at; n > 0 && errors.Is(s.err, io.EOF) {
				return n, nil
			}
			return 0, s.err
		}
		if s.end-s.at > maxLine {
			return s.end - s.at, nil
		}
		s.room()
		seen := s.end
		for range 100 {
			var n int
			n, s.err = s.r.Read(s.buf[s.end:])
			if s.end += n; n > 0 || s.err != nil {
				break
			}
		}
		if s.end == seen && s.err == nil {
			s.err = io.ErrNoProgress
		}
		s.escape, s.cr = s.at, s.at
		s.hole = s.hole || holed(s.buf[seen:s.end])
		if i := bytes.IndexByte(s.buf[seen:s.end], '\n'); i >= 0 {
			return seen + i - s.at, nil
		}
	}
}

// holed looks for a run of NUL bytes, as they stand where a machine stopped
// before what it wrote reached the disk, or where a log was cut in place while
// it was open. Blocks of disks are not smaller than the pace of the search.
func holed(data []byte) bool {
	const pace, run = 512, 256
	for i := 0; i+run <= len(data); i += pace {
		if data[i] == 0 && len(bytes.TrimLeft(data[i:i+run], "\x00")) == 0 {
			return true
		}
	}
	return false
}

// buffers are used again: archives have many small members.
var buffers = sync.Pool{New: func() any { return new([window]byte) }}

// newLines reads from r; close gives its buffer back.
func newLines(r io.Reader) *lines {
	buf, _ := buffers.Get().(*[window]byte)
	return &lines{r: r, buf: buf[:]}
}

func (s *lines) close() {
	if len(s.buf) == window {
		buffers.Put((*[window]byte)(s.buf))
	}
	s.buf = nil
}

// room moves what is left to the front and makes space behind it.
func (s *lines) room() {
	left := s.end - s.at
	if len(s.buf)-left < headSize {
		bigger := make([]byte, min(2*len(s.buf), maxLine+window))
		copy(bigger, s.buf[s.at:s.end])
		s.buf = bigger
	} else {
		copy(s.buf, s.buf[s.at:s.end])
	}
	s.at, s.end = 0, left
}

// drop passes over the rest of a line that is too long and leaves its beginning
// in l.
func (s *lines) drop(l *evidence.Line, text []byte) error {
	*l = evidence.Line{Text: bytes.Clone(text[:200]), No: s.no, Off: s.off}
	for s.open {
		s.at, s.end = 0, 0
		n, err := s.more()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if s.open = s.at+n == s.end; !s.open {
			n++
		}
		s.at += n
		s.next += int64(n)
	}
	return nil
}
