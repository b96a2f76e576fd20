package main

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"pulltrail/reports"
)

func (a *app) coverageCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "coverage INCIDENT",
		Short: "Say what was and was not read, and how to close each gap",
		Args:  oneIncident,
		RunE: func(_ *cobra.Command, args []string) error {
			defer spareMemory(answerMemory)()
			res, err := a.answer(args[0])
			if err != nil {
				return err
			}
			doc := reports.NewSummary(res, 0)
			out := bufio.NewWriter(a.out)
			if a.json {
				err = reports.WriteJSON(out, doc.Coverage)
			} else {
				err = reports.CoverageText(out, doc)
			}
			if err := errors.Join(err, out.Flush()); err != nil {
				return err
			}
			if !doc.Coverage.Complete {
				return exitError(exitIncomplete)
			}
			return nil
		},
	}
}
