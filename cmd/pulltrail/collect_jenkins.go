package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pulltrail/ingest/collect"
	"pulltrail/ingest/collect/jenkins"
)

func (a *app) collectJenkins() *cobra.Command {
	var f collecting
	var lookback time.Duration
	c := &cobra.Command{
		Use:   "jenkins URL [FOLDER | FOLDER/JOB...]",
		Short: "Console logs of builds, ids of credentials, from Jenkins",
		Long: `Fetch the console logs of the builds that were at work in a window, from all jobs
that the login may see, or from folders and jobs by name (multibranch projects are
folders), with times where the Timestamper plugin has them; the ids of credentials
where it may see those. Builds that were deleted are known by their numbers, and
are unknown in 'match'.

URL is that of the controller, such as https://ci.acme.example/jenkins. The login is
$JENKINS_CREDENTIAL (USER:TOKEN), --token-file, or $JENKINS_USER_ID with
$JENKINS_API_TOKEN; without one only what is public is had.`,
		Args: wants("URL, and FOLDER or FOLDER/JOB for less than all", cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			opt := jenkins.Options{Lookback: lookback}
			api := strings.TrimSuffix(args[0], "/")
			if !strings.Contains(api, "://") {
				return usage("%q: want the address of the controller, such as https://ci.acme.example", args[0])
			}
			return a.collectWords(c, &f, args[1:], &opt, service{
				opt: jenkins.Connect(api), tokens: jenkins.Tokens(f.tokenFile), public: true,
				run: func(ctx context.Context, s *collect.Session) error { return jenkins.Collect(ctx, s, opt) },
				plan: func(ctx context.Context, s *collect.Session) (string, error) {
					p, err := jenkins.DryRun(ctx, s, opt)
					return fmt.Sprintf("%d jobs, %d builds: it takes about %d calls", p.Jobs, p.Builds, p.Calls), err
				},
			})
		},
	}
	f.flags(c)
	c.Flags().DurationVar(&lookback, "lookback", jenkins.Lookback, "how long before the window a build may have begun that was at work in it")
	return c
}
