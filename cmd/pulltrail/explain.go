package main

import (
	"bufio"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/matchers"
	"pulltrail/reports"
)

func (a *app) explainCmd() *cobra.Command {
	var incident string
	c := &cobra.Command{
		Use:   "explain SUBJECT|FINDING",
		Short: "Print every line that led to a verdict",
		Long: `Print every line that led to a verdict, down to file, line and time as written.
SUBJECT is KIND:ID, an id, or a part of one that fits a single subject; FINDING
is the id of a finding.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("want one SUBJECT (KIND:ID) or FINDING id")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			defer spareMemory(answerMemory)()
			db, res, err := a.ask(incident)
			if err != nil {
				return err
			}
			db.Close()
			f, err := pick(res.Findings, args[0])
			if err != nil {
				return err
			}
			out := bufio.NewWriter(a.out)
			if a.json {
				err = reports.WriteJSON(out, reports.Explain(f))
			} else {
				err = reports.Explanation(out, reports.Explain(f), res.Incident.ID, res.Gaps)
			}
			return errors.Join(err, out.Flush())
		},
	}
	c.Flags().StringVar(&incident, "incident", "", incidentHelp)
	return c
}

// pick finds the one finding that a name means.
func pick(findings []matchers.Finding, name string) (*matchers.Finding, error) {
	var part []*matchers.Finding
	for i := range findings {
		f := &findings[i]
		if f.ID == name || f.Subject.String() == name || f.Subject.ID == name {
			return f, nil
		}
		if strings.Contains(f.Subject.String(), name) {
			part = append(part, f)
		}
	}
	switch len(part) {
	case 0:
		return nil, usage("no subject or finding %q: 'pulltrail match' lists them", name)
	case 1:
		return part[0], nil
	}
	names := make([]string, 0, 5)
	for _, f := range part[:min(len(part), 5)] {
		names = append(names, f.Subject.String())
	}
	return nil, usage("%q fits %d subjects, such as %s: name one", name, len(part), strings.Join(names, ", "))
}
