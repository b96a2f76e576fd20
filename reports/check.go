package reports

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// check reads what is rendered: every id must stand in it as often as in the
// answer, and no character may have passed the gate.
func (r *report) check(form string, in io.Reader) error {
	var all bytes.Buffer
	if r.private != nil { // names may stand anywhere, and such reports are small
		in = io.TeeReader(in, &all)
	}
	found, err := r.found(form, &gateReader{in: in, form: form})
	if err != nil {
		return err
	}
	if leak := r.private.leak(all.String()); leak != "" {
		return fmt.Errorf("%s: %s; nothing was written", form, leak)
	}
	for _, id := range r.ids {
		if found[id] != 1 {
			return fmt.Errorf("%s: %s stands in it %d times, not once: nothing was written, since a finding may be lost", form, id, found[id])
		}
	}
	if len(found) != len(r.ids) {
		return fmt.Errorf("%s: %d findings or rows in the answer, %d in the report", form, len(r.ids), len(found))
	}
	return nil
}

// found counts the ids in a rendered report.
func (r *report) found(form string, in io.Reader) (map[string]int, error) {
	found := make(map[string]int, len(r.ids))
	b := bufio.NewReaderSize(in, flushAt)
	switch form {
	case "csv":
		rows := csv.NewReader(b)
		rows.ReuseRecord = true
		for header := true; ; header = false {
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				return found, nil
			}
			if err != nil {
				return nil, err
			}
			if !header {
				found[strings.Clone(row[0])]++
			}
		}
	case "json":
		return found, eachLine(b, idsOfJSON(found))
	}
	before, after := map[string]string{"html": ` id="i-`, "md": "<a id=\"i-"}[form], "\""
	return found, eachLine(b, func(line []byte) error {
		for {
			_, tail, ok := bytes.Cut(line, []byte(before))
			if !ok {
				return nil
			}
			id, tail, _ := bytes.Cut(tail, []byte(after))
			found[string(id)]++
			line = tail
		}
	})
}

// idsOfJSON returns what counts the ids of findings and rows in the lines that
// WriteJSON writes: a field a line, each as far in as it is deep. No text can be
// taken for one, since there is no line end in a text.
func idsOfJSON(found map[string]int) func(line []byte) error {
	list := false // of findings or of rows
	return func(line []byte) error {
		switch {
		case bytes.HasPrefix(line, []byte(` "`)):
			list = bytes.HasPrefix(line, []byte(` "findings"`)) || bytes.HasPrefix(line, []byte(` "rows"`))
		case list && bytes.HasPrefix(line, []byte(`   "id": `)):
			var id string
			if err := json.Unmarshal(bytes.TrimSuffix(line[len(`   "id": `):], []byte(",")), &id); err != nil {
				return err
			}
			found[id]++
		}
		return nil
	}
}

// eachLine yields the lines without their ends.
func eachLine(b *bufio.Reader, yield func(line []byte) error) error {
	var long []byte
	for {
		line, err := b.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, line...)
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(long) > 0 {
			line = append(long, line...)
			long = long[:0]
		}
		if e := yield(bytes.TrimSuffix(line, []byte("\n"))); e != nil || err != nil {
			return e // or the end
		}
	}
}

// gateReader lets through only what has passed the gate.
type gateReader struct {
	in   io.Reader
	form string
	at   int    // bytes that were read
	rest []byte // the beginning of a character that goes on
}

func (g *gateReader) Read(p []byte) (int, error) {
	n, err := g.in.Read(p)
	b := p[:n]
	if len(g.rest) > 0 {
		b = append(g.rest, b...)
	}
	for i := 0; i < len(b); {
		if c := b[i]; c >= ' ' && c <= '~' || c == '\n' {
			i++
			continue
		}
		if err == nil && !utf8.FullRune(b[i:]) {
			g.rest = bytes.Clone(b[i:])
			g.at += i
			return n, nil
		}
		c, size := utf8.DecodeRune(b[i:])
		if c != '\n' && !safe(c) || c == utf8.RuneError && size == 1 {
			return 0, fmt.Errorf("%s: the character %q slipped through at byte %d", g.form, c, g.at+i)
		}
		i += size
	}
	g.at += len(b)
	g.rest = nil
	return n, err
}

// inMemory is how many bytes of a report are held in memory until it is whole.
const inMemory = 4 << 20

// spool holds what was written, in memory or in a file that has no name.
type spool struct {
	b    bytes.Buffer
	file *os.File
}

func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.b.Len()+len(p) <= inMemory {
		return s.b.Write(p)
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "pulltrail-report-*")
		if err != nil {
			return 0, err
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return 0, err
		}
		if _, err := f.Write(s.b.Bytes()); err != nil {
			return 0, err
		}
		s.b = bytes.Buffer{}
	}
	return s.file.Write(p)
}

// copyTo writes all that was written.
func (s *spool) copyTo(w io.Writer) error {
	if s.file == nil {
		_, err := w.Write(s.b.Bytes())
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(w, s.file)
	return err
}

func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close() // with it the file is gone
	}
}
