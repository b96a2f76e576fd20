// Package proxydb asks the database of a LiteLLM proxy for names and dates:
// virtual keys by alias, team and customer, and stored credentials by name. Keys,
// their hashes and values are never asked for, so they never leave the
// database. It only reads.
package proxydb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// maxRows bounds one table.
const maxRows = 200_000

// Export is what was asked: a document that the format litellm-database reads.
// Times are RFC 3339 UTC, "" where the database has none.
type Export struct {
	Schema      string   `json:"schema"`
	Database    string   `json:"database"`
	Taken       string   `json:"taken"`   // by the clock of the database
	Missing     []string `json:"missing"` // tables that are not there, or may not be read
	Keys        []Record `json:"keys"`
	DeletedKeys []Record `json:"deleted_keys"`
	Credentials []Record `json:"credentials"`
	Models      []Record `json:"models"`
}

// Record is one key, credential or model by its name.
type Record struct {
	Name     string `json:"name"` // of a key its alias, "" when it has none
	Provider string `json:"provider,omitempty"`
	Owner    string `json:"owner,omitempty"`
	Team     string `json:"team,omitempty"`
	Customer string `json:"customer,omitempty"`
	Created  string `json:"created"`
	Updated  string `json:"updated,omitempty"` // of a key, when it was rotated
	Used     string `json:"used,omitempty"`
	Expires  string `json:"expires,omitempty"`
	Deleted  string `json:"deleted,omitempty"`
	Blocked  bool   `json:"blocked,omitempty"`
}

// Read asks the database that a DSN names (postgres://…, as the proxy has it in
// DATABASE_URL). The session can only read. Errors never hold the DSN.
func Read(ctx context.Context, dsn string) ([]byte, error) {
	config, err := configOf(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database of the proxy at %s: %w", config.Host, plain(err))
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only read
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("read the database of the proxy: %w", plain(err))
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only read
	out, err := export(ctx, tx, config.Database)
	if err != nil {
		return nil, fmt.Errorf("read the database of the proxy: %w", plain(err))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(out); err != nil {
		return nil, fmt.Errorf("read the database of the proxy: %w", err)
	}
	return b.Bytes(), nil
}

// clientOptions are parameters that Prisma, which the proxy uses, takes out of a
// DSN for itself; a server does not know them.
var clientOptions = []string{"connection_limit", "pool_timeout", "socket_timeout", "pgbouncer", "statement_cache_size", "sslidentity", "sslpassword", "sslaccept"}

// configOf reads a DSN, and makes the session one that can only read.
func configOf(dsn string) (*pgx.ConnConfig, error) {
	schema := ""
	if u, err := url.Parse(dsn); err == nil && strings.HasPrefix(u.Scheme, "postgres") {
		q := u.Query()
		schema = q.Get("schema")
		for _, name := range append(clientOptions, "schema") {
			q.Del(name)
		}
		u.RawQuery = q.Encode()
		dsn = u.String()
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the DSN cannot be read: want postgres://USER:PASSWORD@HOST:PORT/DATABASE") // the error would hold parts of it
	}
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["application_name"] = "pulltrail"
	config.RuntimeParams["statement_timeout"] = "60000"
	config.RuntimeParams["TimeZone"] = "UTC"
	if schema != "" {
		config.RuntimeParams["search_path"] = pgx.Identifier{schema}.Sanitize()
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler in between keeps no statements
	return config, nil
}

// plain takes out of an error what a server may quote.
func plain(err error) error {
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		return fmt.Errorf("%s (SQLSTATE %s)", pg.Message, pg.Code)
	}
	return err
}

// column is where a field of a record comes from: columns in order of
// preference, each "table alias.column" with the type it is printed as.
type column struct {
	from []string
	form string // "" as it is; time; bool; provider
}

// table is what is asked of one table.
type table struct {
	name   string
	must   string // column without which it is none
	fields [11]column
	into   func(*Export) *[]Record
}

func text(from ...string) column  { return column{from, ""} }
func clock(from ...string) column { return column{from, "time"} }

// tables are asked in this order. The fields are those of Record.
var tables = []table{
	{
		"LiteLLM_VerificationToken", "key_alias",
		[11]column{
			text("key_alias"), text(), text("user_alias", "user_id"), text("team_alias", "team_id"), text("organization_alias", "organization_id"),
			clock("created_at"), clock("last_rotation_at"), clock("last_active"), clock("expires"), clock(),
			{[]string{"blocked"}, "bool"},
		},
		func(e *Export) *[]Record { return &e.Keys },
	},
	{
		"LiteLLM_DeletedVerificationToken", "key_alias",
		[11]column{
			text("key_alias"), text(), text("user_alias", "user_id"), text("team_alias", "team_id"), text("organization_alias", "organization_id"),
			clock("created_at"), clock("last_rotation_at"), clock("last_active"), clock("expires"), clock("deleted_at"),
			{[]string{"blocked"}, "bool"},
		},
		func(e *Export) *[]Record { return &e.DeletedKeys },
	},
	{
		"LiteLLM_CredentialsTable", "credential_name",
		[11]column{
			text("credential_name"),
			{[]string{"credential_info"}, "provider"},
			text("created_by"), text(), text(),
			clock("created_at"), clock("updated_at"), clock(), clock(), clock(),
			{nil, "bool"},
		},
		func(e *Export) *[]Record { return &e.Credentials },
	},
	{
		"LiteLLM_ProxyModelTable", "model_name",
		[11]column{
			text("model_name"), text(), text("created_by"), text(), text(), clock("created_at"), clock("updated_at"), clock(), clock(), clock(), {nil, "bool"},
		},
		func(e *Export) *[]Record { return &e.Models },
	},
}

// named are tables that give names to ids: of which column, and in which one the
// name stands.
var named = []struct{ table, id, alias string }{
	{"LiteLLM_TeamTable", "team_id", "team_alias"},
	{"LiteLLM_UserTable", "user_id", "user_alias"},
	{"LiteLLM_OrganizationTable", "organization_id", "organization_alias"},
}

func export(ctx context.Context, tx pgx.Tx, database string) (*Export, error) {
	out := &Export{
		Schema: "pulltrail.litellm-database/1", Database: database, Missing: []string{}, Keys: []Record{}, DeletedKeys: []Record{}, Credentials: []Record{}, Models: []Record{},
	}
	if err := tx.QueryRow(ctx, `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`).Scan(&out.Taken); err != nil {
		return nil, err
	}
	columns, err := visible(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		if !slices.Contains(columns[t.name], t.must) {
			if t.name != "LiteLLM_DeletedVerificationToken" { // older proxies have none
				out.Missing = append(out.Missing, t.name)
			}
			continue
		}
		rows, err := tx.Query(ctx, t.query(columns))
		if err != nil {
			return nil, err
		}
		list := t.into(out)
		for rows.Next() {
			if len(*list) == maxRows {
				rows.Close()
				return nil, fmt.Errorf("%s has more than %d rows", t.name, maxRows)
			}
			var r Record
			if err := rows.Scan(&r.Name, &r.Provider, &r.Owner, &r.Team, &r.Customer, &r.Created, &r.Updated, &r.Used, &r.Expires, &r.Deleted, &r.Blocked); err != nil {
				rows.Close()
				return nil, err
			}
			*list = append(*list, r)
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// visible lists the columns that the user may read: information_schema shows no
// others.
func visible(ctx context.Context, tx pgx.Tx) (map[string][]string, error) {
	rows, err := tx.Query(ctx, `SELECT c.table_name::text, c.column_name::text FROM information_schema.columns c
		WHERE c.table_schema = current_schema() AND c.table_name LIKE 'LiteLLM\_%'
		AND has_column_privilege(quote_ident(c.table_schema)||'.'||quote_ident(c.table_name), c.column_name, 'SELECT')`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns := map[string][]string{}
	for rows.Next() {
		var t, c string
		if err := rows.Scan(&t, &c); err != nil {
			return nil, err
		}
		columns[t] = append(columns[t], c)
	}
	return columns, rows.Err()
}

// query asks for the fields of a table as far as its columns are there. Only
// columns that are written in this file are ever named.
func (t *table) query(columns map[string][]string) string {
	ident := func(name string) string { return pgx.Identifier{name}.Sanitize() }
	from := ident(t.name) + " t"
	have := map[string]string{} // column → expression
	for _, c := range columns[t.name] {
		have[c] = "t." + ident(c)
	}
	for _, n := range named {
		of := columns[n.table]
		if have[n.id] == "" || !slices.Contains(of, n.id) || !slices.Contains(of, n.alias) {
			continue
		}
		from += " LEFT JOIN " + ident(n.table) + " " + ident(n.alias) + " ON " + ident(n.alias) + "." + ident(n.id) + " = " + have[n.id]
		have[n.alias] = ident(n.alias) + "." + ident(n.alias)
	}
	fields := make([]string, len(t.fields))
	for i, f := range t.fields {
		fields[i] = f.expression(have)
	}
	return "SELECT " + strings.Join(fields, ", ") + " FROM " + from + " ORDER BY 1, 6, 3"
}

func (c *column) expression(have map[string]string) string {
	var parts []string
	for _, name := range c.from {
		if e := have[name]; e != "" {
			switch c.form {
			case "time":
				e = `to_char(` + e + `, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
			case "provider":
				e += "->>'custom_llm_provider'"
			case "":
				e = "nullif(" + e + ", '')"
			}
			parts = append(parts, e)
		}
	}
	if c.form == "bool" {
		return "coalesce(" + strings.Join(append(parts, "false"), ", ") + ")"
	}
	return "coalesce(" + strings.Join(append(parts, "''"), ", ") + ")"
}
