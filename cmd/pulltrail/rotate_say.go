package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pulltrail/ingest/evidence"
	"pulltrail/reports"
	"pulltrail/timeline"
)

// statement is what a person says on the command line.
type statement struct{ who, at, until, reason, same string }

func (s *statement) flags(c *cobra.Command, reason string) *cobra.Command {
	c.Flags().StringVar(&s.who, "by", "", "who says so: a name that others know")
	c.Flags().StringVar(&s.reason, "reason", "", reason)
	return c
}

// check wants a name, and a reason where one is needed. What is said goes into
// reports, so a value that got in by mistake is hidden.
func (s *statement) check(verb string, reason bool) error {
	for _, text := range []*string{&s.who, &s.reason, &s.same} {
		*text = strings.TrimSpace(evidence.Redact(evidence.Clean(*text)))
	}
	if s.who == "" {
		return usage("%s needs --by NAME: who says so", verb)
	}
	if reason && s.reason == "" {
		return usage("%s needs --reason TEXT", verb)
	}
	return nil
}

// day reads a time or a day; a day is its first moment, UTC.
func day(flag, text string) (int64, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.UnixNano(), nil
	}
	ns, err := timeline.ParseTime(text, 0)
	if err != nil || ns == 0 {
		return 0, usage("%s %q: want RFC 3339 with zone, such as 2026-10-22T09:30:00Z, or a day", flag, text)
	}
	return ns, nil
}

// today is the time that a statement is made at: $SOURCE_DATE_EPOCH where it is
// set.
func today() (int64, error) {
	text, err := reports.AsOf("", os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return 0, usage("%v", err)
	}
	if text == "" {
		return time.Now().Truncate(time.Second).UnixNano(), nil
	}
	return timeline.ParseTime(text, 0)
}

// when is --at, else now.
func (s *statement) when() (int64, error) {
	if s.at == "" {
		return today()
	}
	return day("--at", s.at)
}

func (r *rotation) setCmd() *cobra.Command {
	var s statement
	c := &cobra.Command{
		Use:   "set NAME...",
		Short: "Say that credentials were rotated, when and by whom",
		Long: `Say that credentials were rotated: NAME as 'rotate plan' has it, the id of a row,
or the class of a row without a name. It is believed when lists show it: 'rotate
verify'.

With --same LISTED nothing is said to be rotated, but that a list that was read
calls the credential LISTED, such as the user of an access key.`,
		Args: wants("NAME...", cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := s.check("set", false); err != nil {
				return err
			}
			d := timeline.Decision{Act: timeline.Rotated, Who: s.who, Reason: s.reason}
			var err error
			if s.same != "" {
				d.Act, d.Value = timeline.Same, s.same
			} else if d.At, err = s.when(); err != nil {
				return err
			}
			return r.say(d, args)
		},
	}
	c.Flags().StringVar(&s.at, "at", "", "when, RFC 3339 or a day (default: $SOURCE_DATE_EPOCH, else now)")
	c.Flags().StringVar(&s.same, "same", "", "the name that a list gives to it")
	return s.flags(c, "how, or under which ticket")
}

func (r *rotation) waiveCmd() *cobra.Command {
	var s statement
	c := &cobra.Command{
		Use:   "waive NAME...",
		Short: "Approve that credentials stay as they are, until a day",
		Args:  wants("NAME...", cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := s.check("waive", true); err != nil {
				return err
			}
			if s.until == "" {
				return usage("waive needs --until TIME: then the row is open again")
			}
			until, err := day("--until", s.until)
			if err != nil {
				return err
			}
			at, err := today()
			if err != nil {
				return err
			}
			if until <= at {
				return usage("--until %s is over already", s.until)
			}
			return r.say(timeline.Decision{Act: timeline.Waived, Until: until, Who: s.who, Reason: s.reason}, args)
		},
	}
	c.Flags().StringVar(&s.until, "until", "", "when the waiver ends, RFC 3339 or a day: then the row is open again")
	return s.flags(c, "why it may stay")
}

// say records something of rows of the plan.
func (r *rotation) say(d timeline.Decision, words []string) error {
	res, rows, err := r.plan("")
	if err != nil {
		return err
	}
	if d.Act == timeline.Waived {
		d.Incident = res.Incident.ID
	}
	about, err := names(rows, words)
	if err != nil {
		return err
	}
	all := make([]timeline.Decision, len(about))
	for i, name := range about {
		all[i] = d
		all[i].About = name
	}
	if err := r.decide(all); err != nil {
		return err
	}
	return r.recorded(all)
}

// recorded says what was added to the case.
func (a *app) recorded(all []timeline.Decision) error {
	for i := range all {
		d := &all[i]
		if !a.json {
			fmt.Fprintf(a.out, "recorded  %s  %s\n", d.Act, reports.Text(d.About))
			continue
		}
		if err := a.printJSON(a.out, map[string]any{
			"act": d.Act, "about": d.About, "at": stated(d.At), "until": stated(d.Until), "who": d.Who, "value": d.Value, "reason": d.Reason, "incident": d.Incident,
		}); err != nil {
			return err
		}
	}
	return nil
}

func (r *rotation) stoppedCmd() *cobra.Command {
	var s statement
	c := &cobra.Command{
		Use:   "stopped SUBJECT...",
		Short: "Say when exposed subjects were stopped or rebuilt",
		Long: `Say when hosts, containers or jobs that are exposed were stopped for good, or
rebuilt from what is not. What a host runs was stopped with it. A value that was
made earlier is burnt again; jobs whose end is in the evidence need no word.`,
		Args: wants("SUBJECT...", cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := s.check("stopped", false); err != nil {
				return err
			}
			if s.at == "" {
				return usage("stopped needs --at TIME")
			}
			at, err := day("--at", s.at)
			if err != nil {
				return err
			}
			return r.sayOf(timeline.Decision{Act: timeline.Stopped, At: at, Who: s.who, Reason: s.reason}, args, r.incident)
		},
	}
	c.Flags().StringVar(&s.at, "at", "", "when, RFC 3339 or a day")
	return s.flags(c, "how it is known")
}

func (a *app) dispositionCmd() *cobra.Command {
	var s statement
	var incident string
	c := &cobra.Command{
		Use:   "disposition SUBJECT|FINDING...",
		Short: "Say what became of a finding; its verdict stays",
		Long: `Say what became of a finding, with name and reason. It is shown beside the
finding, and changes neither its verdict nor any exit code. What was said before
stays in the record.`,
		Args: wants("SUBJECT or FINDING", cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := s.check("disposition", true); err != nil {
				return err
			}
			at, err := today()
			if err != nil {
				return err
			}
			return a.sayOf(timeline.Decision{Act: timeline.Disposed, At: at, Who: s.who, Reason: s.reason}, args, incident)
		},
	}
	c.Flags().StringVar(&incident, "incident", "", incidentHelp)
	return s.flags(c, "what became of it, and why")
}

// sayOf records something of subjects that have findings.
func (a *app) sayOf(d timeline.Decision, words []string, incident string) error {
	db, res, err := a.ask(incident)
	if err != nil {
		return err
	}
	db.Close()
	var all []timeline.Decision
	for _, word := range words {
		f, err := pick(res.Findings, word)
		if err != nil {
			return err
		}
		if d.Act == timeline.Disposed {
			d.Incident = res.Incident.ID
		}
		d.About = f.Subject.String()
		all = append(all, d)
	}
	if err := a.decide(all); err != nil {
		return err
	}
	return a.recorded(all)
}
