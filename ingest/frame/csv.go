package frame

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
)

// CSVRows is a table that was exported as CSV with a header: each row is given
// on as the JSON object that the same row is through an API.
// https://www.rfc-editor.org/rfc/rfc4180
var CSVRows = evidence.Format{
	Name:   "csv-rows",
	Shape:  evidence.FrameShape,
	Title:  "Tables exported as CSV (LiteLLM spend logs, Harbor audit log, Azure Container Registry events, PyPI downloads, processes that endpoint sensors saw, lines of log stores)",
	Proves: "nothing by itself: the rows hold records",
	Cannot: "tables whose columns it does not know",
	Doc:    "https://www.rfc-editor.org/rfc/rfc4180",
	Sample: "written by hand after the documentation",
	Claim:  func(h *evidence.Head) bool { return csvColumns(firstRow(h.Bytes)) != nil || claimCSVLines(h) },
	Texts:  true, // spend logs have what was asked in their cells
	New:    func() evidence.Peeler { return &csvRows{} },
}

// csvTables are the columns that tell which tables are read.
var csvTables = [][]string{
	{"request_id", "call_type", "startTime", "endTime", "total_tokens"}, // LiteLLM_SpendLogs
	{"operation", "resource", "op_time"},                                // Harbor's audit log
	{"OperationName", "Repository", "TimeGenerated"},                    // ContainerRegistryRepositoryEvents
	{"OperationName", "Repository", "TimeGenerated [UTC]"},              // as Azure's portal exports it
	{"timestamp", "project", "file_filename"},                           // PyPI's downloads, as BigQuery flattens them
	{"timestamp", "project", "file_version"},
	{"timestamp", "project", "country_code", "version"},
	{"date", "project", "country_code", "version"},    // as ClickHouse has them
	{"Timestamp", "DeviceName", "ProcessCommandLine"}, // Defender's advanced hunting
	{"ComputerName", "CommandLine"},                   // CrowdStrike's event search
	{"endpoint.name", "src.process.cmdline"},          // SentinelOne
}

func firstRow(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return bytes.TrimRight(line, "\r")
}

// csvColumns are the names in the header of a table that is read, else nil.
func csvColumns(header []byte) []string {
	names := csvFields(header)
	for _, table := range csvTables {
		missing := slices.ContainsFunc(table, func(want string) bool { return !slices.Contains(names, want) })
		if !missing {
			return names
		}
	}
	return nil
}

// csvFields takes one row apart, nil when it is none.
func csvFields(row []byte) []string {
	r := csv.NewReader(bytes.NewReader(row))
	r.FieldsPerRecord, r.LazyQuotes = -1, false
	fields, err := r.Read()
	if err != nil {
		return nil
	}
	return fields
}

// csvText and csvTime find the columns of a line and of its time in what a store
// of logs exported; -1 for none.
//
//	"_raw","_time",host                                   (Splunk)
//	"@timestamp",host.name,message                         (Kibana)
func csvText(names []string) int {
	return slices.IndexFunc(names, func(n string) bool { return jsonTexts[n] || n == "Message" || n == "@message" || n == "Line" })
}

func csvTime(names []string) int {
	return slices.IndexFunc(names, func(n string) bool {
		return jsonTimes[n] || n == "Date" || n == "Time" || n == "_messagetimems" || n == "TimeGenerated"
	})
}

// claimCSVLines wants two kinds of lines that no other program than a tool here
// prints in that column.
func claimCSVLines(h *evidence.Head) bool {
	names := csvFields(firstRow(h.Bytes))
	column := csvText(names)
	if column < 0 || csvTime(names) < 0 || !mentionsTool(h.Bytes) {
		return false
	}
	r := csv.NewReader(bytes.NewReader(h.Bytes))
	r.FieldsPerRecord = len(names)
	kinds := map[string]bool{}
	for len(kinds) < 2 {
		row, err := r.Read()
		if err != nil {
			return false // its end, or that of the head
		}
		for line := range strings.SplitSeq(row[column], "\n") {
			if toolLines().MatchString(line) {
				kinds[string(kindOf([]byte(line)))] = true
			}
		}
	}
	return true
}

type csvRows struct {
	columns []string
	text    int // the column of lines, and that of their times; -1: the rows are records
	time    int
	row     []byte // a row up to the line at work: cells may hold line ends
	first   evidence.Line
}

// Start reads the header.
func (c *csvRows) Start(h *evidence.Head, _ *evidence.Stream, _ *evidence.Out) {
	c.columns, c.text = csvColumns(firstRow(h.Bytes)), -1
	if c.columns == nil {
		c.columns = csvFields(firstRow(h.Bytes))
		c.text, c.time = csvText(c.columns), csvTime(c.columns)
	}
}

// Peel reads one row, or gathers the lines of one:
//
//	request_id,call_type,api_key,spend,total_tokens,prompt_tokens,completion_tokens,startTime,endTime,…
//	chatcmpl-2283,acompletion,88dc28d0f030c55ed4ab77ed8faf098196cb1c05df778539800c9f1243fe6b4b,0.1,30,10,20,2026-10-21 09:20:46.847,2026-10-21 09:20:48.85,…
func (c *csvRows) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	if l.No == 1 {
		return s
	}
	if len(c.row) == 0 {
		c.first = *l
	} else {
		c.row = append(c.row, '\n')
	}
	c.row = append(c.row, l.Text...)
	if bytes.Count(c.row, []byte{'"'})%2 == 1 && len(c.row) < maxPart {
		return s // inside a cell
	}
	fields := csvFields(c.row)
	c.row = c.row[:0]
	switch {
	case len(fields) == 0:
	case len(fields) != len(c.columns):
		o.Skip("a row of another width than the header")
	case c.text >= 0:
		c.lines(fields, s.Child(o, nil), o)
	default:
		row := c.first
		row.Text = c.object(fields)
		o.Feed(&row, s.Child(o, nil))
	}
	return s
}

// lines gives the lines of a cell on.
func (c *csvRows) lines(fields []string, child *evidence.Stream, o *evidence.Out) {
	a := newAnswered(nil, []byte(fields[c.time]), o)
	for text := range strings.SplitSeq(strings.TrimRight(fields[c.text], "\r\n"), "\n") {
		line := c.first
		line.Text, line.Stamp = evidence.StripEscapes([]byte(strings.TrimRight(text, "\r"))), a.stamp
		o.Feed(&line, child)
	}
}

// object writes a row as a JSON object, empty cells left out.
func (c *csvRows) object(fields []string) []byte {
	out := []byte{'{'}
	for i, name := range c.columns {
		if fields[i] == "" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(name)
		cell, _ := json.Marshal(strings.ToValidUTF8(fields[i], "\uFFFD"))
		out = append(append(append(out, key...), ':'), cell...)
	}
	return append(out, '}')
}

// End tells of a row that does not end.
func (c *csvRows) End(o *evidence.Out) {
	if len(c.row) > 0 {
		o.Cut("the last row is cut off")
	}
}
