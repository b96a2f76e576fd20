package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"pulltrail/ingest/evidence"
)

// maxObject bounds one record: a source of any size holds many.
const maxObject = 4 << 20

// objects reads a source of JSON objects one by one: they may stand on a line
// each, one after the other over several lines, in an array, or in the lists of
// an envelope. Only one object is held at a time. What stands between objects
// and is no JSON comes line by line.
type objects struct {
	r     *bufio.Reader
	lists []string // names of lists in an envelope

	largest int // bytes of a record

	buf  []byte
	no   int64 // line of the next byte, 1-based
	off  int64 // of the next byte
	line int64 // offset of the line's first byte

	start int64 // offset behind the first byte of the object at work

	array    bool // inside an array that is no envelope's
	inList   bool // inside a list of an envelope
	envelope bool // after a list, inside its envelope
}

// found is what stands at some place of a source of objects.
type found uint8

const (
	object    found = iota // a whole JSON object
	stray                  // a line that is no JSON
	tooBig                 // an object that is larger than maxObject
	broken                 // an object that does not end before the next one starts
	cutObject              // the source ends inside an object
)

func newObjects(r *bufio.Reader, lists []string, largest int) *objects {
	return &objects{r: r, lists: lists, largest: cmp.Or(largest, maxObject), no: 1}
}

// read fills l with what comes next; io.EOF when there is nothing more.
func (s *objects) read(l *evidence.Line) (found, error) {
	if s.envelope {
		if what, done, err := s.gather(l); !done || err != nil {
			return what, err
		}
	}
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) && (s.array || s.inList) {
				s.array, s.inList = false, false
				*l = evidence.Line{No: s.no, Off: s.line}
				return cutObject, nil
			}
			return stray, err
		}
		s.step(c)
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' && (s.array || s.inList) || c == 0x1e:
		case c == '[' && !s.array && !s.inList:
			s.array = true
		case c == ']' && s.inList:
			s.inList, s.envelope = false, true
			if what, done, err := s.gather(l); !done || err != nil {
				return what, err
			}
		case c == ']' && s.array:
			s.array = false
		case c == '{':
			s.buf = append(s.buf[:0], c)
			*l = evidence.Line{No: s.no, Off: s.line}
			if what, done, err := s.gather(l); !done || err != nil {
				return what, err
			}
		default:
			return s.strayLine(l, c)
		}
	}
}

// step counts a byte that was taken.
func (s *objects) step(c byte) {
	s.off++
	if c == '\n' {
		s.no, s.line = s.no+1, s.off
	}
}

// strayLine takes the rest of a line that is no JSON.
func (s *objects) strayLine(l *evidence.Line, first byte) (found, error) {
	*l = evidence.Line{No: s.no, Off: s.line}
	s.buf = append(s.buf[:0], first)
	for {
		part, err := s.r.ReadSlice('\n')
		s.off += int64(len(part))
		if room := maxLine - len(s.buf); room > 0 {
			s.buf = append(s.buf, part[:min(len(part), room)]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == nil {
			s.no, s.line = s.no+1, s.off
		} else if !errors.Is(err, io.EOF) {
			return stray, err
		}
		l.Strip(bytes.TrimRight(s.buf, "\r\n"))
		return stray, nil
	}
}

// scan is how far an object was read.
type scan struct {
	depth   int
	text    bool // inside a string
	escaped bool
	big     bool
	list    bool // the last byte opened a list of an envelope, if objects are in it
	newline bool // the last byte was the end of a line
	ended   bool // the object's first line has ended
	oneLine bool // and holds more than a brace: a printed object has the rest below, indented
}

// gather reads the object whose first byte was taken, or the rest of an
// envelope. done tells that nothing comes of it: it was an envelope's end, or
// its list begins here.
func (s *objects) gather(l *evidence.Line) (what found, done bool, err error) {
	sc := scan{depth: 1}
	s.start = s.off
	if s.envelope {
		s.buf = append(s.buf[:0], '{')
	}
	for {
		if _, err := s.r.Peek(1); err != nil {
			if !errors.Is(err, io.EOF) {
				return object, false, err
			}
			s.envelope, s.array = false, false
			l.Text = s.buf[:min(len(s.buf), 400)]
			return cutObject, false, nil
		}
		chunk, _ := s.r.Peek(s.r.Buffered()) // it is there
		n, end := s.walk(chunk, &sc)
		_, _ = s.r.Discard(n)
		switch end {
		case goesOn:
			continue
		case listBegins:
			s.inList, s.envelope = true, false
			return object, true, nil
		case nextBegins:
			l.Text = s.buf[:min(len(s.buf), 400)]
			return broken, false, nil
		}
		if s.envelope {
			s.envelope = false
			return object, true, nil
		}
		if sc.big {
			l.Text = s.buf[:400]
			return tooBig, false, nil
		}
		l.Text = s.buf
		if bytes.IndexByte(l.Text, '\r') >= 0 {
			l.Text = bytes.ReplaceAll(l.Text, []byte("\r"), nil)
		}
		return object, false, nil
	}
}

// ending says why walk stopped.
type ending uint8

const (
	goesOn     ending = iota // the chunk is over
	complete                 // the object is
	listBegins               // a list of the envelope begins
	nextBegins               // the next object begins where this one has no end
)

// walk goes through a chunk of an object and returns how much of it was taken.
func (s *objects) walk(chunk []byte, sc *scan) (n int, end ending) {
	from := 0
	for i, c := range chunk {
		if sc.newline && c == '{' && sc.oneLine {
			s.keep(chunk[from:i], sc)
			return i, nextBegins
		}
		if sc.list && c > ' ' {
			if sc.list = false; c == '{' {
				return i, listBegins
			}
		}
		s.off++
		if sc.newline = c == '\n'; sc.newline {
			s.no, s.line = s.no+1, s.off
			if !sc.ended {
				sc.ended, sc.oneLine = true, s.off-s.start > 2 && !s.inList && !s.envelope
			}
		}
		switch {
		case sc.escaped:
			sc.escaped = false
		case sc.text:
			sc.escaped = c == '\\'
			sc.text = c != '"'
		case c == '"':
			sc.text = true
		case c == '[' && sc.depth == 1 && !s.inList:
			s.keep(chunk[from:i], sc)
			from = i
			sc.list = s.isList()
			sc.depth++
		case c == '{' || c == '[':
			sc.depth++
		case c == '}' || c == ']':
			if sc.depth--; sc.depth == 0 {
				s.keep(chunk[from:i+1], sc)
				return i + 1, complete
			}
		}
	}
	s.keep(chunk[from:], sc)
	return len(chunk), goesOn
}

// keep adds to the object; of one that is too large only the head is held.
func (s *objects) keep(part []byte, sc *scan) {
	if len(s.buf)+len(part) > s.largest {
		sc.big = true
		s.buf = s.buf[:min(len(s.buf), 4096)]
		part = part[:min(len(part), 4096-len(s.buf))]
	}
	s.buf = append(s.buf, part...)
}

// isList reports whether the array that begins behind s.buf is a list of an
// envelope.
func (s *objects) isList() bool {
	b, ok := bytes.CutSuffix(bytes.TrimRight(s.buf, " \t\r\n"), []byte(":"))
	if !ok || len(s.lists) == 0 {
		return false
	}
	if b, ok = bytes.CutSuffix(bytes.TrimRight(b, " \t\r\n"), []byte(`"`)); !ok {
		return false
	}
	return slices.Contains(s.lists, string(b[bytes.LastIndexByte(b, '"')+1:]))
}

// records hands the objects of a source that a tool claimed on.
func (s *source) records(l *log, d *decoded, from *metered) error {
	r := l.reading
	in := newObjects(d.Reader, l.format.Lists, l.format.Largest)
	var line evidence.Line
	for n := 1; ; n++ {
		what, err := in.read(&line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.SetLine(in.no, in.line, nil)
			r.Skip("reading stops here: " + err.Error())
			return s.ctx.Err()
		}
		r.SetLine(line.No, line.Off, line.Text)
		switch what {
		case object:
			r.Record(&line)
		case stray:
			r.Stray(&line)
		case tooBig:
			r.Skip(fmt.Sprintf("a record of more than %d MiB", in.largest>>20))
		case broken:
			r.Skip("a record without an end")
		case cutObject:
			r.Cut("it ends inside a record")
		}
		if n&0xff == 0 && (s.ctx.Err() != nil || r.Err() != nil) {
			break
		}
	}
	if gap := from.gap(); gap != nil {
		from.told = true
		r.Cut(gap.Error())
		r.SetLine(in.no, in.line, nil)
		r.Skip(gap.Error())
	}
	return s.ctx.Err()
}
