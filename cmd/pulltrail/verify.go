package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/reports"
	"pulltrail/timeline"
)

func (a *app) verifyCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [BUNDLE.zip [EVIDENCE...]]",
		Short: "Check that evidence, record or a bundle are what they were",
		Args:  cobra.ArbitraryArgs,
		Long: `Check the case without changing it:

  log        the chain of custody.jsonl: each line names the SHA-256 of the line
             before it, and the timeline names the last
  source     what stands in the timeline, against the log
  decision   what people said, against the log
  request    what collectors asked for, against the log
  kept       the bytes that 'ingest --keep' kept, against their SHA-256
  original   the files that were read, where they can be reached from here
  inventory  the file that the inventory was read from

An original that changed or is gone is only noted when its bytes are kept, or
when the recorded bytes still stand at its beginning, as in a log that is being
written. Where it was the only copy, changed is a mismatch, and gone cannot be
checked.

The log proves that nothing was changed since somebody wrote its head down: the
SHA-256 that this prints. That the rows of the timeline are what the evidence
says is shown by reading the evidence into a new case.

With BUNDLE.zip, which 'pulltrail report manifest -o BUNDLE.zip' wrote, no case is
needed. It is checked by itself: the hash of each member, the chain of the log,
its head, and that the log records each source. Each file EVIDENCE has to be one
of the sources. Compare the SHA-256 of the manifest that this prints with the one
that the sender tells you another way.

Exit code 0: all good; 3: something could not be checked, or a run was
interrupted; 5: a hash or the chain does not hold.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return a.verifyBundle(args[0], args[1:])
			}
			db, err := timeline.Open(a.caseDir)
			if err != nil {
				return err
			}
			defer db.Close()
			v, err := db.Verify(c.Context())
			if err != nil {
				return err
			}
			return a.verified(v)
		},
	}
}

// verified prints what was found, and ends as it says.
func (a *app) verified(v *timeline.Verification) error {
	out := bufio.NewWriter(a.out)
	var err error
	if a.json {
		err = a.verifyJSON(out, v)
	} else {
		verifyText(out, v)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return err
	}
	switch v.Worst() {
	case timeline.Mismatch:
		return exitError(exitMismatch)
	case timeline.Unchecked:
		return exitError(exitIncomplete)
	case timeline.Good, timeline.Note:
	}
	return nil
}

func (a *app) verifyJSON(out io.Writer, v *timeline.Verification) error {
	checks := v.Checks
	if checks == nil {
		checks = []timeline.Checked{}
	}
	return a.printJSON(out, map[string]any{
		"schema": "pulltrail.verify/1", "outcome": v.Worst(), "checks": checks,
		"custody": map[string]any{"entries": len(v.Custody.Entries), "head": v.Custody.Head, "bad": v.Custody.Bad},
	})
}

// verifyText prints how many of each kind are in each state, and what is not
// as it was on a line of its own.
func verifyText(out io.Writer, v *timeline.Verification) {
	fmt.Fprintf(out, "custody log: %s, head %s\n\n", count(len(v.Custody.Entries), "entry"), cmp.Or(v.Custody.Head, "none"))
	for _, what := range []string{"member", "log", "source", "decision", "request", "findings", "evidence", "kept", "original", "inventory"} {
		var order []string
		counts := map[string]int{}
		for i := range v.Checks {
			if c := &v.Checks[i]; c.What == what {
				if counts[c.State] == 0 {
					order = append(order, c.State)
				}
				counts[c.State]++
			}
		}
		for i, state := range order {
			order[i] = fmt.Sprintf("%d %s", counts[state], state)
		}
		if order != nil {
			fmt.Fprintf(out, "%-9s  %s\n", what, strings.Join(order, ", "))
		}
	}
	for _, o := range []timeline.Outcome{timeline.Mismatch, timeline.Unchecked, timeline.Note} {
		shown := slices.DeleteFunc(slices.Clone(v.Checks), func(c timeline.Checked) bool { return c.Outcome != o })
		if len(shown) > 0 {
			fmt.Fprintln(out)
		}
		for i := range shown {
			c := &shown[i]
			name := c.Path
			if name == "" {
				name = c.SHA256
			}
			fmt.Fprintf(out, "%-9s  %s %s: %s: %s\n", c.Outcome, c.What, reports.Text(name), c.State, reports.Text(c.Detail))
		}
	}
}
