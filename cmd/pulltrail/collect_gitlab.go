package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pulltrail/ingest/collect"
	"pulltrail/ingest/collect/gitlab"
)

func (a *app) collectGitLab() *cobra.Command {
	var f collecting
	var api string
	var lookback time.Duration
	c := &cobra.Command{
		Use:   "gitlab GROUP | GROUP/PROJECT...",
		Short: "Traces of jobs, names of variables, images, from GitLab",
		Long: `Fetch the traces of the jobs that were at work in a window, those that were started
again and those of child pipelines too, the names of CI/CD variables, and the lists
of the images that projects keep. GROUP is all its projects and those of its
subgroups, archived ones too.

The API sends the values of variables with their names: of these answers the case
keeps the names alone. The token needs the scope read_api; the names of variables
need the role of a maintainer.`,
		Args: wants("GROUP or GROUP/PROJECT", cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			opt := gitlab.Options{Lookback: lookback}
			api = strings.TrimSuffix(api, "/")
			return a.collectWords(c, &f, args, &opt, service{
				opt: gitlab.Connect(api), tokens: gitlab.Tokens(api, f.tokenFile),
				run: func(ctx context.Context, s *collect.Session) error { return gitlab.Collect(ctx, s, opt) },
				plan: func(ctx context.Context, s *collect.Session) (string, error) {
					p, err := gitlab.DryRun(ctx, s, opt)
					return fmt.Sprintf("%d projects, %d jobs: it takes about %d calls", p.Projects, p.Jobs, p.Calls), err
				},
			})
		},
	}
	f.flags(c)
	c.Flags().StringVar(&api, "api", gitlab.API, "address of the API; of a server of your own https://HOST/api/v4")
	c.Flags().DurationVar(&lookback, "lookback", gitlab.Lookback, "how long before the window a job may have been created that was at work in it")
	return c
}
