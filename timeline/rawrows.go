package timeline

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// reading is a pool, a connection or a transaction.
type reading interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// scanner is one row of a result.
type scanner interface{ Scan(into ...any) error }

// list reads all rows of a query; what names them in errors.
func list[T any](ctx context.Context, q reading, what string, scan func(row scanner) (T, error), query string, args ...any) ([]T, error) {
	failed := func(err error) ([]T, error) { return nil, fmt.Errorf("read %s: %w", what, err) }
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return failed(err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return failed(err)
		}
		out = append(out, one)
	}
	if err := rows.Err(); err != nil {
		return failed(err)
	}
	return out, nil
}

// each runs a query and yields its rows, as rows does.
func (db *DB) each(yield func(row rawRow), query string, args ...any) error {
	return db.rows(func(row rawRow) error { yield(row); return nil }, query, args...)
}

// rows runs a query and yields its rows as the driver gives them, without what
// database/sql does to every value: of tables that are read whole there are
// hundreds of thousands of rows. A row is valid until the next; an error of
// yield ends the query and is returned.
func (db *DB) rows(yield func(row rawRow) error, query string, args ...any) error {
	ctx := context.Background()
	conn, err := db.sql.Conn(ctx)
	if err != nil {
		return err
	}
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		v, err := driver.DefaultParameterConverter.ConvertValue(a)
		if err != nil {
			return errors.Join(err, conn.Close())
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	err = conn.Raw(func(c any) error {
		q, ok := c.(driver.QueryerContext)
		if !ok {
			return fmt.Errorf("the SQLite driver's %T takes no queries", c)
		}
		rows, err := q.QueryContext(ctx, query, named)
		if err != nil {
			return err
		}
		row := make(rawRow, len(rows.Columns()))
		for {
			err := rows.Next(row)
			if errors.Is(err, io.EOF) {
				return rows.Close()
			}
			if err == nil {
				err = yield(row)
			}
			if err != nil {
				return errors.Join(err, rows.Close())
			}
		}
	})
	return errors.Join(err, conn.Close())
}

// rawRow is a row of integers, texts and NULL.
type rawRow []driver.Value

func (r rawRow) int(column int) int64 {
	n, _ := r[column].(int64)
	return n
}

func (r rawRow) text(column int) string {
	s, _ := r[column].(string)
	return s
}

// span reads t0 and t1 in two columns from the first on.
func (r rawRow) span(column int, clock string) Span {
	end := func(v driver.Value) sql.NullInt64 {
		n, ok := v.(int64)
		return sql.NullInt64{Int64: n, Valid: ok}
	}
	var s Span
	setSpan(&s, end(r[column]), end(r[column+1]), clock)
	return s
}

// interned returns one copy of texts that repeat.
type interned map[string]string

func (t interned) of(s string) string {
	if same, ok := t[s]; ok {
		return same
	}
	t[s] = s
	return s
}

// numbers reads what group_concat joined: numbers of rows, with commas between.
func numbers(list string, yield func(int64)) {
	n := int64(0)
	for i := range len(list) {
		if c := list[i]; c == ',' {
			yield(n)
			n = 0
		} else {
			n = 10*n + int64(c-'0')
		}
	}
	yield(n)
}
