package timeline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// evidenceDir holds kept evidence, below the directory of the case.
const evidenceDir = "evidence"

// beingWritten ends the names of kept evidence that is not whole yet.
const beingWritten = ".tmp"

// caseFiles are what a case is made of; cmd/pulltrail writes last-incident.
var caseFiles = []string{"timeline.db", "timeline.db-wal", "timeline.db-shm", "lock", custodyFile, begunFile, "last-incident", evidenceDir}

// Is reports whether a directory is this case.
func (db *DB) Is(dir string) bool {
	there, err := os.Stat(dir)
	if err != nil {
		return false
	}
	mine, err := os.Stat(db.dir)
	return err == nil && os.SameFile(there, mine)
}

// IsCase reports whether a directory is a case.
func IsCase(dir string) bool {
	for _, name := range []string{"timeline.db", custodyFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// OfCase reports whether a path is a file of a case, or the directory of the
// evidence that a case keeps.
func OfCase(path string) bool {
	name := filepath.Base(path)
	return (slices.Contains(caseFiles, name) || strings.HasPrefix(name, begunFile)) && IsCase(filepath.Dir(path))
}

// private makes a case that is about to be written readable by its owner
// alone, and removes kept evidence that was never finished. A directory that
// holds other things too keeps its own mode: only the files of the case in it
// are narrowed.
func private(dir string) error {
	// SQLite gives the files beside it the mode of the database.
	f, err := os.OpenFile(filepath.Join(dir, "timeline.db"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	others := map[string]bool{}
	for _, e := range entries {
		others[e.Name()] = true
	}
	for _, name := range caseFiles {
		delete(others, name)
		if err := narrow(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if len(others) == 0 {
		if err := narrow(dir); err != nil {
			return err
		}
	}
	return privateEvidence(filepath.Join(dir, evidenceDir))
}

func privateEvidence(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasSuffix(e.Name(), beingWritten) {
			err = os.Remove(path)
		} else {
			err = narrow(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// narrow takes the rights of group and others. Where the file system or another
// owner does not let it, the mode stays: evidence that cannot be read tonight
// is worse.
func narrow(path string) error {
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || st.Mode()&fs.ModeSymlink != 0 || st.Mode().Perm()&0o077 == 0 {
		return err
	}
	err = os.Chmod(path, st.Mode().Perm()&^0o077)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
