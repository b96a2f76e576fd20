package timeline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// killed is set for the process that TestKilledWriter kills.
const killed = "PULLTRAIL_TEST_KILLED_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killed); dir != "" {
		dieWriting(dir)
	}
	os.Exit(m.Run())
}

func create(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func reader(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// batch is one row of every table that belongs to a source.
func batch(host string) *Batch {
	s := Subject{Host, host}
	at := Origin{Path: "pip.log", Line: 1, Text: "Successfully installed litellm-1.107.0 openai-2.8.1"}
	return &Batch{
		Events: []Event{{
			Action: Install, Subject: s, Span: Always(), Op: 1, Origin: at,
			Items: []Item{{Artifact: "pkg:pypi/litellm@1.107.0"}, {Artifact: "pkg:pypi/openai@2.8.1"}},
		}},
		Links:    []Link{{Relation: On, From: "job:x", To: s.String(), Span: Always(), Origin: at}},
		Coverage: []Coverage{{Subject: s, Topic: PyPI, Span: Always(), Why: "w"}},
		Expected: []Expected{{Subject: s, Span: Always(), Origin: at}},
		Skips:    []Skip{{Reason: "r", Origin: at}},
		Ops:      []Op{{Number: 1, Tool: "pip", State: OpDone}},
		Claimed:  []Subject{s},

		Credentials: []Credential{{Subject: s, Name: "NPM_TOKEN", Origin: at}},
		Settings:    []Setting{{Subject: s, Name: PoolTokens, Value: "681280", Origin: at}},
		Requests:    []Request{{Node: s, Tenant: "acme", Prompt: 7, Origin: at}},
		Canaries:    []Canary{{Request: Request{Node: s, Tenant: "canary-a", Prompt: 8, Origin: at}, Run: "r", Probe: MarkerProbe, Outcome: Unreachable}},
	}
}

func info(sha, claim, path string) SourceInfo {
	return SourceInfo{
		SHA256: sha, Claim: claim, Path: path, Format: "pip", State: Read, Events: 1, First: Beginning, Last: Forever,
		Parser: "test", Explicit: claim != path && claim != "",
	}
}

// write reads one source whole.
func write(t *testing.T, db *DB, host string, src SourceInfo) (changed bool) {
	t.Helper()
	s, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(batch(host)); err != nil {
		t.Fatal(err)
	}
	changed, err = s.Finish(src)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func dump(t *testing.T, db *DB) string {
	t.Helper()
	var b strings.Builder
	if err := db.Dump(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// rows counts the rows of a table, those of unfinished sources too.
func rows(t *testing.T, db *DB, table string) int {
	t.Helper()
	n := -1
	err := db.SQL(context.Background(), "SELECT count(*) FROM "+table, func(cells []string) error {
		n, _ = strconv.Atoi(cells[0])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func claims(t *testing.T, db *DB) []string {
	t.Helper()
	sources, err := db.Sources()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range sources {
		out = append(out, s.Claim+" "+s.Zone)
	}
	return out
}

func TestSecondWriter(t *testing.T) {
	dir := t.TempDir()
	first := create(t, dir)
	_, err := CreateAtOnce(dir)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("(process %d)", os.Getpid())) {
		t.Errorf("second writer: %v", err)
	}
	closed := make(chan error, 1)
	go func() { // as one that stores an answer
		time.Sleep(50 * time.Millisecond)
		closed <- first.Close()
	}()
	second, err := Create(dir)
	if err := errors.Join(err, <-closed); err != nil {
		t.Fatalf("the second writer does not wait for the first: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReadersAreNotHindered(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	write(t, db, "one", info("a", "host:one", "pip.log"))
	open, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := open.Write(batch("two")); err != nil { // its transaction stays open
		t.Fatal(err)
	}
	done := make(chan string, 1)
	go func() {
		r, err := Open(dir)
		if err != nil {
			done <- err.Error()
			return
		}
		defer r.Close()
		subjects, err := r.Subjects()
		done <- fmt.Sprint(subjects, err)
	}()
	select {
	case got := <-done:
		if want := "[host:one] <nil>"; got != want {
			t.Errorf("the reader sees %s, want %s", got, want)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the reader waits for the writer")
	}
	if _, err := open.Finish(info("b", "host:two", "pip.log")); err != nil {
		t.Fatal(err)
	}
	if got := claims(t, reader(t, dir)); !slices.Equal(got, []string{"host:one ", "host:two "}) {
		t.Errorf("after the end the reader sees %q", got)
	}
}

// dieWriting leaves one finished source and one that is half written, stored
// on disk, and waits to be killed.
func dieWriting(dir string) {
	fail := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	db, err := Create(dir)
	fail(err)
	half, err := db.Begin()
	fail(err)
	fail(half.Write(batch("half")))
	whole, err := db.Begin()
	fail(err)
	fail(whole.Write(batch("whole")))
	_, err = whole.Finish(info("a", "host:whole", "pip.log")) // stores the half one too
	fail(err)
	fmt.Println("written")
	select {}
}

func TestKilledWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "case")
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), killed+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "written\n" {
		t.Errorf("the child says %q", line)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()

	before := reader(t, dir)
	if n := rows(t, before, "event"); n != 2 {
		t.Fatalf("%d events were stored before the end, want 2: the test proves nothing", n)
	}
	if got := dump(t, before); strings.Contains(got, "half") || !strings.Contains(got, "install host:whole pkg:pypi/litellm@1.107.0") {
		t.Errorf("a reader sees\n%s", got)
	}
	for _, view := range []string{"timeline WHERE subject = 'half'", "sources WHERE claim = 'host:half'"} {
		if n := rows(t, before, view); n != 0 {
			t.Errorf("%d rows of the unfinished source in %s", n, view)
		}
	}
	seen := dump(t, before)
	after := create(t, dir)
	for _, table := range append(tablesOfSource, "source") {
		if n := rows(t, after, table); n != 1 {
			t.Errorf("%d rows in %s after the purge, want those of the whole source, 1", n, table)
		}
	}
	if got := dump(t, after); got != seen {
		t.Errorf("the purge changed what is seen:\n%s\nwas\n%s", got, seen)
	}
}

func TestReadAgain(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	if !write(t, db, "one", info("a", "host:one", "pip.log")) {
		t.Error("the first reading changed nothing")
	}
	seen := dump(t, db)
	if write(t, db, "one", info("a", "host:one", "pip.log")) || dump(t, db) != seen {
		t.Error("the same bytes with the same claim changed something")
	}
	if write(t, db, "one", info("a", "host:one", "elsewhere/pip.log")) || dump(t, db) != seen {
		t.Error("the same bytes with the same claim at another path changed something")
	}
	zone := info("a", "host:one", "pip.log")
	zone.Zone = "Europe/Berlin"
	if !write(t, db, "one", zone) {
		t.Error("another zone changed nothing")
	}
	if got := claims(t, db); !slices.Equal(got, []string{"host:one Europe/Berlin"}) {
		t.Errorf("another zone gives the sources %q", got)
	}
	parser := zone
	parser.Parser = "later"
	if !write(t, db, "one", parser) || rows(t, db, "event") != 1 {
		t.Error("another parser does not replace the first reading")
	}
	if !write(t, db, "two", info("a", "host:two", "pip.log")) {
		t.Error("another claim changed nothing")
	}
	if got := claims(t, db); !slices.Equal(got, []string{"host:one Europe/Berlin", "host:two "}) {
		t.Errorf("two claims give the sources %q", got)
	}
}

// A reading that names nobody is replaced by one that does; two that do stand
// side by side.
func TestClaimReplacesNobody(t *testing.T) {
	db := create(t, t.TempDir())
	write(t, db, "pip.log", info("a", "pip.log", "pip.log"))
	write(t, db, "one", info("a", "host:one", "pip.log"))
	if got := claims(t, db); !slices.Equal(got, []string{"host:one "}) {
		t.Errorf("sources %q", got)
	}
}

func TestDiscard(t *testing.T) {
	db := create(t, t.TempDir())
	s, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(batch("one")); err != nil {
		t.Fatal(err)
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	for _, table := range append(tablesOfSource, "source") {
		if n := rows(t, db, table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
}

func TestKnown(t *testing.T) {
	db := create(t, t.TempDir())
	src := info("a", "host:one", "pip.log")
	src.Bytes = 77
	write(t, db, "one", src)
	if known, err := db.HasSize(77); err != nil || !known {
		t.Errorf("size 77 is not known: %v", err)
	}
	if known, err := db.HasSize(78); err != nil || known {
		t.Errorf("size 78 is known: %v", err)
	}
	if got, err := db.Known(src); err != nil || got == nil || got.Format != "pip" {
		t.Errorf("the source is not known: %v, %v", got, err)
	}
	src.Zone = "UTC"
	if got, err := db.Known(src); err != nil || got != nil {
		t.Errorf("another zone is known: %v, %v", got, err)
	}
}

// TestNothingGrowsWithTheSources: what is asked for each source finds its rows by
// an index, or a case of a hundred thousand job logs would never be done.
func TestNothingGrowsWithTheSources(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	src := info("a", "host:one", "pip.log")
	write(t, db, "one", src)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = create(t, dir) // events have their indexes once the first load is done
	src.Zone = "UTC"
	write(t, db, "one", src)
	write(t, db, "gone", info("", "", "gone.log"))
	write(t, db, "gone", info("b", "gone.log", "gone.log"))
	_, errSize := db.HasSize(77)
	_, errKnown := db.Known(src)
	_, errWhole := db.Whole("a", "host:one")
	_, errClean := db.Clean("host:one")
	if err := errors.Join(errSize, errKnown, errWhole, errClean); err != nil {
		t.Fatal(err)
	}
	if len(db.w.stmts) < 10 {
		t.Fatalf("only %d statements were asked", len(db.w.stmts))
	}
	for query := range db.w.stmts {
		if strings.HasPrefix(query, "INSERT") {
			continue
		}
		for _, step := range plan(t, db, query) {
			if strings.HasPrefix(step, "SCAN") && step != "SCAN CONSTANT ROW" {
				t.Errorf("%s: %s", query, step)
			}
		}
	}
}

// plan returns how SQLite finds the rows of a statement.
func plan(t *testing.T, db *DB, query string) (steps []string) {
	t.Helper()
	rows, err := db.w.conn.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

func TestInventoryIsReplaced(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	first := []InventoryRow{{Address: "10.0.0.1", Host: "a", Span: Always(), Channels: []string{"npm", "pypi"}, File: "f", Line: 2}}
	if err := db.SetInventory(first, []Mirror{{Prefix: "p", Upstream: "u", File: "f", Line: 3}}, SourceInfo{}); err != nil {
		t.Fatal(err)
	}
	hosts, mirrors, err := reader(t, dir).Inventory()
	if err != nil || len(hosts) != 1 || len(mirrors) != 1 || !slices.Equal(hosts[0].Channels, first[0].Channels) || hosts[0].Span.String() != ".." {
		t.Errorf("inventory %+v %+v (%v)", hosts, mirrors, err)
	}
	// The second row cannot be stored: neither is the first.
	if _, err := db.w.exec("CREATE TRIGGER no BEFORE INSERT ON inventory WHEN NEW.host = 'c' BEGIN SELECT RAISE(ABORT, 'full'); END"); err != nil {
		t.Fatal(err)
	}
	if err := db.SetInventory([]InventoryRow{{Host: "b"}, {Host: "c"}}, nil, SourceInfo{}); err == nil {
		t.Error("a row that cannot be stored is no error")
	}
	if err := db.w.commit(); err != nil {
		t.Fatal(err)
	}
	hosts, mirrors, err = reader(t, dir).Inventory()
	if err != nil || len(hosts) != 1 || hosts[0].Host != "a" || len(mirrors) != 1 {
		t.Errorf("a failed change left %+v %+v (%v)", hosts, mirrors, err)
	}
	if err := db.SetInventory(nil, nil, SourceInfo{}); err != nil {
		t.Fatal(err)
	}
	if hosts, mirrors, err = reader(t, dir).Inventory(); err != nil || len(hosts)+len(mirrors) != 0 {
		t.Errorf("an empty inventory leaves %+v %+v (%v)", hosts, mirrors, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); !errors.Is(err, ErrNoCase) {
		t.Errorf("an empty directory: %v", err)
	}
	db := create(t, dir)
	if _, err := db.w.exec("PRAGMA user_version=99"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, open := range []func(string) (*DB, error){Open, Create} {
		if _, err := open(dir); err == nil || !strings.Contains(err.Error(), "version 99") {
			t.Errorf("a case of a later version: %v", err)
		}
	}
}
