package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/ingest/collect"
	"pulltrail/ingest/collect/buildkite"
)

func (a *app) collectBuildkite() *cobra.Command {
	var f collecting
	var api string
	c := &cobra.Command{
		Use:   "buildkite ORG | ORG/PIPELINE...",
		Short: "Logs of jobs, names of secrets, from Buildkite",
		Long: `Fetch the logs of the jobs of builds that were at work in a window, whenever they
began, those that were retried too, and the names of the secrets of clusters and
of the variables that builds were given. ORG is all its pipelines.

The API sends the values of variables with builds: of these answers the case keeps
the names alone. The token ($BUILDKITE_API_TOKEN) needs the scopes read_builds and
read_build_logs; the names of secrets need read_clusters and read_secrets_details.`,
		Args: wants("ORG or ORG/PIPELINE", cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			opt := buildkite.Options{}
			api = strings.TrimSuffix(api, "/")
			return a.collectWords(c, &f, args, &opt, service{
				opt: buildkite.Connect(api), tokens: buildkite.Tokens(f.tokenFile),
				run: func(ctx context.Context, s *collect.Session) error { return buildkite.Collect(ctx, s, opt) },
				plan: func(ctx context.Context, s *collect.Session) (string, error) {
					p, err := buildkite.DryRun(ctx, s, opt)
					return fmt.Sprintf("%d builds, %d jobs: it takes about %d calls", p.Builds, p.Jobs, p.Calls), err
				},
			})
		},
	}
	f.flags(c)
	c.Flags().StringVar(&api, "api", buildkite.API, "address of the API")
	return c
}
