// Package ingest reads evidence into a timeline: files, folders and archives of
// logs and documents. It knows no incident.
//
// The core walks, opens and decodes; formats get lines or a whole bounded
// document. What a format is stands in package evidence, the formats in frame,
// tool and document, and the one table of them in formats.go.
package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Options says how to read.
type Options struct {
	Subject timeline.Subject // --subject
	Zone    *time.Location   // --zone
	Covers  timeline.Span    // --covers
	Skew    evidence.Skew    // --skew
	Store   string           // --store: where the secrets that a list names are kept
	Format  string           // --format
	Parser  string           // version of the program
	Command string           // the command line, for the record
	Stdin   io.Reader        // what '-' means
	Called  string           // the path under which '-' is recorded; "": "-"
	Workers int              // 0: one for each core
	Keep    bool             // --keep: the bytes of each file stay in the case

	// Progress is told about bytes done and bytes in all, often; nil: nobody is.
	Progress func(done, total int64)
}

// File is what became of one input file.
type File struct {
	timeline.SourceInfo
	Changed bool // false: it was in the timeline already
}

// Result is what became of the inputs, by path.
type Result struct {
	Files []File
}

// Complete reports whether everything was read.
func (r Result) Complete() bool {
	return !slices.ContainsFunc(r.Files, func(f File) bool { return f.State != timeline.Read })
}

// ErrFormat is returned for an unknown --format.
var ErrFormat = errors.New("unknown format")

type ingester struct {
	db      *timeline.DB
	opt     Options
	machine *evidence.Machine
	walked  *walkedLayers
	*meter
}

// meter knows how far the reading is.
type meter struct {
	done  atomic.Int64
	total int64
}

func newIngester(db *timeline.DB, opt Options) *ingester {
	return &ingester{db: db, opt: opt, machine: evidence.NewMachine(Formats), walked: &walkedLayers{}, meter: &meter{}}
}

// begin checks what the user asked for.
func begin(db *timeline.DB, opt Options) (*ingester, error) {
	if opt.Format != "" && !slices.ContainsFunc(Formats, func(f evidence.Format) bool { return f.Name == opt.Format }) {
		return nil, fmt.Errorf("%w %q: 'pulltrail formats' lists them", ErrFormat, opt.Format)
	}
	return newIngester(db, opt), nil
}

// Run reads paths into the timeline: files, folders (walked, links not
// followed) and "-" for standard input. A file that cannot be opened is an
// error; everything else that goes wrong is data.
func Run(ctx context.Context, db *timeline.DB, paths []string, opt Options) (Result, error) {
	g, err := begin(db, opt)
	if err != nil {
		return Result{}, err
	}
	files, err := g.walk(paths)
	if err != nil {
		return Result{}, err
	}
	return g.all(ctx, files)
}

// input is one file to read.
type input struct {
	path   string
	root   string   // the folder that was named, "" for a file that was
	job    string   // folder of the job whose log it is, in an unpacked run archive
	jobs   int      // jobs of that archive
	copyOf string   // the file that holds the same lines
	images []member // files of the image archive whose list this is, itself among them
	fault  string   // why it cannot be read

	collected *timeline.Inquiry   // it is kept in the case already
	called    []*timeline.Inquiry // workflows that it calls
	content   *keptImage          // it is the config of an image whose layers are kept
	again     bool                // it was read before, when less was known of it
}

// walk lists the files below the paths in a stable order. A path that was named
// has to exist; what cannot be read inside a folder is listed with its fault.
func (g *ingester) walk(paths []string) ([]input, error) {
	var files []input
	for _, p := range paths {
		if p == "-" {
			files = append(files, input{path: p})
			continue
		}
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("ingest: %s: there is no such file or folder: paths begin where the command is run", p)
		}
		if err != nil {
			return nil, fmt.Errorf("ingest: %w", err)
		}
		if !info.IsDir() { // a pipe too, and what a link that was named points to
			g.total += info.Size()
			files = append(files, input{path: p})
			continue
		}
		all, faults, err := g.folder(p)
		if err != nil {
			return nil, fmt.Errorf("ingest: %w", err)
		}
		files = append(files, faults...)
		layouts, rest := imageFolders(all)
		rooted := unpacked(rest)
		for i := range rooted {
			rooted[i].root = p
		}
		files = append(append(files, layouts...), rooted...)
	}
	return files, nil
}

// folder lists the files of a folder, and what in it cannot be read. What a case
// is made of is no evidence: that of the case which is written is passed over, and
// of another one it is said.
func (g *ingester) folder(root string) (all []member, faults []input, err error) {
	err = filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			faults = append(faults, input{path: path, fault: "cannot be opened: " + reason(err)})
			return nil
		case timeline.OfCase(path):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			if timeline.IsCase(path) && !g.db.Is(path) {
				faults = append(faults, input{path: filepath.Clean(path), fault: "a case of pulltrail: ingest the evidence that it was made of"})
			}
			return nil
		}
		info, fault := inFolder(path, d)
		if fault != "" {
			faults = append(faults, input{path: path, fault: fault})
			return nil
		}
		g.total += info.Size()
		all = append(all, member{name: filepath.ToSlash(path), size: info.Size()})
		return nil
	})
	return all, faults, err
}

// inFolder says what a folder's entry is: a file, or why it is not read. A link
// is followed to a file (all of /var/log/containers is links), never into
// another folder, which might be the one it stands in.
func inFolder(path string, d fs.DirEntry) (info fs.FileInfo, fault string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, "cannot be opened: " + reason(err)
	case info.IsDir():
		return nil, "a link to a folder is not followed: name that folder"
	case !info.Mode().IsRegular():
		return nil, "not a file: " + d.Type().String()
	}
	return info, ""
}

// reason is an error of the file system without the path, which is named
// already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// unpacked lists the files of a folder; in an unpacked run archive each job
// counts once.
func unpacked(all []member) []input {
	files := make([]input, len(all))
	tasks, copies := plan(all)
	jobs := countJobs(tasks)
	for i, m := range all {
		files[i].path = filepath.FromSlash(m.name)
		if of, ok := copies[i]; ok {
			files[i].copyOf = all[of].name
		}
	}
	for _, t := range tasks {
		for _, i := range t.members {
			files[i].job, files[i].jobs, files[i].copyOf = t.job, jobs, ""
		}
	}
	return files
}

func (g *ingester) all(ctx context.Context, files []input) (Result, error) {
	workers := g.opt.Workers
	if workers == 0 {
		workers = runtime.NumCPU()
	}
	results := make([]File, len(files))
	errs := make([]error, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, len(files)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(files) || ctx.Err() != nil {
					return
				}
				if results[i], errs[i] = g.file(ctx, files[i]); errors.Is(errs[i], timeline.ErrWrite) {
					next.Store(int64(len(files))) // nothing can be written any more
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	return Result{results}, errors.Join(errs...)
}

// described is what is known of a source before it is read.
func (g *ingester) described(path string) timeline.SourceInfo {
	info := timeline.SourceInfo{Path: evidence.ConcealPath(filepath.ToSlash(path)), Parser: g.opt.Parser, Command: g.opt.Command}
	if !g.opt.Subject.IsZero() {
		info.Claim, info.Explicit = g.opt.Subject.String(), true
	}
	if g.opt.Store != "" && !info.Explicit {
		info.Claim, info.Explicit = g.opt.Store, true
	}
	if g.opt.Zone != nil {
		info.Zone = g.opt.Zone.String()
	}
	if g.opt.Covers != (timeline.Span{}) {
		info.Covers = g.opt.Covers.String()
	}
	info.Skew = g.opt.Skew.String()
	return info
}

// file reads one file, or standard input, into one source.
func (g *ingester) file(ctx context.Context, from input) (File, error) {
	if from.collected != nil {
		return g.collected(ctx, from)
	}
	info := g.described(from.path)
	if from.path == "-" {
		info.Path = cmp.Or(g.opt.Called, info.Path)
		return g.source(ctx, from, info, g.opt.Stdin, nil)
	}
	if from.fault != "" {
		return g.unreadable(info, from.fault)
	}
	f, err := os.Open(from.path)
	if err != nil {
		return g.unreadable(info, "cannot be opened: "+reason(err))
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return File{}, fmt.Errorf("ingest: %w", err)
	}
	if !st.Mode().IsRegular() { // a pipe can be read once
		return g.source(ctx, from, info, f, nil)
	}
	known, err := g.known(f, st.Size(), info)
	if err != nil {
		return File{}, fmt.Errorf("ingest %s: %w", from.path, err)
	}
	// The list of an image archive may be the same, and a layer that was missing
	// be there now.
	info.Again = known != nil && from.images != nil && known.State != timeline.Read
	if known != nil && !info.Again {
		g.progress(st.Size())
		return *known, g.keepKnown(ctx, f, from, known.SourceInfo)
	}
	return g.source(ctx, from, info, f, io.NewSectionReader(f, 0, st.Size()))
}

// source reads in into a source of its own; file is the same where it can be
// read at any place.
func (g *ingester) source(ctx context.Context, from input, info timeline.SourceInfo, in io.Reader, file *io.SectionReader) (File, error) {
	w, err := g.db.Begin()
	if err != nil {
		return File{}, err
	}
	s := &source{g: g, ctx: ctx, write: w.Write, info: info, from: from, jobs: from.jobs, file: file}
	if g.opt.Keep {
		if s.keep, err = g.db.Keep(); err != nil {
			return File{}, errors.Join(fmt.Errorf("ingest %s: %w", from.path, err), w.Discard())
		}
		defer s.keep.Abort()
	}
	return g.finish(s, in, w)
}

// finish reads a source to its end.
func (g *ingester) finish(s *source, in io.Reader, w *timeline.SourceWriter) (File, error) {
	err := s.read(in)
	if err == nil && s.keep != nil {
		err = errors.Join(s.keep.Commit(s.info), g.keepParts(s.ctx, s.from, s.info))
	}
	if err != nil {
		return File{}, errors.Join(fmt.Errorf("ingest %s: %w", s.info.Path, err), w.Discard())
	}
	changed, err := w.Finish(s.info)
	if err != nil {
		return File{}, fmt.Errorf("ingest %s: %w", s.info.Path, err)
	}
	return File{s.info, changed}, nil
}

// unreadable records a file that cannot be read as a source without bytes: a
// gap, until the same path is read.
func (g *ingester) unreadable(info timeline.SourceInfo, why string) (File, error) {
	w, err := g.db.Begin()
	if err != nil {
		return File{}, err
	}
	info.State, info.Why, info.Format = timeline.Unread, why, "unknown"
	info.First, info.Last = timeline.Beginning, timeline.Forever
	if !g.opt.Subject.IsZero() {
		if err := w.Write(&timeline.Batch{Claimed: []timeline.Subject{g.opt.Subject}}); err != nil {
			return File{}, errors.Join(err, w.Discard())
		}
	}
	changed, err := w.Finish(info)
	if err != nil {
		return File{}, fmt.Errorf("ingest %s: %w", info.Path, err)
	}
	return File{info, changed}, nil
}

// known hashes a file before it is read when the timeline has a source of the
// same size; the same bytes read in the same way change nothing.
func (g *ingester) known(f *os.File, size int64, info timeline.SourceInfo) (*File, error) {
	if same, err := g.db.HasSize(size); err != nil || !same {
		return nil, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	info.SHA256 = hex.EncodeToString(h.Sum(nil))
	old, err := g.db.Known(info)
	if err != nil || old == nil {
		return nil, err
	}
	return &File{*old, false}, nil
}

// counter hashes and counts what is read of a source.
type counter struct {
	ctx context.Context
	r   io.Reader
	h   hash.Hash
	n   int64
	g   *ingester

	keep *timeline.Keeper // nil: what is read is not kept

	quiet bool // progress is told where the file is read otherwise
}

func (c *counter) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.h.Write(p[:n])
	c.n += int64(n)
	if c.keep != nil {
		if _, err := c.keep.Write(p[:n]); err != nil {
			return 0, err
		}
	}
	if !c.quiet {
		c.g.progress(int64(n))
	}
	return n, err
}

// progress tells that n more bytes are done.
func (g *ingester) progress(n int64) {
	if g.opt.Progress != nil && n > 0 {
		g.opt.Progress(g.done.Add(n), g.total)
	}
}
