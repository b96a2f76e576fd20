package timeline

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// each runs a query and yields its rows as the driver gives them, without what
// database/sql does to every value: of tables that are read whole there are
// hundreds of thousands of rows. A row is valid until the next.
func (db *DB) each(yield func(row rawRow), query string, args ...any) error {
	ctx := context.Background()
	conn, err := db.sql.Conn(ctx)
	if err != nil {
		return err
	}
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
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
			if err := rows.Next(row); err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				return errors.Join(err, rows.Close())
			}
			yield(row)
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

// roster is whom the numbers in other tables mean, and which sources count.
type roster struct {
	subjects []Subject // by number; the zero Subject is none
	complete map[int64]bool
}

func (db *DB) roster() (*roster, error) {
	r := &roster{complete: map[int64]bool{}}
	kinds := interned{}
	err := db.each(func(row rawRow) {
		for id := row.int(0); int64(len(r.subjects)) <= id; {
			r.subjects = append(r.subjects, Subject{})
		}
		r.subjects[row.int(0)] = Subject{Kind(kinds.of(row.text(1))), row.text(2)}
	}, "SELECT id,kind,name FROM subject ORDER BY id")
	if err == nil {
		err = db.each(func(row rawRow) { r.complete[row.int(0)] = true }, "SELECT id FROM source WHERE complete=1")
	}
	return r, err
}

// of is the subject of a number; one that came after the roster was read is
// none.
func (r *roster) of(id int64) Subject {
	if id < 0 || id >= int64(len(r.subjects)) {
		return Subject{}
	}
	return r.subjects[id]
}

// numbers reads what group_concat joined.
func numbers(list string, yield func(int64)) error {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return err
		}
		yield(n)
	}
	return nil
}
