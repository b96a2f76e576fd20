package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pulltrail/timeline"
)

// tampering is what the stories about custody do to a case.
var tampering = map[string]func(*testscript.TestScript, bool, []string){
	"append":    appendLine,
	"copycase":  copyCase,
	"droplines": dropLines,
	"edit":      edit,
	"garble":    garble,
	"modes":     modes,
}

// modes DIR checks that nobody but the owner can read what is in the case.
func modes(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		ts.Check(err)
		info, err := d.Info()
		ts.Check(err)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			ts.Fatalf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return nil
	}))
}

// append FILE TEXT adds a line.
func appendLine(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[0])+args[1]+"\n"), 0o600))
}

// copycase FROM TO copies a case.
func copyCase(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
}

// droplines FILE FIRST LAST removes lines, counted from 1.
func dropLines(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	first, err := strconv.Atoi(args[1])
	ts.Check(err)
	last, err := strconv.Atoi(args[2])
	ts.Check(err)
	kept := append(lines[:first-1:first-1], lines[last:]...)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(kept, "")), 0o600))
}

// edit FILE OLD NEW replaces the text that stands there first.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o600))
}

// garble DIR changes one byte of one file.
func garble(ts *testscript.TestScript, _ bool, args []string) {
	files, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	name := filepath.Join(ts.MkAbs(args[0]), files[0].Name())
	data, err := os.ReadFile(name)
	ts.Check(err)
	i := bytes.IndexByte(data, 'l')
	data[i] = 'L'
	ts.Check(os.WriteFile(name, data, 0o600))
}

// TestKilledWhileKeeping kills a program that reads and keeps evidence, again
// and again, each time some files later: what verify says then is never that
// somebody changed something, and the same command heals the case.
func TestKilledWhileKeeping(t *testing.T) {
	dir := t.TempDir()
	evidence := filepath.Join(dir, "logs")
	if err := os.Mkdir(evidence, 0o700); err != nil {
		t.Fatal(err)
	}
	killed := 0
	for round := range 10 {
		for i := range 30 {
			text := fmt.Sprintf("Successfully installed litellm-1.%d.%d\n", round, i) + strings.Repeat("nothing of note\n", 2000)
			if err := os.WriteFile(filepath.Join(evidence, fmt.Sprintf("%d.log", i)), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		// Other content under the old names would be a mismatch: the case is new.
		args := []string{"ingest", "logs", "--keep", "--case", fmt.Sprintf("case%d", round)}
		c := exec.Command("pulltrail", args...)
		c.Dir = dir
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for range 5000 { // until so many of the files are kept
			if files, _ := os.ReadDir(filepath.Join(dir, args[4], "evidence")); len(files) >= 3*round {
				break
			}
			time.Sleep(time.Millisecond)
		}
		_ = c.Process.Kill() // it may have ended
		if err := c.Wait(); err != nil {
			killed++
		}
		if code, checks := verify(t, dir, args[4]); code != exitOK && code != exitIncomplete && code != exitFailure {
			t.Errorf("round %d: verify ends with %d: %v", round, code, checks)
		} else if code == exitFailure && !strings.Contains(checks, "no case") {
			t.Errorf("round %d: %s", round, checks)
		}
		again := exec.Command("pulltrail", args...)
		again.Dir = dir
		if out, err := again.CombinedOutput(); err != nil {
			t.Fatalf("round %d, again: %v: %s", round, err, out)
		}
		if code, checks := verify(t, dir, args[4]); code != exitOK {
			t.Errorf("round %d: not healed, verify ends with %d: %s", round, code, checks)
		}
	}
	if killed == 0 {
		t.Error("every run had ended before it was killed: nothing was tried")
	}
}

// verify runs the verb and returns its exit code, and what is not well.
func verify(t *testing.T, dir, caseDir string) (code int, text string) {
	t.Helper()
	c := exec.Command("pulltrail", "verify", "--json", "--case", caseDir)
	c.Dir = dir
	var errs strings.Builder
	c.Stderr = &errs
	out, _ := c.Output() // the exit code tells
	code = c.ProcessState.ExitCode()
	if code == exitFailure {
		return code, errs.String()
	}
	var v struct{ Checks []timeline.Checked }
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("verify prints %s: %v", out, err)
	}
	for _, c := range v.Checks {
		if c.Outcome != timeline.Good {
			text += fmt.Sprintf("%+v\n", c)
		}
	}
	return code, text
}
