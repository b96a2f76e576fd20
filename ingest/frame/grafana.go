package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// GrafanaExport is log lines as Grafana's Explore saves them.
// https://grafana.com/docs/grafana/latest/explore/logs-integration/
var GrafanaExport = evidence.Format{
	Name:   "grafana-export",
	Shape:  evidence.FrameShape,
	Title:  "Log lines saved from Grafana Explore",
	Proves: "the time at which the store took each line (UTC, ms)",
	Cannot: "who wrote it: the labels are not saved with the lines",
	Doc:    "https://grafana.com/docs/grafana/latest/explore/logs-integration/",
	Sample: "written by hand after exports in public reports",
	First:  "1",
	Looks:  func(text []byte) bool { return len(text) > epochDigits && text[epochDigits] == '\t' },
	Common: true,
	Cuts:   true,
	New:    func() evidence.Peeler { return grafanaExport{} },
}

type grafanaExport struct{}

// epochDigits is the length of a count of milliseconds since 1970, now and for the
// next two centuries.
const epochDigits = 13

// Peel takes both times off:
//
//	1792584291365	2026-10-21T12:04:51.365Z	Collecting litellm
func (grafanaExport) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text := l.Text
	if len(text) < epochDigits+12 || text[epochDigits] != '\t' || !number(text[:epochDigits]) {
		return nil
	}
	stamp, rest, ok := bytes.Cut(text[epochDigits+1:], []byte{'\t'})
	m, n := evidence.ParseISO(stamp)
	if !ok || n != len(stamp) || !m.HasOffset {
		return nil
	}
	child := s.Child(o, nil)
	child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], stamp...), Read: evidence.ISOStamp}
	l.Stamp, l.Text = child.Last, rest
	return child
}
