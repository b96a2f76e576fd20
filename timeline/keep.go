package timeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Keeper takes the raw bytes of one file and keeps them in the case,
// compressed, under the SHA-256 of what was written. Kept evidence holds
// whatever the file held, secrets too; it never leaves the case.
type Keeper struct {
	db  *DB
	f   *os.File
	z   *zstd.Encoder
	n   int64
	err error // of a write: what was kept has a hole
}

// encoders are used again: each holds some megabytes. One goroutine each, for
// files are read side by side already.
var encoders = sync.Pool{New: func() any { return encoder() }}

func encoder() *zstd.Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return z
}

// Keep begins to keep a file. End with Commit or Abort.
func (db *DB) Keep() (*Keeper, error) {
	dir := filepath.Join(db.dir, evidenceDir)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("keep evidence: %w", err)
	}
	f, err := os.CreateTemp(dir, "*"+unfinished) // mode 0600
	if err != nil {
		return nil, fmt.Errorf("keep evidence: %w", err)
	}
	z := encoders.Get().(*zstd.Encoder)
	z.Reset(f)
	return &Keeper{db: db, f: f, z: z}, nil
}

// Write takes more of the file. After an error there is nothing to commit.
func (k *Keeper) Write(p []byte) (int, error) {
	if k.err != nil {
		return 0, k.err
	}
	n, err := k.z.Write(p)
	k.n += int64(n)
	if err != nil {
		k.err = fmt.Errorf("keep evidence: %w", err)
	}
	return n, k.err
}

// Commit gives what was written its name and records that. info tells the hash,
// the path, the command and the program. Content that the case has already is
// not stored again.
func (k *Keeper) Commit(info SourceInfo) error {
	defer k.Abort() // what has its name is not there any more
	if k.err != nil {
		return k.err
	}
	if err := errors.Join(k.z.Close(), k.f.Sync()); err != nil {
		return fmt.Errorf("keep evidence: %w", err)
	}
	w := k.db.w
	w.mu.Lock()
	defer w.mu.Unlock()
	there, recorded, err := k.db.kept(info.SHA256)
	if err != nil {
		return err
	}
	if !there {
		if err := k.rename(info.SHA256); err != nil {
			return fmt.Errorf("keep evidence: %w", err)
		}
	}
	if there && recorded {
		return nil
	}
	err = w.record(Entry{Action: ActKeep, SHA256: info.SHA256, Bytes: k.n, Path: info.Path, Command: info.Command, Program: info.Parser})
	if err == nil {
		err = w.commit()
	}
	if err == nil {
		w.custody.kept[info.SHA256] = true
	}
	return err
}

func (k *Keeper) rename(sha string) error {
	if err := os.Rename(k.f.Name(), keptPath(k.db.dir, sha)); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(k.f.Name()))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// Abort drops what was written, unless it was committed.
func (k *Keeper) Abort() {
	if k.z == nil {
		return
	}
	k.z.Reset(nil)
	encoders.Put(k.z)
	k.z = nil
	_ = k.f.Close()
	_ = os.Remove(k.f.Name()) // else the next writer removes it
}

// Kept reports whether the case keeps the bytes with this hash.
func (db *DB) Kept(sha string) (bool, error) {
	db.w.mu.Lock()
	defer db.w.mu.Unlock()
	there, recorded, err := db.kept(sha)
	return there && recorded, err
}

// kept reports whether the file is there, and whether the custody log says so.
func (db *DB) kept(sha string) (there, recorded bool, err error) {
	l := db.w.custody
	if l.kept == nil {
		c, err := ReadCustody(db.dir)
		if err != nil {
			return false, false, err
		}
		l.kept = map[string]bool{}
		for _, e := range c.Entries {
			l.kept[e.SHA256] = l.kept[e.SHA256] || e.Action == ActKeep
		}
	}
	_, err = os.Lstat(keptPath(db.dir, sha))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, false, fmt.Errorf("keep evidence: %w", err)
	}
	return err == nil, l.kept[sha], nil
}

// keptPath is where the bytes with this hash are kept.
func keptPath(dir, sha string) string { return filepath.Join(dir, evidenceDir, sha+".zst") }
