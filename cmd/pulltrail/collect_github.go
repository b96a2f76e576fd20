package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pulltrail/ingest/collect"
	"pulltrail/ingest/collect/github"
)

func (a *app) collectGitHub() *cobra.Command {
	var f collecting
	var api string
	var lookback time.Duration
	c := &cobra.Command{
		Use:   "github OWNER | OWNER/REPO...",
		Short: "Runs with jobs, logs and workflow files, from GitHub",
		Long: `Fetch the workflow runs that were at work in a window: those that began earlier
and all attempts of those that were started again, with their jobs and logs, and
the workflow files of the commits that ran. OWNER is an organisation or user: all
repositories, archived ones too; of an organisation also the audit log and the
container packages, where the token may see them.

The token needs to read actions, contents and metadata of the repositories.`,
		Args: wants("OWNER or OWNER/REPO: an organisation or user, or repositories", cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			opt := github.Options{Lookback: lookback}
			api = strings.TrimSuffix(api, "/")
			return a.collectWords(c, &f, args, &opt, service{
				opt: github.Connect(api), tokens: github.Tokens(api, f.tokenFile),
				run: func(ctx context.Context, s *collect.Session) error { return github.Collect(ctx, s, opt) },
				plan: func(ctx context.Context, s *collect.Session) (string, error) {
					p, err := github.DryRun(ctx, s, opt)
					return fmt.Sprintf("%d repositories, %d runs: it takes about %d calls", p.Repos, p.Runs, p.Calls), err
				},
			})
		},
	}
	f.flags(c)
	c.Flags().StringVar(&api, "api", github.API, "address of the API; of an enterprise server https://HOST/api/v3")
	c.Flags().DurationVar(&lookback, "lookback", github.Lookback, "how long before the window a run may have been created that was still at work in it")
	return c
}
