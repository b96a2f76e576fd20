package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pulltrail/timeline"
)

// faults is loaded before the C library of a child: it counts what SQLite asks
// of the system, and has the k-th call of one kind fail, once or for good, or
// the process die in its place.
const faults = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile uint64_t *count;
static long at, fail, good;
static char kind;
__attribute__((constructor)) static void start(void) {
	const char *s = getenv("FAULT_KIND"), *file = getenv("FAULT_COUNT");
	if (!s || !file) return;
	kind = s[0];
	at = atol(getenv("FAULT_AT")); fail = atol(getenv("FAULT_ERRNO")); good = atol(getenv("FAULT_FOR_GOOD"));
	int fd = open(file, O_RDWR);
	count = mmap(0, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (count == MAP_FAILED) abort();
	close(fd);
}
static int fault(char k) {
	if (!count || k != kind) return 0;
	uint64_t n = __sync_add_and_fetch(count, 1);
	if (at == 0 || n < (uint64_t)at || (n > (uint64_t)at && !good)) return 0;
	if (fail == 0) _exit(137);
	errno = fail;
	return 1;
}
#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)
ssize_t pwrite64(int fd, const void *p, size_t n, off64_t o) { REAL(pwrite64); return fault('w') ? -1 : real(fd, p, n, o); }
ssize_t pwrite(int fd, const void *p, size_t n, off_t o) { REAL(pwrite); return fault('w') ? -1 : real(fd, p, n, o); }
ssize_t write(int fd, const void *p, size_t n) { REAL(write); return fault('w') ? -1 : real(fd, p, n); }
int ftruncate64(int fd, off64_t n) { REAL(ftruncate64); return fault('w') ? -1 : real(fd, n); }
ssize_t pread64(int fd, void *p, size_t n, off64_t o) { REAL(pread64); return fault('r') ? -1 : real(fd, p, n, o); }
ssize_t pread(int fd, void *p, size_t n, off_t o) { REAL(pread); return fault('r') ? -1 : real(fd, p, n, o); }
ssize_t read(int fd, void *p, size_t n) { REAL(read); return fault('r') ? -1 : real(fd, p, n); }
int fsync(int fd) { REAL(fsync); return fault('f') ? -1 : real(fd); }
int fdatasync(int fd) { REAL(fdatasync); return fault('f') ? -1 : real(fd); }
`

// machine runs pulltrail on a system that fails.
type machine struct {
	t       *testing.T
	library string
	count   string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir := t.TempDir()
	m := &machine{t: t, library: filepath.Join(dir, "faults.so"), count: filepath.Join(dir, "count")}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "gcc"
	}
	c := exec.Command(cc, "-shared", "-fPIC", "-O1", "-x", "c", "-o", m.library, "-", "-ldl")
	c.Stdin = strings.NewReader(faults)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cc, err, out)
	}
	return m
}

// fault is what fails: the call of a kind (w, r, f) with this number.
type fault struct {
	kind  string
	at    int  // 0: none
	errno int  // 0: the process dies
	good  bool // every later one fails too
}

func (f fault) String() string {
	return fmt.Sprintf("%s%d errno=%d for-good=%t", f.kind, f.at, f.errno, f.good)
}

// ran is what a run came to.
type ran struct {
	code        int
	out, errors string
	calls       int // of the fault's kind
}

func (m *machine) run(f fault, args ...string) ran {
	m.t.Helper()
	if err := os.WriteFile(m.count, make([]byte, 8), 0o600); err != nil {
		m.t.Fatal(err)
	}
	good := 0
	if f.good {
		good = 1
	}
	c := exec.Command("pulltrail", args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	c.Env = append(os.Environ(), "LD_PRELOAD="+m.library, "FAULT_COUNT="+m.count, "FAULT_KIND="+f.kind,
		fmt.Sprintf("FAULT_AT=%d", f.at), fmt.Sprintf("FAULT_ERRNO=%d", f.errno), fmt.Sprintf("FAULT_FOR_GOOD=%d", good))
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	n, err := os.ReadFile(m.count)
	if err != nil {
		m.t.Fatal(err)
	}
	return ran{c.ProcessState.ExitCode(), out.String(), errs.String(), int(binary.NativeEndian.Uint64(n))}
}

// smallSources writes n logs.
func smallSources(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		text := fmt.Sprintf("Collecting idna\nSuccessfully installed idna-3.%d tool-%d-1.0\n+ docker pull ghcr.io/acme/web:%d\n", i, i%7, i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.log", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func dumpOf(t *testing.T, dir string) string {
	t.Helper()
	db, err := timeline.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var b bytes.Buffer
	if err := db.Dump(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// finished lists the sources that a case has, none where there is no case yet.
func finished(t *testing.T, dir string) map[string]bool {
	t.Helper()
	done := map[string]bool{}
	db, err := timeline.Open(dir)
	if errors.Is(err, timeline.ErrNoCase) {
		return done
	}
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sources, err := db.Sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		done[s.Path] = true
	}
	return done
}

// heals runs the ingest again without a fault: it ends as the undisturbed one
// did, reads no finished source again, and the custody chain holds.
func (m *machine) heals(f fault, home, evidence, want string) {
	m.t.Helper()
	done := finished(m.t, home)
	r := m.run(fault{kind: "w"}, "ingest", evidence, "--json", "--case", home)
	if r.code != exitOK {
		m.t.Fatalf("%s: the next run ends %d: %s", f, r.code, r.errors)
	}
	for line := range strings.Lines(r.out) {
		var file struct {
			Path    string
			Changed bool
		}
		if err := json.Unmarshal([]byte(line), &file); err != nil {
			m.t.Fatal(err)
		}
		if file.Changed == done[file.Path] {
			m.t.Errorf("%s: %s was finished: %t, and changed: %t", f, file.Path, done[file.Path], file.Changed)
		}
	}
	if got := dumpOf(m.t, home); got != want {
		m.t.Errorf("%s: %d finished, and after the next run the case differs", f, len(done))
	}
	if v := m.run(fault{kind: "w"}, "verify", "--case", home); v.code != exitOK {
		m.t.Errorf("%s: verify ends %d: %s%s", f, v.code, v.out, v.errors)
	}
}

// spread returns n numbers from 1 to last.
func spread(n, last int) (out []int) {
	for i := range n {
		out = append(out, 1+i*(last-1)/max(n-1, 1))
	}
	return out
}

// size is how many sources and how many faults a test tries: few, or with
// PULLTRAIL_SOAK many.
func size(few, many int) int {
	if os.Getenv("PULLTRAIL_SOAK") != "" {
		return many
	}
	return few
}

// TestDeath has the process die in place of the k-th write.
func TestDeath(t *testing.T) {
	m := newMachine(t)
	evidence := smallSources(t, size(16, 1000))
	whole := filepath.Join(t.TempDir(), "case")
	r := m.run(fault{kind: "w"}, "ingest", evidence, "--case", whole)
	if r.code != exitOK || r.calls < size(16, 1000) {
		t.Fatalf("undisturbed: %d, %d writes: %s", r.code, r.calls, r.errors)
	}
	want := dumpOf(t, whole)
	t.Logf("%d writes", r.calls)
	for _, k := range spread(size(4, 40), r.calls) {
		home := filepath.Join(t.TempDir(), "case")
		f := fault{kind: "w", at: k}
		if r := m.run(f, "ingest", evidence, "--case", home); r.code != 137 {
			continue // two workers: this run had fewer writes
		}
		m.heals(f, home, evidence, want)
	}
}

// TestFailingSystem has writes, reads and syncs fail, once and for good: the
// run says so and ends 1, or it lost nothing; the next one heals.
func TestFailingSystem(t *testing.T) {
	const eio, enospc = 5, 28
	m := newMachine(t)
	evidence := smallSources(t, size(10, 300))
	whole := filepath.Join(t.TempDir(), "case")
	calls := map[string]int{}
	for _, kind := range []string{"w", "r", "f"} {
		r := m.run(fault{kind: kind}, "ingest", evidence, "--case", filepath.Join(t.TempDir(), "case"))
		if calls[kind] = r.calls; r.calls == 0 {
			t.Fatalf("no calls of kind %s", kind)
		}
	}
	m.run(fault{kind: "w"}, "ingest", evidence, "--case", whole)
	want := dumpOf(t, whole)
	failed := 0
	for _, f := range []fault{{"w", 0, eio, false}, {"w", 0, enospc, true}, {"r", 0, eio, false}, {"r", 0, eio, true}, {"f", 0, eio, false}, {"f", 0, eio, true}, {"w", 0, enospc, false}} {
		for _, f.at = range spread(size(2, 25), calls[f.kind]) {
			home := filepath.Join(t.TempDir(), "case")
			r := m.run(f, "ingest", evidence, "--case", home)
			switch {
			case r.code == exitFailure:
				failed++
				if r.out != "" || !strings.Contains(r.errors, home) && !strings.Contains(r.errors, "timeline") && !strings.Contains(r.errors, "custody") || len(r.errors) < 30 {
					t.Errorf("%s: it says %q and %q", f, r.out, r.errors)
				}
			case r.code != exitOK:
				t.Errorf("%s: ends %d: %s", f, r.code, r.errors)
			case dumpOf(t, home) != want:
				t.Errorf("%s: ends 0, and the case is not whole", f)
			}
			m.heals(f, home, evidence, want)
		}
	}
	if failed == 0 {
		t.Error("no fault was seen")
	}
	m.questions(whole)
}

// questions asks a whole case while reads fail.
func (m *machine) questions(home string) {
	m.t.Helper()
	for _, args := range [][]string{{"timeline", "--json"}, {"match", "litellm-1.107.0", "--json"}, {"coverage", "litellm-1.107.0"}, {"sql", "SELECT * FROM events"}} {
		args = append(args, "--case", home)
		want := m.run(fault{kind: "r"}, args...)
		for _, good := range []bool{false, true} {
			for _, k := range spread(size(2, 20), want.calls) {
				f := fault{"r", k, 5, good}
				r := m.run(f, args...)
				if whole := r.code == want.code && r.out == want.out; !whole && (r.code != exitFailure || r.errors == "") {
					m.t.Errorf("%s, %s: ends %d (undisturbed %d), %d of %d bytes, and says %q", args[0], f, r.code, want.code, len(r.out), len(want.out), r.errors)
				}
			}
		}
	}
}
