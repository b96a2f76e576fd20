package timeline

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Act is what a person said was done or decided.
type Act string

// The acts.
const (
	Rotated  Act = "rotated"  // the credential was changed, at At
	Waived   Act = "waived"   // the credential stays as it is until Until; Who approved it
	Stopped  Act = "stopped"  // the subject was stopped or rebuilt, at At
	Same     Act = "same"     // the credential is the one that a list calls Value
	Disposed Act = "disposed" // what became of the finding of a subject
	Stated   Act = "stated"   // Value holds for the subject from At to Until: that it has no Docker, another name
)

// Decision is what a person said. It is never changed: who thinks better of it
// says something else later.
type Decision struct {
	Act      Act
	About    string // name of the credential, or "kind:id" of the subject
	At       int64  // when it was done, nanoseconds since 1970 UTC, 0 when not stated
	Until    int64  // when a waiver ends, or until when what is stated holds; the same, 0 when not stated
	Who      string
	Value    string // of Same: the name in the list
	Reason   string
	Incident string // id; "" for every incident
	Said     int64  // when it was said, nanoseconds since 1970 UTC; the case fills it in
	Command  string // the command line, secrets hidden
	Program  string // version
}

// notation is the decision in words, without the time it was said.
func (d *Decision) notation() string {
	words := []string{string(d.Act), escape(d.About)}
	add := func(key, text string) {
		if text != "" {
			words = append(words, key+"="+escape(text))
		}
	}
	if d.At != 0 {
		add("at", FormatTime(d.At))
	}
	if d.Until != 0 {
		add("until", FormatTime(d.Until))
	}
	add("who", d.Who)
	add("value", d.Value)
	add("reason", d.Reason)
	add("incident", d.Incident)
	return strings.Join(words, " ")
}

// hash is what the custody log holds of a decision beside its words: all of it
// and when it was said.
func (d *Decision) hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s said=%d", d.notation(), d.Said))
	return hex.EncodeToString(sum[:])
}

// Decide adds decisions to the case, all of them or none, and to the custody
// log.
func (db *DB) Decide(all ...Decision) error {
	w := db.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.commit(); err != nil { // what sources have pending is not to be undone here
		return fmt.Errorf("write decision: %w", err)
	}
	if err := w.decide(all); err != nil {
		w.rollback()
		return fmt.Errorf("write decision: %w", err)
	}
	return nil
}

func (w *writer) decide(all []Decision) error {
	for i := range all {
		d := &all[i]
		d.Said = time.Now().UnixNano()
		if _, err := w.exec(`INSERT INTO decision(act,about,at,until,who,value,reason,incident,said,command,program) VALUES(?,?,?,?,?,?,?,?,?,?,?)`,
			string(d.Act), d.About, moment(d.At), moment(d.Until), d.Who, d.Value, d.Reason, d.Incident, d.Said, d.Command, d.Program); err != nil {
			return err
		}
		if err := w.record(Entry{Action: actDecision, SHA256: d.hash(), Decision: d.notation(), Command: d.Command, Program: d.Program}); err != nil {
			return err
		}
	}
	return w.commit()
}

// Decisions returns what was said, in the order it was said.
func (db *DB) Decisions() ([]Decision, error) { return readDecisions(context.Background(), db.sql) }

func readDecisions(ctx context.Context, q reading) ([]Decision, error) {
	return list(ctx, q, "decisions", func(row scanner) (d Decision, err error) {
		var act string
		var at, until sql.NullInt64
		err = row.Scan(&act, &d.About, &at, &until, &d.Who, &d.Value, &d.Reason, &d.Incident, &d.Said, &d.Command, &d.Program)
		d.Act, d.At, d.Until = Act(act), at.Int64, until.Int64
		return d, err
	}, "SELECT act,about,at,until,who,value,reason,incident,said,command,program FROM decision ORDER BY id")
}

// checkDecisions compares what was said with the log: each decision stands in
// both, once.
func (x *verifier) checkDecisions() {
	logged := map[string]int{}
	for _, e := range x.decided {
		logged[e.SHA256]++
	}
	for i := range x.decisions {
		d := &x.decisions[i]
		c := Checked{What: "decision", Outcome: Good, State: "recorded", Path: string(d.Act) + " " + d.About}
		if h := d.hash(); logged[h] > 0 {
			logged[h]--
		} else {
			c.Outcome, c.State, c.Detail = Mismatch, "not recorded", "the timeline has it, the custody log does not have it so"
		}
		x.add(c)
	}
	for _, e := range x.decided {
		if logged[e.SHA256] > 0 {
			logged[e.SHA256]--
			x.add(Checked{
				What: "decision", Outcome: Mismatch, State: "missing", Path: e.Decision,
				Detail: fmt.Sprintf("entry %d recorded it, the timeline does not have it so", e.N),
			})
		}
	}
}
