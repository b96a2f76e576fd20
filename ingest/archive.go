package ingest

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"pulltrail/ingest/image"
	"pulltrail/timeline"
)

// Limits on archives. They are read as a stream and never written to disk, so
// what they bound is time; whatever is over them is a gap, with its reason.
const (
	maxNesting = 4        // archives inside archives
	maxMembers = 100_000  // of one source, nested archives included
	maxUnpack  = 64 << 30 // bytes that one source may unpack to
	maxRatio   = 1000     // unpacked to packed bytes,
	ratioFrom  = 64 << 20 // once that much was unpacked
	maxEvents  = 10       // events by each byte of a source that is packed,
	eventsFrom = 1 << 20  // once there are that many
	maxName    = 1024     // bytes of a member's name that are kept
)

// errOver ends the reading of an archive that unpacks to too much.
var errOver = errors.New("over the limits on archives")

// budget counts what the archives of one source unpack to.
type budget struct {
	members  int
	unpacked int64
	events   int64
	packed   func() int64 // bytes of the source, or of it read so far
	over     error
}

// member counts a member; it reports whether it may be read.
func (b *budget) member() bool {
	if b.members++; b.members > maxMembers && b.over == nil {
		b.over = fmt.Errorf("%w: more than %d members; unpack it and read the folder", errOver, maxMembers)
	}
	return b.over == nil
}

// found counts the events of what is packed: a line can be packed to nothing,
// and its event cannot.
func (b *budget) found(events int) {
	b.events += int64(events)
	if b.over == nil && b.events > eventsFrom && b.events/maxEvents > b.packed() {
		b.over = fmt.Errorf("%w: more than %d events for each of its bytes, the same lines again and again; unpack it and read the file", errOver, maxEvents)
	}
}

func (b *budget) count(n int) error {
	b.unpacked += int64(n)
	switch {
	case b.over != nil:
	case b.unpacked > maxUnpack:
		b.over = fmt.Errorf("%w: it unpacks to more than %d GiB; unpack it and read the folder", errOver, maxUnpack>>30)
	case b.unpacked > ratioFrom && b.unpacked/maxRatio > b.packed():
		b.over = fmt.Errorf("%w: it unpacks to more than %d times its size", errOver, maxRatio)
	}
	return b.over
}

// metered counts what comes out of a decompressor. To its reader every end is
// an end of file; err keeps why it ended when it was another one.
type metered struct {
	r    io.Reader
	b    *budget
	what string // gzip, zstd, tar, zip
	err  error
	told bool // the gap was recorded with what was read
}

func (m *metered) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, io.EOF
	}
	n, err := m.r.Read(p)
	if over := m.b.count(n); over != nil {
		err = over
	}
	if err != nil && !errors.Is(err, io.EOF) {
		m.err = err
		return n, io.EOF
	}
	return n, err
}

// gap is why the stream ended early, nil when it did not.
func (m *metered) gap() error {
	if m == nil || m.err == nil {
		return nil
	}
	if errors.Is(m.err, errOver) {
		return m.err
	}
	return fmt.Errorf("%s: %w", m.what, cut(m.err))
}

// container is what an archive's first bytes say it is.
type container uint8

const (
	plain container = iota
	packed
	tarred
	zipped
)

// sniff tells an archive by its content, never by its name.
func sniff(head []byte) container {
	switch {
	case compressed(head) != nil:
		return packed
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")), bytes.HasPrefix(head, []byte("PK\x07\x08PK")):
		return zipped
	case isTar(head):
		return tarred
	}
	return plain
}

const tarBlock = 512

// isTar checks the sum of a tar header, the one mark that all its dialects
// have. https://www.gnu.org/software/tar/manual/html_node/Standard.html
func isTar(head []byte) bool {
	if len(head) < tarBlock || head[0] == 0 {
		return false
	}
	want, err := strconv.ParseInt(strings.Trim(string(head[148:156]), " \x00"), 8, 32)
	if err != nil {
		return false
	}
	sum := int64(8 * ' ')
	for i, c := range head[:tarBlock] {
		if i < 148 || i >= 156 {
			sum += int64(c)
		}
	}
	return sum == want
}

// foreign names compressions that are not read, so that a person knows what to
// do.
func foreign(head []byte) string {
	for _, f := range []struct{ mark, name string }{
		{"7z\xbc\xaf\x27\x1c", "7z"},
		{"\x04\x22\x4d\x18", "lz4"},
		{"Rar!\x1a\x07", "rar"},
		{"\x1f\x9d", "compress"},
	} {
		if bytes.HasPrefix(head, []byte(f.mark)) {
			return f.name
		}
	}
	return ""
}

// where is the place of a stream inside a source.
type where struct {
	path  string   // of the source, with "!member" for each archive around it
	job   string   // folder of the job whose log it is, when the archive says so
	depth int      // archives around it
	from  *metered // what it is read from, nil for a file as it is
}

// in is the place of a member. Its name is a label: it never becomes a path on
// disk, whatever stands in it.
func (w where) in(name string) where {
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return where{path: w.path + "!" + name, depth: w.depth + 1}
}

// readers are used again: archives have many small members.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, headSize) }}

// open reads r as an archive when its first bytes say so, else as a member.
func (s *source) open(r io.Reader, at where) error {
	b, _ := readers.Get().(*bufio.Reader)
	b.Reset(r)
	defer func() {
		b.Reset(nil)
		readers.Put(b)
	}()
	head, _ := b.Peek(tarBlock) // the error comes again with the next read
	kind := sniff(head)
	if kind != plain && at.depth >= maxNesting {
		return s.broken(at.path, fmt.Errorf("archives nested more than %d deep are not read", maxNesting))
	}
	switch kind {
	case packed:
		z, name, err := decompressor(b, head)
		if err != nil {
			return s.broken(at.path, err)
		}
		return s.unpack(z, name, at)
	case tarred:
		return s.tar(b, at)
	case zipped:
		if s.file != nil && at.depth == 0 && at.path == s.info.Path && !s.unpacking {
			return s.zipFile(at)
		}
		return s.zipStream(b, at)
	case plain:
	}
	if name := foreign(head); name != "" {
		s.state(at.path, timeline.Unread, name+" data is not read: decompress it first")
		return nil
	}
	return s.member(b, at)
}

// unpack reads what a compressed stream holds.
func (s *source) unpack(z io.Reader, name string, at where) error {
	m := &metered{r: z, b: &s.budget, what: name}
	inner := at
	inner.from = m
	if s.unpacking {
		inner.depth++ // gzip in gzip
	}
	before := s.unpacking
	s.unpacking = true
	err := s.open(m, inner)
	s.unpacking = before
	if err != nil {
		return err
	}
	return s.drain(m, at.path)
}

// drain reads a stream to its end, where checksums stand, and records a gap
// when it was cut or broken.
func (s *source) drain(m *metered, path string) error {
	if _, err := io.Copy(io.Discard, m); err != nil {
		return err
	}
	if gap := m.gap(); gap != nil && !m.told {
		return s.broken(path, gap)
	}
	return nil
}

// tarReader knows whether the end mark of a tar archive came, two blocks of
// zeros: zeros counts those that were read last.
type tarReader struct {
	r     io.Reader
	zeros int64
}

func (t *tarReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	kept := len(bytes.TrimRight(p[:n], "\x00"))
	if kept > 0 {
		t.zeros = 0
	}
	t.zeros += int64(n - kept)
	return n, err
}

// tar reads a tar stream: its members, and what they are together.
func (s *source) tar(r io.Reader, at where) error {
	images := &imageArchive{Archive: image.New()}
	if err := s.tarMembers(r, at, images); err != nil {
		return err
	}
	return s.images(images, at)
}

func (s *source) tarMembers(r io.Reader, at where, images *imageArchive) error {
	in := &tarReader{r: r}
	tr := tar.NewReader(in)
	run := newRunMembers(func() ([]member, error) { return s.tarNames(at) })
	named := map[string]bool{}
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s.broken(at.path, fmt.Errorf("tar: %w", cut(err)))
		}
		if !s.budget.member() {
			return s.overrun(at)
		}
		if h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeGNUSparse && h.Typeflag != tar.TypeCont || h.Size == 0 {
			continue
		}
		job, skip := run.choose(member{h.Name, h.Size})
		if skip {
			continue
		}
		read := s.open
		if part, _ := image.PartOf(h.Name); part != image.Other {
			read = func(r io.Reader, at where) error { return s.part(images, h.Name, r, at) }
		} else if named[h.Name] {
			if err := s.broken(at.in(h.Name).path, errors.New("tar: two members have this name")); err != nil {
				return err
			}
		}
		named[h.Name] = true
		if err := s.inside(tr, at.in(h.Name), job, "tar", read); err != nil {
			return err
		}
		if s.budget.over != nil {
			return s.overrun(at)
		}
	}
	s.tear(torn(run.came), at)
	if in.zeros < 2*tarBlock {
		return s.broken(at.path, errors.New("tar: it is cut: its end mark is missing"))
	}
	rest, err := io.Copy(io.Discard, &nonZero{r: r})
	if err != nil {
		return s.broken(at.path, fmt.Errorf("tar: %w", cut(err)))
	}
	if rest > 0 {
		return s.broken(at.path, errors.New("tar: data follow its end mark"))
	}
	return nil
}

// tarNames lists the regular files of a tar archive that can be read a second
// time: a file, compressed or not. nil: it cannot.
func (s *source) tarNames(at where) ([]member, error) {
	if s.file == nil || at.depth > 0 {
		return nil, nil
	}
	var r io.Reader = bufio.NewReader(io.NewSectionReader(s.file, 0, s.file.Size()))
	head, _ := r.(*bufio.Reader).Peek(tarBlock)
	if z, _, err := decompressor(r, head); err != nil {
		return nil, err
	} else if z != nil {
		r = z
	}
	tr := tar.NewReader(&metered{r: r, b: &budget{packed: s.file.Size}})
	var all []member
	for len(all) < maxMembers {
		h, err := tr.Next()
		if err != nil {
			break // what is wrong is said when it is read
		}
		all = append(all, member{h.Name, h.Size})
	}
	return all, nil
}

// nonZero passes on what is not zero.
type nonZero struct{ r io.Reader }

func (z *nonZero) Read(p []byte) (int, error) {
	n, err := z.r.Read(p)
	return len(bytes.Trim(p[:n], "\x00")), err
}

// cut says in words that a stream ended too early.
func cut(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is cut: the data end too early")
	}
	return err
}

// inside reads one member of an archive; a member that is broken is a gap, and
// the next one is read.
func (s *source) inside(r io.Reader, at where, job, what string, read func(io.Reader, where) error) error {
	m := &metered{r: r, b: &s.budget, what: what}
	at.job, at.from = job, m
	if err := read(m, at); err != nil {
		return err
	}
	return s.drain(m, at.path)
}

// overrun records that the rest of the archive is not read.
func (s *source) overrun(at where) error {
	if s.overTold {
		return nil
	}
	s.overTold = true
	return s.broken(at.path, s.budget.over)
}
