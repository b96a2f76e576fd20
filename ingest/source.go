package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// maxDocument bounds a document: it is held while it is read.
const maxDocument = 32 << 20

// source is one input file being read: a plain file, or an archive with its
// members.
type source struct {
	g    *ingester
	ctx  context.Context
	w    *timeline.SourceWriter
	info timeline.SourceInfo
	file *os.File // nil for standard input

	read_, unread, partial int // members by state
	formats                []string
	unnamed                bool
}

// read reads the whole source and fills in its description.
func (s *source) read(in io.Reader) error {
	c := &counter{r: in, h: sha256.New(), g: s.g}
	s.info.First, s.info.Last = timeline.Beginning, timeline.Forever
	if s.info.Explicit {
		if err := s.w.Write(&timeline.Batch{Claimed: []timeline.Subject{s.g.opt.Subject}}); err != nil {
			return err
		}
	}
	if err := s.open(s.info.Path, c, timeline.Subject{}, 0); err != nil {
		return err
	}
	// The hash is of the whole file, also where reading ended early.
	if _, err := io.Copy(io.Discard, c); err != nil {
		return err
	}
	s.info.SHA256, s.info.Bytes = hex.EncodeToString(c.h.Sum(nil)), c.n
	s.conclude()
	return nil
}

// conclude sums the states of the members up.
func (s *source) conclude() {
	switch {
	case s.partial == 0 && s.unread == 0 && s.read_ > 0:
		s.info.State = timeline.Read
	case s.read_ == 0 && s.partial == 0:
		s.info.State = timeline.Unread
		if s.info.Why == "" {
			s.info.Why = "no format claims it"
		}
	default:
		s.info.State = timeline.Partial
	}
	s.info.Format = strings.Join(s.formats, "+")
	if s.info.Format == "" {
		s.info.Format = "unknown"
	}
	if s.info.Claim == "" && s.unnamed {
		s.info.Claim = s.info.Path
	}
}

// state counts a member; why is kept for the first one that was not read.
func (s *source) state(member string, st timeline.State, why string) {
	switch st {
	case timeline.Read:
		s.read_++
	case timeline.Partial:
		s.partial++
	case timeline.Unread:
		s.unread++
	}
	if st != timeline.Read && s.info.Why == "" && why != "" {
		if member != s.info.Path {
			why = strings.TrimPrefix(member, s.info.Path+"!") + ": " + why
		}
		s.info.Why = why
	}
}

func (s *source) format(name string) {
	for _, f := range s.formats {
		if f == name {
			return
		}
	}
	s.formats = append(s.formats, name)
}

// member reads one plain member. base is the subject that the archive around
// it gives, zero when it gives none.
func (s *source) member(name string, r io.Reader, base timeline.Subject) error {
	d, err := decode(r)
	if err != nil {
		return s.broken(name, err)
	}
	if d.binary {
		s.state(name, timeline.Unread, "binary data of no known format")
		return nil
	}
	last := name[strings.LastIndexByte(name, '!')+1:]
	h := &evidence.Head{Path: name, Name: path.Base(last), Dir: path.Base(path.Dir(last)), Bytes: d.head}
	f := s.claim(h)
	if f == nil && len(d.head) == 0 {
		s.state(name, timeline.Unread, "empty")
		return nil
	}
	times := evidence.Times{Zone: s.g.opt.Zone, Covers: s.g.opt.Covers}
	reading := s.g.machine.NewReading(name, s.g.opt.Subject, base, times, s.w.Write)
	if f != nil && f.Shape == evidence.DocumentShape {
		return s.document(f, h, d, reading)
	}
	return s.lines(f, h, d, reading)
}

// claim finds the format of a member.
func (s *source) claim(h *evidence.Head) *evidence.Format {
	for i := range Formats {
		f := &Formats[i]
		if s.g.opt.Format != "" && f.Name == s.g.opt.Format || s.g.opt.Format == "" && f.Claim != nil && f.Claim(h) {
			return f
		}
	}
	return nil
}

func (s *source) document(f *evidence.Format, h *evidence.Head, d *decoded, r *evidence.Reading) error {
	data, err := io.ReadAll(io.LimitReader(d, maxDocument+1))
	if err != nil {
		return s.broken(h.Path, err)
	}
	s.format(f.Name)
	if len(data) > maxDocument {
		s.state(h.Path, timeline.Unread, fmt.Sprintf("a %s of more than %d MiB is not read", f.Name, maxDocument>>20))
		return nil
	}
	sum := sha256.Sum256(data)
	doc := &evidence.Doc{Head: *h, Data: data, SHA256: "sha256:" + hex.EncodeToString(sum[:])}
	readErr := f.Read(doc, &r.Out)
	t, err := r.Finish(s.g.opt.Covers)
	if err != nil {
		return err
	}
	s.add(t)
	switch {
	case readErr != nil && t.Understood == 0:
		s.state(h.Path, timeline.Unread, readErr.Error())
	case readErr != nil:
		s.state(h.Path, timeline.Partial, readErr.Error())
	default:
		s.settle(h.Path, t)
	}
	return nil
}

func (s *source) lines(f *evidence.Format, h *evidence.Head, d *decoded, r *evidence.Reading) error {
	if f != nil {
		s.format(f.Name)
		r.Claimed(f.Name, h)
	}
	in := lines{r: d.Reader}
	var l evidence.Line
	for {
		tooLong, err := in.read(&l)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.SetLine(in.no, in.off, nil)
			r.Skip("reading stops here: " + err.Error())
			break
		}
		if tooLong {
			r.SetLine(l.No, l.Off, l.Text)
			r.Skip(fmt.Sprintf("a line of more than %d KiB", maxLine>>10))
			continue
		}
		r.Line(&l)
		if in.no&0xfff == 0 && (s.ctx.Err() != nil || r.Err() != nil) {
			break
		}
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	t, err := r.Finish(s.g.opt.Covers)
	if err != nil {
		return err
	}
	s.add(t)
	if f == nil {
		if t.Understood == 0 {
			s.state(h.Path, timeline.Unread, "no format claims it, and no line of a known tool is in it")
			return nil
		}
		s.format(textFormat)
	}
	s.settle(h.Path, t)
	return nil
}

func (s *source) settle(name string, t evidence.Totals) {
	switch {
	case t.Partial != "":
		s.state(name, timeline.Partial, t.Partial)
	case t.Skipped > 0:
		s.state(name, timeline.Partial, fmt.Sprintf("%d records could not be understood", t.Skipped))
	default:
		s.state(name, timeline.Read, "")
	}
}

func (s *source) add(t evidence.Totals) {
	s.info.Events += t.Events
	s.info.Skipped += t.Skipped
	s.unnamed = s.unnamed || t.Unnamed
	if t.First != timeline.Beginning && (s.info.First == timeline.Beginning || t.First < s.info.First) {
		s.info.First = t.First
	}
	if t.Last != timeline.Forever && (s.info.Last == timeline.Forever || t.Last > s.info.Last) {
		s.info.Last = t.Last
	}
}

// broken records a member that could not be opened or decoded as a gap.
func (s *source) broken(name string, err error) error {
	s.state(name, timeline.Partial, err.Error())
	s.info.Skipped++
	return s.w.Write(&timeline.Batch{Skips: []timeline.Skip{{Reason: err.Error(), Origin: timeline.Origin{Path: name}}}})
}

// open reads r as an archive when its first bytes say so, else as a member.
func (s *source) open(name string, r io.Reader, base timeline.Subject, depth int) error {
	return s.member(name, r, base)
}
