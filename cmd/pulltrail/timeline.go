package main

import (
	"bufio"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pulltrail/reports"
	"pulltrail/timeline"
)

// eventJSON is one event item in 'timeline --json'.
type eventJSON struct {
	From     *string      `json:"from"`
	To       *string      `json:"to"`
	Action   string       `json:"action"`
	Subject  subjectJSON  `json:"subject"`
	Artifact string       `json:"artifact"`
	Digest   string       `json:"digest"`
	Role     string       `json:"role"`
	Digests  []digestJSON `json:"digests"`
	Ref      string       `json:"ref"`
	Source   string       `json:"source"`
	Path     string       `json:"path"`
	Line     int64        `json:"line"`
	Text     string       `json:"text"`
	Clock    string       `json:"clock"`
	Written  string       `json:"written"`
}

type subjectJSON struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	On   string `json:"on"`
}

type digestJSON struct {
	Value string `json:"value"`
	Role  string `json:"role"`
}

func (a *app) timelineCmd() *cobra.Command {
	var f timeline.Filter
	var action, from, to string
	c := &cobra.Command{
		Use:   "timeline",
		Short: "Print the events, one line each",
		Long: `Print the events, one line each, in the order of their times:

  2026-10-21T12:04:51Z install host:web1 pkg:pypi/litellm@1.107.0 pip.log:412
  time or from/to      action  subject   artifact                 path:line

An unknown end of a time is "..", blanks are percent-encoded; digest=, role= and ref=
follow where there are any. Actions: require, resolve, check, cached, download, pull,
present, install, build, push, tag, run, remove, contact, opaque, hold.`,
		RunE: func(*cobra.Command, []string) error {
			var err error
			if action != "" {
				if f.Action, err = timeline.ParseAction(action); err != nil {
					return usage("--action: %v", err)
				}
			}
			if from != "" || to != "" {
				if f.From, err = limit(from, timeline.Beginning, false); err != nil {
					return usage("--from: %v", err)
				}
				if f.To, err = limit(to, timeline.Forever, true); err != nil {
					return usage("--to: %v", err)
				}
			}
			return a.timeline(f)
		},
	}
	c.Flags().StringVar(&f.Subject, "subject", "", "only subjects that match this glob, such as 'host:web*'")
	c.Flags().StringVar(&f.Artifact, "artifact", "", "only artifacts that match this glob, such as 'pkg:pypi/litellm@*'")
	c.Flags().StringVar(&f.Source, "source", "", "only sources whose path matches this glob")
	c.Flags().StringVar(&action, "action", "", "only this action")
	c.Flags().StringVar(&from, "from", "", "only events that may have happened after this time, RFC 3339 or a date (UTC)")
	c.Flags().StringVar(&to, "to", "", "only events that may have happened before this time, or by the end of this date")
	c.Flags().IntVar(&f.Limit, "limit", 0, "at most so many lines")
	return c
}

func (a *app) timeline(f timeline.Filter) error {
	db, err := timeline.Open(a.caseDir)
	if err != nil {
		return err
	}
	defer db.Close()
	out := bufio.NewWriter(a.out)
	found := false
	err = db.Timeline(f, func(x timeline.Fact) error {
		found = true
		if a.json {
			return a.printJSON(out, eventOf(x))
		}
		for _, line := range timeline.Notation(timeline.Event{
			Action: x.Action, Subject: x.Subject,
			Items: []timeline.Item{x.Item}, Span: x.Span, Origin: x.Origin,
		}) {
			if _, err := out.WriteString(reports.Text(line) + "\n"); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !found {
		fmt.Fprintln(a.err, "pulltrail: no event fits: --subject and --artifact want the whole name, or a glob such as 'web*', 'pkg:pypi/litellm@*'")
	}
	return errors.Join(err, out.Flush())
}

// limit reads an end of the time that is looked at; "" is unknown.
func limit(text string, unknown int64, end bool) (int64, error) {
	if text == "" {
		return unknown, nil
	}
	t, err := moment(text, end)
	if err != nil {
		return 0, err
	}
	if end && len(text) == len(time.DateOnly) {
		t = t.Add(time.Second - time.Nanosecond) // of the last second all of it
	}
	return timeline.ParseTime(t.Format(time.RFC3339Nano), unknown)
}

func eventOf(x timeline.Fact) eventJSON {
	e := eventJSON{
		Action: x.Action.String(), Subject: subjectJSON{Kind: string(x.Subject.Kind), ID: x.Subject.ID},
		Artifact: x.Item.Artifact, Ref: x.Item.Ref, Source: x.SHA256, Path: x.Path, Line: x.Line, Text: x.Text,
		Clock: string(x.Span.Clock), Written: x.Span.Written, Digests: []digestJSON{},
		From: reports.Time(x.Span.From), To: reports.Time(x.Span.To),
	}
	for _, d := range x.Item.Digests {
		e.Digests = append(e.Digests, digestJSON{d.Value, string(d.Role)})
	}
	if len(e.Digests) > 0 {
		e.Digest, e.Role = e.Digests[0].Value, e.Digests[0].Role
	}
	return e
}
