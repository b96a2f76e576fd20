package main

import (
	"bufio"
	"errors"
	"iter"
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

// subjectsOf names who has a finding, as KIND:ID or by the id alone.
func subjectsOf(findings []matchers.Finding, kinds bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range findings {
			name := findings[i].Subject.ID
			if kinds {
				name = findings[i].Subject.String()
			}
			if !yield(name) {
				return
			}
		}
	}
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
		like := ""
		if near := matchers.Near(name, subjectsOf(findings, strings.Contains(name, ":"))); len(near) > 0 {
			like = "did you mean " + strings.Join(near, ", ") + "? "
		}
		return nil, usage("no subject or finding %q: %s'pulltrail match' lists them", name, like)
	case 1:
		return part[0], nil
	}
	names := make([]string, 0, 5)
	for _, f := range part[:min(len(part), 5)] {
		names = append(names, f.Subject.String())
	}
	return nil, usage("%q fits %d subjects, such as %s: name one", name, len(part), strings.Join(names, ", "))
}
