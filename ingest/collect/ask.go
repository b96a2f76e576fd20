package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"pulltrail/timeline"
)

// Answer is what became of a request: its row in the ledger.
type Answer struct {
	timeline.Inquiry
	s    *Session
	body []byte // of a dry run

	unchanged bool // the service says that what is kept still stands
}

// Open opens the bytes of an answer that was obtained.
func (a *Answer) Open() (io.ReadCloser, error) {
	if a.s.db == nil {
		return io.NopCloser(bytes.NewReader(a.body)), nil
	}
	return a.s.db.OpenKept(a.SHA256)
}

// membersKey stands among the headers of an archive for the files at its top.
const membersKey = "Members"

// Members lists the files at the top of an archive; nil when that is not known.
func (a *Answer) Members() []string {
	var head http.Header
	if err := json.Unmarshal([]byte(a.Head), &head); err != nil {
		return nil
	}
	return head[membersKey]
}

// Also records that an answer is evidence of something else too, which goes by
// another address; nothing is asked for.
func (s *Session) Also(a *Answer, url string, want Want) error {
	row := a.Inquiry
	row.URL, row.Kind, row.Version, row.Name, row.Reading, row.Claim = url, want.Kind, want.Version, want.Name, want.Reading, want.Claim.String()
	row.Collection, row.At = s.c.ID, 0
	old, ok, err := s.db.Asked(url)
	if err != nil || ok && old.SHA256 == row.SHA256 && old.Claim == row.Claim {
		return err
	}
	return s.db.Also(row, s.opt.Command, s.opt.Program)
}

// Client makes requests for an official client library: they go the way of Ask.
// What they are for stands in their context.
func (s *Session) Client() *http.Client {
	return &http.Client{
		Transport:     roundTripper{s},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type roundTripper struct{ s *Session }

// RoundTrip answers from the ledger, else from the service.
func (t roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := t.s.Ask(r, wanted(r.Context()))
	if err != nil {
		return nil, err
	}
	resp := &http.Response{
		StatusCode: a.Status, Status: fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: -1, Header: http.Header{},
	}
	if a.Reply != timeline.Obtained {
		if a.Status < 400 {
			resp.StatusCode = http.StatusBadGateway
		}
		message, err := json.Marshal(map[string]string{"message": a.Detail})
		resp.Body = io.NopCloser(bytes.NewReader(message))
		return resp, err
	}
	if a.Head != "" {
		if err := json.Unmarshal([]byte(a.Head), &resp.Header); err != nil {
			return nil, fmt.Errorf("ledger: %s: %w", a.URL, err)
		}
	}
	resp.Body, err = a.Open()
	return resp, err
}

// Ask answers a request from the ledger, else from the service, and keeps the
// answer. A refusal is an answer. An error ends the collection: the case cannot
// be written, the token is not known, the program was interrupted.
func (s *Session) Ask(r *http.Request, want Want) (*Answer, error) {
	if r.URL.Scheme != s.base.Scheme || r.URL.Host != s.base.Host {
		return nil, fmt.Errorf("collect: %s is not of %s: it is not asked", Address(r.URL), s.base.Host)
	}
	var err error
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxAnswer)); err != nil {
			return nil, err
		}
	}
	url := want.As
	if url == "" {
		url = address(r, body)
	}
	return s.settle(r.Context(), url, want, func(row *timeline.Inquiry, want Want) (*Answer, error) {
		return s.once(r, body, row, want)
	})
}

// Signed gets what stands at an address that the service signed and gave in an
// answer: it goes without the token, and the address is written down nowhere.
// url is what the ledger knows it by.
func (s *Session) Signed(ctx context.Context, url, signed string, want Want) (*Answer, error) {
	return s.settle(ctx, url, want, func(row *timeline.Inquiry, want Want) (*Answer, error) {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		a, err := s.download(ctx, s.base, signed, row, want)
		var again *retry
		if errors.As(err, &again) && again.status == http.StatusForbidden { // the same address brings the same
			return s.refuse(row, timeline.Denied, want)
		}
		return a, err
	})
}

// Has reports whether the ledger answers a request: nothing would be asked for.
func (s *Session) Has(url string, want Want) (bool, error) {
	if s.db == nil {
		return false, nil
	}
	if want.Version == "" {
		want.Version = s.version()
	}
	old, ok, err := s.db.Asked(url)
	return ok && err == nil && s.stands(&old, want), err
}

// Obtained returns what is kept that goes by an address, whatever its version;
// nil for nothing.
func (s *Session) Obtained(url string) (*timeline.Inquiry, error) {
	if s.db == nil {
		return nil, nil //nolint:nilnil // a dry run keeps nothing
	}
	old, ok, err := s.db.Asked(url)
	if err != nil || !ok || old.Reply != timeline.Obtained {
		return nil, err
	}
	if kept, err := s.db.Kept(old.SHA256); err != nil || !kept {
		return nil, err
	}
	return &old, nil
}

// Hashes lists the hashes of what was obtained of some kinds, by whatever
// address, and is kept. What is known by its hash need not be asked for again.
func (s *Session) Hashes(kinds ...string) (hashes []string, err error) {
	if s.db == nil {
		return nil, nil
	}
	asked, err := s.db.Ledger()
	for i := range asked {
		r := &asked[i]
		if err != nil || r.Reply != timeline.Obtained || !slices.Contains(kinds, r.Kind) {
			continue
		}
		var kept bool
		if kept, err = s.db.Kept(r.SHA256); kept {
			s.count(func(st *Stats) { st.Known++ })
			hashes = append(hashes, r.SHA256)
		}
	}
	return hashes, err
}

// Gone records that what goes by an address is there no more, as a list shows
// that was obtained: nothing is asked for. What was obtained before stays.
func (s *Session) Gone(url string, want Want) error {
	if had, err := s.Obtained(url); had != nil || err != nil {
		return err
	}
	_, err := s.settle(context.Background(), url, want, func(row *timeline.Inquiry, want Want) (*Answer, error) {
		return s.refuse(row, timeline.Expired, want)
	})
	return err
}

// settle answers from the ledger, else by what try brings, which is kept.
func (s *Session) settle(ctx context.Context, url string, want Want, try trial) (*Answer, error) {
	if want.Version == "" {
		want.Version = s.version()
	}
	if s.db != nil && !want.Again {
		old, ok, err := s.db.Asked(url)
		if err != nil {
			return nil, err
		}
		if ok && s.stands(&old, want) {
			s.count(func(st *Stats) { st.Known++; st.add(&old) })
			return &Answer{Inquiry: old, s: s}, nil
		}
		if ok && want.Fresh {
			if err := s.hold(&want, &old); err != nil {
				return nil, err
			}
		}
	}
	a, err := s.persist(ctx, url, want, try)
	if err != nil {
		return nil, err
	}
	if a.unchanged {
		s.count(func(st *Stats) { st.Known++; st.add(&a.Inquiry) })
		return a, nil
	}
	s.count(func(st *Stats) { st.add(&a.Inquiry); st.Bytes += a.Bytes })
	return a, nil
}

// trial is one attempt at a request.
type trial func(row *timeline.Inquiry, want Want) (*Answer, error)

// hold remembers what is kept already: it stands if the service says that it did
// not change.
func (s *Session) hold(want *Want, old *timeline.Inquiry) error {
	if old.Reply != timeline.Obtained {
		return nil
	}
	kept, err := s.db.Kept(old.SHA256)
	if kept {
		want.held = old
	}
	return err
}

// condition makes a request one for what changed since it was kept. What came
// with nothing to tell that by is asked for as if it were new.
//
// https://www.rfc-editor.org/rfc/rfc9110#name-conditional-requests
func (w *Want) condition(h http.Header) {
	var head http.Header
	if w.held == nil || json.Unmarshal([]byte(w.held.Head), &head) != nil {
		return
	}
	if tag := head.Get("Etag"); tag != "" {
		h.Set("If-None-Match", tag)
	} else if at := head.Get("Last-Modified"); at != "" {
		h.Set("If-Modified-Since", at)
	}
}

// stands reports whether a row of the ledger answers the request. A refusal
// does for the collection it was made in, unless the service was only down;
// what has expired does not come back.
func (s *Session) stands(old *timeline.Inquiry, want Want) bool {
	if old.Version != want.Version {
		return false
	}
	switch old.Reply {
	case timeline.Obtained:
		kept, err := s.db.Kept(old.SHA256)
		return err == nil && kept
	case timeline.Expired:
		return true
	case timeline.Absent, timeline.Denied:
		return old.Collection == s.c.ID
	case timeline.Failed:
	}
	return false
}

// persist asks the service until it answers, and records the answer.
func (s *Session) persist(ctx context.Context, url string, want Want, try trial) (*Answer, error) {
	row := timeline.Inquiry{
		URL: url, Kind: want.Kind, Version: want.Version, Name: want.Name, Reading: want.Reading, Span: want.Span, Collection: s.c.ID,
	}
	if !want.Claim.IsZero() {
		row.Claim = want.Claim.String()
	}
	failures, waits := 0, 0
	for {
		a, err := try(&row, want)
		if ctx.Err() != nil && err != nil {
			return nil, ctx.Err()
		}
		var again *retry
		if !errors.As(err, &again) {
			return a, err
		}
		row.Status, row.Detail = again.status, again.why
		if again.limited {
			if waits++; waits >= maxWaits {
				return s.refuse(&row, timeline.Failed, want)
			}
			continue // the gate is closed
		}
		if failures++; failures >= s.opt.Attempts {
			row.Detail = fmt.Sprintf("%s, %d times", again.why, failures)
			return s.refuse(&row, timeline.Failed, want)
		}
		pause := backoff(failures - 1)
		s.Say("%s: %s: asking again in %s", url, again.why, pause.Round(time.Second))
		if err := s.opt.Sleep(ctx, s.opt.Now().Add(pause)); err != nil {
			return nil, err
		}
	}
}

// maxWaits is how often one request may meet the limit of a service.
const maxWaits = 20

// retry is a failure that may pass.
type retry struct {
	why     string
	status  int
	limited bool // the service asked to wait: the gate is closed
}

func (r *retry) Error() string { return r.why }

// refuse records a request that brought nothing.
func (s *Session) refuse(row *timeline.Inquiry, reply timeline.Reply, want Want) (*Answer, error) {
	if !want.About.IsZero() {
		row.Claim = want.About.String()
	}
	row.Reply, row.Reading, row.Gap = reply, timeline.NoReading, !slices.Contains(want.NoGap, reply)
	if want.Detail != "" {
		row.Detail = want.Detail + ": " + row.Detail
	}
	if s.db != nil {
		if err := s.db.Refuse(*row, s.opt.Command, s.opt.Program); err != nil {
			return nil, err
		}
	}
	return &Answer{Inquiry: *row, s: s}, nil
}

// wait waits until the gate lets a request through.
func (s *Session) wait(ctx context.Context) error {
	for {
		now := s.opt.Now()
		at, granted, spent := s.gate.pass(now)
		if granted && !at.After(now) {
			return ctx.Err()
		}
		if spent && s.gate.close(at) {
			_, limit, _ := s.gate.allowance()
			s.Say("%s: 0 of %d calls left: waiting until %s", s.base.Host, limit, at.UTC().Format("15:04:05 UTC"))
		}
		if err := s.opt.Sleep(ctx, at); err != nil || granted {
			return err
		}
	}
}
