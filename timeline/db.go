package timeline

import (
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
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
	lock   *os.File
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
		return nil, err
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
	db.sql, err = open(db.dir, "ro")
	return err
}

// Open opens an existing case for reading, also while it is being written.
func Open(dir string) (*DB, error) {
	if err := checkLibrary(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "timeline.db")); err != nil {
		return nil, fmt.Errorf("%w in %s: run 'pulltrail ingest PATH...' first, or name the case with --case DIR", ErrNoCase, dir)
	}
	reads, version, err := openForReading(dir)
	if err != nil {
		return nil, err
	}
	db := &DB{sql: reads, dir: dir}
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

// openForReading opens a case read-only. After a writer was killed SQLite has to
// recover the file first, which a read-only connection may not do: a writing
// one does it, and nothing else.
func openForReading(dir string) (db *sql.DB, version int, err error) {
	for _, recovered := range []bool{false, true} {
		if db, err = open(dir, "ro"); err == nil {
			if err = db.QueryRow("PRAGMA user_version").Scan(&version); err == nil {
				return db, version, nil
			}
			err = errors.Join(err, db.Close())
		}
		var e sqlite3.Error
		if recovered || !errors.As(err, &e) || e.Code != sqlite3.ErrReadonly {
			break
		}
		if err := recoverFile(dir); err != nil {
			return nil, 0, fmt.Errorf("open case %s after an interrupted run: %w", dir, err)
		}
	}
	return nil, 0, fmt.Errorf("open case %s: %w", dir, err)
}

// recoverFile lets SQLite bring the file of a killed writer in order.
func recoverFile(dir string) error {
	db, err := open(dir, "rw")
	if err != nil {
		return err
	}
	var tables int
	err = db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables)
	return errors.Join(err, db.Close())
}

func checkLibrary() error {
	text, n, _ := sqlite3.Version()
	if n < minSQLite {
		return fmt.Errorf("SQLite %s is linked, 3.51.3 or later is needed: build with the module's own SQLite", text)
	}
	return nil
}

// readers is how many connections that read are kept.
const readers = 8

func open(dir, mode string) (*sql.DB, error) {
	// A path may hold any character that a URI reads as its own.
	path := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.Join(dir, "timeline.db"))
	dsn := "file:" + path + "?mode=" + mode + "&_busy_timeout=10000&_foreign_keys=off"
	switch mode {
	case "ro": // following an exposure asks the same few statements thousands of times
		dsn += "&_stmt_cache_size=32&_cache_size=-1000"
	case "rwc":
		dsn += "&_journal_mode=WAL&_synchronous=NORMAL&_txlock=immediate&_cache_size=-32000&_mutex=no"
	}
	db, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return nil, fmt.Errorf("open case %s: %w", dir, err)
	}
	if mode == "rwc" {
		db.SetMaxOpenConns(1)
	}
	db.SetMaxIdleConns(readers) // each reads the schema when it is opened
	if err := db.Ping(); err != nil {
		db.Close()
		return nil, fmt.Errorf("open case %s: %w", dir, err)
	}
	return db, nil
}

// paged gives an empty database pages of 8 KiB, which cannot be changed while it
// has a write-ahead log. Measured: with the 4 KiB that SQLite takes otherwise,
// loading takes a twentieth longer, and asking a case that is not in memory a
// tenth; 16 KiB gain nothing more.
const paged = "PRAGMA journal_mode=DELETE;PRAGMA page_size=8192;VACUUM;PRAGMA journal_mode=WAL;"

func (db *DB) migrate() error {
	var version int
	if err := db.writes.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("open case %s: %w", db.dir, err)
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
