package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// maxDocument bounds a document: it is held while it is read.
const maxDocument = 32 << 20

// source is one input file being read: a plain file, or an archive with its
// members.
type source struct {
	g     *ingester
	ctx   context.Context
	write func(*timeline.Batch) error // takes what is found

	// What the source covers waits until it is known whether it is whole. Of
	// one that is not, only members that a checksum proved cover anything whole.
	covers, proved []timeline.Coverage

	shown [2]string // a path, and what is shown of it

	info timeline.SourceInfo
	from input
	file *io.SectionReader // nil for what cannot be read twice
	keep *timeline.Keeper  // nil: it is not kept

	in        *counter
	budget    budget
	unpacking bool // inside gzip
	overTold  bool
	jobs      int // jobs of the run archive being read, 0 when that is not known

	done, unread, partial int // members by state
	formats               []string
	unnamed               bool
	claimed               bool  // the subject that --subject gave, or one of its jobs, is stored
	ops                   int64 // number of the last operation
}

// read reads the whole source and fills in its description.
func (s *source) read(in io.Reader) error {
	s.in = &counter{ctx: s.ctx, r: in, h: sha256.New(), g: s.g, keep: s.keep}
	s.budget.packed = func() int64 { return s.in.n }
	s.info.First, s.info.Last = timeline.Beginning, timeline.Forever
	if s.from.copyOf != "" {
		s.format("github-job")
		s.state(s.info.Path, timeline.Read, "")
		s.info.Why = "the same lines stand in " + evidence.ConcealPath(s.from.copyOf)
	} else if s.from.images != nil {
		if err := s.imageFolder(); err != nil {
			return err
		}
	} else if s.from.content != nil {
		if err := s.imageKept(); err != nil {
			return err
		}
	} else if err := s.open(s.in, where{path: s.info.Path, job: s.from.job}); err != nil {
		return err
	}
	if err := s.claimSubject(s.g.opt.Subject); err != nil {
		return err
	}
	// The hash is of the whole file, also where reading ended early.
	if _, err := io.Copy(io.Discard, s.in); err != nil {
		return err
	}
	s.info.SHA256, s.info.Bytes = hex.EncodeToString(s.in.h.Sum(nil)), s.in.n
	if err := s.lies(); err != nil {
		return err
	}
	s.conclude()
	if err := s.entire(); err != nil {
		return err
	}
	for i := range s.covers {
		s.covers[i].Whole = s.covers[i].Whole && s.info.State == timeline.Read
	}
	return s.write(&timeline.Batch{Coverage: append(s.proved, s.covers...)})
}

// lies tells that a file lay on a host, in a container or in an image whose files
// a folder has: what an attacker left there need not be evidence of any format.
// A log among them is the evidence itself, and mostly brought there by who reads it.
func (s *source) lies() error {
	if s.from.root == "" || s.info.Events > 0 && logFormat(s.info.Format) {
		return nil
	}
	file := strings.TrimPrefix(filepath.ToSlash(s.from.path), strings.TrimSuffix(filepath.ToSlash(s.from.root), "/"))
	return s.lay(s.info.Path, file, []timeline.Digest{{Value: "sha256:" + s.info.SHA256, Role: timeline.File}})
}

// logFormat reports whether a format is one of lines, and no document.
func logFormat(name string) bool {
	return name == textFormat || slices.ContainsFunc(Formats, func(f evidence.Format) bool {
		return f.Name == name && f.Shape != evidence.DocumentShape
	})
}

// packed tells the same of a member of an archive, by its name alone.
func (s *source) packed(at where) error {
	i := strings.LastIndexByte(at.path, '!')
	if i < 0 || at.path == s.info.Path {
		return nil
	}
	return s.lay(at.path, "/"+strings.TrimPrefix(strings.TrimPrefix(at.path[i+1:], "./"), "/"), nil)
}

func (s *source) lay(place, file string, digests []timeline.Digest) error {
	who := s.g.opt.Subject
	if who.Kind != timeline.Host && who.Kind != timeline.Container && who.Kind != timeline.Image {
		return nil
	}
	return s.put(&timeline.Batch{Events: []timeline.Event{{
		Action: timeline.Contact, Subject: who, Span: timeline.Always(), Origin: timeline.Origin{Path: place},
		Items: []timeline.Item{{Artifact: "file:" + evidence.Redact(evidence.Clean(file)), Digests: digests}},
	}}})
}

// claimSubject stores a subject that gets a verdict even if nothing was found.
// A run is none itself when one of its jobs was read.
func (s *source) claimSubject(who timeline.Subject) error {
	if who.IsZero() || s.claimed && evidence.GitHubRun(who) {
		return nil
	}
	b := &timeline.Batch{Claimed: []timeline.Subject{who}}
	if !s.claimed {
		b.Expected = s.earlier(who)
	}
	s.claimed = true
	return s.put(b)
}

// earlier lists the attempts that came before the one that --subject names: a
// re-run proves that they were.
func (s *source) earlier(who timeline.Subject) []timeline.Expected {
	run, rest, ok := strings.Cut(who.ID, "/attempts/")
	if who.Kind != timeline.Job || !ok {
		return nil
	}
	number, _, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(number)
	if err != nil || n > maxAttempts {
		return nil
	}
	var out []timeline.Expected
	for k := 1; k < n; k++ {
		out = append(out, timeline.Expected{
			Subject: timeline.Subject{Kind: timeline.Job, ID: run + "/attempts/" + strconv.Itoa(k)},
			Span:    timeline.Always(), Detail: fmt.Sprintf("attempt %d was read, so attempt %d was made", n, k), Origin: timeline.Origin{Path: s.info.Path},
		})
	}
	return out
}

// maxAttempts is far above what GitHub allows for one run.
const maxAttempts = 1000

// conclude sums the states of the members up.
func (s *source) conclude() {
	switch {
	case s.partial == 0 && s.unread == 0 && s.done > 0:
		s.info.State = timeline.Read
	case s.done == 0 && s.partial == 0:
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
	member = evidence.ConcealPath(member)
	switch st {
	case timeline.Read:
		s.done++
	case timeline.Partial:
		s.partial++
	case timeline.Unread:
		s.unread++
	}
	if st != timeline.Read && s.info.Why == "" && why != "" {
		if member != s.info.Path {
			why = strings.TrimPrefix(member, s.info.Path+"!") + ": " + why
		}
		s.info.Why = evidence.Redact(evidence.Clean(why))
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

// member reads one plain member.
func (s *source) member(r io.Reader, at where) (err error) {
	defer func() {
		// A fault of one reader loses one member, with its reason, not the rest.
		if p := recover(); p != nil {
			err = s.broken(at.path, fmt.Errorf("pulltrail failed while reading it (%v): please report it", p))
		}
	}()
	if err := s.packed(at); err != nil {
		return err
	}
	d, err := decode(r)
	if err != nil {
		return s.broken(at.path, err)
	}
	if d.binary {
		if at.depth > 0 && finderFile(d.head) {
			return nil
		}
		h := newHead(at.path, d.head)
		if f := s.claim(h); f != nil && f.Data {
			return s.document(f, h, d, s.newLog(at))
		}
		s.state(at.path, timeline.Unread, binaryAdvice(h))
		return nil
	}
	h := newHead(at.path, d.head)
	if c := s.from.collected; c != nil && at.depth == 0 && c.Name != "" {
		h.Name, h.Dir = path.Base(c.Name), path.Base(path.Dir(c.Name))
	}
	f := s.claim(h)
	if why := writtenText(f, h); why != "" && s.g.opt.Format == "" {
		s.state(at.path, timeline.Unread, why)
		return nil
	}
	if f == nil && len(d.head) == 0 && at.from.gap() == nil {
		if at.depth == 0 { // an empty member of an archive says nothing
			s.state(at.path, timeline.Unread, "empty")
		}
		return nil
	}
	l := s.newLog(at)
	if f != nil && f.Shape == evidence.DocumentShape {
		return s.document(f, h, d, l)
	}
	s.begin(l, f, h)
	feed := s.feed
	if f != nil && len(f.Fields) > 0 {
		feed = s.records
	}
	if err := feed(l, d, at.from); err != nil {
		return err
	}
	return s.finish(l)
}

func newHead(name string, head []byte) *evidence.Head {
	last := name[strings.LastIndexByte(name, '!')+1:]
	if bytes.Contains(head, []byte("\r\n")) { // claims are of what is written, not of how lines end
		head = bytes.ReplaceAll(head, []byte("\r\n"), []byte("\n"))
	}
	return &evidence.Head{Path: name, Name: path.Base(last), Dir: path.Base(path.Dir(last)), Bytes: head}
}

// log is one log on its way: a member, or several that are one.
type log struct {
	path    string
	unread  string // why it is, when no line is recognised
	format  *evidence.Format
	reading *evidence.Reading
}

func (s *source) newLog(at where) *log {
	claim, base := s.subjects(at)
	times := evidence.Times{Zone: s.g.opt.Zone, Covers: s.g.opt.Covers, Skew: s.g.opt.Skew}
	if c := s.from.collected; c != nil && c.Reading == timeline.Entire {
		times.Covers = c.Span // its lines were printed while it lived
	}
	write := s.put
	if at.from != nil || at.depth > 0 {
		write = func(b *timeline.Batch) error {
			s.budget.found(len(b.Events))
			return s.put(b)
		}
	}
	r := s.g.machine.NewReading(at.path, claim, base, times, write)
	r.StartOps(s.ops)
	r.Store = s.g.opt.Store
	return &log{path: at.path, reading: r}
}

// subjects says what the lines of a place belong to: what --subject said, and
// for a job of a run archive the job.
func (s *source) subjects(at where) (claim, base timeline.Subject) {
	claim = s.g.opt.Subject
	if at.job == "" {
		return claim, base
	}
	name := path.Base(at.job)
	if claim.IsZero() {
		around := path.Dir(at.path) + "/"
		if i := strings.LastIndexByte(at.path, '!'); i >= 0 {
			around = at.path[:i+1]
		} else if at.depth == 0 {
			around = ""
		}
		return timeline.Subject{Kind: timeline.Source, ID: around + at.job}, base
	}
	run, job, ok := strings.Cut(claim.ID, "/jobs/")
	if one := s.jobs == 1 || strings.ReplaceAll(job, "/", "_") == name; ok && !one {
		claim.ID = run
	}
	return claim, evidence.GitHubJob(claim, name)
}

// begin names the format of a log; the format may look at its head.
func (s *source) begin(l *log, f *evidence.Format, h *evidence.Head) {
	l.format = f
	if f == nil {
		l.unread = textAdvice(h)
	} else {
		s.format(f.Name)
		l.reading.Claimed(f.Name, h)
	}
}

// claim finds the format of a member.
func (s *source) claim(h *evidence.Head) *evidence.Format {
	for i := range Formats {
		f := &Formats[i]
		if s.g.opt.Format != "" && f.Name == s.g.opt.Format || s.g.opt.Format == "" && claims(f, h) {
			return f
		}
	}
	return nil
}

// claims reports whether a source with this head is of the format.
func claims(f *evidence.Format, h *evidence.Head) bool {
	if len(f.Fields) > 0 {
		return f.ClaimsRecords(h)
	}
	return f.Claim != nil && f.Claim(h)
}

func (s *source) document(f *evidence.Format, h *evidence.Head, d *decoded, l *log) error {
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
	from := s.from.collected
	if from != nil {
		if doc.Page = from.Reading == timeline.PageOf; doc.Page && from.Span.From != timeline.Beginning {
			doc.Window = from.Span
		}
		if h.Path == from.URL && from.Kind != objectKind { // not a member of it, nor a file that was laid there some time
			doc.Asked = from.At
		}
	}
	if from != nil && from.Kind == workflowKind {
		if err := s.workflow(doc); err != nil {
			return err
		}
	}
	readErr := f.Read(doc, &l.reading.Out)
	t, err := l.reading.Finish(s.g.opt.Covers)
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
		s.settle(l, t)
	}
	return nil
}

// feed hands the lines of a member on. from is what it is read from: where
// that broke off, the last line is no line, for half a version is another one.
func (s *source) feed(l *log, d *decoded, from *metered) error {
	r := l.reading
	in := newLines(d.Reader)
	defer in.close()
	in.lost = evidence.LostEscapes(d.head)
	var line evidence.Line
	half := false
	for n := 1; ; n++ {
		in.pass(r.Pass)
		tooLong, err := in.read(&line)
		if err != nil && errors.Is(err, io.EOF) {
			break
		}
		switch {
		case err != nil:
			r.SetLine(in.no, in.off, nil)
			r.Skip("reading stops here: " + err.Error())
			return s.ctx.Err()
		case tooLong:
			r.SetLine(line.No, line.Off, nil) // it may be what somebody asked an engine
			r.Skip(fmt.Sprintf("a line of more than %d KiB", maxLine>>10))
			continue
		case in.open && from.gap() != nil:
			half = true
			r.SetLine(line.No, line.Off, line.Text)
			r.Skip("the data end inside this line: " + from.gap().Error())
			continue
		}
		r.Line(&line)
		if n&0xff == 0 && (s.ctx.Err() != nil || r.Err() != nil) {
			break
		}
	}
	if in.hole {
		r.Cut("a run of NUL bytes stands in it: the machine stopped while it was written, or it was cut in place; what was there is lost")
	}
	if in.open && in.no > 0 && s.g.opt.Covers != (timeline.Span{}) {
		r.Cut("it ends inside a line: what --covers states of it does not hold")
	}
	if gap := from.gap(); gap != nil {
		from.told = true
		r.Cut(gap.Error())
		if !half {
			r.SetLine(in.no, in.off, nil)
			r.Skip(gap.Error())
		}
	}
	return s.ctx.Err()
}
