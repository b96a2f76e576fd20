package ingest

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"

	"pulltrail/timeline"
)

// zipFile reads a zip file by its directory, at the end of the file. Without
// one the file was cut: what is left of it is read as it comes.
func (s *source) zipFile(at where) error {
	size := s.file.Size()
	in := &progressAt{ctx: s.ctx, r: s.file, left: size, g: s.g}
	s.budget.packed = s.file.Size
	s.in.quiet = true
	n, err := directorySize(s.file, size)
	var z *zip.Reader
	if err == nil && n <= maxMembers {
		z, err = zip.NewReader(in, size)
	}
	if z == nil || err != nil {
		return s.zipStream(io.NewSectionReader(in, 0, size), at)
	}
	z.RegisterDecompressor(zip.Deflate, inflate)
	all := extents(z.File)
	if unlisted(in, all) {
		return s.zipStream(io.NewSectionReader(in, 0, size), at)
	}
	files, why := apart(z.File, all)
	if why != "" {
		if err := s.broken(at.path, errors.New(why)); err != nil {
			return err
		}
	}
	return s.zipMembers(files, at)
}

// progressAt tells the progress of a file that is read here and there.
type progressAt struct {
	ctx  context.Context
	r    io.ReaderAt
	left int64
	g    *ingester
}

func (p *progressAt) ReadAt(b []byte, off int64) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.r.ReadAt(b, off)
	step := min(int64(n), p.left)
	p.left -= step
	p.g.progress(step)
	return n, err
}

// directorySize reads how many members a zip file says it has, so that a
// directory of millions is not held. It is an error when the directory does not
// end where its end record stands: two archives in one file have two.
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT 4.3.14, 4.3.16
func directorySize(f io.ReaderAt, size int64) (uint64, error) {
	const tail = 22 + 1<<16
	buf := make([]byte, min(size, tail))
	if _, err := f.ReadAt(buf, size-int64(len(buf))); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	end := strings.LastIndex(string(buf), "PK\x05\x06")
	if end < 0 || end+22 > len(buf) {
		return 0, zip.ErrFormat
	}
	le := binary.LittleEndian
	n := uint64(le.Uint16(buf[end+10:]))
	length, from, at := uint64(le.Uint32(buf[end+12:])), uint64(le.Uint32(buf[end+16:])), uint64(size)-uint64(len(buf)-end)
	if end >= 20 && string(buf[end-20:end-16]) == "PK\x06\x07" {
		var big [56]byte
		at = le.Uint64(buf[end-12:])
		if _, err := f.ReadAt(big[:], int64(at&(1<<62-1))); err != nil || string(big[:4]) != "PK\x06\x06" {
			return 0, zip.ErrFormat
		}
		n, length, from = le.Uint64(big[32:]), le.Uint64(big[40:]), le.Uint64(big[48:])
	}
	if from+length != at {
		return n, zip.ErrFormat
	}
	return n, nil
}

// zipMembers reads the members of a zip file; the jobs of a run archive once
// each.
func (s *source) zipMembers(files []*zip.File, at where) error {
	all := make([]member, len(files))
	seen := make(map[string]bool, len(files))
	for i, f := range files {
		all[i] = member{f.Name, int64(min(f.UncompressedSize64, 1<<62))}
		if seen[f.Name] {
			if err := s.broken(at.in(f.Name).path, errors.New("zip: two members have this name")); err != nil {
				return err
			}
		}
		seen[f.Name] = true
	}
	wrong := torn(all)
	s.tear(wrong, at)
	tasks, _ := plan(all)
	s.jobs = countJobs(tasks)
	for _, t := range tasks {
		var parts []part
		for _, i := range t.members {
			f := files[i]
			if strings.HasSuffix(f.Name, "/") && f.UncompressedSize64 == 0 {
				continue
			}
			parts = append(parts, part{at.in(f.Name), func() (io.ReadCloser, error) { return openZip(f) }})
		}
		from, partial := len(s.covers), s.partial
		if err := s.parts(parts, t.job); err != nil {
			return err
		}
		if _, bad := wrong[t.job]; !bad && s.partial == partial {
			s.prove(from)
		}
		if s.budget.over != nil {
			return s.overrun(at)
		}
	}
	return nil
}

// tear says which jobs of a run archive are not whole.
func (s *source) tear(wrong map[string]string, at where) {
	for _, folder := range slices.Sorted(maps.Keys(wrong)) {
		s.state(at.in(folder).path, timeline.Partial, wrong[folder])
	}
}

func openZip(f *zip.File) (io.ReadCloser, error) {
	if f.Flags&1 != 0 {
		return nil, errors.New("it is encrypted: decrypt it first")
	}
	r, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, fmt.Errorf("its compression (method %d) is not read: unpack it first", f.Method)
	}
	return r, err
}

// inflaters are used again: archives have many small members.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// inflater gives its memory back when it is closed.
type inflater struct{ z io.ReadCloser }

func inflate(r io.Reader) io.ReadCloser {
	z, _ := inflaters.Get().(io.ReadCloser)
	if again, ok := z.(flate.Resetter); !ok || again.Reset(r, nil) != nil {
		z = flate.NewReader(r)
	}
	return &inflater{z}
}

func (f *inflater) Read(p []byte) (int, error) {
	if f.z == nil {
		return 0, fs.ErrClosed
	}
	return f.z.Read(p)
}

func (f *inflater) Close() error {
	if f.z == nil {
		return nil
	}
	err := f.z.Close()
	inflaters.Put(f.z)
	f.z = nil
	return err
}

// part is one member of a task.
type part struct {
	at   where
	open func() (io.ReadCloser, error)
}

// parts reads the members of a task: one of them as whatever it is, several as
// one log, the steps of a job.
func (s *source) parts(parts []part, job string) error {
	if len(parts) > 1 {
		return s.steps(parts, job)
	}
	for _, p := range parts {
		if !s.budget.member() {
			return nil
		}
		r, err := p.open()
		if err != nil {
			if err := s.broken(p.at.path, fmt.Errorf("zip: %w", err)); err != nil {
				return err
			}
			continue
		}
		err = s.inside(r, p.at, job, "zip", s.open)
		_ = r.Close() // what was wrong was said when it was read
		if err != nil {
			return err
		}
	}
	return nil
}

// steps reads the step files of a job as one log. That none of them is missing
// cannot be known when numbers are: a step that was skipped has no file.
func (s *source) steps(parts []part, job string) error {
	at := parts[0].at
	at.job = job
	l := s.newLog(at)
	last := 0
	for i, p := range parts {
		if !s.budget.member() {
			return nil
		}
		_, base := split(p.at.path[strings.LastIndexByte(p.at.path, '!')+1:])
		last, _, _ = numbered(base)
		if err := s.step(l, p, i == 0); err != nil {
			return err
		}
	}
	if last != len(parts) {
		l.reading.Cut("the whole-job file is missing or cut, and step files may be missing too: their numbers have holes")
	}
	return s.finish(l)
}

// step reads one of the step files of a log.
func (s *source) step(l *log, p part, first bool) error {
	r, err := p.open()
	if err != nil {
		l.reading.Cut("zip: " + err.Error())
		return nil
	}
	defer func() { _ = r.Close() }() // what is wrong is said when it is read
	m := &metered{r: r, b: &s.budget, what: "zip"}
	l.reading.Member(p.at.path)
	d, err := decode(m)
	if err == nil {
		if first {
			h := newHead(p.at.path, d.head)
			s.begin(l, s.claim(h), h)
		}
		err = s.feed(l, d, m)
	}
	return err
}
