package timeline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// BadEntry is the first entry at which the chain of a custody log does not
// hold.
type BadEntry struct {
	N    int64  `json:"n"`
	Line int64  `json:"line"`
	Why  string `json:"why"`
}

// Custody is a custody log as it was found.
type Custody struct {
	Entries []Entry   // that could be read, also behind a break
	Head    string    // SHA-256 of the last whole line: who has it can tell later whether the log is the same
	Bad     *BadEntry // nil: the chain holds
	Torn    int64     // bytes behind the last whole line

	recorded map[Identity]int64 // sources → the entry that recorded each last; nil: not looked up yet

	hashes []string // of the lines of Entries
	end    mark
	lines  int64
}

// ReadCustody reads the custody log of a case and checks its chain. A case
// without one has an empty one.
func ReadCustody(dir string) (*Custody, error) {
	f, err := os.Open(filepath.Join(dir, custodyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return &Custody{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read custody log: %w", err)
	}
	defer f.Close()
	return readCustody(f, mark{})
}

// CustodyLog returns the bytes of the custody log of a case, empty when it has
// none.
func CustodyLog(dir string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, custodyFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read custody log: %w", err)
	}
	return b, nil
}

// ParseCustody reads a whole custody log, wherever it is, and checks its chain.
func ParseCustody(log []byte) (*Custody, error) { return readCustody(bytes.NewReader(log), mark{}) }

// EntryOf is the number of the entry that recorded a source last, 0 when none
// did.
func (c *Custody) EntryOf(s *SourceInfo) int64 {
	if c.recorded == nil {
		c.recorded = map[Identity]int64{}
		for _, e := range c.Entries {
			if e.Action == actIngest || e.Action == actReplace {
				c.recorded[identityOf(e.SHA256, e.Claim, e.Path)] = e.N
			}
		}
	}
	return c.recorded[identityOf(s.SHA256, s.Claim, s.Path)]
}

// readCustody reads a log, or the rest of one that begins after from.
func readCustody(r io.Reader, from mark) (*Custody, error) {
	c := &Custody{Head: from.hash, end: from}
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, whole, err := readEntry(in)
		if err != nil {
			return nil, fmt.Errorf("read custody log: %w", err)
		}
		if !whole {
			c.Torn = int64(len(line))
			return c, nil
		}
		c.add(line)
	}
}

// readEntry reads a line with its newline; whole is false for the end of the
// log, with what stands there. The rest of a line that is too long is dropped.
func readEntry(in *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= maxEntry {
			line = append(line, part...)
		}
		switch {
		case err == nil:
			return line, true, nil
		case errors.Is(err, io.EOF):
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

// add takes the next whole line.
func (c *Custody) add(line []byte) {
	c.lines++
	var e Entry
	want := c.end.n + 1
	if err := json.Unmarshal(line, &e); err != nil || len(line) > maxEntry {
		c.bad(want, "it is no entry: the line was changed")
		c.end.n = want
	} else {
		switch {
		case e.N > want:
			c.bad(want, fmt.Sprintf("it is missing: entry %d stands in its place", e.N))
		case e.N < want:
			c.bad(want, fmt.Sprintf("entry %d stands in its place", e.N))
		case e.Prev != c.Head:
			c.bad(max(e.N-1, 1), fmt.Sprintf("its SHA-256 is not the one that entry %d names: one of the two was changed", e.N))
		}
		c.Entries, c.hashes = append(c.Entries, e), append(c.hashes, hashOf(line))
		c.end.n = e.N
	}
	c.Head = hashOf(line)
	c.end.hash, c.end.size = c.Head, c.end.size+int64(len(line))
}

func (c *Custody) bad(n int64, why string) {
	if c.Bad == nil {
		c.Bad = &BadEntry{N: n, Line: c.lines, Why: why}
	}
}

// agree checks the log against the entry that the timeline names.
func (c *Custody) agree(sealed mark) {
	if sealed.n == 0 {
		return
	}
	i := slices.IndexFunc(c.Entries, func(e Entry) bool { return e.N == sealed.n })
	switch {
	case i < 0:
		c.bad(c.end.n+1, fmt.Sprintf("it is missing: the timeline was written up to entry %d", sealed.n))
	case c.hashes[i] != sealed.hash:
		c.bad(sealed.n, "its SHA-256 is not the one that the timeline names: it was changed")
	}
}
