package timeline

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
)

// Batch is what a reader found so far; order does not matter.
type Batch struct {
	Events   []Event
	Links    []Link
	Coverage []Coverage
	Expected []Expected
	Skips    []Skip
	Ops      []Op
	Claimed  []Subject
	Settings []Setting
	Requests []Request
	Canaries []Canary

	Credentials []Credential
	Steps       []Step
}

// SourceInfo describes one piece of evidence.
type SourceInfo struct {
	SHA256  string // of the bytes that the recipient holds, 64 hex
	Claim   string // explicit subject, else the path when the content names nobody, else ""
	Path    string
	Format  string
	State   State
	Why     string // of partial and unread
	Bytes   int64
	Events  int64
	Skipped int64
	First   int64  // nanoseconds since 1970 UTC, Beginning when no time was seen
	Last    int64  // the same, Forever when no time was seen
	Zone    string // IANA name, as --zone said
	Covers  string // FROM/TO, as --covers said
	Skew    string // hosts and how far their clocks are ahead: "web1=+1m30s,web2=-5s"
	Parser  string // version of the program that read it
	Command string // the command line that read it, secrets hidden
	ReadAt  int64  // nanoseconds since 1970 UTC; 0: Finish takes the time now

	Explicit bool // Claim comes from --subject
	Later    bool // it replaces what was read of the same path for the same subject: it holds all of that
	Again    bool // it replaces the source of the same bytes: what they refer to may have changed
}

// flushEvery bounds how many rows one transaction holds.
const flushEvery = 50_000

// logPages is how many pages the write-ahead log may have before they are put in
// their places, which waits for the disk twice: 32 MiB.
const logPages = 4096

// writer is the one connection that writes, shared by all sources.
type writer struct {
	mu      sync.Mutex
	conn    *sql.Conn
	stmts   map[string]*sql.Stmt
	pending int
	inTx    bool

	events, named, links, ops, skips, verdicts, settings, requests, canaries *bulk
	dictionaries

	lastEvent int64
	loading   bool  // a new case: the indexes of events are made when it is closed
	broken    error // rows are lost: nothing more is written
	dir       string
	custody   *custodyLog
}

func newWriter(db *sql.DB, dir string) (*writer, error) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, fmt.Errorf("open case: %w", err)
	}
	w := &writer{
		conn: conn, stmts: map[string]*sql.Stmt{}, dir: dir,
		events: newBulk("INSERT INTO event(id,source,action,subject,bundle,t0,t1,clock,written,op,path,line,off,excerpt)"),
		named:  newBulk("INSERT OR IGNORE INTO named(source,subject)"),
		links:  newBulk("INSERT INTO link(source,relation,a,b,t0,t1,clock,written,path,line,off,excerpt)"),
		ops:    newBulk("INSERT OR REPLACE INTO op(source,number,parent,tool,command,state)"),
		skips:  newBulk("INSERT INTO skip(source,path,line,off,reason,excerpt)"),

		verdicts: newBulk("INSERT INTO verdict(answer,subject,verdict,rule,because,artifact,channels,origins)"),
		settings: newBulk("INSERT INTO setting(source,subject,name,value,t0,t1,clock,written,path,line,off,excerpt)"),
		requests: newBulk("INSERT INTO request(source,node,tenant,model,name,prompt,cached,output,start,first,finish,t0,t1,clock,flags,path,line,off)"),
		canaries: newBulk("INSERT INTO canary(source,node,tenant,model,name,run,target,probe,prompt,cached,output,sent,most,rate,start,first,finish,t0,t1,clock," +
			"flags,status,outcome,why,own,stale,others,path,line,off)"),
	}
	if err := w.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("open case: %w", err), conn.Close())
	}
	if err := w.openCustody(dir); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return w, nil
}

// start reads where the numbers of a case go on, and makes indexes that an
// interrupted load left out.
func (w *writer) start() error {
	if err := w.dictionaries.open(w.last); err != nil {
		return err
	}
	_, err := w.conn.ExecContext(context.Background(), fmt.Sprintf("PRAGMA wal_autocheckpoint=%d", logPages))
	if err != nil {
		return err
	}
	if w.lastEvent, err = w.last("event"); err != nil {
		return err
	}
	var indexes int
	if err := w.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM sqlite_schema WHERE name='event_source'").Scan(&indexes); err != nil {
		return err
	}
	if w.loading = indexes == 0; w.loading && w.lastEvent > 0 {
		return w.index()
	}
	return nil
}

// last returns the highest number in a table, 0 when it is empty.
func (w *writer) last(table string) (int64, error) {
	var id sql.NullInt64
	err := w.conn.QueryRowContext(context.Background(), "SELECT max(id) FROM "+table).Scan(&id)
	return id.Int64, err
}

// index ends a load.
func (w *writer) index() error {
	w.loading = false
	_, err := w.conn.ExecContext(context.Background(), "BEGIN;"+indexes+";COMMIT")
	return err
}

func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := errors.Join(w.commit(), w.custody.sync(true))
	if err == nil && w.loading && w.lastEvent > 0 {
		err = w.index()
	}
	for _, s := range w.stmts {
		s.Close()
	}
	for _, b := range w.bulks() {
		b.close()
	}
	return errors.Join(err, w.custody.close(), w.conn.Close())
}

func (w *writer) bulks() []*bulk {
	return append(w.dictionaries.bulks(), w.events, w.named, w.links, w.ops, w.skips, w.verdicts, w.settings, w.requests, w.canaries)
}

func (w *writer) begin() error {
	if w.broken != nil || w.inTx {
		return w.broken
	}
	_, err := w.conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
	w.inTx = err == nil
	return err
}

// flush writes the rows that were gathered. The dictionaries in memory name
// rows of it, so when one is lost nothing more can be written.
func (w *writer) flush() error {
	if err := w.begin(); err != nil {
		return err
	}
	err := w.conn.Raw(func(c any) error {
		for _, b := range w.bulks() {
			if err := b.write(c); err != nil {
				return err
			}
		}
		return nil
	})
	w.broken = err
	return err
}

// put gathers a row.
func (w *writer) put(b *bulk, row ...driver.Value) error {
	b.add(row...)
	w.pending++
	if !b.full() {
		return w.broken
	}
	if err := w.begin(); err != nil {
		return err
	}
	w.broken = w.conn.Raw(func(c any) error { return b.write(c) })
	return w.broken
}

func (w *writer) commit() error {
	if !w.inTx && w.pending == 0 {
		return w.broken
	}
	err := w.flush()
	if err == nil {
		err = w.seal()
	}
	if w.inTx {
		var end error
		if err == nil {
			_, end = w.conn.ExecContext(context.Background(), "COMMIT")
		} else {
			_, end = w.conn.ExecContext(context.Background(), "ROLLBACK")
		}
		err = errors.Join(err, end)
	}
	w.inTx, w.pending, w.broken = false, 0, err
	return err
}

// rollback undoes what is pending. Only for what interns nothing: the
// dictionaries in memory do not forget.
func (w *writer) rollback() {
	if w.inTx {
		_, _ = w.conn.ExecContext(context.Background(), "ROLLBACK")
	}
	w.inTx, w.pending = false, 0
}

func (w *writer) stmt(query string) (*sql.Stmt, error) {
	if s := w.stmts[query]; s != nil {
		return s, nil
	}
	s, err := w.conn.PrepareContext(context.Background(), query)
	if err == nil {
		w.stmts[query] = s
	}
	return s, err
}

func (w *writer) exec(query string, args ...any) (int64, error) {
	if err := w.begin(); err != nil {
		return 0, err
	}
	s, err := w.stmt(query)
	if err != nil {
		return 0, err
	}
	r, err := s.Exec(args...)
	if err != nil {
		return 0, err
	}
	w.pending++
	return r.LastInsertId()
}

// end is the NULL of an unknown end.
func end(ns int64) driver.Value {
	if ns == Beginning || ns == Forever {
		return nil
	}
	return ns
}
