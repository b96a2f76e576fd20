package timeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Outcome is what a check came to, in rising order of weight.
type Outcome string

// The outcomes.
const (
	Good      Outcome = "ok"
	Note      Outcome = "note"      // worth knowing; nothing is lost
	Unchecked Outcome = "unchecked" // what would show it is not here
	Mismatch  Outcome = "mismatch"  // a hash or the chain does not hold
)

// Checked is one thing that Verify looked at.
type Checked struct {
	What    string  `json:"what"` // log, source, decision, request, kept, original, inventory; of a bundle member, findings, evidence too
	Outcome Outcome `json:"outcome"`
	State   string  `json:"state"` // one word or two
	Path    string  `json:"path,omitempty"`
	Claim   string  `json:"claim,omitempty"`
	SHA256  string  `json:"sha256,omitempty"`
	Detail  string  `json:"detail,omitempty"`
}

// Verification is what Verify found.
type Verification struct {
	Custody *Custody
	Sources []SourceRow
	Checks  []Checked
}

// Worst is the heaviest outcome.
func (v *Verification) Worst() Outcome {
	worst := Good
	weight := []Outcome{Good, Note, Unchecked, Mismatch}
	for _, c := range v.Checks {
		if slices.Index(weight, c.Outcome) > slices.Index(weight, worst) {
			worst = c.Outcome
		}
	}
	return worst
}

// verifier gathers the checks of one case.
type verifier struct {
	ctx    context.Context
	dir    string
	sealed mark
	log    *Custody
	v      *Verification

	stands    map[Identity]Entry // sources that the log says are in the timeline
	inventory *Entry
	keeps     map[string]Entry // by hash
	requests  map[string]Entry // by URL
	good      map[string]bool  // hashes whose bytes are kept and whole
	originals map[string]bool  // by path, size and hash: files read by several sources
	void      []Entry          // recorded, and never came into the timeline
	decided   []Entry          // decisions that the log says are in the timeline
	decisions []Decision
}

// Verify checks a case without changing it: the chain of its custody log, the
// sources of the timeline against the log, the bytes of kept evidence against
// their names, and the original files that can be reached from the working
// directory against the recorded hashes.
//
// An original that changed or is gone is a note when its bytes are kept, or
// when the recorded bytes still stand at its beginning, as in a log that is
// still written. Where the original was the only copy, changed is a mismatch,
// and gone is unchecked.
func (db *DB) Verify(ctx context.Context) (*Verification, error) {
	tx, err := db.sql.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	x := &verifier{ctx: ctx, dir: db.dir, v: &Verification{}, originals: map[string]bool{}}
	if x.sealed, err = sealedMark(ctx, tx); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	if x.v.Sources, err = readSources(ctx, tx); err != nil {
		return nil, err
	}
	if x.decisions, err = readDecisions(ctx, tx); err != nil {
		return nil, err
	}
	ledger, err := readLedger(ctx, tx)
	if err != nil {
		return nil, err
	}
	// The log is read after the timeline: what a writer adds meanwhile is ahead.
	if x.log, err = ReadCustody(db.dir); err != nil {
		return nil, err
	}
	x.log.agree(x.sealed)
	x.v.Custody = x.log
	x.checkLog()
	x.replay()
	x.checkSources()
	x.checkDecisions()
	x.checkLedger(ledger)
	if err := x.checkKept(); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	x.checkOriginals()
	x.checkVoid()
	return x.v, ctx.Err()
}

func (x *verifier) add(c Checked) { x.v.Checks = append(x.v.Checks, c) }

func (x *verifier) checkLog() {
	c := Checked{What: "log", Outcome: Good, State: "whole", Path: custodyFile, SHA256: x.log.Head}
	if bad := x.log.Bad; bad != nil {
		c.Outcome, c.State, c.Detail = Mismatch, "broken", fmt.Sprintf("entry %d: %s", bad.N, bad.Why)
	}
	x.add(c)
	if x.log.Torn > 0 {
		x.add(Checked{
			What: "log", Outcome: Unchecked, State: "interrupted", Path: custodyFile,
			Detail: fmt.Sprintf("its last line, %d bytes, has no end: a run was interrupted, or goes on now", x.log.Torn),
		})
	}
}

// replay follows the log to what should stand in the timeline.
func (x *verifier) replay() {
	x.stands, x.keeps, x.requests = map[Identity]Entry{}, map[string]Entry{}, map[string]Entry{}
	voidFrom := func(n int64) bool { return n > x.sealed.n }
	var gaps [][2]int64
	for _, e := range x.log.Entries {
		if e.Action == actInterrupted {
			gaps = append(gaps, [2]int64{e.After, e.N})
		}
	}
	for _, e := range x.log.Entries {
		void := voidFrom(e.N) || slices.ContainsFunc(gaps, func(g [2]int64) bool { return e.N > g[0] && e.N < g[1] })
		switch {
		case e.keeps(): // the file was there before the entry
			x.keeps[e.SHA256] = e
			if e.Action == actCollect && !void {
				x.requests[e.Path] = e
			}
		case e.Action == actInterrupted:
		case void && e.Action == actCollect: // it is made again
		case void:
			x.void = append(x.void, e)
		case e.Action == actCollect:
			x.requests[e.Path] = e
		case e.Action == actInventory:
			x.inventory = &e
		case e.Action == actDecision:
			x.decided = append(x.decided, e)
		default:
			for _, id := range e.Replaces {
				delete(x.stands, id)
			}
			if e.Action == actIngest || e.Action == actReplace {
				x.stands[identityOf(e.SHA256, e.Claim, e.Path)] = e
			}
		}
	}
}

// checkSources compares the timeline with the log.
func (x *verifier) checkSources() {
	missing := maps.Clone(x.stands)
	for i := range x.v.Sources {
		s := &x.v.Sources[i]
		c := Checked{What: "source", Outcome: Good, State: "recorded", Path: s.Path, Claim: s.Claim, SHA256: s.SHA256}
		id := identityOf(s.SHA256, s.Claim, s.Path)
		e, ok := x.stands[id]
		delete(missing, id)
		if !ok {
			c.Outcome, c.State, c.Detail = Mismatch, "not recorded", "the timeline has it, the custody log does not"
		} else if fields := different(&s.SourceInfo, &e); fields != "" {
			c.Outcome, c.State, c.Detail = Mismatch, "differs", fmt.Sprintf("not as entry %d has it: %s", e.N, fields)
		}
		x.add(c)
	}
	for _, e := range byNumber(missing) {
		x.add(Checked{
			What: "source", Outcome: Mismatch, State: "missing", Path: e.Path, Claim: e.Claim, SHA256: e.SHA256,
			Detail: fmt.Sprintf("entry %d recorded it, the timeline does not have it", e.N),
		})
	}
}

// different names the fields of a source that are not as they were recorded.
func different(s *SourceInfo, e *Entry) string {
	var names []string
	for _, f := range []struct {
		name string
		same bool
	}{
		{"path", plain(s.Path) == e.Path},
		{"claim", plain(s.Claim) == e.Claim},
		{"bytes", s.Bytes == e.Bytes},
		{"zone", s.Zone == e.Zone},
		{"covers", s.Covers == e.Covers},
		{"skew", s.Skew == e.Skew},
		{"format", s.Format == e.Format},
		{"state", s.State == e.State},
		{"events", s.Events == e.Events},
		{"skipped", s.Skipped == e.Skipped},
		{"command", plain(s.Command) == e.Command},
		{"program", s.Parser == e.Program},
	} {
		if !f.same {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}

func byNumber[K comparable](entries map[K]Entry) []Entry {
	return slices.SortedFunc(maps.Values(entries), func(a, b Entry) int { return cmp.Compare(a.N, b.N) })
}

// checkVoid tells what was recorded, did not come into the timeline, and was
// not read again since.
func (x *verifier) checkVoid() {
	again := map[string]bool{}
	for id := range x.stands {
		again[cmp.Or(id.SHA256, id.Path)] = true
	}
	for _, e := range x.void {
		id := identityOf(e.SHA256, e.Claim, e.Path)
		if again[cmp.Or(id.SHA256, id.Path)] || e.Action == actInventory && x.inventory != nil && x.inventory.N > e.N {
			continue
		}
		again[cmp.Or(id.SHA256, id.Path)] = true
		detail := fmt.Sprintf("entry %d (%s) never came into the timeline: run the same command again", e.N, e.Action)
		if e.N > x.sealed.n {
			detail = fmt.Sprintf("entry %d (%s) did not come into the timeline: its run was interrupted, or goes on now", e.N, e.Action)
		}
		x.add(Checked{What: "log", Outcome: Unchecked, State: "interrupted", Path: e.Path, Claim: e.Claim, SHA256: e.SHA256, Detail: detail})
	}
}

// checkKept hashes the evidence that is kept.
func (x *verifier) checkKept() error {
	x.good = map[string]bool{}
	dir := filepath.Join(x.dir, evidenceDir)
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := map[string]bool{}
	for _, f := range files {
		sha, ok := strings.CutSuffix(f.Name(), ".zst")
		if !ok || SHA256(sha) != "sha256:"+sha {
			detail := "it is not named by a hash: the case did not put it there"
			if strings.HasSuffix(f.Name(), beingWritten) {
				detail = "it was not finished: a run was interrupted, or goes on now"
			}
			x.add(Checked{What: "kept", Outcome: Unchecked, State: "unfinished", Path: f.Name(), Detail: detail})
			continue
		}
		there[sha] = true
		x.keptFile(sha)
	}
	for _, e := range byNumber(x.keeps) {
		if !there[e.SHA256] {
			x.add(Checked{What: "kept", Outcome: Mismatch, State: "missing", Path: e.Path, SHA256: e.SHA256, Detail: fmt.Sprintf("entry %d kept it, the file is gone", e.N)})
		}
	}
	return x.ctx.Err()
}

func (x *verifier) keptFile(sha string) {
	e, recorded := x.keeps[sha]
	c := Checked{What: "kept", Outcome: Good, State: "same", Path: e.Path, SHA256: sha}
	got, err := x.hashKept(sha, e.Bytes)
	stored := e.Stored
	if err == nil && stored != "" {
		stored, err = x.hashFile(keptPath(x.dir, sha))
	}
	switch {
	case err != nil:
		c.Outcome, c.State, c.Detail = Mismatch, "changed", "it cannot be read: "+err.Error()
	case got != sha:
		c.Outcome, c.State, c.Detail = Mismatch, "changed", "its bytes have the SHA-256 "+got
	case stored != e.Stored:
		c.Outcome, c.State, c.Detail = Mismatch, "changed", "its bytes are the same, its file is not the one that was written"
	case !recorded:
		c.Outcome, c.State, c.Detail = Unchecked, "not recorded", "a run was interrupted, or goes on now: run 'pulltrail ingest --keep' with the same file again"
	default:
		x.good[sha] = true
	}
	x.add(c)
}

// hashKept hashes the bytes of kept evidence, up to one more than there should
// be.
func (x *verifier) hashKept(sha string, size int64) (string, error) {
	path := keptPath(x.dir, sha)
	if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
		return "", errors.Join(err, errors.New("it is no file"))
	}
	f, err := openKept(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if size == 0 { // not recorded
		size = 1 << 40
	}
	return hashUpTo(x.ctx, f, size+1)
}

// hashFile hashes a file as it is.
func (x *verifier) hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hashUpTo(x.ctx, f, 1<<62)
}

// hashUpTo hashes at most so many bytes.
func hashUpTo(ctx context.Context, r io.Reader, most int64) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, io.LimitReader(readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	}), most))
	return hex.EncodeToString(h.Sum(nil)), err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// checkOriginals looks at the files that sources and the inventory were read
// from.
func (x *verifier) checkOriginals() {
	for i := range x.v.Sources {
		s := &x.v.Sources[i]
		key := s.SHA256 + " " + s.Path
		if x.originals[key] || x.ctx.Err() != nil {
			continue
		}
		c := x.original(s.Path, s.SHA256, s.Bytes)
		c.What = "original"
		if x.good[s.SHA256] && (c.Outcome == Mismatch || c.Outcome == Unchecked) {
			c.Outcome, c.Detail = Note, c.Detail+"; its bytes are kept in the case"
		}
		x.originals[key] = true
		x.add(c)
	}
	if e := x.inventory; e != nil {
		c := x.original(e.Path, e.SHA256, e.Bytes)
		c.What = "inventory"
		if c.Outcome != Good { // its content stands in the timeline
			c.Outcome = Note
		}
		x.add(c)
	}
}

// original compares a file with what was recorded of it.
func (x *verifier) original(path, sha string, size int64) Checked {
	c := Checked{Outcome: Unchecked, State: "gone", Path: path, SHA256: sha}
	if sha == "" {
		c.Outcome, c.State, c.Detail = Note, "not opened", "it could not be opened when it was to be read"
		return c
	}
	_, asked := x.requests[path]
	if _, kept := x.keeps[sha]; asked && kept {
		c.Outcome, c.State = Good, "collected" // what the service gave is what is kept
		if !x.good[sha] {
			c.Outcome, c.Detail = Unchecked, "a service gave it, and what was kept of it does not hold"
		}
		return c
	}
	if path == "-" {
		c.State, c.Detail = "not reachable", "standard input cannot be read again"
		return c
	}
	if strings.Contains(path, "[redacted]") {
		c.State, c.Detail = "not reachable", "its name was not recorded, for it holds a secret"
		return c
	}
	name := filepath.FromSlash(path)
	st, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Detail = "it is not there"
		if !filepath.IsAbs(name) {
			c.Detail += ", seen from this directory"
		}
		return c
	case err == nil && !st.Mode().IsRegular():
		err = errors.New("it cannot be read again")
	}
	var got string
	var f *os.File
	if err == nil {
		f, err = os.Open(name)
	}
	if err == nil {
		defer f.Close()
		got, err = hashUpTo(x.ctx, f, size)
	}
	switch {
	case err != nil:
		c.State, c.Detail = "not reachable", err.Error()
	case got != sha:
		c.Outcome, c.State, c.Detail = Mismatch, "changed", "its SHA-256 is not the recorded one"
	case st.Size() > size:
		c.Outcome, c.State, c.Detail = Note, "grown", fmt.Sprintf("the recorded bytes are followed by %d more", st.Size()-size)
	default:
		c.Outcome, c.State = Good, "same"
	}
	return c
}
