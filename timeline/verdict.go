package timeline

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// VerdictRow is the verdict of one subject in one answer. The words are those
// of the matcher; the timeline gives them no meaning.
type VerdictRow struct {
	Subject  string // "kind:id"
	Verdict  string
	Rule     string
	Because  string
	Artifact string
	Channels string // "channel=verdict" with blanks between, sorted
	Origins  string // the lines it stands on, one a line: "<12 hex of the source> path:line"
}

// AnswerRow is one run of the matcher that gave another answer than the run of
// the same incident before it.
type AnswerRow struct {
	ID       int64
	Incident string
	Revision string // of the incident file, 64 hex
	Says     string // what that revision says, one fact a line
	At       int64  // nanoseconds since 1970 UTC
	Program  string // version
	Complete bool
	Sources  int
	Subjects int
	Changed  int // subjects with another verdict than in the answer before, when it was stored; 0 for the first
}

// StoreAnswer appends an answer with its verdicts. The same answer as the one
// before changes nothing, and stored is false. a.ID, a.At and a.Changed are filled
// in.
// The verdicts of a.Subjects subjects come by subject, and are asked for twice
// when the answer is another one.
func (db *DB) StoreAnswer(a *AnswerRow, verdicts iter.Seq[VerdictRow], command string) (stored bool, err error) {
	sum := sumOf(a, verdicts)
	id, last, err := db.lastAnswer(a.Incident)
	if err != nil || last == sum {
		return false, err
	}
	before := map[string]VerdictRow{}
	if id > 0 {
		if before, err = db.verdictsAt(a.Incident, id); err != nil {
			return false, err
		}
	}
	w := db.w
	w.mu.Lock()
	defer w.mu.Unlock()
	err = w.commit() // what sources have pending is not the answer's to undo
	if err == nil {
		err = w.answer(a, sum, verdicts, before, command)
	}
	if err != nil {
		w.rollback()
		return false, fmt.Errorf("store verdicts: %w", err)
	}
	return true, nil
}

func (w *writer) answer(a *AnswerRow, sum string, verdicts iter.Seq[VerdictRow], before map[string]VerdictRow, command string) error {
	a.At = time.Now().UnixNano()
	if _, err := w.exec("INSERT OR IGNORE INTO revision(sha256,incident,says) VALUES(?,?,?)", a.Revision, a.Incident, a.Says); err != nil {
		return err
	}
	var err error
	first := len(before) == 0
	a.ID, err = w.exec("INSERT INTO answer(incident,revision,at,program,complete,sources,subjects,sum) VALUES(?,?,?,?,?,?,?,?)",
		a.Incident, a.Revision, a.At, a.Program, a.Complete, a.Sources, a.Subjects, sum)
	if err != nil {
		return err
	}
	for v := range verdicts {
		old, known := before[v.Subject]
		delete(before, v.Subject)
		if known && old == v {
			continue
		}
		if !first && old.Verdict != v.Verdict {
			a.Changed++
		}
		if err := w.put(w.verdicts, a.ID, v.Subject, v.Verdict, v.Rule, v.Because, v.Artifact, v.Channels, v.Origins); err != nil {
			return err
		}
	}
	for subject := range before { // it has no verdict any more
		a.Changed++
		if err := w.put(w.verdicts, a.ID, subject, "", "", "", "", "", ""); err != nil {
			return err
		}
	}
	if err := w.record(Entry{Action: actMatch, SHA256: a.Revision, Path: a.Incident, Command: command, Program: a.Program}); err != nil {
		return err
	}
	return w.commit()
}

// sumOf is the hash of all that an answer says.
func sumOf(a *AnswerRow, verdicts iter.Seq[VerdictRow]) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00%t\x00%d\x00%d\n", a.Incident, a.Revision, a.Complete, a.Sources, a.Subjects)
	var row []byte
	for v := range verdicts {
		row = row[:0]
		for _, text := range [...]string{v.Subject, v.Verdict, v.Rule, v.Because, v.Artifact, v.Channels, v.Origins} {
			row = append(append(row, text...), 0)
		}
		h.Write(row)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (db *DB) lastAnswer(incident string) (id int64, sum string, err error) {
	err = db.sql.QueryRow("SELECT id,sum FROM answer WHERE incident=? ORDER BY id DESC LIMIT 1", incident).Scan(&id, &sum)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", fmt.Errorf("read verdicts: %w", err)
	}
	return id, sum, nil
}

// Answers returns the stored answers of an incident, oldest first; of all
// incidents for "".
func (db *DB) Answers(incident string) ([]AnswerRow, error) {
	return list(context.Background(), db.sql, "verdicts", func(row scanner) (a AnswerRow, err error) {
		err = row.Scan(&a.ID, &a.Incident, &a.Revision, &a.Says, &a.At, &a.Program, &a.Complete, &a.Sources, &a.Subjects)
		return a, err
	}, `SELECT a.id,a.incident,a.revision,r.says,a.at,a.program,a.complete,a.sources,a.subjects
		FROM answer a JOIN revision r ON r.sha256=a.revision WHERE ?1='' OR a.incident=?1 ORDER BY a.id`, incident)
}

// VerdictsOf returns all verdicts of a stored answer, by subject.
func (db *DB) VerdictsOf(a AnswerRow) ([]VerdictRow, error) {
	at, err := db.verdictsAt(a.Incident, a.ID)
	if err != nil {
		return nil, err
	}
	out := make([]VerdictRow, 0, len(at))
	for _, v := range at {
		out = append(out, v)
	}
	slices.SortFunc(out, func(x, y VerdictRow) int { return strings.Compare(x.Subject, y.Subject) })
	return out, nil
}

// verdictsAt follows the answers of an incident up to one of them.
func (db *DB) verdictsAt(incident string, id int64) (map[string]VerdictRow, error) {
	out := map[string]VerdictRow{}
	err := db.each(func(row rawRow) {
		v := VerdictRow{row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5), row.text(6)}
		if out[v.Subject] = v; v.Verdict == "" {
			delete(out, v.Subject)
		}
	}, `SELECT v.subject,v.verdict,v.rule,v.because,v.artifact,v.channels,v.origins
		FROM verdict v JOIN answer a ON a.id=v.answer WHERE a.incident=? AND a.id<=? ORDER BY a.id`, incident, id)
	if err != nil {
		return nil, fmt.Errorf("read verdicts: %w", err)
	}
	return out, nil
}

// dumpVerdicts adds what each incident was answered with last.
func (db *DB) dumpVerdicts(add func(...string)) error {
	all, err := db.Answers("")
	if err != nil {
		return err
	}
	last := map[string]AnswerRow{}
	for _, a := range all {
		last[a.Incident] = a
	}
	for _, a := range last {
		verdicts, err := db.VerdictsOf(a)
		if err != nil {
			return err
		}
		for _, v := range verdicts {
			add("verdict", escape(a.Incident), a.Revision[:min(len(a.Revision), 12)], escape(v.Subject), v.Verdict, v.Rule, v.Channels)
		}
	}
	return nil
}
