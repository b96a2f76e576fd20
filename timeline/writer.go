package timeline

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
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
}

// SourceInfo describes one piece of evidence.
type SourceInfo struct {
	SHA256  string // of the bytes that the recipient holds, 64 hex
	Claim   string // explicit subject, else the path when the content names nobody, else ""
	Path    string
	Format  string
	State   State
	Why     string
	Bytes   int64
	Events  int64
	Skipped int64
	First   int64 // Beginning when no time was seen
	Last    int64 // Forever when no time was seen
	Zone    string
	Covers  string
	Parser  string
	Command string
	ReadAt  int64

	Explicit bool // Claim comes from --subject
}

// flushEvery bounds how many rows one transaction holds.
const flushEvery = 50_000

// maxInterned bounds each dictionary in memory; what falls out is found again
// in the database.
const maxInterned = 200_000

// writer is the one connection that writes, shared by all sources.
type writer struct {
	mu      sync.Mutex
	conn    *sql.Conn
	stmts   map[string]*sql.Stmt
	intern  map[string]map[string]int64
	pending int
	inTx    bool
}

func newWriter(db *sql.DB) (*writer, error) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, fmt.Errorf("open case: %w", err)
	}
	return &writer{conn: conn, stmts: map[string]*sql.Stmt{}, intern: map[string]map[string]int64{}}, nil
}

func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.commit()
	for _, s := range w.stmts {
		s.Close()
	}
	return errors.Join(err, w.conn.Close())
}

func (w *writer) begin() error {
	if w.inTx {
		return nil
	}
	_, err := w.conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
	w.inTx = err == nil
	return err
}

func (w *writer) commit() error {
	if !w.inTx {
		return nil
	}
	_, err := w.conn.ExecContext(context.Background(), "COMMIT")
	w.inTx, w.pending = false, 0
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

// id interns a row: the cache first, then the table, then a new row. created
// tells that the row is new.
func (w *writer) id(table, key, find, insert string, args ...any) (id int64, created bool, err error) {
	cache := w.intern[table]
	if cache == nil || len(cache) >= maxInterned {
		cache = map[string]int64{}
		w.intern[table] = cache
	}
	if id, ok := cache[key]; ok {
		return id, false, nil
	}
	if err := w.begin(); err != nil {
		return 0, false, err
	}
	s, err := w.stmt(find)
	if err != nil {
		return 0, false, err
	}
	err = s.QueryRow(args...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		id, err = w.exec(insert, args...)
		created = true
	}
	if err == nil {
		cache[key] = id
	}
	return id, created, err
}

func (w *writer) subject(s Subject) (int64, error) {
	id, _, err := w.id("subject", s.String(), "SELECT id FROM subject WHERE kind=? AND name=?",
		"INSERT INTO subject(kind,name) VALUES(?,?)", string(s.Kind), s.ID)
	return id, err
}

func (w *writer) text(table, text string) (int64, error) {
	id, _, err := w.id(table, text, "SELECT id FROM "+table+" WHERE text=?", "INSERT INTO "+table+"(text) VALUES(?)", text)
	return id, err
}

func (w *writer) artifact(text string) (int64, error) {
	p := Split(text)
	id, _, err := w.id("artifact", text, "SELECT id FROM artifact WHERE text=?1 AND ?2=?2 AND ?3=?3 AND ?4=?4",
		"INSERT INTO artifact(text,type,name,version) VALUES(?1,?2,?3,?4)", text, p.Type, p.Name, p.Version)
	return id, err
}

func (w *writer) item(it Item) (int64, error) {
	var digests strings.Builder
	all := it.Digests
	if d := Split(it.Artifact).Digest; d != "" && !slices.ContainsFunc(all, func(x Digest) bool { return x.Value == d }) {
		all = append(slices.Clone(all), Digest{Value: d})
	}
	for _, d := range all {
		digests.WriteString(d.Value + " " + string(d.Role) + "\n")
	}
	artifact, err := w.artifact(it.Artifact)
	if err != nil {
		return 0, err
	}
	key := strconv.FormatInt(artifact, 36) + "\x00" + it.Ref + "\x00" + digests.String()
	id, created, err := w.id("item", key, "SELECT id FROM item WHERE artifact=? AND ref=? AND digests=?",
		"INSERT INTO item(artifact,ref,digests) VALUES(?,?,?)", artifact, it.Ref, digests.String())
	if err != nil || !created {
		return id, err
	}
	for _, d := range all {
		if _, err := w.exec("INSERT OR IGNORE INTO item_digest(value,item,role) VALUES(?,?,?)", d.Value, id, string(d.Role)); err != nil {
			return 0, err
		}
	}
	return id, nil
}

func (w *writer) bundle(items []Item) (int64, error) {
	if len(items) == 0 {
		items = []Item{{}}
	}
	ids := make([]int64, 0, len(items))
	for _, it := range items {
		id, err := w.item(it)
		if err != nil {
			return 0, err
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	key := make([]byte, 0, 8*len(ids))
	for _, id := range ids {
		key = append(strconv.AppendInt(key, id, 36), ' ')
	}
	id, created, err := w.id("bundle", string(key), "SELECT id FROM bundle WHERE items=?", "INSERT INTO bundle(items) VALUES(?)", string(key))
	if err != nil || !created {
		return id, err
	}
	for _, item := range ids {
		if _, err := w.exec("INSERT INTO bundle_item(bundle,item) VALUES(?,?)", id, item); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// end is the NULL of an unknown end.
func end(ns int64) any {
	if ns == Beginning || ns == Forever {
		return nil
	}
	return ns
}

// SourceWriter takes what is read from one source. It is safe to use several
// at once, each from one goroutine.
type SourceWriter struct {
	w  *writer
	id int64
}

// Begin starts a source; nothing of it is visible before Finish.
func (db *DB) Begin() (*SourceWriter, error) {
	w := db.w
	w.mu.Lock()
	defer w.mu.Unlock()
	id, err := w.exec(`INSERT INTO source(sha256,claim,path,format,state,why,bytes,events,skipped,zone,covers,parser,command,read_at,complete)
		VALUES('','','','','unread','',0,0,0,'','','','',0,0)`)
	if err != nil {
		return nil, fmt.Errorf("write timeline: %w", err)
	}
	return &SourceWriter{w, id}, nil
}

// Write stores a batch.
func (s *SourceWriter) Write(b *Batch) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if err := s.write(b); err != nil {
		return fmt.Errorf("write timeline: %w", err)
	}
	if s.w.pending >= flushEvery {
		if err := s.w.commit(); err != nil {
			return fmt.Errorf("write timeline: %w", err)
		}
	}
	return nil
}

func (s *SourceWriter) write(b *Batch) error {
	for i := range b.Events {
		if err := s.event(&b.Events[i]); err != nil {
			return err
		}
	}
	for i := range b.Links {
		if err := s.link(&b.Links[i]); err != nil {
			return err
		}
	}
	for _, o := range b.Ops {
		if _, err := s.w.exec("INSERT OR REPLACE INTO op(source,number,parent,tool,command,state) VALUES(?,?,?,?,?,?)",
			s.id, o.Number, o.Parent, o.Tool, o.Command, string(o.State)); err != nil {
			return err
		}
	}
	for _, k := range b.Skips {
		path, text, err := s.origin(k.Origin)
		if err != nil {
			return err
		}
		if _, err := s.w.exec("INSERT INTO skip(source,path,line,off,reason,excerpt) VALUES(?,?,?,?,?,?)",
			s.id, path, k.Line, k.Offset, k.Reason, text); err != nil {
			return err
		}
	}
	return s.writeCoverage(b)
}

func (s *SourceWriter) writeCoverage(b *Batch) error {
	for _, c := range b.Coverage {
		subject, err := s.w.subject(c.Subject)
		if err != nil {
			return err
		}
		if _, err := s.w.exec("INSERT INTO coverage(source,subject,topic,t0,t1,whole,why) VALUES(?,?,?,?,?,?,?)",
			s.id, subject, string(c.Topic), end(c.Span.From), end(c.Span.To), c.Whole, c.Why); err != nil {
			return err
		}
	}
	for _, x := range b.Expected {
		subject, err := s.w.subject(x.Subject)
		if err != nil {
			return err
		}
		path, err := s.w.text("path", x.Path)
		if err != nil {
			return err
		}
		if _, err := s.w.exec("INSERT INTO expected(source,subject,channel,t0,t1,reason,detail,path,line) VALUES(?,?,?,?,?,?,?,?,?)",
			s.id, subject, x.Channel, end(x.Span.From), end(x.Span.To), x.Reason, x.Detail, path, x.Line); err != nil {
			return err
		}
	}
	for _, c := range b.Claimed {
		subject, err := s.w.subject(c)
		if err != nil {
			return err
		}
		if _, err := s.w.exec("INSERT OR IGNORE INTO claimed(source,subject) VALUES(?,?)", s.id, subject); err != nil {
			return err
		}
	}
	return nil
}

func (s *SourceWriter) origin(o Origin) (path, excerpt int64, err error) {
	if path, err = s.w.text("path", o.Path); err != nil {
		return 0, 0, err
	}
	excerpt, err = s.w.text("excerpt", o.Text)
	return path, excerpt, err
}

func (s *SourceWriter) event(e *Event) error {
	subject, err := s.w.subject(e.Subject)
	if err != nil {
		return err
	}
	bundle, err := s.w.bundle(e.Items)
	if err != nil {
		return err
	}
	path, text, err := s.origin(e.Origin)
	if err != nil {
		return err
	}
	_, err = s.w.exec("INSERT INTO event(source,action,subject,bundle,t0,t1,clock,written,op,path,line,off,excerpt) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
		s.id, int64(e.Action), subject, bundle, end(e.Span.From), end(e.Span.To), string(e.Span.Clock), e.Span.Written,
		e.Op, path, e.Line, e.Offset, text)
	return err
}

func (s *SourceWriter) link(l *Link) error {
	path, text, err := s.origin(l.Origin)
	if err != nil {
		return err
	}
	_, err = s.w.exec("INSERT INTO link(source,relation,a,b,t0,t1,clock,written,path,line,off,excerpt) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
		s.id, string(l.Relation), l.From, l.To, end(l.Span.From), end(l.Span.To), string(l.Span.Clock), l.Span.Written,
		path, l.Line, l.Offset, text)
	return err
}

// Finish makes the source visible. When the same bytes with the same claim
// were read in the same way before, nothing changes and changed is false; a
// re-read in another way replaces the first.
func (s *SourceWriter) Finish(info SourceInfo) (changed bool, err error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	changed, err = s.finish(info)
	if err == nil {
		err = s.w.commit()
	}
	if err != nil {
		return false, fmt.Errorf("write timeline: %w", err)
	}
	return changed, nil
}

func (s *SourceWriter) finish(info SourceInfo) (bool, error) {
	if err := s.w.begin(); err != nil {
		return false, err
	}
	old, err := s.same(info)
	if err != nil {
		return false, err
	}
	for _, o := range old {
		if o.claim == info.Claim && o.zone == info.Zone && o.covers == info.Covers && o.parser == info.Parser {
			return false, s.remove(s.id)
		}
	}
	for _, o := range old {
		if err := s.remove(o.id); err != nil {
			return false, err
		}
	}
	if info.ReadAt == 0 {
		info.ReadAt = time.Now().UnixNano()
	}
	_, err = s.w.exec(`UPDATE source SET sha256=?,claim=?,path=?,format=?,state=?,why=?,bytes=?,events=?,skipped=?,
		t0=?,t1=?,zone=?,covers=?,parser=?,command=?,read_at=?,complete=1 WHERE id=?`,
		info.SHA256, info.Claim, info.Path, info.Format, string(info.State), info.Why, info.Bytes, info.Events, info.Skipped,
		end(info.First), end(info.Last), info.Zone, info.Covers, info.Parser, info.Command, info.ReadAt, s.id)
	return true, err
}

type oldSource struct {
	id                          int64
	claim, zone, covers, parser string
}

// same finds the complete sources that the new one repeats or replaces: the
// same bytes with the same claim; or the same bytes at the same path while
// nobody had said whose they are. Two explicit claims stand side by side.
func (s *SourceWriter) same(info SourceInfo) ([]oldSource, error) {
	q, err := s.w.stmt(`SELECT id,claim,zone,covers,parser FROM source
		WHERE complete=1 AND sha256=?1 AND (claim=?2 OR (path=?3 AND (claim=path OR claim='')))`)
	if err != nil {
		return nil, err
	}
	rows, err := q.Query(info.SHA256, info.Claim, info.Path)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var old []oldSource
	for rows.Next() {
		var o oldSource
		if err := rows.Scan(&o.id, &o.claim, &o.zone, &o.covers, &o.parser); err != nil {
			return nil, err
		}
		old = append(old, o)
	}
	return old, rows.Err()
}

func (s *SourceWriter) remove(id int64) error {
	for _, table := range tablesOfSource {
		if _, err := s.w.exec("DELETE FROM "+table+" WHERE source=?", id); err != nil {
			return err
		}
	}
	_, err := s.w.exec("DELETE FROM source WHERE id=?", id)
	return err
}

// Discard drops the source as if it had never been begun.
func (s *SourceWriter) Discard() error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if err := s.remove(s.id); err != nil {
		return fmt.Errorf("write timeline: %w", err)
	}
	return s.w.commit()
}
