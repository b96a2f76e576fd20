package timeline

import (
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

//go:embed schema.sql
var schema string

//go:embed indexes.sql
var indexes string

// schemaVersion is stored in PRAGMA user_version. It grows with each release
// that changes schema.sql.
const schemaVersion = 2

// minSQLite is the first SQLite without the WAL-reset bug that could lose
// pages when two connections checkpoint at once
// (https://www.sqlite.org/releaselog/3_51_3.html).
const minSQLite = 3051003

// ErrLocked is returned when another process writes the case.
var ErrLocked = errors.New("the case is being written by another pulltrail")

// ErrNoCase is returned when a directory holds no case.
var ErrNoCase = errors.New("no case")

// DB is the timeline of one case.
type DB struct {
	sql    *sql.DB // for reading
	dir    string
	lock   *os.File // shared where the case is write-protected
	writes *sql.DB
	w      *writer
	ended  string // a command that came to its end, see Ended

	lookups lookups
	rosters rosters
	aheads  aheads
}

// Create opens the case in dir for writing and makes it when it is new. Only
// one process can; the second waits for one that only stores an answer or a
// statement, and then gets ErrLocked. Readers are never hindered. Whatever an
// interrupted run left unfinished is removed.
func Create(dir string) (*DB, error) { return openForWriting(dir, lockWait) }

// CreateAtOnce is Create for what is not worth waiting for.
func CreateAtOnce(dir string) (*DB, error) { return openForWriting(dir, 0) }

// lockWait is longer than storing an answer takes, also in a case of ten million
// events: a scheduled import must not fail because somebody asked.
const lockWait = 5 * time.Second

func openForWriting(dir string, wait time.Duration) (*DB, error) {
	if err := checkLibrary(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make case: %w", err)
	}
	lock, err := takeLock(filepath.Join(dir, "lock"), wait)
	if err != nil {
		return nil, err
	}
	if err := private(dir); err != nil {
		lock.Close()
		return nil, fmt.Errorf("open case: %w", err)
	}
	writes, err := open(dir, "rwc")
	if err != nil {
		lock.Close()
		return nil, cannotOpen(dir, err)
	}
	db := &DB{dir: dir, lock: lock, writes: writes}
	if err := db.prepare(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// prepare makes a case that was opened for writing ready.
func (db *DB) prepare() error {
	if err := db.migrate(); err != nil {
		return err
	}
	if err := db.purge(); err != nil {
		return fmt.Errorf("remove what an interrupted run left: %w", err)
	}
	var err error
	if db.w, err = newWriter(db.writes, db.dir); err != nil {
		return err
	}
	if db.sql, err = open(db.dir, "ro"); err != nil {
		return cannotOpen(db.dir, err)
	}
	return nil
}

// Open opens an existing case for reading, also while it is being written.
func Open(dir string) (*DB, error) {
	if err := checkLibrary(); err != nil {
		return nil, err
	}
	_, err := os.Stat(filepath.Join(dir, "timeline.db"))
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("open case %s: permission denied: a case is readable by the user alone who made it", dir)
	} else if err != nil {
		return nil, fmt.Errorf("%w in %s: run 'pulltrail ingest PATH...' first, or name the case with --case DIR", ErrNoCase, dir)
	}
	reads, version, err := openForReading(dir)
	var lock *os.File
	if writeProtected(err) {
		reads, version, lock, err = openProtected(dir)
	}
	if err != nil {
		return nil, cannotOpen(dir, err)
	}
	db := &DB{sql: reads, dir: dir, lock: lock}
	if version == 0 {
		db.Close()
		return nil, fmt.Errorf("%w in %s, only what an interrupted run began: run 'pulltrail ingest PATH...' again", ErrNoCase, dir)
	}
	if version != schemaVersion {
		db.Close()
		return nil, otherVersion(dir, version)
	}
	return db, nil
}

func checkLibrary() error {
	text, n, _ := sqlite3.Version()
	if n < minSQLite {
		return fmt.Errorf("SQLite %s is linked, 3.51.3 or later is needed: build with the module's own SQLite", text)
	}
	return nil
}

// paged gives an empty database pages of 8 KiB, which cannot be changed while it
// has a write-ahead log. Measured: with the 4 KiB that SQLite takes otherwise,
// loading takes a twentieth longer, and asking a case that is not in memory a
// tenth; 16 KiB gain nothing more.
const paged = "PRAGMA journal_mode=DELETE;PRAGMA page_size=8192;VACUUM;PRAGMA journal_mode=WAL;"

func (db *DB) migrate() error {
	var version int
	if err := db.writes.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return cannotOpen(db.dir, err)
	}
	switch version {
	case schemaVersion:
		return nil
	case 0:
		_, err := db.writes.Exec(paged + "BEGIN;" + schema + ";PRAGMA user_version=" + strconv.Itoa(schemaVersion) + ";COMMIT;")
		if err != nil {
			return fmt.Errorf("make case %s: %w", db.dir, err)
		}
		return nil
	}
	return otherVersion(db.dir, version)
}

// otherVersion says what to do with a case that another release made.
func otherVersion(dir string, version int) error {
	return fmt.Errorf("open case %s: its timeline has version %d, this program reads version %d: "+
		"use the release that made it, or ingest the evidence again into a new case (--case DIR)", dir, version, schemaVersion)
}

// tablesOfSource hold rows that belong to one source each.
var tablesOfSource = []string{"event", "named", "op", "link", "coverage", "expected", "skip", "claimed", "credential", "setting", "request", "canary"}

// purge removes every source that was not finished, and its rows.
func (db *DB) purge() error {
	tx, err := db.writes.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	var unfinished int
	if err := tx.QueryRow("SELECT count(*) FROM source WHERE complete = 0").Scan(&unfinished); err != nil {
		return err
	}
	if unfinished > 0 {
		for _, table := range tablesOfSource {
			if _, err := tx.Exec("DELETE FROM " + table + " WHERE source IN (SELECT id FROM source WHERE complete = 0)"); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("DELETE FROM source WHERE complete = 0"); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Close ends the use of the case and gives up the lock.
func (db *DB) Close() error {
	var errs []error
	db.aheads.close()
	if db.w != nil {
		errs = append(errs, db.w.close())
	}
	for _, pool := range []*sql.DB{db.sql, db.writes} { // the last one to close writes the log back into the file
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	if db.ended != "" && errors.Join(errs...) == nil {
		errs = append(errs, db.forget(db.ended))
	}
	if db.lock != nil {
		errs = append(errs, db.lock.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("write case %s: %w", db.dir, err)
	}
	return nil
}

// takeLock takes the writer's lock, for which it waits so long; the file names
// the process that has it.
func takeLock(path string, wait time.Duration) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock case: %w", err)
	}
	const pause = 20 * time.Millisecond
	for ; ; wait -= pause {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil || wait <= 0 {
			break
		}
		time.Sleep(pause)
	}
	if err != nil {
		defer f.Close()
		holder := make([]byte, 20)
		n, _ := f.ReadAt(holder, 0)
		return nil, fmt.Errorf("%w (process %s): wait until it ends, or use another --case", ErrLocked, strings.TrimSpace(string(holder[:n])))
	}
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock case: %w", err)
		}
	}
	return f, nil
}
