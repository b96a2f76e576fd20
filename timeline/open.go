package timeline

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// openForReading opens a case read-only. After a writer was killed SQLite has to
// recover the file first, which a read-only connection may not do: a writing
// one does it, and nothing else.
func openForReading(dir string) (db *sql.DB, version int, err error) {
	for _, recovered := range []bool{false, true} {
		if db, version, err = openAs(dir, "ro"); err == nil {
			return db, version, nil
		}
		var e sqlite3.Error
		if recovered || !errors.As(err, &e) || e.Code != sqlite3.ErrReadonly {
			break
		}
		if err := recoverFile(dir); err != nil {
			return nil, 0, fmt.Errorf("after an interrupted run: %w", err)
		}
	}
	return nil, 0, err
}

// openAs opens the file and reads the version of its tables.
func openAs(dir, mode string) (db *sql.DB, version int, err error) {
	if db, err = open(dir, mode); err != nil {
		return nil, 0, err
	}
	if err = db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return nil, 0, errors.Join(err, db.Close())
	}
	return db, version, nil
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

// writeProtected reports whether SQLite could not make the files that it keeps
// beside a database in use.
func writeProtected(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCantOpen || e.Code == sqlite3.ErrReadonly)
}

// openProtected opens a case in a directory that cannot be written: a copy on
// read-only media, an evidence share. That is safe only while nobody writes it:
// the lock is held, shared. What stands in a log that was not written back would
// be passed over, so that such a case is refused.
func openProtected(dir string) (db *sql.DB, version int, lock *os.File, err error) {
	if lock, err = os.Open(filepath.Join(dir, "lock")); err == nil {
		if err = syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
			return nil, 0, nil, errors.Join(ErrLocked, lock.Close())
		}
	}
	st, err := os.Stat(filepath.Join(dir, "timeline.db-wal"))
	if err == nil && st.Size() > 0 {
		err = errors.New("it is write-protected, and a run that was interrupted left it unfinished: copy all of it to where you can write, and name the copy with --case")
	} else {
		db, version, err = openAs(dir, immutable)
	}
	if err != nil && lock != nil {
		lock.Close()
		lock = nil
	}
	return db, version, lock, err
}

// cannotOpen says which case could not be opened and, where SQLite's words do
// not, what to do.
func cannotOpen(dir string, err error) error {
	var e sqlite3.Error
	switch {
	case errors.As(err, &e) && (e.Code == sqlite3.ErrNotADB || e.Code == sqlite3.ErrCorrupt):
		return fmt.Errorf("open case %s: its timeline.db is damaged (%w): ingest the evidence again into a new case (--case DIR)", dir, err)
	case errors.As(err, &e) && e.Code == sqlite3.ErrCantOpen && errors.Is(e.SystemErrno, syscall.EACCES):
		return fmt.Errorf("open case %s: permission denied: a case is readable by the user alone who made it", dir)
	}
	return fmt.Errorf("open case %s: %w", dir, err)
}

// readers is how many connections that read are kept.
const readers = 8

// immutable is the mode of a file that cannot change: SQLite takes no lock and
// makes no file beside it (https://www.sqlite.org/uri.html#uriimmutable).
const immutable = "ro&immutable=1"

// open opens the file of a case; the caller says which case could not be opened.
func open(dir, mode string) (*sql.DB, error) {
	// A path may hold any character that a URI reads as its own.
	path := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.Join(dir, "timeline.db"))
	dsn := "file:" + path + "?mode=" + mode + "&_busy_timeout=10000&_foreign_keys=off"
	switch mode {
	case "ro", immutable: // following an exposure asks the same few statements thousands of times
		dsn += "&_stmt_cache_size=32&_cache_size=-1000&_mutex=no"
	case "rwc":
		dsn += "&_journal_mode=WAL&_synchronous=NORMAL&_txlock=immediate&_cache_size=-32000&_mutex=no"
	}
	db, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return nil, err
	}
	if mode == "rwc" {
		db.SetMaxOpenConns(1)
	}
	db.SetMaxIdleConns(readers) // each reads the schema when it is opened
	if err := db.Ping(); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}
