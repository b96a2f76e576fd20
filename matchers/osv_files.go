package matchers

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxRecords    = 1_000_000 // of one archive or folder
	maxRecordData = 8 << 30   // bytes that all records of one archive may unpack to
)

// ReadOSV yields every record of a file, a folder (its .json files, at any
// depth; links are not followed) or a zip archive, with its name; err says why
// one could not be read. It never writes, and unpacks nothing to disk. yield
// returns false to stop.
func ReadOSV(path string, yield func(name string, data []byte, err error) bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	switch {
	case info.IsDir():
		return osvFolder(path, yield)
	case strings.HasSuffix(strings.ToLower(path), ".zip"):
		return osvZip(path, yield)
	}
	data, err := osvFile(path)
	yield(path, data, err)
	return nil
}

func osvFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded(f)
}

// bounded reads one record, and one byte more than it may have, so that a
// larger one is told.
func bounded(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, maxRecord+1)) }

func osvFolder(path string, yield func(string, []byte, error) bool) error {
	n := 0
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if !yield(name, nil, err) {
				return fs.SkipAll
			}
			return nil
		}
		if !d.Type().IsRegular() || !strings.HasSuffix(name, ".json") {
			return nil
		}
		if n++; n > maxRecords {
			return fmt.Errorf("%s: more than %d records", path, maxRecords)
		}
		data, err := osvFile(name)
		if !yield(name, data, err) {
			return fs.SkipAll
		}
		return nil
	})
	if err == nil && n == 0 {
		err = fmt.Errorf("%s: no .json file is in it", path)
	}
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return nil
}

func osvZip(path string, yield func(string, []byte, error) bool) error {
	z, err := zip.OpenReader(path)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are shown, never used as paths
		return fmt.Errorf("import %s: %w", path, err)
	}
	defer z.Close() //nolint:errcheck // it was only read
	if len(z.File) > maxRecords {
		return fmt.Errorf("import %s: more than %d members", path, maxRecords)
	}
	n, total := 0, int64(0)
	for _, f := range z.File {
		if !f.Mode().IsRegular() || !strings.HasSuffix(f.Name, ".json") {
			continue
		}
		n++
		data, err := osvMember(f)
		if total += int64(len(data)); total > maxRecordData {
			return fmt.Errorf("import %s: it unpacks to more than %d GiB", path, maxRecordData>>30)
		}
		if !yield(path+"!"+f.Name, data, err) {
			return nil
		}
	}
	if n == 0 {
		return fmt.Errorf("import %s: no .json file is in it", path)
	}
	return nil
}

func osvMember(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return bounded(r)
}
