package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/reports"
	"pulltrail/timeline"
)

func (a *app) sqlCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "sql STATEMENT",
		Short: "Ask the timeline in SQL, read-only",
		Long: `Ask the timeline in SQL: one reading statement, on a read-only connection.

Views for people:
  timeline         events, one row for each thing an event names
  subjects         hosts, containers, jobs, images, clients, and how many events
  sources          what was read, and how well
  gaps             what of it could not be understood, with the reason
  links            relations between identities
  verdicts         what each incident was answered with last
  verdict_changes  how verdicts changed from answer to answer
  ledger           what collectors asked for, and what became of it
  credentials      names of credentials in lists, with their days
  decisions        what people stated, rotated, stopped, waived
  settings         of engines and exporters
  requests         to models: counts of tokens, and times
  canaries         what test tenants got

Rows are parted by tabs, under a row of names; --json prints an object each.`,
		Args: wants("one statement in quotes, such as 'SELECT * FROM gaps'", cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			db, err := timeline.Open(a.caseDir)
			if err != nil {
				return err
			}
			defer db.Close()
			out := bufio.NewWriter(a.out)
			var columns []string
			err = db.SQL(c.Context(), args[0], func(row []string) error {
				if a.json {
					if columns == nil {
						columns = row
						return nil
					}
					m := make(map[string]string, len(row))
					for i, v := range row {
						m[columns[i]] = v
					}
					return a.printJSON(out, m)
				}
				for i := range row {
					row[i] = reports.Text(row[i])
				}
				_, err := out.WriteString(strings.Join(row, "\t") + "\n")
				return err
			})
			if err != nil && strings.Contains(err.Error(), "no such table") {
				return fmt.Errorf("%w: 'pulltrail sql --help' lists the views", err)
			}
			if errors.Is(err, timeline.ErrStatement) {
				return usage("%v", err)
			}
			return errors.Join(err, out.Flush())
		},
	}
}
