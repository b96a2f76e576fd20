package timeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestSQL(t *testing.T) {
	dir := t.TempDir()
	write(t, create(t, dir), "one", info("a", "host:one", "pip.log"))
	db := reader(t, dir)
	inner := filepath.Join(dir, "inner.db")
	for _, c := range []struct {
		statement, want string // the last cell
	}{
		{"SELECT 1", "1"},
		{"  select 2 ; \n ", "2"},
		{"SELECT 'it''s; DROP TABLE event'", "it's; DROP TABLE event"},
		{`SELECT "a;b" FROM (SELECT 3 AS "a;b")`, "3"},
		{"SELECT [a;b] FROM (SELECT 4 AS [a;b])", "4"},
		{"SELECT `a;b` FROM (SELECT 5 AS `a;b`)", "5"},
		{"-- first; a comment\nSELECT 6 -- and; another", "6"},
		{"/* ; */ SELECT /* ; */ 7", "7"},
		{"WITH t(n) AS (VALUES(8)) SELECT n FROM t", "8"},
		{"VALUES(9)", "9"},
		{"SELECT NULL", ""},
		{"SELECT count(*) FROM timeline", "2"},
		{"SELECT subject FROM timeline LIMIT 1", "one"},
	} {
		last := ""
		err := db.SQL(context.Background(), c.statement, func(cells []string) error { last = cells[len(cells)-1]; return nil })
		if err != nil || last != c.want {
			t.Errorf("%s is %q, want %q (%v)", c.statement, last, c.want, err)
		}
	}
	for _, statement := range []string{
		"", ";", "-- SELECT 1", "/* SELECT 1", "DELETE FROM event", "SELECT 1; DELETE FROM event", "SELECT 1;;SELECT 2",
		"SELECT 1 /* */ ; -- x\n DROP TABLE event", "ATTACH '" + inner + "' AS x", "PRAGMA journal_mode=DELETE", "EXPLAIN PRAGMA user_version=5",
		"EXPLAIN QUERY PLAN", "EXPLAIN", "VACUUM INTO '" + inner + "'", "BEGIN", "INSERT INTO meta VALUES('a','b')",
	} {
		err := db.SQL(context.Background(), statement, func([]string) error { return nil })
		if !errors.Is(err, ErrStatement) {
			t.Errorf("%s: %v, want: %v", statement, err, ErrStatement)
		}
	}
	for _, statement := range []string{
		"WITH t AS (SELECT 1) DELETE FROM event", "WITH t AS (SELECT 1) INSERT INTO meta SELECT 'a','b'", "SELECT load_extension('x')",
		"SELECT 'open", "'a' SELECT 1", "SELECT nothing FROM subjects", "SELECT writefile('" + inner + "', 'x')",
	} {
		if err := db.SQL(context.Background(), statement, func([]string) error { return nil }); err == nil {
			t.Errorf("%s does something", statement)
		}
	}
	if n := rows(t, db, "event"); n != 1 {
		t.Errorf("%d events are left", n)
	}
	if _, err := os.Stat(inner); err == nil {
		t.Error("a statement wrote a file")
	}
	stop := errors.New("enough")
	if err := db.SQL(context.Background(), "SELECT 1", func([]string) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the reader's own error comes back as %v", err)
	}
}
