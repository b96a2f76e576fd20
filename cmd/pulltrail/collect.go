package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pulltrail/ingest"
	"pulltrail/ingest/collect"
	"pulltrail/reports"
	"pulltrail/timeline"
)

func (a *app) collectCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "collect SERVICE",
		Short: "Fetch evidence from a service into the case, and read it",
		Long: `Fetch evidence from a service, keep it in the case as it came, and read it like
files. What could not be had (404 absent, 403 denied, 410 expired) is a gap that
'match' and 'coverage' know; 'pulltrail sql "SELECT * FROM ledger"' lists every
request with what became of it.

A token comes from the environment, from a file that you alone may read, or from
the tool's own login; it goes to the host of the API and to no other. References
that stand in logs are never followed.

The same command again goes on where an interrupted one stopped, and asks for
nothing that the case has. Exit code 3: something could not be had, or not read.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("collect wants a service: see '%s --help'", c.CommandPath())
			}
			if like := c.SuggestionsFor(args[0]); len(like) > 0 {
				return usage("unknown service %q: did you mean '%s %s'?", args[0], c.CommandPath(), like[0])
			}
			return usage("unknown service %q: see '%s --help'", args[0], c.CommandPath())
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.SuggestionsMinimumDistance = 2
	for _, service := range []*cobra.Command{
		a.collectGitHub(), a.collectGitLab(), a.collectJenkins(), a.collectBuildkite(), a.collectCircleCI(),
		a.collectRegistry(), a.collectKubernetes(), a.collectLiteLLM(),
	} {
		service.Args = usageOf(service.Args)
		c.AddCommand(service)
	}
	return c
}

// collecting are the flags of every collector, and what they come to.
type collecting struct {
	from, to, incident string
	sinceLast, dryRun  bool
	tokenFile          string
	parallel           int
	now                bool // there is no window: what the service holds now
}

func (f *collecting) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.from, "from", "", "beginning of the window, RFC 3339 or a date")
	c.Flags().StringVar(&f.to, "to", "", "end of the window (default: now)")
	c.Flags().StringVar(&f.incident, "incident", "", "the window of an incident in place of --from and --to")
	c.Flags().BoolVar(&f.sinceLast, "since-last", false, "from where the last collection of the same ended, to now; the first time from --from, else a day ago")
	f.access(c)
}

// access are the flags of a collector that takes what there is now.
func (f *collecting) access(c *cobra.Command) {
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say how many calls it takes; the case is not touched")
	c.Flags().StringVar(&f.tokenFile, "token-file", "", "file with the token, readable by you alone")
	c.Flags().IntVar(&f.parallel, "parallel", 8, "requests at once")
}

// settle is how long a service may take to show what happened: --since-last
// looks that far back once more.
const settle = 10 * time.Minute

// window is what the flags ask for. last is the newest collection of the same
// target.
func (a *app) window(f *collecting, last *timeline.Collection, now time.Time) (timeline.Span, error) {
	given := f.from != "" || f.to != ""
	switch {
	case f.now && last != nil && last.State == timeline.CollectionOpen:
		return last.Span, nil
	case f.now:
		return timeline.Span{From: now.UnixNano(), To: now.UnixNano()}, nil
	case f.incident != "" && (given || f.sinceLast), f.sinceLast && f.to != "":
		return timeline.Span{}, usage("the window is one of --from and --to, --incident, --since-last")
	case f.incident != "":
		return a.incidentWindow(f.incident)
	case f.sinceLast && last != nil && (last.State == timeline.CollectionOpen || last.Unreached):
		return last.Span, nil // it was interrupted, or got no answer: go on with it
	case f.sinceLast && last != nil:
		return timeline.Span{From: last.Span.To - int64(settle), To: now.UnixNano()}, nil
	case f.sinceLast && f.from == "":
		return timeline.Span{From: now.Add(-24 * time.Hour).UnixNano(), To: now.UnixNano()}, nil
	case f.from == "":
		return timeline.Span{}, usage("say which window: --from TIME [--to TIME], --incident NAME, or --since-last")
	}
	from, err := moment(f.from, false)
	if err != nil {
		return timeline.Span{}, usage("--from: %v", err)
	}
	if f.to == "" && last != nil && last.State == timeline.CollectionOpen && last.Span.From == from.UnixNano() {
		return last.Span, nil
	}
	to := now
	if f.to != "" {
		if to, err = moment(f.to, true); err != nil {
			return timeline.Span{}, usage("--to: %v", err)
		}
	}
	if !from.Before(to) {
		return timeline.Span{}, usage("the window ends before it begins: %s, %s", f.from, f.to)
	}
	return timeline.Span{From: from.UnixNano(), To: to.UnixNano()}, nil
}

// moment reads a time, or a day, whose end is its last second.
func moment(text string, end bool) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, fmt.Errorf("%q: want RFC 3339, such as 2026-10-21T11:00:00Z, or a date", text)
	}
	if end {
		t = t.Add(24*time.Hour - time.Second)
	}
	return t, nil
}

// incidentWindow goes from the first to the last moment at which a channel of
// an incident served it.
func (a *app) incidentWindow(name string) (timeline.Span, error) {
	inc, err := a.incident(name)
	if err != nil {
		return timeline.Span{}, err
	}
	from, to, ok := inc.Served()
	if !ok {
		return timeline.Span{}, usage("%s gives no window with a beginning and an end: say --from and --to", inc.ID)
	}
	return timeline.Span{From: from, To: to}, nil
}

// service is what a verb of collect tells of its service.
type service struct {
	opt    collect.Options // but for window, token and record
	tokens collect.Places
	public bool // it answers also without a token
	run    func(ctx context.Context, s *collect.Session) error
	plan   func(ctx context.Context, s *collect.Session) (string, error) // of a dry run
}

// target is what the words of a command line say to collect.
type target interface {
	Parse(word string) error
	Target(api string) string
}

// collectWords is collect of what words name, at the address of an API.
func (a *app) collectWords(c *cobra.Command, f *collecting, words []string, t target, sv service) error {
	for _, word := range words {
		if err := t.Parse(word); err != nil {
			return usage("%v", err)
		}
	}
	sv.opt.Target = t.Target(sv.opt.Base)
	return a.collect(c, f, sv)
}

// collect does a collection and reads what it brought.
func (a *app) collect(c *cobra.Command, f *collecting, sv service) error {
	ctx := c.Context()
	opt := sv.opt
	opt.Command, opt.Program, opt.Parallel = a.commandLine(), version, f.parallel
	opt.Say = a.tell
	var err error
	if opt.Token, err = sv.tokens.Find(ctx); err != nil {
		return err
	}
	if opt.Token.IsZero() && !sv.public {
		return fmt.Errorf("no token for %s: it is looked for in %s", opt.Base, sv.tokens)
	}
	if f.dryRun {
		return a.dryRun(ctx, f, opt, sv)
	}
	db, err := timeline.Create(a.caseDir)
	if err != nil {
		return err
	}
	res, stats, err := a.collectInto(ctx, db, f, opt, sv)
	if request := (*url.Error)(nil); errors.As(err, &request) && errors.Is(err, collect.ErrToken) {
		err = request.Err // it names the address itself
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := a.printCollected(res, stats, opt); err != nil {
		return err
	}
	if unreached(stats) { // a scheduler may let an expired log pass, not this
		return fmt.Errorf("%s answered nothing: look at the network, the address and the service; the same command asks again", opt.Target)
	}
	if stats.Gaps > 0 || !res.Complete() {
		return exitError(exitIncomplete)
	}
	return nil
}

// unreached reports whether whatever was asked for failed.
func unreached(st collect.Stats) bool {
	failed := st.Replies[timeline.Failed]
	for _, n := range st.Replies {
		failed -= n
	}
	return st.Replies[timeline.Failed] > 0 && failed == 0 && st.Known == 0
}

func (a *app) collectInto(ctx context.Context, db *timeline.DB, f *collecting, opt collect.Options, sv service) (res ingest.Result, stats collect.Stats, err error) {
	last, ok, err := db.LastCollection(opt.Collector, opt.Target)
	if err != nil {
		return res, stats, err
	}
	var before *timeline.Collection
	if ok {
		before = &last
	}
	if opt.Window, err = a.window(f, before, time.Now().Truncate(time.Second)); err != nil {
		return res, stats, err
	}
	p := a.newProgress()
	if say := opt.Say; p != nil {
		opt.Say = func(text string) { p.clear(); say(text) }
	}
	s, err := collect.Begin(db, opt)
	if err != nil {
		return res, stats, err
	}
	shown := p.watch(s)
	err = s.Finish(sv.run(ctx, s))
	shown()
	if stats = s.Stats(); ctx.Err() != nil {
		return res, stats, ctx.Err()
	}
	// Also what came before an error is read.
	defer spareMemory(ingestMemory)()
	read := ingest.Options{Parser: version, Command: opt.Command}
	if p = a.newProgress(); p != nil {
		read.Progress = p.show
	}
	res, readErr := ingest.Collected(ctx, db, read)
	p.clear()
	return res, stats, errors.Join(err, readErr)
}

func (a *app) dryRun(ctx context.Context, f *collecting, opt collect.Options, sv service) (err error) {
	if opt.Window, err = a.window(f, nil, time.Now().Truncate(time.Second)); err != nil {
		return err
	}
	s, err := collect.Begin(nil, opt)
	if err != nil {
		return err
	}
	plan, err := sv.plan(ctx, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s; %s\n", plan, left(s.Stats()))
	return nil
}

// watch draws how far a collection is until the returned function is called.
func (p *progress) watch(s *collect.Session) (stop func()) {
	if p == nil {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				st := s.Stats()
				p.mu.Lock()
				p.draw(fmt.Sprintf("%s, %s kept", left(st), megabytes(float64(st.Bytes))))
				p.mu.Unlock()
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		p.clear()
	}
}

// tell says something to people, beside the output.
func (a *app) tell(text string) { fmt.Fprintln(a.err, "pulltrail: "+reports.Text(text)) }

// left says how many calls were made, and how many are left.
func left(st collect.Stats) string {
	text := count(st.Calls, "call") + " made"
	if st.Left >= 0 {
		text += fmt.Sprintf(", %d of %d left until %s", st.Left, st.Limit, st.Reset.UTC().Format("15:04 UTC"))
	}
	return text
}

// printCollected prints what came of a collection.
func (a *app) printCollected(res ingest.Result, st collect.Stats, opt collect.Options) error {
	if a.json {
		return a.printJSON(a.out, map[string]any{
			"schema": "pulltrail.collect/1", "collector": opt.Collector, "target": opt.Target,
			"calls": st.Calls, "downloads": st.Downloads, "known": st.Known, "bytes": st.Bytes, "replies": st.Replies, "gaps": st.Gaps,
			"left": st.Left, "sources": len(res.Files), "complete": st.Gaps == 0 && res.Complete(),
		})
	}
	fmt.Fprintln(a.out, left(st)+fmt.Sprintf("; %s downloaded, %s kept; %d known before", count(st.Downloads, "log"), megabytes(float64(st.Bytes)), st.Known))
	var refused []string
	for _, reply := range []timeline.Reply{timeline.Absent, timeline.Denied, timeline.Expired, timeline.Failed} {
		if n := st.Replies[reply]; n > 0 {
			refused = append(refused, fmt.Sprintf("%d %s", n, reply))
		}
	}
	if len(refused) > 0 {
		text := "not had: " + strings.Join(refused, ", ")
		if st.Gaps > 0 {
			text += "; " + count(st.Gaps, "gap") + ": 'pulltrail coverage INCIDENT' says what that leaves open"
		}
		fmt.Fprintln(a.out, text)
	}
	states := map[timeline.State]int{}
	var events int64
	for _, f := range res.Files {
		states[f.State]++
		events += f.Events
		if f.State != timeline.Read {
			fmt.Fprintf(a.out, "%-8s %s\n", f.State, reports.Text(f.Path+because(f, "")))
		}
	}
	fmt.Fprintf(a.out, "%s read, %d partial, %d unread: %s\n", count(states[timeline.Read], "source"), states[timeline.Partial], states[timeline.Unread], count(int(events), "event"))
	return nil
}
