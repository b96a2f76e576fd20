package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// keepKnown keeps a file that was read before without --keep.
func (g *ingester) keepKnown(ctx context.Context, f *os.File, from input, info timeline.SourceInfo) error {
	if !g.opt.Keep {
		return nil
	}
	kept, err := g.db.Kept(info.SHA256)
	if err == nil && !kept {
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			err = g.keep(ctx, f, info)
		}
	}
	return errors.Join(err, g.keepParts(ctx, from, info))
}

// keepParts keeps what is read along with the list of an image archive that is
// a folder. A part that is not there is a gap already.
func (g *ingester) keepParts(ctx context.Context, from input, info timeline.SourceInfo) error {
	for _, m := range from.images {
		path := filepath.FromSlash(m.name)
		if path == from.path {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		info.Path, info.SHA256 = evidence.ConcealPath(m.name), ""
		err = g.keep(ctx, f, info)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// keep keeps what it reads. Where the hash is known it has to be the one.
func (g *ingester) keep(ctx context.Context, r io.Reader, info timeline.SourceInfo) error {
	k, err := g.db.Keep()
	if err != nil {
		return fmt.Errorf("ingest %s: %w", info.Path, err)
	}
	defer k.Abort()
	in := &counter{ctx: ctx, r: r, h: sha256.New(), g: g, keep: k, quiet: true}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return fmt.Errorf("ingest %s: %w", info.Path, err)
	}
	sum := hex.EncodeToString(in.h.Sum(nil))
	if info.SHA256 != "" && info.SHA256 != sum {
		return fmt.Errorf("ingest %s: it changes while it is read: run the same command again", info.Path)
	}
	info.SHA256 = sum
	return k.Commit(info)
}
