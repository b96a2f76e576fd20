package timeline

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Reply is what became of a request that a collector made.
type Reply string

// The replies. Absent, denied and expired are three different gaps: a name that
// the service does not have, rights that the token does not have, and evidence
// that the service has deleted.
const (
	Obtained Reply = "obtained"
	Absent   Reply = "absent"  // HTTP 404
	Denied   Reply = "denied"  // HTTP 401, 403
	Expired  Reply = "expired" // HTTP 410
	Failed   Reply = "failed"  // no answer that could be used, after several attempts
)

// Reading says what a kept answer is to the formats.
type Reading string

// The readings.
const (
	NoReading Reading = "none"  // an answer that only leads to others
	PageOf    Reading = "page"  // one of several pages: the rest are requests of their own
	Whole     Reading = "whole" // read like a file

	// Entire is read like a file, and is all that its subject printed from its
	// start to its end, which are its Span: the record of the service says that it
	// had ended when it was asked for.
	Entire Reading = "entire"
)

// Inquiry is a row of the ledger.
type Inquiry struct {
	URL     string // without credentials: its identity, and the path of what is read of it
	Kind    string // runs, jobs, logs, …
	Version string // of what was asked for: what was obtained is asked for again when it is another one
	Reply   Reply
	Status  int    // of HTTP, 0 when there was no answer
	Detail  string // for people
	SHA256  string // of the answer that is kept, "" when there is none
	Bytes   int64
	Head    string // headers of the answer that lead to more, as JSON
	Name    string // what the answer would be called as a file
	Claim   string // subject whose evidence it is, where the answer does not say
	Reading Reading
	Span    Span  // of what was refused: when it lived
	Gap     bool  // it was refused, and nothing else stands for it
	At      int64 // nanoseconds since 1970 UTC; 0: the time when it is recorded

	Collection int64 // that asked last
}

// CollectionState says how a collection ended.
type CollectionState string

// The states of a collection.
const (
	CollectionOpen    CollectionState = "open" // it goes on, or was interrupted
	CollectionDone    CollectionState = "done"
	CollectionPartial CollectionState = "partial" // something was refused
)

// Collection is one run of a collector over one window.
type Collection struct {
	ID        int64
	Collector string
	Target    string // what was collected, and of which service
	Span      Span   // the window
	State     CollectionState
	Begun     int64 // nanoseconds since 1970 UTC
	Ended     int64 // the same, 0 while it is open
	Command   string
	Program   string // version
	Unreached bool   // the service gave no answer to anything: it is down, or the network; LastCollection fills it in
}

const collectionColumns = "id,collector,target,t0,t1,state,begun,ended,command,program"

func scanCollection(row scanner) (c Collection, err error) {
	var t0, t1, ended sql.NullInt64
	var state string
	err = row.Scan(&c.ID, &c.Collector, &c.Target, &t0, &t1, &state, &c.Begun, &ended, &c.Command, &c.Program)
	setSpan(&c.Span, t0, t1, "")
	c.State, c.Ended = CollectionState(state), ended.Int64
	return c, err
}

// Collections returns the collections in the order they were begun.
func (db *DB) Collections() ([]Collection, error) {
	return list(context.Background(), db.sql, "ledger", scanCollection, "SELECT "+collectionColumns+" FROM collection ORDER BY id")
}

// LastCollection returns the newest collection of a target; ok is false when
// there is none.
func (db *DB) LastCollection(collector, target string) (c Collection, ok bool, err error) {
	c, err = scanCollection(db.sql.QueryRow("SELECT "+collectionColumns+
		" FROM collection WHERE collector=? AND target=? ORDER BY id DESC LIMIT 1", collector, target))
	if errors.Is(err, sql.ErrNoRows) {
		return c, false, nil
	}
	if err == nil {
		err = db.sql.QueryRow(`SELECT EXISTS(SELECT 1 FROM inquiry WHERE collection=?1 AND outcome='failed')
			AND NOT EXISTS(SELECT 1 FROM inquiry WHERE collection=?1 AND outcome<>'failed')`, c.ID).Scan(&c.Unreached)
	}
	if err != nil {
		return c, false, fmt.Errorf("read ledger: %w", err)
	}
	return c, true, nil
}

// BeginCollection starts a collection and fills in its number, or goes on with
// one that was interrupted when ID is set.
func (db *DB) BeginCollection(c *Collection) error {
	if c.Begun == 0 {
		c.Begun = time.Now().UnixNano()
	}
	c.State = CollectionOpen
	return db.ledger(func(w *writer) (err error) {
		if c.ID != 0 {
			_, err = w.exec("UPDATE collection SET state='open' WHERE id=?", c.ID)
			return err
		}
		c.ID, err = w.exec("INSERT INTO collection(collector,target,t0,t1,state,begun,command,program) VALUES(?,?,?,?,?,?,?,?)",
			c.Collector, c.Target, end(c.Span.From), end(c.Span.To), string(CollectionOpen), c.Begun, c.Command, c.Program)
		return err
	})
}

// EndCollection records how a collection ended.
func (db *DB) EndCollection(id int64, state CollectionState) error {
	return db.ledger(func(w *writer) error {
		_, err := w.exec("UPDATE collection SET state=?,ended=? WHERE id=?", string(state), time.Now().UnixNano(), id)
		return err
	})
}

// ledger runs a change of the ledger in a transaction of its own.
func (db *DB) ledger(change func(w *writer) error) error {
	db.w.mu.Lock()
	defer db.w.mu.Unlock()
	err := change(db.w)
	if err == nil {
		err = db.w.commit()
	}
	if err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}

const inquiryColumns = "url,collection,kind,version,outcome,status,detail,sha256,bytes,head,name,claim,reading,t0,t1,gap,at"

func scanInquiry(row scanner) (r Inquiry, err error) {
	var reply, reading string
	var t0, t1 sql.NullInt64
	err = row.Scan(&r.URL, &r.Collection, &r.Kind, &r.Version, &reply, &r.Status, &r.Detail, &r.SHA256, &r.Bytes, &r.Head,
		&r.Name, &r.Claim, &reading, &t0, &t1, &r.Gap, &r.At)
	r.Reply, r.Reading = Reply(reply), Reading(reading)
	setSpan(&r.Span, t0, t1, "")
	return r, err
}

// Asked returns what became of a request; ok is false when it was never made.
func (db *DB) Asked(url string) (r Inquiry, ok bool, err error) {
	db.w.mu.Lock()
	defer db.w.mu.Unlock()
	q, err := db.w.stmt("SELECT " + inquiryColumns + " FROM inquiry WHERE url=?")
	if err == nil {
		r, err = scanInquiry(q.QueryRow(url))
	}
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, fmt.Errorf("read ledger: %w", err)
	}
	return r, true, nil
}

// Ledger returns the ledger, by URL.
func (db *DB) Ledger() ([]Inquiry, error) { return readLedger(context.Background(), db.sql) }

func readLedger(ctx context.Context, q reading) ([]Inquiry, error) {
	return list(ctx, q, "ledger", scanInquiry, "SELECT "+inquiryColumns+" FROM inquiry ORDER BY url")
}

// Refuse records a request that brought nothing.
func (db *DB) Refuse(r Inquiry, command, program string) error {
	return db.ledger(func(w *writer) error { return w.ask(&r, "", command, program) })
}

// Also records that bytes which are kept are evidence of r too: nothing was
// asked for.
func (db *DB) Also(r Inquiry, command, program string) error {
	return db.ledger(func(w *writer) error {
		there, stored, err := db.kept(r.SHA256)
		if err != nil {
			return err
		}
		if !there || stored == nil {
			return fmt.Errorf("%s: its bytes are not kept", r.URL)
		}
		r.Reply = Obtained
		return w.ask(&r, *stored, command, program)
	})
}

// JobsOf lists the names of the jobs of a workflow run's attempt that evidence
// names.
func (db *DB) JobsOf(attempt Subject) ([]string, error) {
	head := attempt.ID + "/jobs/"
	return list(context.Background(), db.sql, "subjects", func(row scanner) (name string, err error) {
		err = row.Scan(&name)
		return name, err
	}, "SELECT substr(name,?) FROM subject WHERE kind=? AND name>? AND name<? ORDER BY name",
		len([]rune(head))+1, string(attempt.Kind), head, attempt.ID+"/jobs0") // '0' comes after '/'
}

// ask writes a row of the ledger, and its entry in the custody log, in the open
// transaction.
func (w *writer) ask(r *Inquiry, stored, command, program string) error {
	if r.At == 0 {
		r.At = time.Now().UnixNano()
	}
	if r.Reading == "" {
		r.Reading = NoReading
	}
	if r.Span == (Span{}) {
		r.Span = Always()
	}
	_, err := w.exec("INSERT OR REPLACE INTO inquiry("+inquiryColumns+") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		r.URL, r.Collection, r.Kind, r.Version, string(r.Reply), r.Status, r.Detail, r.SHA256, r.Bytes, r.Head,
		r.Name, r.Claim, string(r.Reading), end(r.Span.From), end(r.Span.To), r.Gap, r.At)
	if err != nil {
		return err
	}
	return w.record(Entry{
		Action: actCollect, Path: r.URL, SHA256: r.SHA256, Stored: stored, Bytes: r.Bytes, Claim: r.Claim,
		Outcome: r.Reply, Status: r.Status, Command: command, Program: program,
	})
}
