package canary

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// Bounds on what is read of an answer.
const (
	maxAnswer = 16 << 20
	maxError  = 64 << 10
)

// request is one that is ready to be sent.
type request struct {
	row    Row
	p      prompt
	body   []byte
	token  collect.Token
	aside  int64 // tokens of its prompt at most
	tokens int64 // of its lines, which are new; -1 not known
}

// message is a request of the chat API.
type message struct {
	Model    string `json:"model"`
	Messages []turn `json:"messages"`
	Stream   bool   `json:"stream"`
	Options  struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Most        int64   `json:"max_tokens"`
	Temperature float64 `json:"temperature"`
}

type turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// prepare writes the prompt of a request.
func (t *trial) prepare(who int, probe timeline.Probe, lines int) *request {
	q := &request{row: t.row(who, probe), p: write(t.r.tags[t.t.Tenants[who].Name], lines), token: t.t.tokens[who], aside: mostOf(lines), tokens: t.size.ofLines(lines)}
	if q.tokens >= 0 {
		q.row.Sent = t.size.fixed + q.tokens
		q.aside = q.row.Sent + q.row.Sent/25 + 128
	}
	m := message{Model: t.t.Model, Messages: []turn{{"user", q.p.text}}, Stream: true, Most: t.t.Reply}
	m.Options.Usage = true
	q.body, _ = json.Marshal(m) // texts and numbers can be
	return q
}

// send sends a request and follows the reply to its end.
func (t *trial) send(ctx context.Context, q *request) Row {
	row := &q.row
	switch {
	case ctx.Err() != nil:
		row.Outcome, row.Why = timeline.NotSent, "the run was interrupted"
	case !t.r.budget.take(q.aside, t.t.Reply):
		row.Outcome, row.Why = timeline.NotSent, "a limit of the run is reached"
	default:
		t.follow(ctx, q)
		used := q.aside + t.t.Reply
		if row.Prompt >= 0 && row.Output >= 0 {
			used = row.Prompt + row.Output
		}
		t.r.budget.settle(q.aside+t.t.Reply, used)
	}
	t.add(*row)
	return *row
}

// answer is one reply while it comes.
type answer struct {
	row         *Row
	watch       func() time.Duration
	timeout     time.Duration
	said, raw   finder // texts of the reply; the bytes of whatever came
	first, last time.Duration
	pieces      int
	ended, done bool // a reason to finish was given; the end mark came
	usage       bool
}

func (t *trial) follow(ctx context.Context, q *request) {
	limited, stop := context.WithTimeout(ctx, t.t.Timeout)
	defer stop()
	started := t.r.opt.Now().UTC()
	limited, watch := t.r.opt.Watch(limited)
	a := &answer{row: &q.row, watch: watch, timeout: t.t.Timeout}
	a.exchange(limited, t, q)
	row := a.row
	if a.watch() > a.timeout || errors.Is(limited.Err(), context.DeadlineExceeded) && row.Outcome != timeline.ToItsEnd {
		row.Outcome, row.Why = timeline.Slow, "no end within "+t.t.Timeout.String()
		if a.pieces == 0 || a.first > a.timeout {
			row.Why = "no token within " + t.t.Timeout.String()
		}
	}
	if ctx.Err() != nil && row.Outcome != timeline.ToItsEnd {
		row.Outcome, row.Why = timeline.Interrupted, ""
	}
	row.Start, row.End = started, started.Add(max(a.watch(), a.last))
	if a.pieces > 0 {
		at := started.Add(a.first)
		row.First = &at
		row.Streamed = a.pieces > 1 && a.last > a.first
	}
	a.marks(&q.p, t.r.tags)
	a.counts(q.tokens)
}

// exchange sends the request and reads what comes.
func (a *answer) exchange(ctx context.Context, t *trial, q *request) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.t.url, bytes.NewReader(q.body))
	if err != nil {
		a.row.Outcome, a.row.Why = timeline.Unreachable, "the address is none"
		return
	}
	q.token.Bearer(req.Header)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Accept-Encoding", "identity") // what is packed waits to be packed
	req.Header.Set("User-Agent", "pulltrail/"+t.r.opt.Program)
	resp, err := t.r.opt.Dial.RoundTrip(req) // it follows no redirect
	if err != nil {
		a.row.Outcome, a.row.Why = timeline.Unreachable, unreachable(err)
		return
	}
	defer resp.Body.Close()
	a.row.Status = resp.StatusCode
	if resp.StatusCode != http.StatusOK {
		a.refused(resp)
		return
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "text/event-stream" {
		a.row.Outcome, a.row.Why = timeline.NotStreamed, "its content type is "+known(kind)
		a.whole(resp.Body)
		return
	}
	a.stream(resp.Body)
}

// known is a content type in words of ours: what a server sends is not quoted.
func known(kind string) string {
	switch kind {
	case "application/json", "text/html", "text/plain", "application/x-ndjson":
		return kind
	case "":
		return "not said"
	}
	return "another one"
}

// unreachable says in words of ours why there was no answer.
func unreachable(err error) string {
	var name *net.DNSError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &cert):
		return "its certificate is not trusted"
	case errors.As(err, &name):
		return "its name is not known"
	}
	return "no connection, or it broke off before an answer"
}

// onLength is how engines and gateways refuse a prompt for its length:
//
//	{"error":{"message":"This model's maximum context length is 32768 tokens. However, …","code":"context_length_exceeded"}}
//	The input (85050 tokens) is longer than the model's context length (32768 tokens).
//	`inputs` must have less than 1024 tokens. Given: 1137
var onLength = regexp.MustCompile(`(?i)context[ _-]?(length|window|size)|maximum (context|input|prompt|allowed) ?length|max_(model_len|req_input_len|context|input)|(input|prompt|request)s?\b.{0,60}\b(too long|longer than|too large|exceeds?|less than \d+ tokens)|too many tokens`)

// refused says what a status other than 200 means.
func (a *answer) refused(resp *http.Response) {
	row := a.row
	switch code := resp.StatusCode; {
	case code >= 300 && code < 400:
		row.Outcome, row.Why = timeline.Redirected, "to another address of the same host"
		if at, err := resp.Location(); err != nil || at.Host != resp.Request.URL.Host {
			row.Why = "to another host, which got nothing"
		}
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		row.Outcome = timeline.Forbidden
	case code == http.StatusTooManyRequests:
		row.Outcome = timeline.Limited
		if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n >= 0 {
			row.Why = fmt.Sprintf("to be asked again in %d s", n)
		}
	case code == http.StatusRequestEntityTooLarge:
		row.Outcome = timeline.TooLong
	case code == http.StatusBadRequest || code == http.StatusUnprocessableEntity:
		row.Outcome = timeline.Refused
	default:
		row.Outcome = timeline.Broken
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // what there is of the message
	a.raw.add(string(body))
	if row.Outcome == timeline.Refused && onLength.Match(body) {
		row.Outcome = timeline.TooLong
	}
}

// whole reads a reply that was not streamed: nothing of it counts but the codes
// that are in it.
func (a *answer) whole(body io.Reader) {
	data, _ := io.ReadAll(io.LimitReader(body, maxFound)) // what there is of it
	a.raw.add(string(data))
}

// marks notes whose codes are in what came.
func (a *answer) marks(p *prompt, tags map[string]string) {
	row := a.row
	first, last := a.said.has(p.tag+p.first), a.said.has(p.tag+p.last)
	switch {
	case first && last:
		row.Own = timeline.BothMarks
	case first:
		row.Own = timeline.FirstMark
	case last:
		row.Own = timeline.LastMark
	}
	row.Stale = a.said.stale(p) || a.raw.stale(p)
	for name, tag := range tags {
		if tag != p.tag && (a.said.has(tag) || a.raw.has(tag)) {
			row.Others = append(row.Others, name)
		}
	}
	slices.Sort(row.Others)
}

// counts bounds what a cache can have held: the codes were drawn for this
// request, so that nothing behind the first of them was sent before. Where it is
// known how much that is, what the server says of its cache does not count: if it
// says more, a gateway sent the request twice, and the wait has both in it.
func (a *answer) counts(fresh int64) {
	row := a.row
	if row.Prompt < 0 || fresh < 0 {
		return
	}
	row.Cached = max(row.Prompt-fresh, 0)
}
