package timeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sha is a hash of something.
func sha(text string) string { return hashOf([]byte(text)) }

// verified returns what Verify says, without what is well: "outcome what
// state path", and the worst outcome.
func verified(t *testing.T, db *DB) ([]string, Outcome) {
	t.Helper()
	v, err := db.Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range v.Checks {
		if c.Outcome != Good && c.What != "original" { // the tests of this file have none
			out = append(out, string(c.Outcome)+" "+c.What+" "+c.State+" "+c.Path)
		}
	}
	return out, v.Worst()
}

func logOf(t *testing.T, dir string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, custodyFile))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestInterruptedBetweenLogAndTimeline leaves what a program leaves that is
// killed after it wrote an entry, and in the middle of the next one.
func TestInterruptedBetweenLogAndTimeline(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	write(t, db, "one", info(sha("one"), "host:one", "one.log"))
	lost := info(sha("two"), "host:two", "two.log")
	if err := db.w.custody.append(entryOf(&lost, nil)); err != nil { // and the transaction never ends
		t.Fatal(err)
	}
	if _, err := db.w.custody.f.WriteString(`{"n":3,"prev":"`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	want := []string{"unchecked log interrupted custody.jsonl", "unchecked log interrupted two.log"}
	if got, worst := verified(t, reader(t, dir)); !slices.Equal(got, want) || worst != Unchecked {
		t.Errorf("after the interrupt: %q", got)
	}
	db = create(t, dir)
	if got, _ := verified(t, reader(t, dir)); !slices.Equal(got, want[1:]) {
		t.Errorf("the next writer does not heal what it has not read: %q", got)
	}
	c, err := ReadCustody(dir)
	if err != nil || c.Bad != nil || len(c.Entries) != 3 {
		t.Fatalf("custody %+v, %v", c, err)
	}
	if e := c.Entries[2]; e.Action != actInterrupted || e.After != 1 || e.Cut != 15 {
		t.Errorf("recorded as %+v", e)
	}
	write(t, db, "two", lost)
	if got, _ := verified(t, reader(t, dir)); got != nil {
		t.Errorf("read again, and still: %q", got)
	}
}

// TestLogThatCannotBeWritten: an act that is not recorded does not happen.
func TestLogThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	write(t, db, "one", info(sha("one"), "host:one", "one.log"))
	db.w.custody.f.Close()
	s, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	again := info(sha("one"), "host:one", "one.log")
	again.Zone = "UTC" // it would replace the first
	if _, err := s.Finish(again); err == nil || !strings.Contains(err.Error(), "custody log") {
		t.Errorf("finished without an entry: %v", err)
	}
	if err := db.SetInventory(nil, nil, SourceInfo{}); err == nil {
		t.Error("the inventory was set without an entry")
	}
	_ = db.Close() // it fails again
	db = create(t, dir)
	if got, _ := verified(t, db); got != nil {
		t.Errorf("verify: %q", got)
	}
	if got := claims(t, db); !slices.Equal(got, []string{"host:one "}) {
		t.Errorf("sources: %q", got)
	}
}

// TestTimelineWithoutEntries changes the timeline behind the log's back.
func TestTimelineWithoutEntries(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	for _, name := range []string{"a", "b", "c"} {
		write(t, db, name, info(sha(name), "host:"+name, name+".log"))
	}
	for _, statement := range []string{
		"DELETE FROM source WHERE path='a.log'", "UPDATE source SET state='partial' WHERE path='b.log'", "UPDATE source SET sha256='0' WHERE path='c.log'",
	} {
		if _, err := db.w.exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"mismatch source differs b.log", "mismatch source not recorded c.log",
		"mismatch source missing a.log", "mismatch source missing c.log",
	}
	if got, worst := verified(t, reader(t, dir)); !slices.Equal(got, want) || worst != Mismatch {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEntriesAreASCII(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	hostile := info(sha("x"), "host:\u202ex\x1b[31m", "dir/\xff\u009b😀\n.log")
	write(t, db, "x", hostile)
	data := logOf(t, dir)
	if i := bytes.IndexFunc(data, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' }); i >= 0 {
		t.Errorf("%q is in the log", data[i:])
	}
	c, err := ReadCustody(dir)
	if err != nil || c.Bad != nil || c.Entries[0].Path != "dir/\ufffd\u009b😀\n.log" || c.Head != hashOf(data) {
		t.Errorf("read back as %+v, %v", c, err)
	}
	if got, _ := verified(t, db); got != nil {
		t.Errorf("verify: %q", got)
	}
}

func TestKeepingTwice(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	keep := func(text string, commit bool) {
		t.Helper()
		k, err := db.Keep()
		if err != nil {
			t.Fatal(err)
		}
		defer k.Abort()
		if _, err := k.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if commit {
			err = k.Commit(SourceInfo{SHA256: sha(text), Path: "x.log"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	keep("one", true)
	keep("one", true)
	keep("two", false)
	files, err := os.ReadDir(filepath.Join(dir, evidenceDir))
	if err != nil || len(files) != 1 || files[0].Name() != sha("one")+".zst" {
		t.Errorf("kept %v, %v", files, err)
	}
	if n := bytes.Count(logOf(t, dir), []byte("\n")); n != 1 {
		t.Errorf("%d entries, want 1", n)
	}

	// Killed between the name and the entry, and in the middle of a file.
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{sha("two") + ".zst", "123" + beingWritten} {
		if err := os.WriteFile(filepath.Join(dir, evidenceDir, name), zstdOf(t, "two"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"unchecked kept unfinished 123.tmp", "unchecked kept not recorded "}
	if got, _ := verified(t, reader(t, dir)); !slices.Equal(got, want) {
		t.Errorf("after the interrupt: %q, want %q", got, want)
	}
	db = create(t, dir)
	keep("two", true)
	if got, _ := verified(t, db); got != nil {
		t.Errorf("kept again, and still: %q", got)
	}
}

func zstdOf(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := encoder()
	z.Reset(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPrivateAfterInterrupt narrows the directory of a case in which an
// interrupted command left its note: that is the case's own.
func TestPrivateAfterInterrupt(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	if err := errors.Join(db.Starts("ingest a.log"), db.Close(), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	create(t, dir)
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %o, want 700 (%v)", st.Mode().Perm(), err)
	}
}

// TestPrivate narrows an older case, and nothing that is not its own.
func TestPrivate(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	dir := t.TempDir()
	for _, path := range []string{outside, filepath.Join(dir, "timeline.db"), filepath.Join(dir, "notes.txt")} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "last-incident")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	create(t, dir)
	for path, want := range map[string]fs.FileMode{
		outside: 0o644, filepath.Join(dir, "notes.txt"): 0o644, dir: 0o755,
		filepath.Join(dir, "timeline.db"): 0o600, filepath.Join(dir, "timeline.db-wal"): 0o600, filepath.Join(dir, custodyFile): 0o600,
	} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o (%v)", path, st.Mode().Perm(), want, err)
		}
	}
}

func TestCaseThatWasOnlyBegun(t *testing.T) {
	dir := t.TempDir()
	if err := private(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrNoCase) {
		t.Errorf("opened: %v", err)
	}
}

// chain is a log of n entries with the mark of its end.
func chain(n int) ([]byte, mark) {
	var data []byte
	var m mark
	for i := range n {
		e := Entry{N: m.n + 1, Prev: m.hash, Time: "2026-10-21T12:04:51.000Z", Action: actIngest, SHA256: sha(fmt.Sprint(i)), Path: fmt.Sprintf("%d.log", i)}
		line, err := e.line()
		if err != nil {
			panic(err)
		}
		data = append(data, line...)
		m = mark{e.N, hashOf(line), int64(len(data))}
	}
	return data, m
}

// FuzzCustody reads whatever stands in a log; and of a sound log with one byte
// changed, one place cut out or doubled, it always says that it is not sound.
func FuzzCustody(f *testing.F) {
	good, sealed := chain(3)
	f.Add(good, uint(0), byte(1), uint(0))
	f.Add([]byte("{}\n{\"n\":1}\n\n[]\n\x00"), uint(100), byte('x'), uint(40))
	f.Add(bytes.Replace(good, []byte("\n"), nil, 1), uint(10), byte('\n'), uint(500))
	f.Fuzz(func(t *testing.T, data []byte, at uint, b byte, length uint) {
		c, err := readCustody(bytes.NewReader(data), mark{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Bad == nil && (len(c.Entries) != bytes.Count(data, []byte("\n")) || c.end.size+c.Torn != int64(len(data))) {
			t.Errorf("sound, but %d entries and %d bytes torn of %q", len(c.Entries), c.Torn, data)
		}
		i := int(at % uint(len(good)))
		j := i + int(length%uint(len(good)-i+1))
		changed := slices.Clone(good)
		changed[i] = b
		for _, bad := range [][]byte{changed, slices.Concat(good[:i], good[j:]), slices.Concat(good[:j], good[i:])} {
			if bytes.Equal(bad, good) {
				continue
			}
			c, err := readCustody(bytes.NewReader(bad), mark{})
			if err != nil {
				t.Fatal(err)
			}
			// What follows the last entry that the timeline names is an interrupted run's.
			if c.agree(sealed); c.Bad == nil && !bytes.HasPrefix(bad, good) {
				t.Errorf("%q is called sound", bad)
			}
		}
	})
}
