package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pulltrail/ingest"
	"pulltrail/ingest/canary"
	"pulltrail/ingest/collect"
	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

func (a *app) canaryCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "canary run",
		Short: "Ask an endpoint as test tenants whether anything crosses over",
		Args: func(c *cobra.Command, _ []string) error {
			return usage("canary wants 'run': see '%s --help'", c.CommandPath())
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	run := a.canaryRun()
	run.Args = usageOf(run.Args)
	c.AddCommand(run)
	return c
}

// canaryHelp holds a whole targets file, which a test loads.
const canaryHelp = `Send, for all test tenants at once, a long prompt of known size to an endpoint that
speaks the chat API of OpenAI (streaming), and one that is longer than it may take.
A prompt is words without meaning between two codes: the mark of its tenant with a
number drawn for this request. Looked at is whether

  a reply names its own codes, and the mark of no other tenant       else exposed
  the prompt that is too long is refused, with no HTTP 200           else exposed
  the whole prompt was read, by the server's count of tokens         else possible
  the first token came no sooner than the engine can read            else possible
  all of that can be told: whole, streamed, counted                  else unknown

What counts (marks, tokens, times, never a key, prompt or reply) goes into the case,
where 'match' of an engine's incident, 'coverage' and the reports find it. A clear
canary speaks of these requests alone: it makes no engine clear.

The engine's speed is prefill_rate, the most input tokens a second that it reads when
busy (SGLang prints "input throughput"); a first token four times faster is told. Where
neither it nor an ingested engine log says so, it is measured: the best rate that five
whole replies in a row of other rounds kept up. Queue and network are in it, so the
engine may be faster: a first token has to be sixteen times faster then, and until
there are five the answer is unknown.

Without --once it goes on, a round every --every, until the limits are used up; they
count for the whole run. Exit codes are those of 'match': 0 clear, 10 exposed, 11
possible, 3 unknown; of several rounds the strongest.

A targets file; keys stand in the environment or in files that you alone may read:

  schema: pulltrail.canary-targets/1
  limits:                          # all three are needed; nothing is sent that could pass one
    max_tokens: 500000             # of prompts and replies of a run together
    max_prompt_tokens: 150000
    max_requests: 10
  targets:
    - name: gateway-eu
      url: https://llm.acme.example/v1       # /chat/completions is added
      model: chat
      prompt_tokens: 32000
      limit_tokens: 131072         # longest prompt that any engine behind it can hold
      prefill_rate: 14000          # optional: input tokens a second at most
      reply_tokens: 256            # optional
      timeout: 2m                  # optional, of one request
      # subject: host:gpu-1        # optional: the only engine behind it
      tenants:                     # two at least, each with a key and a name of its own: the mark is
                                   # made of the name, so use it for nobody else
        - {name: canary-a, token_env: CANARY_A_KEY}
        - {name: canary-b, token_file: /etc/pulltrail/canary-b}

By the hour, from cron (or a systemd timer, see ingest/canary/README.md):

  17 * * * *  pulltrail canary run --targets /etc/pulltrail/canary.yaml --once --case /var/lib/pulltrail`

func (a *app) canaryRun() *cobra.Command {
	var file string
	var once, dryRun bool
	var every time.Duration
	c := &cobra.Command{
		Use:   "run --targets FILE",
		Short: "Send the prompts, and say what the replies show",
		Long:  canaryHelp,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case file == "":
				return usage("say what to ask: --targets FILE ('%s --help' shows one)", c.CommandPath())
			case every <= 0:
				return usage("--every %s: want a time such as 1h", every)
			}
			t, err := matchers.LoadTargets(file)
			if err != nil {
				return err
			}
			r, err := canary.New(c.Context(), canaryOptions(t), canary.Limits{Tokens: t.MaxTokens, Prompt: t.MaxPromptTokens, Requests: t.MaxRequests})
			if err != nil {
				return err
			}
			if dryRun {
				cost := r.Cost()
				fmt.Fprintf(a.out, "a round takes up to %s and %d tokens, %d in its longest prompt\n", count(int(cost.Requests), "request"), cost.Tokens, cost.Prompt)
				return nil
			}
			return a.canaryRounds(c.Context(), r, once, every)
		},
	}
	c.Flags().StringVar(&file, "targets", "", "file that says what to ask, as whom, and what it may cost")
	c.Flags().BoolVar(&once, "once", false, "one round, for schedulers")
	c.Flags().DurationVar(&every, "every", time.Hour, "from the beginning of a round to that of the next")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "say what a round takes at most; nothing is sent, the case is not touched")
	return c
}

// canaryOptions are the targets as the canary takes them.
func canaryOptions(t *matchers.Targets) canary.Options {
	opt := canary.Options{Program: version}
	for _, one := range t.Targets {
		target := canary.Target{
			Name: one.Name, Base: one.URL, Model: one.Model, Node: one.Subject, Prompt: one.PromptTokens, Limit: one.LimitTokens, Rate: one.PrefillRate,
			Reply: one.ReplyTokens, Timeout: one.Timeout,
		}
		for _, who := range one.Tenants {
			tenant := canary.Tenant{Name: who.Name, Tokens: collect.Places{File: who.TokenFile}}
			if who.TokenEnv != "" {
				tenant.Tokens.Env = []string{who.TokenEnv}
			}
			target.Tenants = append(target.Tenants, tenant)
		}
		opt.Targets = append(opt.Targets, target)
	}
	return opt
}

// canaryRounds goes on until the limits are used up; the strongest answer
// decides the exit code.
func (a *app) canaryRounds(ctx context.Context, r *canary.Runner, once bool, every time.Duration) error {
	worst := map[matchers.Verdict]bool{}
	for {
		next := time.After(every)
		err := a.canaryRound(ctx, r, worst)
		if errors.Is(err, canary.ErrSpent) {
			a.tell(err.Error())
			return canaryCode(worst)
		}
		if err != nil {
			return err
		}
		if once {
			return canaryCode(worst)
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// canaryCode is the exit code of answers, as that of 'match'.
func canaryCode(seen map[matchers.Verdict]bool) error {
	switch {
	case seen[matchers.Exposed]:
		return exitError(exitExposed)
	case seen[matchers.Possible]:
		return exitError(exitPossible)
	case seen[matchers.Unknown], len(seen) == 0:
		return exitError(exitIncomplete)
	}
	return nil
}

// canaryRound does one round. What was sent is in the case, also when it was
// interrupted.
func (a *app) canaryRound(ctx context.Context, r *canary.Runner, worst map[matchers.Verdict]bool) error {
	db, err := timeline.Create(a.caseDir) // first: nothing is spent that cannot be kept
	if err != nil {
		return err
	}
	rep, stopped := r.Round(ctx)
	var answers []matchers.CanaryAnswer
	if rep != nil && len(rep.Rows) > 0 {
		answers, err = a.keepRound(context.WithoutCancel(ctx), db, rep)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if stopped != nil {
		return stopped
	}
	for _, got := range answers {
		worst[got.Verdict] = true
	}
	return a.printCanary(rep, answers, r)
}

// keepRound puts a report into the case as a file that is kept, and asks what it
// shows.
func (a *app) keepRound(ctx context.Context, db *timeline.DB, rep *canary.Report) ([]matchers.CanaryAnswer, error) {
	data, err := rep.Lines()
	if err != nil {
		return nil, err
	}
	res, err := ingest.Run(ctx, db, []string{"-"}, ingest.Options{
		Stdin: bytes.NewReader(data), Called: rep.Name(), Keep: true, Format: "canary", Parser: version, Command: a.commandLine(),
	})
	if err != nil {
		return nil, err
	}
	if len(res.Files) != 1 || !res.Complete() {
		return nil, fmt.Errorf("the report of the canary was not read whole: 'pulltrail sql \"SELECT * FROM gaps\"' says why")
	}
	return matchers.Canary(db, res.Files[0].SHA256)
}

// printCanary prints what a round showed.
func (a *app) printCanary(rep *canary.Report, answers []matchers.CanaryAnswer, r *canary.Runner) error {
	requests, tokens := r.Spent()
	if a.json {
		list := []map[string]any{}
		for i := range answers {
			got := &answers[i]
			list = append(list, map[string]any{
				"subject": got.Subject.String(), "target": got.Target, "verdict": got.Verdict, "rule": got.Rule, "because": got.Because, "fix": got.Fix,
				"at": timeline.FormatTime(got.Row.Start), "request": got.Row.ID,
			})
		}
		return a.printJSON(a.out, map[string]any{"schema": "pulltrail.canary/1", "run": rep.Run, "answers": list, "spent": map[string]any{"requests": requests, "tokens": tokens}})
	}
	bold := a.paint()
	for i := range answers {
		got := &answers[i]
		fmt.Fprintf(a.out, "%s%s  %s at %s\n          %s\n", bold(string(got.Verdict), string(got.Verdict)), strings.Repeat(" ", len("possible")-len(got.Verdict)),
			reports.Text(got.Subject.String()), reports.Text(got.Target), reports.Text(got.Because))
		if got.Fix != "" {
			fmt.Fprintf(a.out, "          next: %s\n", reports.Text(got.Fix))
		}
	}
	_, err := fmt.Fprintf(a.out, "\nrun %s; so far %s, %d tokens. Every request: pulltrail sql 'SELECT * FROM canaries'\n", reports.Text(rep.Run), count(int(requests), "request"), tokens)
	return err
}
