package main

import (
	"slices"

	"github.com/spf13/cobra"

	"pulltrail/ingest"
	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

// completions teaches the shell what words may be: 'pulltrail completion bash'
// and its like print the script.
func (a *app) completions(c *cobra.Command) {
	for name, words := range map[string]func() []string{"incident": matchers.Library, "format": formatNames, "phase": phases, "action": actions} {
		if c.Flags().Lookup(name) != nil || c.PersistentFlags().Lookup(name) != nil {
			// It fails only where the flag has one already: persistent ones of a group.
			_ = c.RegisterFlagCompletionFunc(name, among(-1, words))
		}
	}
	switch c.Name() {
	case "match", "coverage", "diff", "show":
		c.ValidArgsFunction = among(1, matchers.Library)
	case "report":
		c.ValidArgsFunction = among(1, reports.Names)
	case "export":
		c.ValidArgsFunction = among(1, func() []string { return exportNames })
	case "explain":
		c.ValidArgsFunction = among(1, a.judged)
	case "disposition", "state", "stopped":
		c.ValidArgsFunction = among(-1, a.judged)
	}
	for _, sub := range c.Commands() {
		a.completions(sub)
	}
}

// among completes with the words, as the first so many arguments; -1 is all.
// Files are offered too: FILE.yaml is an incident.
func among(first int, words func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if first >= 0 && len(args) >= first {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return words(), cobra.ShellCompDirectiveDefault
	}
}

func actions() []string {
	var names []string
	for a := timeline.NoAction + 1; a <= timeline.Hold; a++ {
		names = append(names, a.String())
	}
	return names
}

func phases() []string { return reports.Phases }

func formatNames() []string {
	names := make([]string, len(ingest.Formats))
	for i := range ingest.Formats {
		names[i] = ingest.Formats[i].Name
	}
	return names
}

// judged are the subjects of the answers that the case has stored.
func (a *app) judged() []string {
	db, err := timeline.Open(a.caseDir)
	if err != nil {
		return nil
	}
	defer db.Close()
	all, err := db.Answers("")
	if err != nil || len(all) == 0 {
		return nil
	}
	var names []string
	rows, err := db.VerdictsOf(all[len(all)-1])
	if err != nil {
		return nil
	}
	for i := range rows {
		names = append(names, rows[i].Subject)
	}
	slices.Sort(names)
	return names
}
