package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pulltrail/ingest"
	"pulltrail/ingest/collect"
	"pulltrail/ingest/collect/objects"
	"pulltrail/ingest/evidence"
	"pulltrail/reports"
	"pulltrail/timeline"
)

// addresses takes the addresses of object stores out of what is to be read.
func addresses(words []string) (paths []string, stores []objects.Location, err error) {
	named := map[string]bool{}
	for _, word := range words {
		if !objects.Is(word) {
			paths = append(paths, word)
			continue
		}
		l, err := objects.Parse(word)
		if err != nil {
			return nil, nil, usage("%v", err)
		}
		l.Conceal = evidence.ConcealPath
		if named[l.String()] {
			return nil, nil, usage("%s is named twice: what stands behind '?' does not tell files apart", l)
		}
		named[l.String()] = true
		stores = append(stores, l)
	}
	return paths, stores, nil
}

// fetched reads what was fetched from object stores, and returns with it what
// could not be had.
func (a *app) fetched(ctx context.Context, db *timeline.DB, stores []objects.Location, opt ingest.Options) (res ingest.Result, refused []timeline.Inquiry, err error) {
	var got []timeline.Inquiry
	for _, l := range stores {
		c, err := a.fetch(ctx, db, l, opt)
		got, refused = append(got, c.Objects...), append(refused, c.Refused...)
		if ctx.Err() != nil {
			return res, refused, ctx.Err()
		}
		if err != nil {
			// Also what came before an error is read.
			res, readErr := ingest.Objects(ctx, db, got, opt)
			return res, refused, errors.Join(err, readErr)
		}
	}
	res, err = ingest.Objects(ctx, db, got, opt)
	return res, refused, err
}

// fetch fetches from one store.
func (a *app) fetch(ctx context.Context, db *timeline.DB, l objects.Location, opt ingest.Options) (c objects.Collected, err error) {
	src, err := l.Connect(ctx)
	if err != nil {
		return c, err
	}
	o := src.Options
	o.Command, o.Program, o.Say = opt.Command, opt.Parser, a.tell
	last, ok, err := db.LastCollection(o.Collector, o.Target)
	if err != nil {
		return c, err
	}
	now := time.Now().Truncate(time.Second).UnixNano()
	if o.Window = (timeline.Span{From: now, To: now}); ok && last.State == timeline.CollectionOpen {
		o.Window = last.Span // it was interrupted: go on with it
	}
	p := a.newProgress()
	if p != nil {
		o.Say = func(text string) { p.clear(); a.tell(text) }
	}
	s, err := collect.Begin(db, o)
	if err != nil {
		return c, err
	}
	shown := p.watch(s)
	defer shown()
	c, err = objects.Collect(ctx, s, src, opt.Subject)
	return c, s.Finish(err)
}

// printRefused says what could not be had.
func (a *app) printRefused(refused []timeline.Inquiry) error {
	for i := range refused {
		r := &refused[i]
		if a.json {
			if err := a.printJSON(a.out, map[string]any{
				"path": r.URL, "sha256": "", "format": "", "state": r.Reply, "why": r.Detail, "events": 0, "skipped": 0, "changed": false,
			}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(a.out, "%-8s %-24s %6d events  %s\n", r.Reply, "-", 0, reports.Text(r.URL+": "+r.Detail))
	}
	return nil
}

// queryless cuts the query off an address: it may be signed.
func queryless(word string) string {
	if objects.Is(word) {
		if bare, _, ok := strings.Cut(word, "?"); ok {
			return bare + "?[redacted]"
		}
	}
	return word
}
