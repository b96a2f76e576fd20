// Package collect asks services for evidence and keeps what they give in the
// case, byte by byte, with a ledger of what was asked for, obtained and refused.
// It reads nothing of it: the formats do that later, without a network.
//
// A Session is the way to one service: it knows the one host that may see the
// token, the limits of that service, and what the ledger has already. A
// collector of its own package knows what to ask for. It never follows a
// reference that stands in a log.
package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"pulltrail/timeline"
)

// Options say how to speak with a service. Zero values of the last group are
// what a user wants.
type Options struct {
	Collector string        // github, gitlab, …
	Target    string        // what is collected, and of which service: names the collection
	Base      string        // address of the API, https; http for this machine alone
	Window    timeline.Span // what is asked for
	Command   string        // the command line, for the record
	Program   string        // version of the program, for the record

	Token     Token
	Authorize func(h http.Header, token string) // puts the token into a request; nil: "Authorization: Bearer"
	// Limited tells from a refusal, and the beginning of its body, that it ends by
	// itself, and when; nil: RateLimit, which knows Retry-After and X-RateLimit-*.
	Limited func(r *http.Response, body []byte, now time.Time) (until time.Time, hit bool)
	Denies  bool                                             // HTTP 401 refuses one request, not the token
	Say     func(text string)                                // waits and retries, for people; nil: nobody is told
	Sleep   func(ctx context.Context, until time.Time) error // nil: waits
	Now     func() time.Time                                 // nil: the clock
	Dial    http.RoundTripper                                // nil: Network

	Parallel  int // requests at once; 0: 8
	PerMinute int // requests in a minute; 0: no limit of our own
	Attempts  int // of one request that fails; 0: 5
}

// Session is one collection from one service.
type Session struct {
	db   *timeline.DB // nil: a dry run, nothing is kept
	opt  Options
	base *url.URL
	c    timeline.Collection

	slots chan struct{}
	gate  gate

	mu    sync.Mutex
	stats Stats
}

// Stats are what a session came to.
type Stats struct {
	Calls     int                    // requests to the service that were answered, refused or failed
	Downloads int                    // of addresses that the service signed
	Known     int                    // that the ledger had
	Bytes     int64                  // kept
	Replies   map[timeline.Reply]int // by what became of what was asked for
	Gaps      int                    // refused, and nothing else stands for it
	Left      int                    // calls that the service still allows, -1: it did not say
	Limit     int                    // of so many
	Reset     time.Time              // when it counts anew
}

// ErrToken is returned when the service does not know the token.
var ErrToken = errors.New("the service refuses the token (HTTP 401): it is wrong, expired or revoked")

// Begin starts a collection, or goes on with the one of the same target that
// was interrupted: Window is then that one's. Without a case it is a dry run.
func Begin(db *timeline.DB, opt Options) (*Session, error) {
	base, err := ParseBase(opt.Base)
	if err != nil {
		return nil, err
	}
	if opt.Parallel <= 0 {
		opt.Parallel = 8
	}
	if opt.Attempts <= 0 {
		opt.Attempts = 5
	}
	if opt.Authorize == nil {
		opt.Authorize = func(h http.Header, token string) { h.Set("Authorization", "Bearer "+token) }
	}
	if opt.Limited == nil {
		opt.Limited = RateLimit
	}
	if opt.Say == nil {
		opt.Say = func(string) {}
	}
	if opt.Sleep == nil {
		opt.Sleep = sleep
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Dial == nil {
		opt.Dial = Network()
	}
	s := &Session{db: db, opt: opt, base: base, slots: make(chan struct{}, opt.Parallel)}
	s.gate = gate{left: -1, every: every(opt.PerMinute)}
	s.stats = Stats{Replies: map[timeline.Reply]int{}, Left: -1}
	s.c = timeline.Collection{Collector: opt.Collector, Target: opt.Target, Span: opt.Window, Command: opt.Command, Program: opt.Program}
	if db == nil {
		return s, nil
	}
	last, ok, err := db.LastCollection(opt.Collector, opt.Target)
	if err != nil {
		return nil, err
	}
	if ok && last.State == timeline.CollectionOpen && last.Span == opt.Window {
		s.c = last
	}
	return s, db.BeginCollection(&s.c)
}

// ParseBase reads the address of an API. A token goes over https, or stays on
// this machine.
func ParseBase(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("address of the API: it is no URL: want https://HOST/PATH") // the error would quote all of it
	case u.Host == "" || u.User != nil || u.RawQuery != "":
		return nil, fmt.Errorf("address of the API %q: want https://HOST/PATH, without a name, password or query", Address(u))
	case u.Scheme != "https" && !(u.Scheme == "http" && Loopback(u.Hostname())):
		return nil, fmt.Errorf("address of the API %q: want https (http is for this machine alone): a token would go over the wire for all to read", Address(u))
	}
	return u, nil
}

// Loopback reports whether a host is this machine, which http may go to.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Window is what is asked for: that of the collection that goes on.
func (s *Session) Window() timeline.Span { return s.c.Span }

// Bounds are the moments at which the window begins and ends, in UTC; an error
// says that it has not both.
func (s *Session) Bounds() (from, to time.Time, err error) {
	w := s.Window()
	if w.From == timeline.Beginning || w.To == timeline.Forever {
		return from, to, errors.New(s.opt.Collector + ": a window with a beginning and an end is wanted")
	}
	return time.Unix(0, w.From).UTC(), time.Unix(0, w.To).UTC(), nil
}

// TargetOf is an Options.Target: what words name, each once and in order, at the
// address of an API. A collection that goes on is found again by it.
func TargetOf(api string, words []string) string {
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	return strings.Join(append(words, "at "+api), " ")
}

// Base is the address of the API, without a slash at its end.
func (s *Session) Base() string { return strings.TrimSuffix(s.base.String(), "/") }

// settle is how long a service may take to have all that a job printed.
const settle = 10 * time.Minute

// Settled reports whether something ended long enough ago that the service has
// all of it; a clock that is far from the service's says nothing.
func (s *Session) Settled(ended time.Time) bool { return s.opt.Now().Sub(ended).Abs() > settle }

// Say tells people something.
func (s *Session) Say(format string, args ...any) { s.opt.Say(fmt.Sprintf(format, args...)) }

// Finish ends the collection. One that was ended by an error or an interrupt
// stays open: the same command goes on with it.
func (s *Session) Finish(err error) error {
	if err != nil || s.db == nil {
		return err
	}
	state := timeline.CollectionDone
	if s.Stats().Gaps > 0 {
		state = timeline.CollectionPartial
	}
	return s.db.EndCollection(s.c.ID, state)
}

// Stats returns what the session came to so far.
func (s *Session) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Replies = map[timeline.Reply]int{}
	for k, n := range s.stats.Replies {
		st.Replies[k] = n
	}
	st.Left, st.Limit, st.Reset = s.gate.allowance()
	return st
}

func (s *Stats) add(r *timeline.Inquiry) {
	s.Replies[r.Reply]++
	if r.Gap {
		s.Gaps++
	}
}

// count changes the numbers.
func (s *Session) count(change func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.stats)
}

// version of an answer that is only good for this collection.
func (s *Session) version() string { return "collection " + strconv.FormatInt(s.c.ID, 10) }
