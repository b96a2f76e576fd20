package timeline

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
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
	h   hash.Hash // of the file, as it is compressed
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
	f, err := os.CreateTemp(dir, "*"+beingWritten) // mode 0600
	if err != nil {
		return nil, fmt.Errorf("keep evidence: %w", err)
	}
	z := encoders.Get().(*zstd.Encoder)
	h := sha256.New()
	z.Reset(io.MultiWriter(f, h))
	return &Keeper{db: db, f: f, h: h, z: z}, nil
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
	return k.commit(info.SHA256, func(w *writer, stored string, recorded bool) error {
		if recorded {
			return nil
		}
		return w.record(Entry{
			Action: actKeep, SHA256: info.SHA256, Stored: stored, Bytes: k.n, Path: info.Path,
			Command: info.Command, Program: info.Parser,
		})
	})
}

// Collect gives what was written, the answer to r, its name, and writes both
// into the ledger, in one transaction.
func (k *Keeper) Collect(r Inquiry, command, program string) error {
	r.Reply, r.Bytes = Obtained, k.n
	return k.commit(r.SHA256, func(w *writer, stored string, _ bool) error { return w.ask(&r, stored, command, program) })
}

// commit gives the file its name, unless the case has the content, and records
// it. stored is the hash of the file that is there then.
func (k *Keeper) commit(sha string, record func(w *writer, stored string, recorded bool) error) error {
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
	there, stored, err := k.db.kept(sha)
	if err != nil {
		return err
	}
	recorded := there && stored != nil
	if !recorded {
		if err := k.rename(sha); err != nil {
			return fmt.Errorf("keep evidence: %w", err)
		}
		sum := hex.EncodeToString(k.h.Sum(nil))
		stored = &sum
	}
	if err = record(w, *stored, recorded); err == nil {
		err = w.commit()
	}
	if err == nil {
		w.custody.kept[sha] = *stored
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
	there, stored, err := db.kept(sha)
	return there && stored != nil, err
}

// kept reports whether the file is there, and what the custody log says of its
// hash: nil when it says nothing.
func (db *DB) kept(sha string) (there bool, stored *string, err error) {
	l := db.w.custody
	if l.kept == nil {
		c, err := ReadCustody(db.dir)
		if err != nil {
			return false, nil, err
		}
		l.kept = map[string]string{}
		for _, e := range c.Entries {
			if e.keeps() {
				l.kept[e.SHA256] = e.Stored
			}
		}
	}
	_, err = os.Lstat(keptPath(db.dir, sha))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, nil, fmt.Errorf("keep evidence: %w", err)
	}
	if s, recorded := l.kept[sha]; recorded {
		stored = &s
	}
	return err == nil, stored, nil
}

// OpenKept opens the bytes with this hash that the case keeps.
func (db *DB) OpenKept(sha string) (io.ReadCloser, error) {
	r, err := openKept(keptPath(db.dir, sha))
	if err != nil {
		return nil, fmt.Errorf("read kept evidence: %w", err)
	}
	return r, nil
}

func openKept(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		f.Close()
		return nil, err
	}
	return &kept{z, f}, nil
}

type kept struct {
	*zstd.Decoder
	f *os.File
}

// Close ends the reading.
func (k *kept) Close() error {
	k.Decoder.Close()
	return k.f.Close()
}

// Scratch makes a file without a name, readable by the owner alone, for what
// has to be read here and there: it is gone when it is closed.
func (db *DB) Scratch() (*os.File, error) {
	f, err := os.CreateTemp(filepath.Join(db.dir, evidenceDir), "*"+beingWritten)
	if err == nil {
		err = os.Remove(f.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("read kept evidence: %w", err)
	}
	return f, nil
}

// keptPath is where the bytes with this hash are kept.
func keptPath(dir, sha string) string { return filepath.Join(dir, evidenceDir, sha+".zst") }
