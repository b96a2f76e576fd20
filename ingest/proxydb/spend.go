package proxydb

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// SpendSchema is the version of what Spend writes.
const SpendSchema = "pulltrail.litellm-spend-logs/1"

// spendTable holds one row for each request through the proxy, with what was
// asked and answered in it.
const spendTable = "LiteLLM_SpendLogs"

// longest is how long before a window a request of it can have begun.
const longest = 24 * time.Hour

// pageRows is how many rows are asked for at once: each page is quick, and the
// table may have any number.
const pageRows = 5000

// spendHead is the first line of what Spend writes.
type spendHead struct {
	Schema   string   `json:"schema"`
	Database string   `json:"spend_logs"`
	Taken    string   `json:"taken"` // by the clock of the database
	From     string   `json:"from"`
	To       string   `json:"to"`
	Missing  []string `json:"missing"` // the table or columns that are not there, or may not be read
}

// spendColumns are the columns that are asked for, each under the name that the
// row has through the API of the proxy. Messages, replies, requests as they came,
// addresses and keys are never named.
var spendColumns = []struct {
	name   string
	from   string // column
	form   string // "": as text; time, count, alias of a team or user
	needed bool   // without it a row says nothing
}{
	{"request_id", "request_id", "", true},
	{"call_type", "call_type", "", true},
	{"startTime", "startTime", "time", true},
	{"endTime", "endTime", "time", true},
	{"completionStartTime", "completionStartTime", "time", false},
	{"model", "model", "", false},
	{"api_base", "api_base", "", false},
	{"prompt_tokens", "prompt_tokens", "count", false},
	{"completion_tokens", "completion_tokens", "count", false},
	{"total_tokens", "total_tokens", "count", true},
	{"cache_hit", "cache_hit", "", false},
	{"status", "status", "", false},
	{"team_id", "team_id", "team_alias", false},
	{"end_user", "end_user", "", false},
	{"user", "user", "user_alias", false},
}

// spendMetadata are the paths in the metadata of a row that are asked for.
var spendMetadata = [][]string{
	{"user_api_key_team_alias"},
	{"user_api_key_alias"},
	{"user_api_key_end_user_id"},
	{"user_api_key_user_id"},
	{"status"},
	{"usage_object", "prompt_tokens_details", "cached_tokens"},
	{"additional_usage_values", "cache_read_input_tokens"},
}

// Spend asks the database that a DSN names for the requests that were at work in
// a window, and writes them to w as they come, one JSON object a line, the way
// the API of the proxy gives them. It holds one page of rows. The session can
// only read; errors never hold the DSN.
func Spend(ctx context.Context, dsn string, from, to time.Time, w io.Writer) error {
	config, err := configOf(dsn)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect to the database of the proxy at %s: %w", config.Host, plain(err))
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only read
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("read the requests of the proxy: %w", plain(err))
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only read
	out := bufio.NewWriter(w)
	s := &spending{tx: tx, from: from, to: to, out: json.NewEncoder(out)}
	s.out.SetEscapeHTML(false)
	if err := s.run(ctx, config.Database); err != nil {
		return fmt.Errorf("read the requests of the proxy: %w", plain(err))
	}
	return out.Flush()
}

// spending is one reading of the table.
type spending struct {
	tx       pgx.Tx
	from, to time.Time
	out      *json.Encoder
	names    []string // of the fields of a row
	query    string
}

func (s *spending) run(ctx context.Context, database string) error {
	head := spendHead{Schema: SpendSchema, Database: database, From: s.from.UTC().Format(time.RFC3339), To: s.to.UTC().Format(time.RFC3339), Missing: []string{}}
	if err := s.tx.QueryRow(ctx, `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`).Scan(&head.Taken); err != nil {
		return err
	}
	columns, err := visible(ctx, s.tx)
	if err != nil {
		return err
	}
	head.Missing = s.prepare(columns)
	if err := s.out.Encode(head); err != nil {
		return err
	}
	after, id := s.from.Add(-longest), ""
	for s.query != "" {
		n := 0
		if after, id, n, err = s.page(ctx, after, id); err != nil || n < pageRows {
			return err
		}
	}
	return nil
}

// prepare makes the query of the columns that are there; missing are those
// without which rows say less. Only columns that are written in this file are
// ever named.
func (s *spending) prepare(columns map[string][]string) (missing []string) {
	have := columns[spendTable]
	if len(have) == 0 {
		return []string{spendTable}
	}
	from := pgx.Identifier{spendTable}.Sanitize() + " t"
	alias := map[string]string{}
	for _, n := range named {
		of := columns[n.table]
		column := n.id
		if n.alias == "user_alias" {
			column = "user"
		}
		if !slices.Contains(have, column) || !slices.Contains(of, n.id) || !slices.Contains(of, n.alias) {
			continue
		}
		from += fmt.Sprintf(" LEFT JOIN %s %s ON %s.%s = t.%s", quoted(n.table), quoted(n.alias), quoted(n.alias), quoted(n.id), quoted(column))
		alias[n.alias] = quoted(n.alias) + "." + quoted(n.alias)
	}
	fields := []string{`t."startTime"`, `t."request_id"`}
	for _, c := range spendColumns {
		if !slices.Contains(have, c.from) {
			if c.needed {
				missing = append(missing, spendTable+"."+c.from)
			}
			continue
		}
		s.names = append(s.names, c.name)
		fields = append(fields, spendField("t."+quoted(c.from), c.form, alias))
	}
	if slices.Contains(have, "metadata") {
		for _, path := range spendMetadata {
			s.names = append(s.names, "metadata."+strings.Join(path, "."))
			fields = append(fields, `coalesce(t."metadata" #>> '{`+strings.Join(path, ",")+`}', '')`)
		}
	}
	if len(missing) == 0 {
		s.query = "SELECT " + strings.Join(fields, ", ") + " FROM " + from +
			` WHERE t."startTime" <= $1::timestamp AND t."endTime" >= $2::timestamp AND (t."startTime", t."request_id") > ($3::timestamp, $4::text) ORDER BY t."startTime", t."request_id" LIMIT ` + fmt.Sprint(pageRows)
	}
	return missing
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// spendField is the expression of one field, as text.
func spendField(column, form string, alias map[string]string) string {
	switch form {
	case "time":
		column = `to_char(` + column + `, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
	case "count":
		column += "::text"
	case "":
	default:
		if a := alias[form]; a != "" {
			column = "coalesce(nullif(" + a + ", ''), " + column + ")"
		}
	}
	return "coalesce(" + column + ", '')"
}

// page writes the rows behind the one that was read last, and says which one is
// the last now.
func (s *spending) page(ctx context.Context, after time.Time, id string) (last time.Time, lastID string, n int, err error) {
	utc := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }
	rows, err := s.tx.Query(ctx, s.query, utc(s.to), utc(s.from), utc(after), id)
	if err != nil {
		return after, id, 0, err
	}
	defer rows.Close()
	values := make([]string, len(s.names))
	into := []any{&last, &lastID}
	for i := range values {
		into = append(into, &values[i])
	}
	for ; rows.Next(); n++ {
		if err := rows.Scan(into...); err != nil {
			return last, lastID, n, err
		}
		if err := s.out.Encode(spendRow(s.names, values)); err != nil {
			return last, lastID, n, err
		}
	}
	return last, lastID, n, rows.Err()
}

// spendRow is a row as the API of the proxy gives it; of the address of the
// engine only the host is left.
func spendRow(names, values []string) map[string]any {
	row, meta := map[string]any{}, map[string]any{}
	for i, name := range names {
		value := values[i]
		if name == "api_base" {
			value = hostAlone(value)
		}
		path, inside := strings.CutPrefix(name, "metadata.")
		switch {
		case inside && value != "":
			nest(meta, strings.Split(path, "."), value)
		case !inside:
			row[name] = value
		}
	}
	row["metadata"] = meta
	return row
}

// nest puts a value where a path leads to.
func nest(into map[string]any, path []string, value string) {
	for _, name := range path[:len(path)-1] {
		next, ok := into[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			into[name] = next
		}
		into = next
	}
	into[path[len(path)-1]] = value
}

// hostAlone is an address without user, path and query: they may hold keys.
func hostAlone(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
