package document

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CredentialList is a list of credentials that somebody keeps by hand or wrote
// out of another system.
var CredentialList = evidence.Format{
	Name:   "credential-list",
	Shape:  evidence.DocumentShape,
	Title:  "your own list of credentials (CSV)",
	Proves: "names of credentials, whose they are, when they were made, changed and used last, and whether they work",
	Cannot: "their values, which it must not hold: columns that are not known are not read",
	Doc:    "https://www.rfc-editor.org/rfc/rfc4180",
	Sample: "written by hand",
	Claim:  claimCredentialList,
	Read:   readCredentialList,
}

// credentialColumns are the columns of such a list, in any order; only name is
// required.
var credentialColumns = []string{
	"name", "class", "holder", "store", "owner", "provider", "created", "updated", "used", "expires", "state", "alias", "team", "customer", "part",
}

// ownList is the store of what a list names without a holder: whoever keeps the
// list speaks of all that goes by the name.
const ownList = "list:own"

// claimCredentialList wants a header with name and two more of the columns, one
// of them a time or a state, and nothing that would be a value.
func claimCredentialList(h *evidence.Head) bool {
	header := csvHeader(h.Bytes)
	known, telling := 0, false
	for _, c := range header {
		if slices.Contains(credentialColumns, c) {
			known++
		}
		telling = telling || slices.Contains([]string{"class", "holder", "store", "created", "updated", "used", "state"}, c)
	}
	return slices.Contains(header, "name") && known >= 3 && telling && known*2 >= len(header)
}

func readCredentialList(d *evidence.Doc, o *evidence.Out) error {
	return csvRows(d, o, func(r *csvRow) {
		c := timeline.Credential{
			Name: r.get("name"), Class: r.get("class"), Store: r.get("store"), Owner: r.get("owner"), Provider: r.get("provider"),
			Alias: r.get("alias"), Team: r.get("team"), Customer: r.get("customer"), Part: r.get("part"),
			Created: r.time("created"), Updated: r.time("updated"), Used: r.time("used"), Expires: r.time("expires"),
		}
		if c.Name == "" {
			o.Skip("a row without a name")
			return
		}
		if holder := r.get("holder"); holder != "" {
			who, err := timeline.ParseSubject(holder)
			if err != nil {
				o.Skip("holder: want KIND:ID, such as host:prod-3")
				return
			}
			c.Subject = who
		} else if c.Store == "" && o.Store == "" {
			c.Store = ownList
		}
		switch state := strings.ToLower(r.get("state")); state {
		case "", "active", "inactive":
			c.State = timeline.Activity(state)
		default:
			o.Skip("state: want active or inactive")
			return
		}
		if !r.bad {
			o.Credential(c)
		}
	})
}

// csvHeader is the first line of a table, in small letters; nil for what is
// none.
func csvHeader(head []byte) []string {
	line, _, _ := strings.Cut(string(head), "\n")
	if !strings.Contains(line, ",") || len(line) > 8<<10 {
		return nil
	}
	in := csv.NewReader(strings.NewReader(line))
	row, err := in.Read()
	if err != nil {
		return nil
	}
	for i := range row {
		row[i] = strings.ToLower(strings.TrimSpace(row[i]))
	}
	return row
}

// csvRow is one row of a table by the names of its columns.
type csvRow struct {
	o      *evidence.Out
	column map[string]int
	cells  []string
	bad    bool // a time could not be read, and the row was skipped
}

func (r *csvRow) get(column string) string {
	i, ok := r.column[column]
	if !ok || i >= len(r.cells) {
		return ""
	}
	return strings.TrimSpace(r.cells[i])
}

// time reads a column as a time; what is none is a skip.
func (r *csvRow) time(column string) int64 {
	text := r.get(column)
	ns, ok := listTime(text)
	if !ok && !r.bad {
		r.bad = true
		r.o.Skip("want RFC 3339, or a day, in column " + column)
	}
	return ns
}

// csvRows reads a table. What stands on a row is never kept as proof but for
// its first cell where that is a name.
func csvRows(d *evidence.Doc, o *evidence.Out, each func(*csvRow)) error {
	o.Seen("")
	in := csv.NewReader(strings.NewReader(string(d.Data)))
	in.FieldsPerRecord = -1
	in.ReuseRecord = true
	r := csvRow{o: o}
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
			return fmt.Errorf("line %d: %w", parse.Line, parse.Err)
		}
		if err != nil {
			return err
		}
		line, _ := in.FieldPos(0)
		o.SetLine(int64(line), int64(d.LineStart(line)), []byte("a row of the table"))
		if r.column == nil {
			r.column = map[string]int{}
			for i, c := range cells {
				r.column[strings.ToLower(strings.TrimSpace(c))] = i
			}
			continue
		}
		if r.cells, r.bad = cells, false; strings.TrimSpace(strings.Join(cells, "")) != "" {
			each(&r)
		}
	}
}

// listTimes are the ways in which lists write times; those without a zone are
// of databases that keep UTC.
var listTimes = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07",
	"2006-01-02 15:04:05.999999999 -0700 MST", "2006-01-02 15:04:05.999999999 MST", "2006-01-02 15:04:05.999999999", time.DateOnly,
}

// listTime reads a time of a list; nothing is 0. ok is false for what is no
// time.
func listTime(text string) (ns int64, ok bool) {
	switch strings.ToLower(text) {
	case "", "null", "none", "n/a", "no_information", "not_supported", "never", "-":
		return 0, true
	}
	for _, layout := range listTimes {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 1970 && t.Year() < 2262 {
			return t.UnixNano(), true
		}
	}
	return 0, false
}

// jsonTime reads a time of a JSON list, 0 for what is none.
func jsonTime(v value) int64 {
	ns, _ := listTime(v.text())
	return ns
}
