package document

import (
	"encoding/json"
	"regexp"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// OsqueryShell is what osquery's shell prints below a query: a table.
// https://osquery.readthedocs.io/en/stable/introduction/using-osqueryi/
var OsqueryShell = evidence.Format{
	Name:   "osqueryi",
	Shape:  evidence.ToolShape,
	Title:  "osqueryi, the shell of osquery",
	Proves: "packages, images and containers that a host's tables list, where the query is shown above them",
	Cannot: "when; the host, unless --subject host:… names it; which table rows are of whose query is not shown",
	Doc:    "https://osquery.readthedocs.io/en/stable/introduction/using-osqueryi/",
	Sample: "written by hand after the documentation",
	Starts: []string{"osquery> ", "$ osqueryi ", "# osqueryi ", "osqueryi "},
	Tool:   func() evidence.Parser { return &osqueryShell{} },
}

// queried is the table that a query reads.
var queried = regexp.MustCompile(`(?i)\bfrom\s+([a-z_]+)`)

type osqueryShell struct {
	table   string
	columns []string
	rules   int // lines of +---+ that were seen
}

// Line reads the query, and the table below it:
//
//	osquery> select name, version from python_packages;
//	+----------+---------+
//	| name     | version |
//	+----------+---------+
//	| requests | 2.31.0  |
//	+----------+---------+
func (q *osqueryShell) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := strings.TrimSpace(string(l.Text))
	switch {
	case strings.Contains(text[:min(len(text), 12)], "osquery"):
		m := queried.FindStringSubmatch(text)
		if m == nil {
			*q = osqueryShell{}
			return evidence.Miss
		}
		*q = osqueryShell{table: strings.ToLower(m[1])}
		o.Seen("")
		return evidence.More
	case q.table == "":
		return evidence.Miss
	case strings.HasPrefix(text, "+-"):
		if q.rules++; q.rules == 3 {
			*q = osqueryShell{}
			return evidence.Done
		}
		return evidence.More
	case !strings.HasPrefix(text, "| ") || q.rules == 0:
		*q = osqueryShell{}
		return evidence.Miss
	}
	cells := strings.Split(strings.Trim(text, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if q.rules == 1 {
		q.columns = cells
		return evidence.More
	}
	q.row(cells, o)
	return evidence.More
}

func (q *osqueryShell) row(cells []string, o *evidence.Out) {
	if len(cells) != len(q.columns) {
		return
	}
	fields := map[string]string{}
	for i, name := range q.columns {
		fields[name] = cells[i]
	}
	object, err := json.Marshal(fields)
	if err != nil || fields["name"] == "" && fields["id"] == "" {
		return
	}
	row := osqueryRow{table: q.table, span: o.Mark().Span()}
	if host := o.Subject(); host.Kind == timeline.Host {
		row.who = host
	}
	row.row(value{object, 0, len(object)}, false, o)
}

// End has nothing to do: each row stands alone.
func (*osqueryShell) End(timeline.OpState, *evidence.Out) {}
