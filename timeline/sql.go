package timeline

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrStatement is returned for what is not one reading statement.
var ErrStatement = errors.New("sql: want one statement that begins with SELECT, WITH, VALUES or EXPLAIN")

// SQL runs one read-only statement and yields the column names, then each row
// as text; NULL is "". The connection itself is read-only, so whatever the
// statement tries, nothing is written.
func (db *DB) SQL(ctx context.Context, statement string, yield func([]string) error) error {
	if err := oneStatement(statement); err != nil {
		return err
	}
	rows, err := db.sql.QueryContext(ctx, statement)
	if err != nil {
		return fmt.Errorf("sql: %w", err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("sql: %w", err)
	}
	if err := yield(columns); err != nil {
		return err
	}
	cells := make([]sql.NullString, len(columns))
	into := make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("sql: %w", err)
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = c.String
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("sql: %w", err)
	}
	return nil
}

// oneStatement refuses a second statement and everything that could reach
// outside the case: ATTACH opens files also on a read-only connection.
func oneStatement(text string) error {
	var plain strings.Builder
	for i := 0; i < len(text); {
		n := skipQuoted(text[i:])
		if n == 0 {
			plain.WriteByte(text[i])
			n = 1
		} else {
			plain.WriteByte(' ')
		}
		i += n
	}
	body := strings.TrimRight(plain.String(), "; \t\r\n")
	words := strings.Fields(strings.ToUpper(body))
	if len(words) == 0 || strings.Contains(body, ";") {
		return ErrStatement
	}
	if words[0] == "EXPLAIN" { // of a PRAGMA it would run the PRAGMA
		words = words[1:]
		if len(words) > 2 && words[0] == "QUERY" && words[1] == "PLAN" {
			words = words[2:]
		}
	}
	if len(words) == 0 {
		return ErrStatement
	}
	first, _, _ := strings.Cut(words[0], "(")
	if !slices.Contains([]string{"SELECT", "WITH", "VALUES"}, first) {
		return ErrStatement
	}
	return nil
}

// skipQuoted returns the length of the comment, string or quoted name that s
// starts with, 0 when it starts with none.
func skipQuoted(s string) int {
	for _, q := range []struct{ open, shut string }{{"--", "\n"}, {"/*", "*/"}, {"'", "'"}, {"\"", "\""}, {"`", "`"}, {"[", "]"}} {
		if !strings.HasPrefix(s, q.open) {
			continue
		}
		if i := strings.Index(s[len(q.open):], q.shut); i >= 0 {
			return len(q.open) + i + len(q.shut)
		}
		return len(s)
	}
	return 0
}
