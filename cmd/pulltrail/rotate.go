package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pulltrail/ingest"
	"pulltrail/ingest/evidence"
	"pulltrail/ingest/proxydb"
	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

// rotation is what the verbs of rotate share.
type rotation struct {
	*app
	incident, asOf string
}

func (a *app) rotateCmd() *cobra.Command {
	r := &rotation{app: a}
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Plan, record and prove the rotation of what was within reach",
		Long: `Plan, record and prove the rotation of the credentials that were within reach of
what an incident exposed. Names and dates alone are kept, never a value.

The plan lists each credential once: what the strongest findings expose first,
then what opens most (the machine's role in the cloud, what issues other
credentials, the gateway's master key, what changes code that others run,
provider keys, databases, virtual keys, single services, then names that do not
say what they open). A new value is safe only after the last subject that could
read the old one was stopped or rebuilt: 'rotate stopped' says when that was.`,
	}
	c.PersistentFlags().StringVar(&r.incident, "incident", "", incidentHelp)
	for _, verb := range []*cobra.Command{r.planCmd(), r.setCmd(), r.waiveCmd(), r.stoppedCmd(), r.importCmd(), r.statusCmd(), r.verifyCmd(), r.historyCmd()} {
		verb.Args = usageOf(verb.Args)
		c.AddCommand(verb)
	}
	c.Args = usageOf(unknownVerb)
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

func (r *rotation) asOfFlag(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&r.asOf, "as-of", "", "time at which ages and waivers are looked at, RFC 3339 (default: $SOURCE_DATE_EPOCH, else now)")
	return c
}

func (r *rotation) planCmd() *cobra.Command {
	return r.asOfFlag(&cobra.Command{
		Use:   "plan",
		Short: "List what to rotate, in order, and when a new value is safe",
		RunE: func(*cobra.Command, []string) error {
			return r.show(func(w *bufio.Writer, rot *reports.Rotation) error { return reports.RotationPlan(w, rot, r.paint()) })
		},
	})
}

func (r *rotation) statusCmd() *cobra.Command {
	return r.asOfFlag(&cobra.Command{
		Use:   "status",
		Short: "Say how far each credential has come",
		RunE: func(*cobra.Command, []string) error {
			return r.show(func(w *bufio.Writer, rot *reports.Rotation) error { return reports.RotationStatus(w, rot, false) })
		},
	})
}

func (r *rotation) verifyCmd() *cobra.Command {
	return r.asOfFlag(&cobra.Command{
		Use:   "verify",
		Short: "Check what was rotated against the lists that were read",
		Long: `Check what was rotated against the lists that were read ('rotate import'). A
credential is verified when lists show a value that was made after the moment
that is safe, for every place that held it, and no older one that works. What is
not verified and not waived is printed; then the exit code is 12. It is 3 where
nothing that was read names anyone who could have held something.`,
		RunE: func(*cobra.Command, []string) error {
			open, judged := false, 0
			err := r.show(func(w *bufio.Writer, rot *reports.Rotation) error {
				judged = rot.Judged()
				for _, row := range rot.Rows {
					open = open || !matchers.State(row.Status).Done()
				}
				return reports.RotationStatus(w, rot, true)
			})
			switch {
			case err != nil:
				return err
			case open:
				return exitError(exitOpen)
			case judged == 0: // nothing read is no proof
				return exitError(exitIncomplete)
			}
			return nil
		},
	})
}

// show makes the plan and prints it.
func (r *rotation) show(text func(*bufio.Writer, *reports.Rotation) error) error {
	when, err := reports.AsOf(r.asOf, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return usage("%v", err)
	}
	if when == "" {
		when = timeline.FormatTime(time.Now().Truncate(time.Second).UnixNano())
	}
	res, rows, err := r.plan(when)
	if err != nil {
		return err
	}
	rot, err := reports.NewRotation(res, rows, when)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(r.out)
	if r.json {
		err = reports.WriteJSON(out, rot)
	} else {
		err = text(out, rot)
	}
	return errors.Join(err, out.Flush())
}

// plan asks the case; when is RFC 3339, "" for no time.
func (r *rotation) plan(when string) (*matchers.Result, []matchers.Credential, error) {
	db, res, err := r.ask(r.incident)
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	asOf, err := timeline.ParseTime(when, 0)
	if err != nil {
		return nil, nil, err
	}
	rows, err := matchers.PlanRotation(db, res, asOf)
	return res, rows, err
}

func (r *rotation) historyCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "history",
		Short: "Print who said what, in the order it was said",
		RunE: func(*cobra.Command, []string) error {
			db, err := timeline.Open(r.caseDir)
			if err != nil {
				return err
			}
			defer db.Close()
			all, err := db.Decisions()
			if err != nil {
				return err
			}
			out := bufio.NewWriter(r.out)
			for i := range all {
				if err := r.printDecision(out, &all[i]); err != nil {
					return err
				}
			}
			return out.Flush()
		},
	}
}

func (r *rotation) printDecision(out *bufio.Writer, d *timeline.Decision) error {
	if r.json {
		return r.printJSON(out, map[string]any{
			"act": d.Act, "about": d.About, "at": stated(d.At), "until": stated(d.Until), "who": d.Who, "value": d.Value,
			"reason": d.Reason, "incident": d.Incident, "said": timeline.FormatTime(d.Said), "program": d.Program,
		})
	}
	words := []string{time.Unix(0, d.Said).UTC().Format(time.RFC3339), d.Who, string(d.Act), d.About}
	for _, w := range []string{
		prefixed("at ", stated(d.At)), prefixed("until ", stated(d.Until)), prefixed("as ", d.Value), prefixed("for ", d.Incident), prefixed("because ", d.Reason),
	} {
		if w != "" {
			words = append(words, w)
		}
	}
	_, err := fmt.Fprintln(out, reports.Text(strings.Join(words, "  ")))
	return err
}

func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

func stated(ns int64) string {
	if ns == 0 {
		return ""
	}
	return timeline.FormatTime(ns)
}

func (r *rotation) importCmd() *cobra.Command {
	var store, subject string
	c := &cobra.Command{
		Use:   "import FILE...",
		Short: "Read lists of credentials: names and dates, never values",
		Long: `Read lists of credentials as 'ingest' does: secret lists of GitHub, GitLab,
CircleCI, Buildkite and Jenkins, AWS credential reports, exports of a LiteLLM
proxy, Kubernetes secrets, .env and compose files, or a CSV of your own with the
header

  name,class,holder,store,owner,provider,created,updated,used,expires,state,alias,team,customer

in any order; only name is required. Times are RFC 3339 or days, state is active
or inactive, holder is a KIND:ID. Import a list again after the rotation: the
last one that was made counts.

'rotate import postgres' asks the database of a LiteLLM proxy, whose address is
in $PULLTRAIL_LITELLM_DSN (postgres://…) and is not kept. The session can only
read, and asks for names and dates: no key, no hash, no value. A user that may
read these columns alone is enough. What came is kept in the case.`,
		Args: wants("FILE..., or postgres", cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			opt := ingest.Options{Store: store, Parser: version, Command: r.commandLine(), Stdin: &stdin{ctx: c.Context(), r: r.in}}
			if subject != "" {
				var err error
				if opt.Subject, err = timeline.ParseSubject(subject); err != nil {
					return usage("--subject: %v", err)
				}
			}
			if len(args) == 1 && args[0] == "postgres" {
				return r.importDatabase(c, opt)
			}
			return r.ingest(c, args, opt)
		},
	}
	c.Flags().StringVar(&store, "store", "", "where the secrets of a list that does not say so are kept: github:OWNER/REPO, gitlab:GROUP/PROJECT, …")
	c.Flags().StringVar(&subject, "subject", "", "whose secrets they are, KIND:ID, where the list does not say")
	return c
}

// dsnEnv names the database of a LiteLLM proxy.
const dsnEnv = "PULLTRAIL_LITELLM_DSN"

// importDatabase asks the database of a proxy, and reads the answer as a file
// that is kept.
func (r *rotation) importDatabase(c *cobra.Command, opt ingest.Options) error {
	dsn := os.Getenv(dsnEnv)
	if dsn == "" {
		return usage("set $%s to the address of the proxy's database, postgres://USER:PASSWORD@HOST:PORT/DATABASE", dsnEnv)
	}
	data, err := proxydb.Read(c.Context(), dsn)
	if err != nil {
		return errors.New(evidence.Redact(err.Error()))
	}
	opt.Stdin, opt.Called, opt.Keep, opt.Format = bytes.NewReader(data), "postgres", true, "litellm-database"
	return r.ingest(c, []string{"-"}, opt)
}

// names finds the rows that words mean: a name, the id of a row, or the class
// of a row without a name.
func names(rows []matchers.Credential, words []string) ([]string, error) {
	var out []string
	for _, word := range words {
		i := slices.IndexFunc(rows, func(c matchers.Credential) bool { return c.Called(word) })
		if i < 0 {
			return nil, usage("no credential %q in the plan: 'pulltrail rotate plan' lists them%s", word, likeName(rows, word))
		}
		out = append(out, cmp.Or(rows[i].Name, rows[i].Class))
	}
	return out, nil
}

// likeName suggests a name that holds the word, or the reverse.
func likeName(rows []matchers.Credential, word string) string {
	word = strings.ToLower(word)
	for i := range rows {
		name := strings.ToLower(rows[i].Name)
		if name != "" && (strings.Contains(name, word) || strings.Contains(word, name)) {
			return "; did you mean " + rows[i].Name + "?"
		}
	}
	return ""
}

// decide adds what was said to the case.
func (a *app) decide(all []timeline.Decision) error {
	for i := range all {
		all[i].Command, all[i].Program = a.commandLine(), version
	}
	if _, err := os.Stat(a.caseDir); err != nil {
		return fmt.Errorf("%w in %s: run 'pulltrail ingest PATH...' first, or name the case with --case DIR", timeline.ErrNoCase, a.caseDir)
	}
	db, err := timeline.Create(a.caseDir)
	if err != nil {
		return err
	}
	return errors.Join(db.Decide(all...), db.Close())
}
