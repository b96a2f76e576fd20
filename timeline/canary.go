package timeline

import (
	"fmt"
	"strings"
)

// Probe says what a request of the canary is for.
type Probe string

// The probes.
const (
	SizeProbe   Probe = "size"        // short: how many tokens is a line of the test text
	MarkerProbe Probe = "marker"      // long: does its reply name its own marker, and no other
	LongProbe   Probe = "over-length" // longer than the endpoint may take: it has to be refused
)

// Ending says how the answer to a request of the canary ended.
type Ending string

// The endings.
const (
	ToItsEnd    Ending = "whole"          // streamed to its end mark
	CutOff      Ending = "cut"            // the stream ended without its end mark
	TooLong     Ending = "refused-length" // refused, and the refusal speaks of the length
	Refused     Ending = "refused"        // HTTP 400 or 422, without a word on the length
	Forbidden   Ending = "denied"         // HTTP 401 or 403
	Limited     Ending = "rate-limited"   // HTTP 429
	Redirected  Ending = "redirected"     // to another address; nobody followed
	NotStreamed Ending = "not-streamed"   // HTTP 200 with another content type
	Slow        Ending = "timeout"        // it took longer than the targets file gives it
	Unreachable Ending = "unreachable"    // no connection, no name, no trusted certificate
	Broken      Ending = "failed"         // any other status, or no JSON
	NotSent     Ending = "not-sent"       // Why says why
	Interrupted Ending = "interrupted"    // the program was ended
)

// Known reports whether it is one of the endings.
func (e Ending) Known() bool {
	switch e {
	case ToItsEnd, CutOff, TooLong, Refused, Forbidden, Limited, Redirected, NotStreamed, Slow, Unreachable, Broken, NotSent, Interrupted:
		return true
	}
	return false
}

// Marks says which of its own codes a reply names: the one at the beginning of
// the prompt, the one at its end.
type Marks string

// The marks.
const (
	NoMarks   Marks = "none"
	FirstMark Marks = "first"
	LastMark  Marks = "last"
	BothMarks Marks = "both"
)

// Canary is one request of a test tenant that pulltrail sent itself, and what
// counts of its reply. Of prompt and reply nothing is kept.
type Canary struct {
	// Request is what the wire showed, by the clock of the machine that sent it.
	// Cached is how many tokens a cache can have held at most.
	Request

	Run, Target string
	Probe       Probe
	Sent        int64 // tokens of the prompt, reckoned from those of short ones; -1 not known
	Limit       int64 // longest prompt that the endpoint may take, as the targets file says
	Rate        int64 // tokens a second that it reads at most, as the targets file says; 0 it does not
	Status      int64 // of HTTP, 0 without an answer
	Outcome     Ending
	Why         string // more of the outcome, in words of this program alone
	Own         Marks
	Stale       bool     // the reply names a code of another request of the same tenant
	Others      []string // tenants whose markers the reply, or what came in its place, names
}

// canary stores a request of the canary; one that was answered is a request
// like others too.
func (s *SourceWriter) canary(c *Canary) error {
	r := &c.Request
	r.Canary = true
	node, err := s.w.subject(r.Node) // nobody whose evidence this is
	if err != nil {
		return err
	}
	var ids [3]int64
	for i, text := range [...]string{r.Tenant, r.Model, r.Path} {
		if ids[i], err = s.w.path(text); err != nil {
			return err
		}
	}
	if err := s.w.put(s.w.canaries, s.id, node, ids[0], ids[1], r.ID, c.Run, c.Target, string(c.Probe), r.Prompt, r.Cached, r.Output, c.Sent, c.Limit, c.Rate,
		r.Start, r.First, r.End, end(r.Span.From), end(r.Span.To), string(r.Span.Clock), r.flags(), c.Status, string(c.Outcome), c.Why,
		string(c.Own), c.Stale, strings.Join(c.Others, " "), ids[2], r.Line, r.Offset); err != nil || c.Status == 0 {
		return err
	}
	return s.request(r)
}

// CanaryRow is a request of the canary with the hash of its source.
type CanaryRow struct {
	SHA256 string
	Canary
}

// Canaries returns the requests of the canary in the complete sources, in the
// order they were read.
func (db *DB) Canaries() ([]CanaryRow, error) {
	var out []CanaryRow
	same := interned{}
	err := db.each(func(row rawRow) {
		c := CanaryRow{SHA256: same.of(row.text(0)), Canary: Canary{
			Request: Request{
				Node: Subject{Kind(same.of(row.text(1))), same.of(row.text(2))}, Tenant: same.of(row.text(3)), Model: same.of(row.text(4)), ID: row.text(5),
				Prompt: row.int(9), Cached: row.int(10), Output: row.int(11), Start: row.int(15), First: row.int(16), End: row.int(17),
				Span:   row.span(18, same.of(row.text(20))),
				Origin: Origin{Path: same.of(row.text(28)), Line: row.int(29), Offset: row.int(30)},
			},
			Run: same.of(row.text(6)), Target: same.of(row.text(7)), Probe: Probe(same.of(row.text(8))), Sent: row.int(12), Limit: row.int(13), Rate: row.int(14),
			Status: row.int(22), Outcome: Ending(same.of(row.text(23))), Why: same.of(row.text(24)), Own: Marks(same.of(row.text(25))), Stale: row.int(26) != 0,
			Others: strings.Fields(row.text(27)),
		}}
		c.setFlags(row.int(21))
		c.Text = c.String()
		out = append(out, c)
	}, `SELECT s.sha256,u.kind,u.name,t.text,m.text,c.name,c.run,c.target,c.probe,c.prompt,c.cached,c.output,c.sent,c.most,c.rate,
		c.start,c.first,c.finish,c.t0,c.t1,c.clock,c.flags,c.status,c.outcome,c.why,c.own,c.stale,c.others,p.text,c.line,c.off
		FROM canary c JOIN source s ON s.id=c.source AND s.complete=1 JOIN subject u ON u.id=c.node
		JOIN path t ON t.id=c.tenant JOIN path m ON m.id=c.model JOIN path p ON p.id=c.path ORDER BY c.rowid`)
	if err != nil {
		return nil, fmt.Errorf("read canaries: %w", err)
	}
	return out, nil
}

// String is what counts of a request and its reply, on one line.
func (c *Canary) String() string {
	words := []string{fmt.Sprintf("canary %s, %s at %s: %s", c.Tenant, c.Probe, c.Target, c.Outcome)}
	if c.Status != 0 {
		words[0] += fmt.Sprintf(" (HTTP %d)", c.Status)
	}
	if c.Why != "" {
		words[0] += ", " + c.Why
	}
	for _, n := range []struct {
		what  string
		count int64
	}{{"sent", c.Sent}, {"counted", c.Prompt}, {"cached at most", c.Cached}, {"replied", c.Output}} {
		if n.count >= 0 {
			words = append(words, fmt.Sprintf("%s %d", n.what, n.count))
		}
	}
	if c.First > c.Start {
		words = append(words, fmt.Sprintf("first token after %.3f s", float64(c.First-c.Start)/1e9))
	}
	if c.Own != "" {
		words = append(words, "own codes: "+string(c.Own))
	}
	if c.Stale {
		words = append(words, "a code of another request")
	}
	if len(c.Others) > 0 {
		words = append(words, "markers of "+strings.Join(c.Others, " "))
	}
	return strings.Join(words, ", ")
}

// dumpCanaries writes the requests of the canary as canonical text.
func (db *DB) dumpCanaries(add func(...string)) error {
	all, err := db.Canaries()
	for i := range all {
		c := &all[i]
		add("canary", c.Span.String(), escape(c.Node.String()), "run="+escape(c.Run), "model="+escape(c.Model), "id="+escape(c.ID),
			fmt.Sprintf("limit=%d rate=%d streamed=%t", c.Limit, c.Rate, c.Streamed), c.Text, fmt.Sprintf("%s:%d", escape(c.Path), c.Line))
	}
	return err
}
