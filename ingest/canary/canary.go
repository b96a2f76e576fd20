// Package canary asks endpoints that speak the chat API of OpenAI as test
// tenants, and notes what counts of the replies: codes that were in a prompt,
// counts of tokens, times. Prompts, replies and keys stay in memory; what a
// server says is never quoted, for it may hold any of them. It judges nothing.
//
// https://platform.openai.com/docs/api-reference/chat-streaming
package canary

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// Limits bound what a run may spend. Each has to be given.
type Limits struct {
	Tokens   int64 // of prompts and replies of a run together
	Prompt   int64 // tokens of one prompt
	Requests int64 // of a run
}

// Target is one endpoint.
type Target struct {
	Name    string
	Base    string           // https://HOST/v1; http for this machine alone
	Model   string           // as requests name it
	Node    timeline.Subject // the only engine behind it; zero when it is not known or not the only one
	Prompt  int64            // tokens of a long prompt
	Limit   int64            // longest prompt that it may take, in tokens
	Rate    int64            // tokens a second that it reads at most; 0 not known
	Reply   int64            // most tokens of a reply
	Timeout time.Duration    // of one request
	Tenants []Tenant
}

// Tenant is a test tenant.
type Tenant struct {
	Name   string
	Tokens collect.Places // where its key is
}

// Options say what to try, and how.
type Options struct {
	Targets []Target
	Program string            // version, for the user agent
	Dial    http.RoundTripper // nil: collect.Network
	Now     func() time.Time  // nil: the clock

	// Watch starts a stop-watch for one request, and returns a context for it; nil:
	// one that runs on when the clock is set.
	Watch func(ctx context.Context) (context.Context, func() time.Duration)
}

// Runner tries targets.
type Runner struct {
	opt     Options
	budget  *budget
	targets []target
	tags    map[string]string // of every tenant, by name
}

// target is a Target with what is known once its words were read.
type target struct {
	Target
	url     string
	node    timeline.Subject
	gateway bool
	tokens  []collect.Token // by tenant
}

// New checks the targets and finds the keys; nothing is sent. limits count for
// all rounds of the runner together.
func New(ctx context.Context, opt Options, limits Limits) (*Runner, error) {
	if opt.Dial == nil {
		opt.Dial = collect.Network()
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Watch == nil {
		opt.Watch = func(ctx context.Context) (context.Context, func() time.Duration) {
			start := time.Now()
			return ctx, func() time.Duration { return time.Since(start) }
		}
	}
	r := &Runner{opt: opt, budget: &budget{left: limits}, tags: map[string]string{}}
	var faults []error
	for _, t := range opt.Targets {
		one, err := open(ctx, t)
		if err != nil {
			faults = append(faults, fmt.Errorf("target %s: %w", t.Name, err))
			continue
		}
		r.targets = append(r.targets, one)
		for _, who := range t.Tenants {
			r.tags[who.Name] = tag(who.Name)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return r, r.affordable()
}

func open(ctx context.Context, t Target) (target, error) {
	out := target{Target: t, node: t.Node}
	base, err := collect.ParseBase(t.Base)
	if err != nil {
		return out, err
	}
	out.url = base.JoinPath("chat", "completions").String()
	if out.gateway = t.Node.IsZero(); out.gateway {
		out.node = timeline.Subject{Kind: timeline.Client, ID: base.Hostname()}
	}
	for i, who := range t.Tenants {
		token, err := who.Tokens.Find(ctx)
		switch {
		case err != nil:
			return out, fmt.Errorf("tenant %s: %w", who.Name, err)
		case token.IsZero():
			return out, fmt.Errorf("tenant %s: no key: set $%s to it, and to nothing else", who.Name, strings.Join(who.Tokens.Env, " or $"))
		}
		for j, other := range out.tokens {
			if token.Same(other) {
				return out, fmt.Errorf("tenants %s and %s have the same key: to the endpoint they are one tenant, and nothing can cross between them", t.Tenants[j].Name, t.Tenants[i].Name)
			}
		}
		out.tokens = append(out.tokens, token)
	}
	return out, nil
}

// ErrSpent is returned when a round does not fit into what is left of the limits.
var ErrSpent = errors.New("the limits of the run leave no room for another round")

// Cost is what a round takes at most.
type Cost struct {
	Requests, Tokens, Prompt int64 // Prompt: of the longest one
}

// Cost of one round.
func (r *Runner) Cost() Cost {
	var c Cost
	for i := range r.targets {
		t := &r.targets[i]
		for _, n := range t.probes() {
			c.Requests++
			c.Tokens += n + t.Reply
			c.Prompt = max(c.Prompt, n)
		}
	}
	return c
}

// probes are the most tokens that the prompts of a round have.
func (t *target) probes() []int64 {
	all := []int64{mostOf(fewLines), mostOf(manyLines), padded(t.over())}
	for range t.Tenants {
		all = append(all, padded(t.Prompt))
	}
	return all
}

// over is how long a prompt is that has to be refused.
func (t *target) over() int64 { return t.Limit + t.Limit/20 + 512 }

// padded is n with room for what a count may be off.
func padded(n int64) int64 { return n + n/20 + 256 }

// affordable refuses a round that does not fit into the limits.
func (r *Runner) affordable() error {
	cost, left := r.Cost(), r.budget.rest()
	for _, l := range []struct {
		name, what  string
		limit, cost int64
	}{
		{"max_requests", "requests", left.Requests, cost.Requests},
		{"max_prompt_tokens", "tokens in its longest prompt", left.Prompt, cost.Prompt},
		{"max_tokens", "tokens in prompts and replies", left.Tokens, cost.Tokens},
	} {
		if l.cost > l.limit {
			return fmt.Errorf("%w: a round takes up to %d %s, and %s allows %d: raise it, or ask for less", ErrSpent, l.cost, l.what, l.name, l.limit)
		}
	}
	return nil
}

// Spent is what was asked for so far: requests, and tokens of prompts and
// replies, as the servers counted them where they did, else as many as there can
// have been.
func (r *Runner) Spent() (requests, tokens int64) {
	r.budget.mu.Lock()
	defer r.budget.mu.Unlock()
	return r.budget.requests, r.budget.tokens
}

// budget is what a run may still spend.
type budget struct {
	mu               sync.Mutex
	left             Limits
	requests, tokens int64
}

func (b *budget) rest() Limits {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

// take puts one request aside, of so many tokens at most.
func (b *budget) take(prompt, reply int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left.Requests < 1 || b.left.Prompt < prompt || b.left.Tokens < prompt+reply {
		return false
	}
	b.left.Requests--
	b.left.Tokens -= prompt + reply
	b.requests++
	b.tokens += prompt + reply
	return true
}

// settle gives back what was put aside and not used.
func (b *budget) settle(aside, used int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left.Tokens += aside - used
	b.tokens += used - aside
}

// Round tries every target once. What was sent before ctx ended is in the
// report.
func (r *Runner) Round(ctx context.Context) (*Report, error) {
	if err := r.affordable(); err != nil {
		return nil, err
	}
	rep := &Report{Begun: r.opt.Now().UTC()}
	rep.Run = rep.Begun.Format("20060102T150405Z") + "-" + draw(8)
	for i := range r.targets {
		(&trial{r: r, t: &r.targets[i], rep: rep}).run(ctx)
	}
	return rep, ctx.Err()
}

// trial is one target in one round.
type trial struct {
	r   *Runner
	t   *target
	rep *Report

	mu   sync.Mutex
	rows []Row
	size size
}

// run learns how long the test text is in tokens, and then asks as all tenants
// at once, with the prompt that is too long among them: what crosses between
// tenants does so while they are served together.
func (t *trial) run(ctx context.Context) {
	const first = 0
	few := t.ask(ctx, first, timeline.SizeProbe, fewLines)
	if !serves(few) {
		why := "the request before it brought no reply: " + string(few.Outcome)
		if few.Why != "" {
			why += ", " + few.Why
		}
		t.skip(why, true)
		t.done()
		return
	}
	many := t.ask(ctx, first, timeline.SizeProbe, manyLines)
	t.size = sizeOf(few, many)
	lines := t.size.lines(t.t.Prompt)
	var ready, all sync.WaitGroup
	start := make(chan struct{})
	together := func(who int, probe timeline.Probe, lines int) {
		ready.Add(1)
		all.Go(func() {
			q := t.prepare(who, probe, lines)
			ready.Done()
			<-start
			t.send(ctx, q)
		})
	}
	for who := range t.t.Tenants {
		together(who, timeline.MarkerProbe, lines)
	}
	if t.size.known() {
		together(first, timeline.LongProbe, t.size.lines(t.t.over()))
	} else {
		t.skip("without the server's counts of tokens, how long the prompt would be is not known", false)
	}
	ready.Wait()
	close(start)
	all.Wait()
	t.done()
}

// serves reports whether an endpoint answered in a way that makes more requests
// worth it.
func serves(r Row) bool {
	return r.Outcome == timeline.ToItsEnd || r.Outcome == timeline.CutOff || r.Outcome == timeline.NotStreamed
}

// ask sends one request and waits for its end.
func (t *trial) ask(ctx context.Context, who int, probe timeline.Probe, lines int) Row {
	return t.send(ctx, t.prepare(who, probe, lines))
}

// skip notes what was not sent: the prompt that is too long, or all of them.
func (t *trial) skip(why string, all bool) {
	row := t.row(0, timeline.LongProbe)
	row.Outcome, row.Why = timeline.NotSent, why
	t.add(row)
	for who := range t.t.Tenants {
		if all {
			row := t.row(who, timeline.MarkerProbe)
			row.Outcome, row.Why = timeline.NotSent, why
			t.add(row)
		}
	}
}

// row is what is known of a request before it is sent.
func (t *trial) row(who int, probe timeline.Probe) Row {
	now := t.r.opt.Now().UTC()
	return Row{
		Schema: Schema, Run: t.rep.Run, Target: t.t.Name, Node: t.t.node.String(), Gateway: t.t.gateway, Model: t.t.Model,
		Tenant: t.t.Tenants[who].Name, Probe: probe, Sent: -1, Limit: t.t.Limit, Rate: t.t.Rate, Prompt: -1, Cached: -1, Output: -1,
		Start: now, End: now, Own: timeline.NoMarks, Others: []string{},
	}
}

func (t *trial) add(row Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, row)
}

// done puts the rows into the report, in an order that does not depend on who
// was answered first.
func (t *trial) done() {
	sortRows(t.rows)
	for i := range t.rows {
		t.rows[i].ID = t.rep.Run + "-" + strconv.Itoa(len(t.rep.Rows)+1)
		t.rep.Rows = append(t.rep.Rows, t.rows[i])
	}
}
