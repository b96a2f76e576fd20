package timeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
	"unicode/utf16"
)

// custodyFile is the custody log of a case: one line of JSON for each act that
// changed the case, in plain ASCII. Each names the SHA-256 of the line before
// it, newline and all, so that a person can check one link with
//
//	sed -n 3p custody.jsonl | sha256sum
//
// The last entry whose act is in the timeline is named there too, in the same
// transaction as the act. An entry is written before that, so a program that is
// killed leaves entries that the timeline does not know, never the reverse: the
// next one to write records them as interrupted.
const custodyFile = "custody.jsonl"

// Acts that change a case.
const (
	actIngest      = "ingest"      // a source was read
	actReplace     = "replace"     // a source was read another way and stands for the ones in Replaces
	actOpened      = "opened"      // what could not be opened before holds bytes that the timeline has
	actKeep        = "keep"        // the bytes of a file were kept in the case
	actInventory   = "inventory"   // the inventory was set
	actDecision    = "decision"    // somebody said something of a credential, a subject or a finding
	actCollect     = "collect"     // a service was asked; what it gave was kept
	actMatch       = "match"       // an incident was answered in another way than before
	actInterrupted = "interrupted" // what was recorded after entry After never came into the timeline
)

// Entry is one line of the custody log. Fields that an act does not need are
// left out.
type Entry struct {
	N        int64      `json:"n"`                // from 1, without a hole
	Prev     string     `json:"prev"`             // SHA-256 of the line before, "" in the first
	Time     string     `json:"time"`             // RFC 3339, UTC
	Action   string     `json:"action"`           // one of the acts above
	SHA256   string     `json:"sha256,omitempty"` // of the file
	Stored   string     `json:"stored,omitempty"` // SHA-256 of the file in evidence/, as it is compressed
	Bytes    int64      `json:"bytes,omitempty"`
	Path     string     `json:"path,omitempty"` // as given
	Claim    string     `json:"claim,omitempty"`
	Zone     string     `json:"zone,omitempty"`
	Covers   string     `json:"covers,omitempty"`
	Skew     string     `json:"skew,omitempty"`
	Format   string     `json:"format,omitempty"`
	State    State      `json:"state,omitempty"`
	Events   int64      `json:"events,omitempty"`
	Skipped  int64      `json:"skipped,omitempty"`
	Replaces []Identity `json:"replaces,omitempty"` // sources that the new one stands for
	Outcome  Reply      `json:"outcome,omitempty"`  // of collect
	Status   int        `json:"status,omitempty"`   // of collect: HTTP
	Command  string     `json:"command,omitempty"`
	Program  string     `json:"program,omitempty"` // version
	After    int64      `json:"after,omitempty"`   // of interrupted
	Cut      int64      `json:"cut,omitempty"`     // of interrupted: bytes of an unfinished line that were removed
	Decision string     `json:"decision,omitempty"`
}

// Identity is what a source is known by: content and claim, or the path of
// what could not be opened.
type Identity struct {
	SHA256 string `json:"sha256,omitempty"`
	Claim  string `json:"claim,omitempty"`
	Path   string `json:"path,omitempty"`
}

func identityOf(sha, claim, path string) Identity {
	if sha == "" {
		return Identity{Path: plain(path)}
	}
	return Identity{SHA256: sha, Claim: plain(claim)}
}

// keeps reports whether the entry says that bytes are kept.
func (e *Entry) keeps() bool {
	return e.Action == actKeep || e.Action == actCollect && e.SHA256 != ""
}

// syncEvery bounds how much of the log a power cut can take. A program that is
// killed loses nothing of it.
const syncEvery = 200 * time.Millisecond

// maxEntry bounds a line of the log.
const maxEntry = 1 << 20

// mark is a place in the custody log: after entry n.
type mark struct {
	n    int64
	hash string // of the line
	size int64  // of the log
}

// custodyLog is the log of a case that is open for writing.
type custodyLog struct {
	f      *os.File
	last   mark // written last
	sealed mark // named by the timeline
	cut    int64
	synced time.Time
	dirty  bool
	kept   map[string]string // hash of evidence that the log says is kept → hash of its file; nil: not looked up yet
}

// openCustody opens the log to go on after the entry that the timeline names.
// What stands behind it was interrupted; a line that was begun is cut off.
func openCustody(dir string, sealed mark) (*custodyLog, error) {
	f, err := os.OpenFile(filepath.Join(dir, custodyFile), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open custody log: %w", err)
	}
	l := &custodyLog{f: f, last: sealed, sealed: sealed}
	if err := l.rejoin(); err != nil {
		f.Close()
		return nil, fmt.Errorf("open custody log: %w", err)
	}
	return l, nil
}

// rejoin finds the end of the log. Where it is not what the timeline says, the
// next entry still names the one that the timeline names: the break stays to be
// seen.
func (l *custodyLog) rejoin() error {
	st, err := l.f.Stat()
	if err != nil || st.Size() == l.sealed.size {
		return err
	}
	if st.Size() < l.sealed.size {
		l.last.size = st.Size()
		var end [1]byte
		if _, err := l.f.ReadAt(end[:], max(st.Size()-1, 0)); err == nil && end[0] != '\n' {
			_, err = l.f.WriteString("\n")
			l.last.size++
			return err
		}
		return nil
	}
	tail := io.NewSectionReader(l.f, l.sealed.size, st.Size()-l.sealed.size)
	c, err := readCustody(tail, l.sealed)
	if err != nil {
		return err
	}
	if l.cut = c.Torn; l.cut > 0 {
		if err := l.f.Truncate(st.Size() - l.cut); err != nil {
			return err
		}
	}
	if c.Bad == nil {
		l.last = c.end
	}
	l.last.size = st.Size() - l.cut
	return nil
}

// interrupted reports whether an earlier run was, after its last act that is in
// the timeline.
func (l *custodyLog) interrupted() bool { return l.last.n != l.sealed.n || l.cut > 0 }

// append writes an entry; N, Prev and Time are filled in.
func (l *custodyLog) append(e Entry) error {
	e.N, e.Prev = l.last.n+1, l.last.hash
	e.Time = time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	line, err := e.line()
	if err == nil {
		_, err = l.f.Write(line)
	}
	if err != nil {
		return fmt.Errorf("write custody log: %w", err)
	}
	l.last = mark{e.N, hashOf(line), l.last.size + int64(len(line))}
	l.dirty = true
	return nil
}

// sync makes the log last, unless that was done a moment ago.
func (l *custodyLog) sync(now bool) error {
	if !l.dirty || !now && time.Since(l.synced) < syncEvery {
		return nil
	}
	if err := l.f.Sync(); err != nil {
		return fmt.Errorf("write custody log: %w", err)
	}
	l.dirty, l.synced = false, time.Now()
	return nil
}

func (l *custodyLog) close() error { return errors.Join(l.sync(true), l.f.Close()) }

// line is the entry as it stands in the log. All that is not ASCII is escaped:
// names come from evidence, and people look at the log with cat.
func (e Entry) line() ([]byte, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	if len(data) >= maxEntry {
		return nil, fmt.Errorf("an entry of %d bytes", len(data))
	}
	var b bytes.Buffer
	for _, r := range string(data) {
		switch {
		case r >= 0x10000:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		case r >= 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func parseMark(text string) (m mark, err error) {
	if text == "" {
		return m, nil
	}
	_, err = fmt.Sscanf(text, "%d %s %d", &m.n, &m.hash, &m.size)
	if err != nil {
		return m, fmt.Errorf("the timeline's mark in the custody log, %q, cannot be read", text)
	}
	return m, nil
}

func (m mark) String() string { return fmt.Sprintf("%d %s %d", m.n, m.hash, m.size) }

// plain is text as it comes back from the log: bytes that are no UTF-8 are
// not kept.
func plain(s string) string { return string([]rune(s)) }

// custodyMark is the key of the mark in the table meta.
const custodyMark = "custody"

// openCustody opens the log of the case that is written, and records what an
// earlier run left undone.
func (w *writer) openCustody(dir string) error {
	sealed, err := sealedMark(context.Background(), w.conn)
	if err != nil {
		return fmt.Errorf("open case %s: %w", dir, err)
	}
	if w.custody, err = openCustody(dir, sealed); err != nil {
		return err
	}
	if w.custody.interrupted() {
		err = w.record(Entry{Action: actInterrupted, After: sealed.n, Cut: w.custody.cut})
		if err == nil {
			err = w.commit()
		}
	}
	if err != nil {
		return errors.Join(err, w.custody.close())
	}
	return nil
}

// record writes an entry about what the open transaction does.
func (w *writer) record(e Entry) error {
	if err := w.begin(); err != nil {
		return err
	}
	w.broken = w.custody.append(e)
	return w.broken
}

// seal names the last entry in the transaction that is about to be committed.
func (w *writer) seal() error {
	l := w.custody
	if l.last == l.sealed {
		return nil
	}
	if err := l.sync(false); err != nil {
		return err
	}
	if _, err := w.exec("INSERT OR REPLACE INTO meta(key,value) VALUES(?,?)", custodyMark, l.last.String()); err != nil {
		return err
	}
	l.sealed = l.last
	return nil
}

// sealedMark is the entry of the custody log that the timeline was written up
// to.
func sealedMark(ctx context.Context, db reading) (mark, error) {
	var text string
	err := db.QueryRowContext(ctx, "SELECT value FROM meta WHERE key=?", custodyMark).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return mark{}, nil
	}
	if err != nil {
		return mark{}, err
	}
	return parseMark(text)
}

// entryOf records a source.
func entryOf(info *SourceInfo, replaces []Identity) Entry {
	e := Entry{
		Action: actIngest, SHA256: info.SHA256, Bytes: info.Bytes, Path: info.Path, Claim: info.Claim, Zone: info.Zone,
		Covers: info.Covers, Skew: info.Skew, Format: info.Format, State: info.State, Events: info.Events, Skipped: info.Skipped,
		Replaces: replaces, Command: info.Command, Program: info.Parser,
	}
	if replaces != nil {
		e.Action = actReplace
	}
	return e
}
