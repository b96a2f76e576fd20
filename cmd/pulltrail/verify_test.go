package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
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
