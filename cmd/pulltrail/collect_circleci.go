package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pulltrail/ingest/collect"
	"pulltrail/ingest/collect/circleci"
)

func (a *app) collectCircleCI() *cobra.Command {
	var f collecting
	var api string
	var lookback time.Duration
	c := &cobra.Command{
		Use:   "circleci VCS/ORG | VCS/ORG/PROJECT...",
		Short: "Output of steps, names of variables, from CircleCI",
		Long: `Fetch what the steps of jobs printed whose workflows were at work in a window,
those that were started again too, and the names of the variables of contexts and
projects. VCS/ORG, such as gh/acme, is the projects that the token's owner follows,
250 at most: name others as gh/acme/api.

Where the output of a step is, the API says with a signed address on another host,
which gets no token and is not kept. The token ($CIRCLE_TOKEN) is a personal one.`,
		Args: wants("VCS/ORG or VCS/ORG/PROJECT", cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			opt := circleci.Options{Lookback: lookback}
			api = strings.TrimSuffix(api, "/")
			return a.collectWords(c, &f, args, &opt, service{
				opt: circleci.Connect(api), tokens: circleci.Tokens(f.tokenFile),
				run: func(ctx context.Context, s *collect.Session) error { return circleci.Collect(ctx, s, opt) },
				plan: func(ctx context.Context, s *collect.Session) (string, error) {
					p, err := circleci.DryRun(ctx, s, opt)
					return fmt.Sprintf("%d pipelines: it takes at least %d calls, one for each workflow and each job in the window, and a download for each step", p.Pipelines, p.Calls), err
				},
			})
		},
	}
	f.flags(c)
	c.Flags().StringVar(&api, "api", circleci.API, "address of the API; of a server of your own https://HOST/api")
	c.Flags().DurationVar(&lookback, "lookback", circleci.Lookback, "how long before the window a pipeline may have been made that was at work in it")
	return c
}
