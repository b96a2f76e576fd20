package main

import (
	"bufio"

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
				if f.From, err = timeline.ParseTime(from, timeline.Beginning); err != nil {
					return usage("--from: %v", err)
				}
				if f.To, err = timeline.ParseTime(to, timeline.Forever); err != nil {
					return usage("--to: %v", err)
				}
			}
			return a.timeline(f)
		},
	}
	c.Flags().StringVar(&f.Subject, "subject", "", "only subjects that match this glob")
	c.Flags().StringVar(&f.Artifact, "artifact", "", "only artifacts that match this glob")
	c.Flags().StringVar(&f.Source, "source", "", "only sources whose path matches this glob")
	c.Flags().StringVar(&action, "action", "", "only this action")
	c.Flags().StringVar(&from, "from", "", "only events that may have happened after this time")
	c.Flags().StringVar(&to, "to", "", "only events that may have happened before this time")
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
	err = db.Timeline(f, func(x timeline.Fact) error {
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
	if err != nil {
		return err
	}
	return out.Flush()
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
