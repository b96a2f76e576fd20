package timeline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// protectedCase makes a case and returns its directory. Whether a directory can
// be written does not bind the tests of somebody who may write everything, so
// they call openProtected themselves.
func protectedCase(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestOpenProtected(t *testing.T) {
	dir := protectedCase(t)
	reads, version, lock, err := openProtected(dir)
	if err != nil || version != schemaVersion {
		t.Fatalf("version %d, error %v; want %d", version, err, schemaVersion)
	}
	defer lock.Close()
	defer reads.Close()
	if _, err := os.Stat(filepath.Join(dir, "timeline.db-shm")); err == nil {
		t.Error("a file was made beside the database")
	}
	if _, err := CreateAtOnce(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("a writer got %v while a file that cannot change was read; want ErrLocked", err)
	}
}

func TestOpenProtectedRefuses(t *testing.T) {
	dir := protectedCase(t)
	db, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := openProtected(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v while the case was written; want ErrLocked", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "timeline.db-wal"), []byte("not written back"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := openProtected(dir); err == nil || !strings.Contains(err.Error(), "copy all of it") {
		t.Errorf("got %v with a log that was not written back; want a refusal", err)
	}
}
