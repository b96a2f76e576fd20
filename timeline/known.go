package timeline

import (
	"database/sql"
	"errors"
	"fmt"
)

// HasSize reports whether a complete source of that many bytes is known; only
// then is it worth hashing a file before it is read.
func (db *DB) HasSize(bytes int64) (bool, error) {
	return db.so("SELECT EXISTS(SELECT 1 FROM source WHERE complete=1 AND bytes=?)", bytes)
}

// so answers a question about sources that is asked for each of very many files.
func (db *DB) so(query string, args ...any) (yes bool, err error) {
	db.w.mu.Lock()
	defer db.w.mu.Unlock()
	q, err := db.w.stmt(query)
	if err == nil {
		err = q.QueryRow(args...).Scan(&yes)
	}
	if err != nil {
		return false, fmt.Errorf("read sources: %w", err)
	}
	return yes, nil
}

// Known returns the source that holds the same bytes, already read in the same
// way; nil when there is none.
func (db *DB) Known(info SourceInfo) (*SourceInfo, error) {
	db.w.mu.Lock()
	defer db.w.mu.Unlock()
	q, err := db.w.stmt(`SELECT format,state,why,bytes,events,skipped,read_at FROM source
		WHERE complete=1 AND sha256=?1 AND sha256<>'' AND zone=?2 AND covers=?3 AND skew=?7 AND parser=?4
		AND (claim=?5 OR (?5='' AND claim IN ('', ?6) AND path=?6))`)
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	var state string
	err = q.QueryRow(info.SHA256, info.Zone, info.Covers, info.Parser, info.Claim, info.Path, info.Skew).
		Scan(&info.Format, &state, &info.Why, &info.Bytes, &info.Events, &info.Skipped, &info.ReadAt)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // no such source is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	info.State = State(state)
	return &info, db.w.opened(&info)
}

// Whole reports whether what was read of these bytes covers the whole life of the
// subject that they are claimed for.
func (db *DB) Whole(sha256, claim string) (bool, error) {
	return db.so(`SELECT EXISTS(SELECT 1 FROM source s JOIN coverage c ON c.source=s.id
		WHERE s.complete=1 AND s.sha256=? AND s.sha256<>'' AND s.claim=? AND c.whole=1)`, sha256, claim)
}

// Names reports whether a source or the inventory names a subject.
func (db *DB) Names(who Subject) (bool, error) {
	var named bool
	err := db.sql.QueryRow(`SELECT EXISTS(SELECT 1 FROM subject WHERE kind=?1 AND name=?2)
		OR ?1='host' AND EXISTS(SELECT 1 FROM inventory WHERE host=?2)`, string(who.Kind), who.ID).Scan(&named)
	if err != nil {
		return false, fmt.Errorf("read subjects: %w", err)
	}
	return named, nil
}

// Clean reports whether every source that was claimed for a subject was read
// whole.
func (db *DB) Clean(claim string) (bool, error) {
	return db.so("SELECT NOT EXISTS(SELECT 1 FROM source WHERE complete=1 AND claim=? AND state<>'read')", claim)
}

// opened removes the sources that say of a path that it could not be opened:
// it holds bytes that are known.
func (w *writer) opened(info *SourceInfo) error {
	q, err := w.stmt("SELECT claim FROM source WHERE complete=1 AND sha256='' AND path=?")
	if err != nil {
		return err
	}
	var claim string
	if err := q.QueryRow(info.Path).Scan(&claim); errors.Is(err, sql.ErrNoRows) {
		return nil
	} else if err != nil {
		return err
	}
	if _, err := w.exec("DELETE FROM source WHERE complete=1 AND sha256='' AND path=?", info.Path); err != nil {
		return err
	}
	err = w.record(Entry{
		Action: actOpened, SHA256: info.SHA256, Bytes: info.Bytes, Path: info.Path, Command: info.Command, Program: info.Parser,
		Replaces: []Identity{identityOf("", claim, info.Path)},
	})
	return errors.Join(err, w.commit())
}
