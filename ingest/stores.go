package ingest

import (
	"context"
	"fmt"

	"pulltrail/timeline"
)

// Objects reads files that were fetched from object stores and are kept in the
// case, as Run reads files.
func Objects(ctx context.Context, db *timeline.DB, kept []timeline.Inquiry, opt Options) (Result, error) {
	g, err := begin(db, opt)
	if err != nil {
		return Result{}, err
	}
	files := make([]input, len(kept))
	for i := range kept {
		files[i] = input{path: kept[i].URL, collected: &kept[i]}
		g.total += kept[i].Bytes
	}
	return g.all(ctx, files)
}

// object reads one file from a store, unless it was read in the same way before.
func (g *ingester) object(ctx context.Context, from input) (File, error) {
	info := g.described(from.path)
	info.SHA256 = from.collected.SHA256
	known, err := g.db.Known(info)
	if err != nil {
		return File{}, fmt.Errorf("ingest %s: %w", from.path, err)
	}
	if known != nil {
		g.progress(from.collected.Bytes)
		return File{*known, false}, nil
	}
	info.SHA256 = ""
	return g.unpack(ctx, g, from, info)
}
