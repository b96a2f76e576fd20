package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

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
	var files []input
	for i := range requests {
		r := &requests[i]
		if r.Reply != timeline.Obtained || r.Reading == timeline.NoReading {
			continue
		}
		known, err := db.Known(timeline.SourceInfo{SHA256: r.SHA256, Claim: r.Claim, Path: r.URL, Parser: opt.Parser})
		if err != nil {
			return Result{}, err
		}
		if known == nil {
			g.total += r.Bytes
			files = append(files, input{path: r.URL, collected: r})
		}
	}
	return g.all(ctx, files)
}

// collected reads one answer that is kept.
func (g *ingester) collected(ctx context.Context, from input) (File, error) {
	r := from.collected
	f, err := g.unkept(r.SHA256)
	if err != nil {
		return File{}, fmt.Errorf("ingest %s: %w", r.URL, err)
	}
	defer f.Close()
	one := *g // the claim is the request's
	one.opt.Subject, one.opt.Zone, one.opt.Covers, one.opt.Format, one.opt.Keep = timeline.Subject{}, nil, timeline.Span{}, "", false
	info := timeline.SourceInfo{Path: evidence.ConcealPath(r.URL), Parser: g.opt.Parser, Command: g.opt.Command, Claim: r.Claim}
	if r.Claim != "" {
		if one.opt.Subject, err = timeline.ParseSubject(r.Claim); err != nil {
			return File{}, fmt.Errorf("ingest %s: %w", r.URL, err)
		}
		info.Explicit = true
	}
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
	return g.finish(&source{g: &one, ctx: ctx, write: w.Write, info: info, from: from, file: io.NewSectionReader(f, 0, size)}, f, w)
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
