package main

import (
	"bufio"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

func (a *app) diffCmd() *cobra.Command {
	var list, all, schema bool
	c := &cobra.Command{
		Use:   "diff INCIDENT [BEFORE [AFTER]]",
		Short: "Say which verdicts changed since an incident was matched, and why",
		Long: `Say which verdicts changed between two answers to an incident, and why: windows,
versions, tags or digests that its file says otherwise, or evidence that came.

'pulltrail match' stores what it answers, when that is another answer than the
one before. BEFORE and AFTER are each the number of a stored run, the beginning
of a revision (six digits at least), or FILE.yaml, a version of the incident that
is matched now. Without AFTER it is the answer now; without BEFORE the last stored
one that differs from it, where none does the last. 'pulltrail diff OLD/ID.yaml
NEW/ID.yaml' compares two files.`,
		Args: func(_ *cobra.Command, args []string) error {
			if !schema && len(args) < 1 || len(args) > 3 {
				return usage("want INCIDENT and at most two of its answers: a run, a revision, FILE.yaml")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if schema {
				return a.printSchema("diff")
			}
			if len(args) == 2 && isFile(args[0]) && isFile(args[1]) {
				args = append(args[:1], args...)
			}
			return a.diff(args[0], args[1:], list, all)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list the stored answers")
	c.Flags().BoolVar(&all, "all", false, "print those too that keep their verdict for another reason")
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of what --json writes")
	return c
}

func isFile(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

func (a *app) diff(incident string, names []string, list, all bool) error {
	inc, err := a.incident(incident)
	if err != nil {
		return err
	}
	db, err := timeline.Open(a.caseDir)
	if err != nil {
		return err
	}
	defer db.Close()
	out := bufio.NewWriter(a.out)
	if list {
		err = a.listAnswers(out, db, inc)
		return errors.Join(err, out.Flush())
	}
	before, after, err := a.sides(db, inc, names)
	if errors.Is(err, matchers.ErrNoAnswer) {
		return usage("%v", err)
	}
	if err != nil {
		return err
	}
	c, err := matchers.Compare(db, before, after)
	if err != nil {
		return err
	}
	if d := reports.NewDifference(c); a.json {
		err = a.printJSON(out, d)
	} else {
		err = reports.DifferenceText(out, d, all)
	}
	return errors.Join(err, out.Flush())
}

// sides finds the two answers to compare.
func (a *app) sides(db *timeline.DB, inc *matchers.Incident, names []string) (before, after matchers.Side, err error) {
	if len(names) == 2 {
		after, err = a.side(db, inc.ID, names[1])
	} else {
		after, err = now(db, inc)
	}
	if err != nil {
		return before, after, err
	}
	if len(names) == 0 {
		before, err = a.before(db, after)
	} else {
		before, err = a.side(db, inc.ID, names[0])
	}
	return before, after, err
}

// before is the last stored answer that differs from one; where none does, it is
// the last: that nothing changed is an answer too.
func (a *app) before(db *timeline.DB, after matchers.Side) (matchers.Side, error) {
	before, err := matchers.Previous(db, after)
	if !errors.Is(err, matchers.ErrNoAnswer) {
		return before, err
	}
	all, listed := db.Answers(after.Incident)
	if listed != nil || len(all) == 0 {
		return before, errors.Join(err, listed)
	}
	return matchers.StoredSide(db, after.Incident, strconv.FormatInt(all[len(all)-1].ID, 10))
}

// side is one named answer.
func (a *app) side(db *timeline.DB, incident, name string) (matchers.Side, error) {
	if !isFile(name) {
		return matchers.StoredSide(db, incident, name)
	}
	inc, err := a.incident(name)
	if err != nil {
		return matchers.Side{}, err
	}
	if inc.ID != incident {
		return matchers.Side{}, usage("%s is the incident %s, not %s: name two versions of one", name, inc.ID, incident)
	}
	return now(db, inc)
}

func now(db *timeline.DB, inc *matchers.Incident) (matchers.Side, error) {
	res, err := matchers.Match(db, inc)
	if err != nil {
		return matchers.Side{}, err
	}
	return matchers.NewSide(res), nil
}

func (a *app) listAnswers(out *bufio.Writer, db *timeline.DB, inc *matchers.Incident) error {
	answers, err := db.Answers(inc.ID)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(out, reports.AnswerNotes(answers))
	}
	return reports.AnswersText(out, answers)
}

// store keeps the answer for 'pulltrail diff', and returns how many verdicts are
// other than in the one before. A case that another process writes, or that cannot
// be written, is no reason to refuse an answer.
func (a *app) store(res *matchers.Result) (changed int, err error) {
	db, err := timeline.CreateAtOnce(a.caseDir)
	if err != nil {
		return 0, err
	}
	changed, err = matchers.Store(db, res, version, a.commandLine())
	return changed, errors.Join(err, db.Close())
}
