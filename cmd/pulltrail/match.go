package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

func (a *app) matchCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "match INCIDENT",
		Short: "Answer: a verdict for every host, container, image and job",
		Long: `Answer an incident from the timeline. INCIDENT is an id or alias of the library
('pulltrail incidents'), an incident file, or a purl with version.

Exit codes: 0 every subject clear and the evidence complete, 3 nothing found but
the evidence is not complete, 10 some subject exposed or pulled, 11 some
possible and none stronger.

The verdicts are stored in the case, when they are others than the time before:
'pulltrail diff INCIDENT' says what changed and why.`,
		Args: oneIncident,
		RunE: func(_ *cobra.Command, args []string) error {
			defer spareMemory(answerMemory)()
			res, err := a.answer(args[0])
			if err != nil {
				return err
			}
			a.remember(args[0], res.Incident)
			stored := make(chan error, 1)
			changed := 0
			go func() { // the disk is slow
				var err error
				changed, err = a.store(res)
				stored <- err
			}()
			out := bufio.NewWriter(a.out)
			if a.json {
				err = reports.WriteAnswer(out, res)
			} else {
				err = reports.Answer(out, reports.NewSummary(res, reports.MaxRows), a.paint())
			}
			err = errors.Join(err, out.Flush())
			if err := <-stored; err != nil {
				fmt.Fprintln(a.err, "pulltrail: not stored for 'pulltrail diff': "+reports.Text(strings.ReplaceAll(err.Error(), "\n", "; ")))
			}
			if changed > 0 && !a.json && err == nil {
				_, err = fmt.Fprintf(a.out, "Other than in the answer before: %s. 'pulltrail diff %s' says which, and why.\n", count(changed, "verdict"), reports.Text(args[0]))
			}
			if err != nil {
				return err
			}
			return verdictCode(res)
		},
	}
}

// wants says what a verb wants where the number of its words is wrong.
func wants(what string, check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) != nil {
			return usage("%s wants %s (it got %d): see '%s --help'", cmd.Name(), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}

// oneIncident wants exactly one argument and says what it may be.
func oneIncident(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("want one INCIDENT: an id or alias ('pulltrail incidents' lists them), FILE.yaml, or a purl with version")
	}
	return nil
}

// answer matches an incident against the case.
func (a *app) answer(incident string) (*matchers.Result, error) {
	db, res, err := a.match(incident)
	if err != nil {
		return nil, err
	}
	db.Close()
	return res, nil
}

// match opens the case and matches an incident against it. The caller closes
// the case.
func (a *app) match(incident string) (*timeline.DB, *matchers.Result, error) {
	inc, err := a.incident(incident)
	if err != nil {
		return nil, nil, err
	}
	a.asked = inc.ID
	db, err := timeline.Open(a.caseDir)
	if err != nil {
		return nil, nil, err
	}
	res, err := matchers.Match(db, inc)
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	return db, res, nil
}

// incidentHelp is the help of --incident where ask answers it.
const incidentHelp = "id, alias, FILE.yaml or purl with version (default: the one matched last)"

// ask is match of the incident that is named, else of the one matched last.
func (a *app) ask(named string) (*timeline.DB, *matchers.Result, error) {
	incident, err := a.question(named)
	if err != nil {
		return nil, nil, err
	}
	return a.match(incident)
}

// incident finds an incident; one that nobody knows is a usage error.
func (a *app) incident(name string) (*matchers.Incident, error) {
	inc, err := matchers.Find(name)
	if errors.Is(err, matchers.ErrUnknownIncident) {
		return nil, usage("%v", err)
	}
	return inc, err
}

// verdictCode is the exit code of an answer.
func verdictCode(res *matchers.Result) error {
	switch {
	case res.Counts[matchers.Exposed]+res.Counts[matchers.Pulled] > 0:
		return exitError(exitExposed)
	case res.Counts[matchers.Possible] > 0:
		return exitError(exitPossible)
	case !res.Complete:
		return exitError(exitIncomplete)
	}
	return nil
}

// paint colours verdicts on a terminal.
func (a *app) paint() func(verdict, text string) string {
	if !terminal(a.out) || os.Getenv("NO_COLOR") != "" {
		return func(_, text string) string { return text }
	}
	colours := map[string]string{"exposed": "31;1", "pulled": "31", "possible": "33", "unknown": "35", "clear": "32"}
	return func(verdict, text string) string { return "\x1b[" + colours[verdict] + "m" + text + "\x1b[0m" }
}
