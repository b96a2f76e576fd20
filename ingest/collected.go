package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Collected reads what collectors kept in the case, through the same formats as
// files. What was read before is not read again, and not listed.
func Collected(ctx context.Context, db *timeline.DB, opt Options) (Result, error) {
	requests, err := db.Ledger()
	if err != nil {
		return Result{}, err
	}
	g := newIngester(db, opt)
	content, err := keptImages(ctx, db, requests)
	if err != nil {
		return Result{}, err
	}
	var files, later []input
	called := map[string][]*timeline.Inquiry{} // by attempt
	for i := range requests {
		r := &requests[i]
		if r.Reply == timeline.Obtained && r.Kind == calledKind {
			called[r.Claim] = append(called[r.Claim], r)
		}
		if r.Reply != timeline.Obtained || r.Reading == timeline.NoReading || r.Kind == objectKind {
			continue
		}
		known, err := db.Known(timeline.SourceInfo{SHA256: r.SHA256, Claim: r.Claim, Path: r.URL, Parser: opt.Parser})
		if err != nil {
			return Result{}, err
		}
		from := input{path: r.URL, collected: r}
		if r.Kind == configKind {
			from.content = content[r.SHA256]
		}
		if from.again = known != nil && from.content.since(known.ReadAt); known != nil && r.Reading == timeline.Entire {
			whole, err := db.Whole(r.SHA256, r.Claim)
			if err != nil {
				return Result{}, err
			}
			from.again = !whole && known.State == timeline.Read // it was read before its job had ended
		}
		switch {
		case known != nil && !from.again:
			continue
		case r.Kind == workflowKind, r.Kind == outputsKind:
			later = append(later, from)
		default:
			files = append(files, from)
		}
		g.total += r.Bytes
	}
	first, err := g.all(ctx, files)
	if err != nil {
		return first, err
	}
	// Now it is known which jobs ran, and whether the pieces of a log were read.
	for i := range later {
		later[i].called = called[later[i].collected.Claim]
	}
	second, err := g.all(ctx, later)
	return Result{append(first.Files, slices.DeleteFunc(second.Files, func(f File) bool { return f.Path == "" })...)}, err
}

// Kinds of what collectors fetch that are read in a way of their own: the
// workflow file of an attempt is read together with the workflows that it calls;
// what variables are claimed for is where they are kept; the record of a job
// whose log comes in pieces stands for all of them, when they were read; an object
// of a store is a file, and read as whoever named it says; the config of an image is
// read with its layers.
const (
	workflowKind  = "workflow"
	calledKind    = "called"
	variablesKind = "variables"
	outputsKind   = "outputs"
	objectKind    = "object"
	manifestKind  = "manifest"
	configKind    = "config"
	layerKind     = "layer"
)

// entire covers the whole life of a subject with what a collector got of it: the
// record of the service says that it had ended. A log that is empty, or of which
// something was not understood, is no such proof.
func (s *source) entire() error {
	r := s.from.collected
	if r == nil || r.Reading != timeline.Entire || s.info.State != timeline.Read {
		return nil
	}
	if r.Kind == outputsKind {
		if clean, err := s.g.db.Clean(r.Claim); err != nil || !clean {
			return err
		}
	}
	s.covers = append(s.covers, timeline.Coverage{
		Subject: s.g.opt.Subject, Topic: timeline.Everything, Span: r.Span, Whole: true,
		Why: "the service gave all of the log, and its record says that the job had ended",
	})
	return nil
}

// workflow gives a workflow file the jobs that ran and the files that it calls.
func (s *source) workflow(doc *evidence.Doc) (err error) {
	if doc.Jobs, err = s.g.db.JobsOf(s.g.opt.Subject); err != nil {
		return err
	}
	doc.Called = map[string]*evidence.Doc{}
	for _, r := range s.from.called {
		in, err := s.g.db.OpenKept(r.SHA256)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(io.LimitReader(in, maxDocument))
		in.Close()
		if err != nil {
			return err
		}
		doc.Called[r.Name] = &evidence.Doc{Head: evidence.Head{Path: r.URL}, Data: data, SHA256: "sha256:" + r.SHA256}
	}
	return nil
}

// collected reads one answer that is kept.
func (g *ingester) collected(ctx context.Context, from input) (File, error) {
	r := from.collected
	if r.Kind == objectKind {
		return g.object(ctx, from)
	}
	var err error
	one := *g // the claim is the request's
	one.opt.Subject, one.opt.Store, one.opt.Zone, one.opt.Covers, one.opt.Format, one.opt.Keep = timeline.Subject{}, "", nil, timeline.Span{}, "", false
	info := timeline.SourceInfo{Path: evidence.ConcealPath(r.URL), Parser: g.opt.Parser, Command: g.opt.Command, Claim: r.Claim, Later: r.Reading == timeline.Entire, Again: from.again}
	if r.Claim != "" {
		if one.opt.Subject, err = timeline.ParseSubject(r.Claim); err != nil {
			return File{}, fmt.Errorf("ingest %s: %w", r.URL, err)
		}
		info.Explicit = true
	}
	if r.Kind == variablesKind { // nobody's evidence, but what a store of secrets holds
		one.opt.Store, one.opt.Subject = one.opt.Subject.ID, timeline.Subject{}
	}
	if r.Kind == workflowKind {
		if jobs, err := g.db.JobsOf(one.opt.Subject); err != nil || len(jobs) == 0 {
			return File{}, err // nobody to say it of
		}
	}
	return g.unpack(ctx, &one, from, info)
}

// unpack reads kept bytes into a source, as one says.
func (g *ingester) unpack(ctx context.Context, one *ingester, from input, info timeline.SourceInfo) (File, error) {
	r := from.collected
	f, err := g.unkept(r.SHA256)
	if err != nil {
		return File{}, fmt.Errorf("ingest %s: %w", r.URL, err)
	}
	defer f.Close()
	w, err := g.db.Begin()
	if err != nil {
		return File{}, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return File{}, errors.Join(fmt.Errorf("ingest %s: %w", r.URL, err), w.Discard())
	}
	return g.finish(&source{g: one, ctx: ctx, write: w.Write, info: info, from: from, file: io.NewSectionReader(f, 0, size)}, f, w)
}

// unkept writes kept bytes into a file without a name: archives are read here
// and there.
func (g *ingester) unkept(sha string) (*os.File, error) {
	in, err := g.db.OpenKept(sha)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := g.db.Scratch()
	if err != nil {
		return nil, err
	}
	if _, err = io.Copy(f, in); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
