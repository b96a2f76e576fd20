package main

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pulltrail/testdata/demo"
)

// half is one half of the demo evidence in a folder of its own.
type half struct {
	t     *testing.T
	dir   string
	steps [][]string // with paths below dir
}

func newHalf(t *testing.T, name string) *half {
	t.Helper()
	h := &half{t: t, dir: t.TempDir()}
	if err := demo.Write(h.dir); err != nil {
		t.Fatal(err)
	}
	steps, err := demo.Steps(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s[0] == "report" || s[0] == "rotate" && s[1] == "plan" { // what only prints
			continue
		}
		out := slices.DeleteFunc(slices.Clone(s), func(w string) bool { return w == "--case" || strings.HasSuffix(w, ".case") })
		for i, w := range out {
			if strings.HasPrefix(w, name+"/") {
				out[i] = filepath.Join(h.dir, filepath.FromSlash(w))
			}
		}
		h.steps = append(h.steps, out)
	}
	return h
}

// files are the files that the steps read, inventory included.
func (h *half) files() []string {
	h.t.Helper()
	var files []string
	for _, s := range h.steps {
		for _, w := range s {
			if !strings.HasPrefix(w, h.dir) {
				continue
			}
			err := filepath.WalkDir(w, func(p string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					files = append(files, p)
				}
				return err
			})
			if err != nil {
				h.t.Fatal(err)
			}
		}
	}
	return files
}

// answer runs the steps on a new case and returns the exit code of match and
// what it printed.
func (h *half) answer(steps [][]string, flags ...string) (int, string) {
	h.t.Helper()
	dir := filepath.Join(h.t.TempDir(), "case")
	h.fill(dir, steps)
	return h.match(dir, flags...)
}

// fill runs the steps but match on a case. A file that is not there is left
// out of its command.
func (h *half) fill(dir string, steps [][]string) {
	h.t.Helper()
	for _, s := range steps {
		args := []string{s[0]}
		paths := 0
		for _, w := range s[1:] {
			if strings.HasPrefix(w, h.dir) {
				if _, err := os.Stat(w); err != nil {
					continue
				}
				paths++
			}
			args = append(args, w)
		}
		if paths == 0 {
			continue
		}
		var errs strings.Builder
		code := run(context.Background(), append(args, "--case", dir), strings.NewReader(""), io.Discard, &errs)
		if !slices.Contains([]int{exitOK, exitIncomplete, exitFailure, exitUsage}, code) {
			h.t.Fatalf("%v: exit %d: %s", args, code, errs.String())
		}
	}
}

// match asks the case; the question is the last step.
func (h *half) match(dir string, flags ...string) (int, string) {
	h.t.Helper()
	question := h.steps[len(h.steps)-1]
	if question[0] != "match" {
		h.t.Fatalf("the last step is %v", question)
	}
	var out, errs strings.Builder
	args := append(append(slices.Clone(question), flags...), "--case", dir)
	code := run(context.Background(), args, strings.NewReader(""), &out, &errs)
	return code, out.String() + errs.String()
}

// step is the command that reads a file, with that file alone.
func (h *half) step(file string) []string {
	h.t.Helper()
	for _, s := range h.steps {
		for i, w := range s {
			if strings.HasPrefix(w, h.dir) && (w == file || strings.HasPrefix(file, w+string(filepath.Separator))) {
				one := slices.DeleteFunc(slices.Clone(s), func(v string) bool { return strings.HasPrefix(v, h.dir) && v != s[i] })
				one[slices.Index(one, w)] = file
				return one
			}
		}
	}
	h.t.Fatalf("no step reads %s", file)
	return nil
}

// TestCompleteHalf checks that nothing missing ends 0: everybody clear, the
// answer complete.
func TestCompleteHalf(t *testing.T) {
	h := newHalf(t, "complete")
	if code, out := h.answer(h.steps); code != exitOK {
		t.Errorf("exit %d, want 0:\n%s", code, out)
	}
}

// TestLeaveOneOut takes evidence of the complete half away, one file at a time,
// or cuts it: the answer must never be 0 again. What is put back makes it 0.
func TestLeaveOneOut(t *testing.T) {
	h := newHalf(t, "complete")
	files := h.files()
	if len(files) < 15 {
		t.Fatalf("%d files: the walk is broken", len(files))
	}
	for _, f := range files {
		name, err := filepath.Rel(h.dir, f)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
		rest := filepath.Join(t.TempDir(), "rest")
		h.fill(rest, h.steps)
		if code, out := h.match(rest); code == exitOK {
			t.Errorf("%s removed: still exit 0:\n%s", name, out)
		}
		for what, data := range cuts(t, f, whole) {
			if err := os.WriteFile(f, data, 0o600); err != nil {
				t.Fatal(err)
			}
			with := filepath.Join(t.TempDir(), "with")
			if err := os.CopyFS(with, os.DirFS(rest)); err != nil {
				t.Fatal(err)
			}
			h.fill(with, [][]string{h.step(f)})
			if code, out := h.match(with); code == exitOK {
				t.Errorf("%s %s: still exit 0:\n%s", name, what, out)
			}
		}
		if err := os.WriteFile(f, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		h.fill(rest, [][]string{h.step(f)})
		if code, out := h.match(rest); code != exitOK {
			t.Errorf("%s put back: exit %d, want 0:\n%s", name, code, out)
		}
	}
	if code, out := h.answer(h.steps); code != exitOK {
		t.Errorf("restored: exit %d, want 0:\n%s", code, out)
	}
}

// cuts are cut copies of a file: at three points, an archive also without each
// of its members.
func cuts(t *testing.T, name string, whole []byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for quarter := 1; quarter <= 3; quarter++ {
		at := len(whole) * quarter / 4
		if whole[at-1] == '\n' {
			at-- // a cut that leaves whole lines cannot be seen in a log that has no end
		}
		out[fmt.Sprintf("cut at byte %d of %d", at, len(whole))] = whole[:at]
	}
	if filepath.Ext(name) == ".zip" {
		r, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range r.File {
			if strings.HasPrefix(f.Name, fmt.Sprintf("%d_", i)) || !strings.Contains(f.Name, "/") || i == len(r.File)-1 {
				out["without "+f.Name] = without(t, r, i)
			}
		}
	}
	return out
}

// without is the archive without one member.
func without(t *testing.T, r *zip.Reader, leave int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, f := range r.File {
		if i == leave {
			continue
		}
		if err := w.Copy(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLeaveRunsOut keeps some of the files of a run, records and logs, in every
// combination: as long as one is left that names the run, the answer must not
// be 0. A run of which nothing at all is left is not known to anybody.
func TestLeaveRunsOut(t *testing.T) {
	h := newHalf(t, "complete")
	runs := map[string][]string{}
	for _, f := range h.files() {
		if name, _, ok := strings.Cut(filepath.Base(f), "."); ok && strings.Contains(f, "github") {
			runs[name] = append(runs[name], f)
		}
	}
	if len(runs) != 3 {
		t.Fatalf("%d runs: the walk is broken", len(runs))
	}
	for run, files := range runs {
		for kept := 1; kept < 1<<len(files)-1; kept++ {
			var left []string
			whole := map[string][]byte{}
			for i, f := range files {
				if kept&(1<<i) != 0 {
					left = append(left, filepath.Base(f))
					continue
				}
				data, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				whole[f] = data
				if err := os.Remove(f); err != nil {
					t.Fatal(err)
				}
			}
			if code, out := h.answer(h.steps); code == exitOK {
				t.Errorf("%s: with %v alone still exit 0:\n%s", run, left, out)
			}
			for f, data := range whole {
				if err := os.WriteFile(f, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
