package timeline

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
)

// bulkRows is how many rows one statement writes: a call into SQLite costs more
// than a row.
const bulkRows = 64

// bulk gathers rows of one table.
type bulk struct {
	insert  string // "INSERT INTO event(id,…)"
	columns int
	args    []driver.NamedValue
	many    driver.StmtQueryContext // bulkRows rows
	one     driver.StmtQueryContext
}

// newBulk takes "INSERT INTO table(column,column)".
func newBulk(insert string) *bulk {
	return &bulk{insert: insert, columns: strings.Count(insert, ",") + 1}
}

// add takes a row: int64, bool, string or nil for each column.
func (b *bulk) add(row ...driver.Value) {
	for _, v := range row {
		b.args = append(b.args, driver.NamedValue{Value: v})
	}
}

// full reports whether a whole statement is gathered.
func (b *bulk) full() bool { return len(b.args) >= bulkRows*b.columns }

// write writes what was gathered to a connection of the driver. That takes all
// the values of a statement at once when it is asked for rows, and one by one
// otherwise.
func (b *bulk) write(c any) error {
	conn, ok := c.(driver.Conn)
	if !ok {
		return fmt.Errorf("the SQLite driver's %T is no connection", c)
	}
	rest := b.args
	for len(rest) > 0 {
		s, n := &b.one, b.columns
		if len(rest) >= bulkRows*b.columns {
			s, n = &b.many, bulkRows*b.columns
		}
		if *s == nil {
			if err := b.prepare(conn, s, n/b.columns); err != nil {
				return err
			}
		}
		part := rest[:n]
		rest = rest[n:]
		for i := range part {
			part[i].Ordinal = i + 1
		}
		rows, err := (*s).QueryContext(context.Background(), part)
		if err == nil {
			err = rows.Close()
		}
		if err != nil {
			return err
		}
	}
	clear(b.args)
	b.args = b.args[:0]
	return nil
}

func (b *bulk) prepare(c driver.Conn, into *driver.StmtQueryContext, rows int) error {
	row := "(?" + strings.Repeat(",?", b.columns-1) + ")"
	s, err := c.Prepare(b.insert + " VALUES" + row + strings.Repeat(","+row, rows-1))
	if err != nil {
		return err
	}
	q, ok := s.(driver.StmtQueryContext)
	if !ok {
		return fmt.Errorf("the SQLite driver's %T takes no values", s)
	}
	*into = q
	return nil
}

func (b *bulk) close() {
	for _, s := range []driver.StmtQueryContext{b.many, b.one} {
		if s, ok := s.(driver.Stmt); ok {
			_ = s.Close() // the connection is closed next
		}
	}
}
