package ingest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/maphash"
	"io"
)

// zipStream is a zip file that comes as a stream: members are read by the
// headers before them, and checked against the directory when that comes.
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT 4.3
type zipStream struct {
	r       *bufio.Reader
	off     int64
	seed    maphash.Seed
	came    map[int64]zipSeen // by the offset of the header
	names   map[uint64]bool
	listed  int
	trouble error // the first way in which the directory differs
	proved  int   // where what its members prove begins
}

// zipSeen is what came of a member: hashes, for the memory is bounded.
type zipSeen struct {
	name uint64
	crc  uint32
}

// Read and ReadByte count what is taken; with ReadByte, inflating takes no
// byte too many.
func (z *zipStream) Read(p []byte) (int, error) {
	n, err := z.r.Read(p)
	z.off += int64(n)
	return n, err
}

func (z *zipStream) ReadByte() (byte, error) {
	b, err := z.r.ReadByte()
	if err == nil {
		z.off++
	}
	return b, err
}

func (z *zipStream) take(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(z, b)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// zipHeader is a local header.
type zipHeader struct {
	flags, method uint16
	crc           uint32
	packed, size  uint64
	big           bool // sizes of eight bytes
	name          string
}

const (
	zipEncrypted  = 1
	zipDescriptor = 1 << 3 // CRC and sizes stand behind the data
)

// errZipLost says that the place of the next member cannot be known.
var errZipLost = errors.New("the members after it are not read")

func (s *source) zipStream(r io.Reader, at where) error {
	z := &zipStream{r: bufio.NewReaderSize(r, 64<<10), seed: maphash.MakeSeed(), came: map[int64]zipSeen{}, names: map[uint64]bool{}, proved: len(s.proved)}
	run := newRunMembers(func() ([]member, error) { return nil, nil })
	for {
		start := z.off
		mark, err := z.take(4)
		if err != nil {
			return s.broken(at.path, errors.New("zip: it is cut: its directory is missing"))
		}
		switch string(mark) {
		case "PK\x03\x04":
			if !s.budget.member() {
				return s.overrun(at)
			}
			if err := s.zipMember(z, start, at, run); err != nil {
				if errors.Is(err, errZipLost) {
					return s.broken(at.path, err)
				}
				return err
			}
			if s.budget.over != nil {
				return s.overrun(at)
			}
		case "PK\x07\x08": // the mark of a split archive that was not split
			if start > 0 {
				return s.broken(at.path, errors.New("zip: malformed: no header where a member should begin"))
			}
		case "PK\x01\x02", "PK\x06\x08", "PK\x06\x06", "PK\x06\x07", "PK\x05\x05", "PK\x05\x06":
			done, err := z.directory(string(mark))
			if err != nil {
				return s.broken(at.path, fmt.Errorf("zip: its directory: %w", cut(err)))
			}
			if done {
				if rest, err := io.Copy(io.Discard, &nonZero{r: z}); err != nil || rest > 0 {
					z.note("data follow the end of %s", "it")
				}
				return s.zipChecked(z, run, at)
			}
		default:
			return s.broken(at.path, errors.New("zip: malformed: no header where a member should begin"))
		}
	}
}

func (s *source) zipChecked(z *zipStream, run *runMembers, at where) error {
	wrong := torn(run.came)
	s.tear(wrong, at)
	if z.trouble == nil && len(z.came) > 0 {
		z.trouble = fmt.Errorf("%d members came that its directory does not list", len(z.came))
	}
	if z.trouble != nil || len(wrong) > 0 {
		s.covers = append(s.covers, s.proved[z.proved:]...)
		s.proved = s.proved[:z.proved]
	}
	if z.trouble != nil {
		return s.broken(at.path, fmt.Errorf("zip: %w", z.trouble))
	}
	return nil
}

// header reads a local header behind its mark.
func (z *zipStream) header() (h zipHeader, err error) {
	b, err := z.take(26)
	if err != nil {
		return h, err
	}
	le := binary.LittleEndian
	h = zipHeader{flags: le.Uint16(b[2:]), method: le.Uint16(b[4:]), crc: le.Uint32(b[10:]), packed: uint64(le.Uint32(b[14:])), size: uint64(le.Uint32(b[18:]))}
	name, err := z.take(int(le.Uint16(b[22:])))
	if err != nil {
		return h, err
	}
	extra, err := z.take(int(le.Uint16(b[24:])))
	h.name = string(name)
	for len(extra) >= 4 && err == nil {
		id, n := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			break
		}
		if id == 1 { // zip64
			h.big = true
			if n >= 16 {
				h.size, h.packed = le.Uint64(extra), le.Uint64(extra[8:])
			}
		}
		extra = extra[n:]
	}
	return h, err
}

// zipMember reads one member. An error that wraps errZipLost ends the archive.
func (s *source) zipMember(z *zipStream, start int64, at where, run *runMembers) error {
	h, err := z.header()
	if err != nil {
		return fmt.Errorf("zip: %w; %w", cut(err), errZipLost)
	}
	name := maphash.String(z.seed, h.name)
	if z.names[name] {
		z.note("two members are called %q", h.name)
	}
	z.names[name] = true
	place := at.in(h.name)
	lost := func(why string) error { return fmt.Errorf("zip: %q %s; %w", limit(h.name), why, errZipLost) }
	sized := h.flags&zipDescriptor == 0 || h.method == 0 && h.packed > 0
	body := &zipBody{z: z, left: int64(min(h.packed, 1<<62)), open: !sized}
	var out io.Reader = body
	switch {
	case h.flags&zipEncrypted != 0 || h.method != 0 && h.method != 8:
		if !sized {
			return lost("is encrypted or compressed in a way that is not read, and its size is not known")
		}
		if err := s.broken(place.path, errors.New("zip: it is encrypted, or compressed in a way that is not read: unpack it first")); err != nil {
			return err
		}
		z.came[start] = zipSeen{name, h.crc}
		return body.skip(lost)
	case h.method == 0 && !sized:
		return lost("is stored, and its size stands behind it")
	case h.method == 8:
		z := inflate(body)
		defer z.Close() // nothing is open: it is used again
		out = z
	}
	begin, from, partial := z.off, len(s.covers), s.partial
	sum := &summed{r: out, h: crc32.NewIEEE()}
	came := len(run.came)
	if err := s.zipBody(sum, place, h, run); err != nil {
		return err
	}
	if len(run.came) > came {
		run.came[came].size = int64(sum.n) // the header may not say it
	}
	if sum.err != nil {
		if !sized {
			return lost("cannot be inflated")
		}
		if err := s.broken(place.path, fmt.Errorf("zip: %w", cut(sum.err))); err != nil {
			return err
		}
	}
	if sized {
		if err := body.skip(lost); err != nil {
			return err
		}
	}
	if h.flags&zipDescriptor != 0 {
		if err := z.descriptor(&h, uint64(z.off-begin), sum.n); err != nil {
			return lost("is cut")
		}
	}
	z.came[start] = zipSeen{name, h.crc}
	if got := sum.h.Sum32(); got != h.crc && sum.err == nil && s.budget.over == nil {
		return s.broken(place.path, errors.New("zip: its checksum differs: it is damaged"))
	}
	if s.partial == partial {
		s.prove(from)
	}
	return nil
}

// zipBody hands the content of a member on, all of it.
func (s *source) zipBody(sum *summed, place where, h zipHeader, run *runMembers) error {
	if len(h.name) > 0 && h.name[len(h.name)-1] == '/' && h.size == 0 {
		_, err := io.Copy(io.Discard, sum)
		return err
	}
	if job, skip := run.choose(member{h.name, int64(min(h.size, 1<<62))}); !skip {
		return s.inside(sum, place, job, "zip", s.open)
	}
	_, err := io.Copy(io.Discard, &metered{r: sum, b: &s.budget})
	return err
}

func limit(name string) string { return name[:min(len(name), 200)] }

// zipBody is the packed bytes of one member.
type zipBody struct {
	z    *zipStream
	left int64
	open bool // the size is not known: the inflater finds the end
}

func (b *zipBody) Read(p []byte) (int, error) {
	if !b.open {
		if b.left == 0 {
			return 0, io.EOF
		}
		p = p[:min(int64(len(p)), b.left)]
	}
	n, err := b.z.Read(p)
	if b.left -= int64(n); !b.open && errors.Is(err, io.EOF) && b.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *zipBody) ReadByte() (byte, error) {
	if !b.open && b.left == 0 {
		return 0, io.EOF
	}
	c, err := b.z.ReadByte()
	if err == nil {
		b.left--
	} else if !b.open {
		err = io.ErrUnexpectedEOF
	}
	return c, err
}

// skip goes to the end of a member whose size is known.
func (b *zipBody) skip(lost func(string) error) error {
	if _, err := io.Copy(io.Discard, b); err != nil {
		return lost("is cut")
	}
	return nil
}

// summed takes the checksum of what is read. It ends like a file whatever the
// error; err keeps it.
type summed struct {
	r   io.Reader
	h   hash.Hash32
	n   uint64
	err error
}

func (s *summed) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, io.EOF
	}
	n, err := s.r.Read(p)
	_, _ = s.h.Write(p[:n]) // never fails
	s.n += uint64(n)
	if err != nil && err != io.EOF {
		s.err = err
		err = io.EOF
	}
	return n, err
}

// descriptor reads what stands behind a member: a mark that may be missing,
// CRC and sizes of four or eight bytes. What was read tells which.
func (z *zipStream) descriptor(h *zipHeader, packed, size uint64) error {
	marked := 0
	if b, err := z.r.Peek(4); err == nil && string(b) == "PK\x07\x08" {
		marked = 4
	}
	for _, at := range []int{marked, 0} {
		for _, wide := range []bool{h.big, !h.big} {
			if z.descriptorAt(at, wide, h, packed, size) {
				return nil
			}
		}
	}
	return io.ErrUnexpectedEOF
}

// descriptorAt takes the descriptor when its sizes are those that were read.
func (z *zipStream) descriptorAt(at int, wide bool, h *zipHeader, packed, size uint64) bool {
	le := binary.LittleEndian
	need := at + 12
	if wide {
		need = at + 20
	}
	b, err := z.r.Peek(need)
	if err != nil {
		return false
	}
	rest := b[at+4:]
	fits := uint64(le.Uint32(rest)) == packed&0xffffffff && uint64(le.Uint32(rest[4:])) == size&0xffffffff
	if wide {
		fits = le.Uint64(rest) == packed && le.Uint64(rest[8:]) == size
	}
	if !fits {
		return false
	}
	h.crc = le.Uint32(b[at:])
	_, err = z.take(need)
	return err == nil
}

// note keeps the first way in which headers and directory differ.
func (z *zipStream) note(format string, name string) {
	if z.trouble == nil {
		z.trouble = fmt.Errorf(format, limit(name))
	}
}

// directory reads one record behind the members; done tells that it was the
// last one.
func (z *zipStream) directory(mark string) (done bool, err error) {
	le := binary.LittleEndian
	var b []byte
	switch mark {
	case "PK\x01\x02":
		return false, z.entry()
	case "PK\x06\x08": // extra data
		if b, err = z.take(4); err == nil {
			err = z.discard(int64(le.Uint32(b)))
		}
	case "PK\x06\x06": // end of a zip64 directory
		if b, err = z.take(8); err == nil {
			err = z.discard(int64(min(le.Uint64(b), 1<<32)))
		}
	case "PK\x06\x07":
		_, err = z.take(16)
	case "PK\x05\x05": // signature
		if b, err = z.take(2); err == nil {
			err = z.discard(int64(le.Uint16(b)))
		}
	case "PK\x05\x06":
		if b, err = z.take(18); err == nil && le.Uint16(b[6:]) != 0xffff && int(le.Uint16(b[6:])) != z.listed&0xffff {
			z.note("its directory is cut: %s lists fewer members than it says", "it")
		}
		if err == nil {
			err = z.discard(int64(le.Uint16(b[16:])))
		}
		return true, err
	}
	return false, err
}

func (z *zipStream) discard(n int64) error {
	_, err := io.CopyN(io.Discard, z, n)
	return err
}

// entry checks one entry of the directory against what came.
func (z *zipStream) entry() error {
	b, err := z.take(42)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	name, err := z.take(int(le.Uint16(b[24:])))
	if err != nil {
		return err
	}
	extra, err := z.take(int(le.Uint16(b[26:])))
	if err != nil {
		return err
	}
	z.listed++
	off := int64(le.Uint32(b[38:]))
	if off == 0xffffffff {
		off = zip64Offset(extra, b)
	}
	switch seen, ok := z.came[off]; {
	case !ok:
		z.note("its directory lists %q, which did not come", string(name))
	case seen.name != maphash.String(z.seed, string(name)):
		z.note("a member has another name in its directory: %q", string(name))
	case seen.crc != le.Uint32(b[12:]):
		z.note("%q has another checksum in its directory", string(name))
	}
	delete(z.came, off)
	return z.discard(int64(le.Uint16(b[28:])))
}

// zip64Offset reads the offset of a header from the zip64 field: it holds only
// the values that did not fit.
func zip64Offset(extra, entry []byte) int64 {
	le := binary.LittleEndian
	for len(extra) >= 4 {
		id, n := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			break
		}
		if id == 1 {
			at := 0
			for _, i := range []int{20, 16} {
				if le.Uint32(entry[i:]) == 0xffffffff {
					at += 8
				}
			}
			if at+8 <= n {
				return int64(min(le.Uint64(extra[at:]), 1<<62))
			}
		}
		extra = extra[n:]
	}
	return -1
}
