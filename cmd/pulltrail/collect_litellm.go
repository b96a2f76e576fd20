package main

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"pulltrail/ingest"
	"pulltrail/ingest/evidence"
	"pulltrail/ingest/proxydb"
	"pulltrail/timeline"
)

func (a *app) collectLiteLLM() *cobra.Command {
	var f collecting
	var subject string
	c := &cobra.Command{
		Use:   "litellm",
		Short: "Requests that went through a LiteLLM proxy, from its database",
		Long: `Read the table LiteLLM_SpendLogs of a LiteLLM proxy: the requests that were at work
in the window, in tokens and times, with the alias of team, key or user. The
address of the database is in $` + dsnEnv + ` (postgres://…) and is not kept.

The session can only read. What was asked and answered, keys, hashes and addresses
of clients are never asked for; a user that may read the other columns alone is
enough. Rows are taken as they come, thousands at a time, however many there are;
they are kept in the case. Exit code 3: the table, or a column that matters, could
not be had.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			opt := ingest.Options{Parser: version, Command: a.commandLine()}
			var err error
			if subject != "" {
				if opt.Subject, err = timeline.ParseSubject(subject); err != nil {
					return usage("--subject: %v", err)
				}
			}
			window, err := a.window(&f, nil, time.Now())
			if err != nil {
				return err
			}
			return a.spendLogs(c, window, opt)
		},
	}
	c.Flags().StringVar(&f.from, "from", "", "beginning of the window, RFC 3339 or a date")
	c.Flags().StringVar(&f.to, "to", "", "end of the window (default: now)")
	c.Flags().StringVar(&f.incident, "incident", "", "the window of an incident in place of --from and --to")
	c.Flags().StringVar(&subject, "subject", "", "the proxy, KIND:ID: it gets a verdict even if nothing is found")
	return c
}

// spendLogs reads rows while they come, as a file that is kept.
func (a *app) spendLogs(c *cobra.Command, window timeline.Span, opt ingest.Options) error {
	dsn := os.Getenv(dsnEnv)
	if dsn == "" {
		return usage("set $%s to the address of the proxy's database, postgres://USER:PASSWORD@HOST:PORT/DATABASE", dsnEnv)
	}
	r, w := io.Pipe()
	asked := make(chan error, 1)
	go func() {
		err := proxydb.Spend(c.Context(), dsn, time.Unix(0, window.From), time.Unix(0, window.To), w)
		w.CloseWithError(err)
		asked <- err
	}()
	opt.Stdin, opt.Called, opt.Keep, opt.Format = r, "postgres/LiteLLM_SpendLogs", true, "litellm-spend-logs"
	read := a.ingest(c, []string{"-"}, opt)
	r.CloseWithError(errors.New("reading has ended"))
	if err := <-asked; err != nil {
		return errors.New(evidence.Redact(err.Error()))
	}
	return read
}
