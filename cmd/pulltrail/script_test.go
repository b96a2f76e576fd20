package main

import (
	"flag"
	"io"
	"maps"
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

var update = flag.Bool("update", false, "write what the stories compare with anew")

// TestMain lets the stories, and the tests here, run this very binary as
// pulltrail.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pulltrail": main})
}

// TestScripts runs the stories of testdata/script: whole-program runs, each
// with its input and what comes out on one page.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands(),
		Setup: func(e *testscript.Env) error {
			// A zone nobody uses: whatever reads a time as local is seen.
			e.Setenv("TZ", "Asia/Kathmandu")
			e.Setenv("EVIL", "\x1b[31m\u202e")
			return nil
		},
	})
}

// commands are what the stories say beside testscript's own words.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){
		"exits":     exits,
		"truncate":  truncate,
		"hold":      hold,
		"objects":   startObjects,
		"cluster":   startKubernetes,
		"layers":    startLayers,
		"github":    startGitHub,
		"gitlab":    startGitLab,
		"buildkite": startBuildkite,
		"jenkins":   startJenkins,
		"circleci":  startCircleCI,
		"registry":  startRegistry,
		"hostile":   hostile,
		"harmless":  harmless,
		"llm":       startLLM,
	}
	maps.Copy(all, tampering)
	return all
}

// exits CODE PROGRAM ARG... runs a program that has to end with this code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError) //nolint:errorlint // Exec returns it bare
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// truncate FILE COPY BYTES makes a copy of the first bytes of a file.
func truncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: truncate FILE COPY BYTES")
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	data := ts.ReadFile(args[0])
	if n >= len(data) {
		ts.Fatalf("%s has %d bytes alone", args[0], len(data))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(data[:n]), 0o600))
}

// hold DIR writes the case in DIR, as another pulltrail would, until the story
// ends.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold DIR")
	}
	db, err := timeline.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(func() { ts.Check(db.Close()) })
}

// hostile FILE puts what terminals act on, and what readers cannot see, in
// place of {ESC}, {BIDI}, {ZERO}, {C1} in the file and in its name.
func hostile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hostile FILE")
	}
	r := strings.NewReplacer("{ESC}", "\x1b[31m", "{BIDI}", "\u202e", "{ZERO}", "\u200b", "{C1}", "\u009b")
	name := ts.MkAbs(r.Replace(args[0]))
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
	ts.Check(os.WriteFile(name, []byte(r.Replace(ts.ReadFile(args[0]))), 0o644))
	ts.Check(os.Remove(ts.MkAbs(args[0])))
}

// harmless stdout|stderr checks that nothing raw is in what was printed.
func harmless(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: harmless stdout|stderr")
	}
	text := ts.ReadFile(args[0])
	if text == "" {
		ts.Fatalf("%s is empty: nothing was checked", args[0])
	}
	if i := strings.IndexAny(text, "\x1b\x07\x08\r\x7f\u009b\u202e\u200b\ufeff"); i >= 0 {
		ts.Fatalf("%s holds %q", args[0], text[i:min(len(text), i+8)])
	}
}

// TestInterrupt interrupts a read that waits for more, as at a terminal: the
// program ends by itself, and the case is usable.
func TestInterrupt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "case")
	c := exec.Command("pulltrail", "ingest", "-", "--case", dir)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	if _, err := io.WriteString(in, "2026-10-21T12:04:51.1231127Z Current runner version: '2.332.0'\n"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(dir, "timeline.db-wal"))
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	select {
	case <-done:
	case <-time.After(4 * patience):
		t.Fatal("still running after an interrupt")
	}
	if code := c.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d; stderr: %s", code, exitInterrupted, errs.String())
	}
	if out, err := exec.Command("pulltrail", "sql", "SELECT count(*) FROM sources", "--case", dir).CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "\n0\n") {
		t.Errorf("after the interrupt: %s, %v", out, err)
	}
}

func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 500 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s did not come", path)
}

// TestProgress checks that reading is shown on a terminal alone, and that
// nothing of it is left.
func TestProgress(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	p := &progress{w: &out, now: func() time.Time { return now }, begin: now, last: now}
	p.show(1, 100e6)
	if out.Len() != 0 {
		t.Errorf("drawn at once: %q", out.String())
	}
	now = now.Add(2 * time.Second)
	p.show(50e6, 100e6)
	if want := "\rread 50.0 MB of 100.0 MB (50%), 25.0 MB/s, 2s left"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	p.show(60e6, 100e6) // too soon
	now = now.Add(time.Second)
	p.show(120e6, 0)
	p.clear()
	last := out.String()[strings.LastIndex(strings.TrimSuffix(out.String(), "\r"), "\r")+1:]
	if strings.TrimSpace(last) != "" || strings.Count(out.String(), "read") != 2 {
		t.Errorf("left on the line: %q of %q", last, out.String())
	}
	if a := (&app{err: &out}); a.newProgress() != nil {
		t.Error("progress without a terminal")
	}
}
