package timeline

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

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

// roster is whom the numbers in other tables mean, and which sources count.
type roster struct {
	subjects []Subject // by number; the zero Subject is none
	order    []int64   // the numbers, by kind and id
	complete []bool    // by number of the source
}

func (db *DB) roster() (*roster, error) {
	most := db.atMost("subject")
	r := &roster{subjects: make([]Subject, 0, most+1), order: make([]int64, 0, most)}
	kinds := interned{}
	// The index of the names has them in order.
	err := db.each(func(row rawRow) {
		id := row.int(0)
		for int64(len(r.subjects)) <= id {
			r.subjects = append(r.subjects, Subject{})
		}
		r.subjects[id] = Subject{Kind(kinds.of(row.text(1))), row.text(2)}
		r.order = append(r.order, id)
	}, "SELECT id,kind,name FROM subject ORDER BY kind,name")
	if err == nil {
		err = db.each(func(row rawRow) {
			for int64(len(r.complete)) <= row.int(0) {
				r.complete = append(r.complete, false)
			}
			r.complete[row.int(0)] = true
		}, "SELECT id FROM source WHERE complete=1")
	}
	return r, err
}

// counts reports whether a source is complete.
func (r *roster) counts(source int64) bool {
	return source >= 0 && source < int64(len(r.complete)) && r.complete[source]
}

// of is the subject of a number; one that came after the roster was read is
// none.
func (r *roster) of(id int64) Subject {
	if id < 0 || id >= int64(len(r.subjects)) {
		return Subject{}
	}
	return r.subjects[id]
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
