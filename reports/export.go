package reports

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"time"

	"pulltrail/timeline"
)

// Events calls yield for each event of a timeline in order of time.
type Events func(yield func(timeline.Fact) error) error

// eventColumns are those of the table of events.
var eventColumns = []string{
	"from", "to", "clock", "written", "action", "kind", "subject", "artifact", "ref", "digests", "path", "line", "offset", "source", "text",
}

// ExportCSV writes every event as a table, one row for each thing that an event
// names: times RFC 3339 UTC, an unknown end empty, digests as "value role" apart
// by blanks.
func ExportCSV(w io.Writer, events Events) error {
	out := csv.NewWriter(w)
	if err := out.Write(eventColumns); err != nil {
		return err
	}
	err := events(func(f timeline.Fact) error {
		var digests []string
		for _, d := range f.Item.Digests {
			digests = append(digests, strings.TrimSpace(d.Value+" "+string(d.Role)))
		}
		row := []string{
			known(f.Span.From), known(f.Span.To), string(f.Span.Clock), f.Span.Written, f.Action.String(), string(f.Subject.Kind), f.Subject.ID,
			f.Item.Artifact, f.Item.Ref, strings.Join(digests, " "), f.Path, fmt.Sprint(f.Line), fmt.Sprint(f.Offset), f.SHA256, f.Text,
		}
		for i := range row {
			row[i] = CSVCell(row[i])
		}
		return out.Write(row)
	})
	if err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// known is a time as RFC 3339 UTC, "" when it is not known.
func known(ns int64) string {
	if ns == timeline.Beginning || ns == timeline.Forever {
		return ""
	}
	return timeline.FormatTime(ns)
}

// sketchEvent is an event for Timesketch. message, datetime and timestamp_desc
// are what it requires, the rest becomes fields of its own.
// https://timesketch.org/guides/user/import-from-json-csv/
type sketchEvent struct {
	Message  string `json:"message"`
	Datetime string `json:"datetime"`
	Desc     string `json:"timestamp_desc"`
	Micros   int64  `json:"timestamp"` // since 1970 UTC
	Until    string `json:"datetime_end,omitempty"`
	Clock    string `json:"clock"`
	Action   string `json:"action"`
	Subject  string `json:"subject"`
	Artifact string `json:"artifact"`
	Path     string `json:"source_path"`
	Line     int64  `json:"source_line"`
	SHA256   string `json:"source_sha256"`
	DataType string `json:"data_type"`
	Tag      string `json:"tag,omitempty"` // "in window", "may be in window"
}

// Timesketch writes the events that have a time as JSON lines ("jsonl") or CSV
// ("csv"), and returns how many have none: a timeline has no place for them. What
// lies in one of the windows is tagged.
func Timesketch(w io.Writer, form string, events Events, windows []timeline.Span) (timeless int, err error) {
	out := bufio.NewWriter(w)
	table := csv.NewWriter(out)
	if form == "csv" {
		if err := table.Write([]string{
			"message", "datetime", "timestamp_desc", "timestamp", "datetime_end", "clock", "action", "subject", "artifact", "source_path", "source_line", "source_sha256", "data_type", "tag",
		}); err != nil {
			return 0, err
		}
	}
	err = events(func(f timeline.Fact) error {
		e, ok := newSketch(f, windows)
		if !ok {
			timeless++
			return nil
		}
		if form == "csv" {
			row := []string{
				e.Message, e.Datetime, e.Desc, fmt.Sprint(e.Micros), e.Until, e.Clock, e.Action, e.Subject, e.Artifact, e.Path, fmt.Sprint(e.Line), e.SHA256, e.DataType, e.Tag,
			}
			for i := range row {
				row[i] = CSVCell(row[i])
			}
			return table.Write(row)
		}
		b, err := JSON(e)
		if err != nil {
			return err
		}
		_, err = out.Write(b)
		return err
	})
	table.Flush()
	if err == nil {
		err = table.Error()
	}
	if err != nil {
		return timeless, err
	}
	return timeless, out.Flush()
}

// newSketch says when something happened as far as one moment can: at the start
// of its span, and what that start means; ok is false when the span has none.
func newSketch(f timeline.Fact, windows []timeline.Span) (e sketchEvent, ok bool) {
	at, desc := f.Span.From, "Event"
	switch {
	case f.Span.From != timeline.Beginning && f.Span.From != f.Span.To:
		desc = "Not before"
	case f.Span.From == timeline.Beginning && f.Span.To != timeline.Forever:
		at, desc = f.Span.To, "Not after"
	case f.Span.From == timeline.Beginning:
		return e, false
	}
	e = sketchEvent{
		Message:  fmt.Sprintf("%s %s %s", f.Action, f.Subject, f.Item.Artifact),
		Datetime: time.Unix(0, at).UTC().Format("2006-01-02T15:04:05.000000Z07:00"), Micros: at / 1000, Desc: desc,
		Clock: string(f.Span.Clock), Action: f.Action.String(), Subject: f.Subject.String(), Artifact: f.Item.Artifact,
		Path: f.Path, Line: f.Line, SHA256: f.SHA256, DataType: "pulltrail:event",
	}
	if f.Text != "" {
		e.Message += ": " + f.Text
	}
	if desc == "Not before" {
		e.Until = known(f.Span.To)
	}
	for _, w := range windows {
		switch {
		case f.Span.Within(w.From, w.To):
			e.Tag = "in window"
		case e.Tag == "" && f.Span.Overlaps(w.From, w.To):
			e.Tag = "may be in window"
		}
	}
	return e, true
}
