package document

import (
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PyPIDownloads is rows of the index's public download statistics, as BigQuery
// and ClickHouse export them.
// https://packaging.python.org/en/latest/guides/analyzing-pypi-package-downloads/
var PyPIDownloads = evidence.Format{
	Name:   "pypi-downloads",
	Shape:  evidence.ToolShape,
	Title:  "PyPI download statistics (BigQuery, ClickHouse)",
	Proves: "which file was downloaded, when, by which kind of installer",
	Cannot: "who did it: the rows name a country and a program, no address; rows that only count",
	Doc:    "https://packaging.python.org/en/latest/guides/analyzing-pypi-package-downloads/",
	Sample: "written by hand after the schema",
	Fields: [][]string{
		{"timestamp", "project", "file"},
		{"timestamp", "project", "file_filename"},
		{"timestamp", "project", "file_version"},
		{"timestamp", "project", "country_code", "version"},
		{"date", "project", "country_code", "version"},
	},
	Tool: func() evidence.Parser { return pypiDownloads{} },
}

type pypiDownloads struct{}

// Line reads one row:
//
//	{"timestamp":"2026-10-21 12:04:51 UTC","country_code":"DE","url":"/packages/…/litellm-1.107.0-py3-none-any.whl","project":"litellm",
//	 "file":{"filename":"litellm-1.107.0-py3-none-any.whl","project":"litellm","version":"1.107.0","type":"bdist_wheel"},"details":{"installer":{"name":"pip","version":"24.2"}}}
//	{"date":"2026-10-21","country_code":"DE","project":"litellm","type":"bdist_wheel","installer":"pip","version":"1.107.0"}
func (pypiDownloads) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	project := v.get("project").text()
	if !evidence.IsDistName(project) {
		return evidence.Miss
	}
	version := ""
	for _, field := range [][]string{{"file", "version"}, {"file_version"}, {"version"}} {
		if version == "" {
			version = v.get(field...).text()
		}
	}
	for _, field := range [][]string{{"file", "filename"}, {"file_filename"}, {"url"}} {
		if d, ok := evidence.ParseDist(v.get(field...).text()); ok {
			if d.Metadata {
				o.Seen("")
				return evidence.Done // a resolver read it
			}
			version = d.Version
			break
		}
	}
	span, ok := exportedTime(v, o)
	o.Seen("")
	if !ok || !evidence.IsVersion(version) {
		o.Skip("a row without time or version")
		return evidence.Done
	}
	o.Event(timeline.Event{Action: timeline.Download, Span: span, Items: []timeline.Item{{Artifact: timeline.PURL("pypi", "", project, version)}}})
	return evidence.Done
}

// exportedTime reads the time of a row, or its day. BigQuery writes the zone as
// a word.
func exportedTime(v value, o *evidence.Out) (timeline.Span, bool) {
	if text := v.get("timestamp").text(); text != "" {
		if at, ok := strings.CutSuffix(text, " UTC"); ok {
			text = at + "Z"
		}
		s := evidence.ISOStamp([]byte(text), &o.Times)
		return s, s.From != timeline.Beginning
	}
	day, err := time.Parse(time.DateOnly, v.get("date").text())
	if err != nil {
		return timeline.Span{}, false
	}
	return timeline.Span{From: day.UnixNano(), To: day.Add(24*time.Hour - time.Nanosecond).UnixNano(), Clock: timeline.Section, Written: v.get("date").text()}, true
}

// End has nothing to do: each row stands alone.
func (pypiDownloads) End(timeline.OpState, *evidence.Out) {}
