package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

func (a *app) stateCmd() *cobra.Command {
	var by, from, to, reason string
	var withdraw bool
	c := &cobra.Command{
		Use:   "state SUBJECT WORD... --by NAME",
		Short: "State what no log can show: that a host has no Docker",
		Long: `State facts of a subject that no log can show. They are kept with the name and the
time, never changed, and every finding that leans on one says so.

  no-CHANNEL         it has no such channel: no-pypi, no-npm, no-ghcr; no-docker
                     says that it has no container runtime at all
  egress=none        it cannot reach the internet (egress=seen: it can)
  scripts=read       of a job, or of all jobs of a project (job:github:acme/api):
                     somebody read the scripts and tasks that it ran where the log
                     does not show it, and they install nothing more
  caches=read        of a job, or of all jobs of a project: somebody looked at the
                     caches that it took installed packages from, and they were
                     made before the release, or do not hold it
  is=NAME, not=NAME  of a host: NAME is another name of the same machine, or
                     that of another machine

A statement that evidence contradicts is shown as a gap and clears nothing.
--withdraw takes one back.`,
		Args: wants("a SUBJECT such as host:web1, and what is stated, such as no-docker", cobra.MinimumNArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			if by == "" {
				return usage("state needs --by NAME: who says so stands in every finding that leans on it")
			}
			about, err := timeline.ParseSubject(args[0])
			if err != nil {
				return usage("%v", err)
			}
			var all []timeline.Decision
			for _, text := range args[1:] {
				d := timeline.Decision{Act: timeline.Stated, About: about.String(), Who: by, Reason: reason, Command: a.commandLine(), Program: version}
				if d.Value, err = matchers.ParseStatement(about, text); err != nil {
					return usage("%v", err)
				}
				if withdraw {
					d.Value = matchers.Withdrawn(d.Value)
				}
				if err := between(&d, from, to); err != nil {
					return usage("%v", err)
				}
				all = append(all, d)
			}
			return a.state(about, args[1:], all)
		},
	}
	c.Flags().StringVar(&by, "by", "", "who states it")
	c.Flags().StringVar(&from, "from", "", "since when it holds, RFC 3339 (default: always)")
	c.Flags().StringVar(&to, "to", "", "until when it holds, RFC 3339 (default: always)")
	c.Flags().StringVar(&reason, "reason", "", "how they know")
	c.Flags().BoolVar(&withdraw, "withdraw", false, "take the statement back")
	return c
}

// between reads the ends of the time that a statement holds for.
func between(d *timeline.Decision, from, to string) error {
	at, err := timeline.ParseTime(from, 0)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	until, err := timeline.ParseTime(to, 0)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	if at != 0 && until != 0 && until < at {
		return errors.New("--to is before --from")
	}
	d.At, d.Until = at, until
	return nil
}

// state records what was stated of a subject. words are what the user called it.
func (a *app) state(about timeline.Subject, words []string, all []timeline.Decision) error {
	db, err := timeline.Create(a.caseDir)
	if err != nil {
		return err
	}
	named, err := db.Names(about)
	if err := errors.Join(err, db.Decide(all...), db.Close()); err != nil {
		return err
	}
	if !named && (about.Kind == timeline.Host || about.Kind == timeline.Container) {
		fmt.Fprintf(a.err, "pulltrail: no evidence and no inventory names %s; if it is called otherwise, take that back with --withdraw\n", reports.Text(about.String()))
	}
	for i, d := range all {
		if a.json {
			if err := a.printJSON(a.out, map[string]any{"subject": d.About, "stated": d.Value, "by": d.Who, "reason": d.Reason}); err != nil {
				return err
			}
			continue
		}
		text := d.Value
		if text != words[i] {
			text = words[i] + " (" + d.Value + ")"
		}
		fmt.Fprintf(a.out, "%s: %s, stated by %s\n", reports.Text(d.About), reports.Text(text), reports.Text(d.Who))
	}
	return nil
}
