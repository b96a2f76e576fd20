// Package collecting is what the tests of collectors share: a case beside a
// stand-in for a service, and a clock that waits in no time.
package collecting

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pulltrail/ingest"
	"pulltrail/ingest/collect"
	"pulltrail/testdata/services"
	"pulltrail/timeline"
)

// The window that is collected.
var (
	Begin = time.Date(2026, 10, 21, 11, 39, 0, 0, time.UTC)
	End   = time.Date(2026, 10, 21, 14, 20, 0, 0, time.UTC)
)

// World is a case, the clock of who collects into it, and what that said.
type World struct {
	T    *testing.T
	DB   *timeline.DB
	From time.Time // of the window, Begin unless a test sets it
	Now  time.Time // an hour after the window, and later with each wait
	Said []string
}

// New makes a case that is closed when the test ends.
func New(t *testing.T) *World {
	t.Helper()
	db, err := timeline.Create(filepath.Join(t.TempDir(), "case"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &World{T: t, DB: db, From: Begin, Now: End.Add(time.Hour)}
}

// Session begins a collection of a target from what a collector connects to.
// places are where it looks for a token, given a file that holds it.
func (w *World) Session(o collect.Options, target, token string, places func(file string) collect.Places) *collect.Session {
	w.T.Helper()
	file := filepath.Join(w.T.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		w.T.Fatal(err)
	}
	var err error
	if o.Token, err = places(file).Find(context.Background()); err != nil {
		w.T.Fatal(err)
	}
	o.Target, o.Command, o.Program = target, "pulltrail collect", "test"
	o.Window = timeline.Span{From: w.From.UnixNano(), To: End.UnixNano()}
	o.Parallel = 1
	o.Say = func(text string) { w.Said = append(w.Said, text) }
	o.Now = func() time.Time { return w.Now }
	o.Sleep = func(ctx context.Context, until time.Time) error {
		if until.After(w.Now) {
			w.Now = until
		}
		return ctx.Err()
	}
	s, err := collect.Begin(w.DB, o)
	if err != nil {
		w.T.Fatal(err)
	}
	return s
}

// Read ends a collection, whose outcome is err, and reads what it brought.
func (w *World) Read(s *collect.Session, err error) (collect.Stats, ingest.Result, error) {
	w.T.Helper()
	if err := s.Finish(err); err != nil {
		return s.Stats(), ingest.Result{}, err
	}
	res, err := ingest.Collected(context.Background(), w.DB, ingest.Options{Parser: "test", Command: "test"})
	if err != nil {
		w.T.Fatal(err)
	}
	return s.Stats(), res, nil
}

// Dump is the case as text.
func (w *World) Dump() string {
	w.T.Helper()
	var b strings.Builder
	if err := w.DB.Dump(&b); err != nil {
		w.T.Fatal(err)
	}
	return b.String()
}

// Secrets fails when a host saw a login that is not for it, in one of its forms,
// or when the case holds that or a value of the stand-in, which all begin with
// s3cr3t. It counts the requests to the API and to the store that this sends to.
func (w *World) Secrets(requests []services.Seen, login ...string) (api, store int) {
	w.T.Helper()
	text := w.Dump() + w.kept()
	if strings.Contains(text, "s3cr3t") {
		w.T.Errorf("a value is in the case:\n%s", text)
	}
	for _, form := range login {
		for _, where := range services.Secrets(requests, form) {
			w.T.Errorf("the login was seen: %s", where)
		}
		if strings.Contains(text, form) {
			w.T.Errorf("the login is in the case:\n%s", text)
		}
	}
	for _, seen := range requests {
		if seen.Host == "store" {
			store++
		} else {
			api++
		}
	}
	return api, store
}

// kept is the ledger, and the bytes of every answer that the case keeps.
func (w *World) kept() string {
	w.T.Helper()
	ledger, err := w.DB.Ledger()
	if err != nil {
		w.T.Fatal(err)
	}
	text := fmt.Sprint(ledger)
	for _, r := range ledger {
		if r.Reply != timeline.Obtained {
			continue
		}
		in, err := w.DB.OpenKept(r.SHA256)
		if err != nil {
			w.T.Fatal(err)
		}
		data, err := io.ReadAll(in)
		in.Close()
		if err != nil {
			w.T.Fatal(err)
		}
		text += string(data)
	}
	return text
}

// Reasons are the expectations with a reason, by what stands behind the last
// mark in their subject.
func (w *World) Reasons(mark string) map[string]string {
	w.T.Helper()
	all, err := w.DB.Expectations()
	if err != nil {
		w.T.Fatal(err)
	}
	got := map[string]string{}
	for _, x := range all {
		if x.Reason != "" {
			got[x.Subject.ID[strings.LastIndex(x.Subject.ID, mark)+len(mark):]] = x.Reason
		}
	}
	return got
}
