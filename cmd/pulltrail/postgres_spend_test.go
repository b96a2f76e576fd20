//go:build postgres

package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pulltrail/ingest/proxydb"
	"pulltrail/timeline"
)

// spendRows are what a case knows of requests.
func spendRows(t *testing.T, home string) (out []string) {
	t.Helper()
	db, err := timeline.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Requests(-1, func(r *timeline.RequestRow) error {
		first := float64(0)
		if r.First > 0 {
			first = float64(r.First-r.Start) / 1e9
		}
		out = append(out, fmt.Sprintf("%s|%s|%s|%s|%d/%d/%d|first %.0f|failed %t|%s", r.ID, r.Node, r.Tenant, r.Model, r.Prompt, r.Cached, r.Output, first, r.Failed, r.Span))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPostgresSpend reads the requests of a proxy on a real server, as a user
// that may not read what was asked: those that were at work in the window.
func TestPostgresSpend(t *testing.T) {
	s := startServer(t)
	s.proxy("litellm", `CREATE ROLE auditor LOGIN;
		GRANT SELECT (request_id, call_type, "startTime", "endTime", "completionStartTime", model, api_base, prompt_tokens, completion_tokens, total_tokens,
			cache_hit, status, team_id, end_user, "user", metadata) ON "LiteLLM_SpendLogs" TO auditor;
		GRANT SELECT (team_id, team_alias) ON "LiteLLM_TeamTable" TO auditor;
		GRANT SELECT (user_id, user_alias) ON "LiteLLM_UserTable" TO auditor;`)
	t.Setenv(dsnEnv, s.dsn("auditor", "litellm"))
	home := filepath.Join(t.TempDir(), "case")
	code, printed := call(t, home, "collect", "litellm", "--from", "2026-09-01", "--to", "2026-09-02", "--subject", "host:gateway")
	if code != exitOK || !strings.Contains(printed, "litellm-spend-logs") {
		t.Fatalf("exit code %d: %s", code, printed)
	}
	want := []string{
		"chatcmpl-2|host:gateway|chat|chat|10/-1/20|first 0|failed true|2026-08-31T23:59:59Z/2026-09-01T00:00:01Z",
		"chatcmpl-1|client:gpu-1|initech|chat|700000/4096/20|first 50|failed false|2026-09-01T09:00:00Z/2026-09-01T09:01:00Z",
	}
	if got := spendRows(t, home); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	noMark(t, home)
	var rows bytes.Buffer // what is kept, before it is packed
	if err := proxydb.Spend(t.Context(), s.dsn("auditor", "litellm"), time.Unix(0, 0), time.Now(), &rows); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(rows.String(), "\n"); n != 4 || strings.Contains(rows.String(), "EXAMPLE-NOT-REAL") {
		t.Errorf("%d lines: %s", n, rows.String())
	}
	if code, printed := call(t, home, "verify"); code != exitOK {
		t.Errorf("verify: exit code %d: %s", code, printed)
	}
	// A user that may not read the table: a gap, not an empty table.
	s.sql("litellm", `REVOKE SELECT ON "LiteLLM_SpendLogs" FROM auditor; REVOKE SELECT (total_tokens) ON "LiteLLM_SpendLogs" FROM auditor`)
	if code, printed := call(t, filepath.Join(t.TempDir(), "case"), "collect", "litellm", "--from", "2026-09-01", "--to", "2026-09-02"); code != exitIncomplete || !strings.Contains(printed, "did not give LiteLLM_SpendLogs") {
		t.Errorf("without any right: exit code %d: %s", code, printed)
	}
	t.Setenv(dsnEnv, s.dsn("nobody", "litellm"))
	if code, printed := call(t, home, "collect", "litellm", "--from", "2026-09-01", "--to", "2026-09-02"); code != exitFailure || strings.Contains(printed, "EXAMPLE-NOT-REAL") || !strings.Contains(printed, "nobody") {
		t.Errorf("a user that is not there: exit code %d: %s", code, printed)
	}
}

// TestPostgresSpendPages reads more rows than one page has, many of the same
// moment: each once.
func TestPostgresSpendPages(t *testing.T) {
	s := startServer(t)
	const rows = 12_345
	s.proxy("litellm", fmt.Sprintf(`ALTER TABLE "LiteLLM_SpendLogs" DROP COLUMN status, DROP COLUMN "completionStartTime"; DROP TABLE "LiteLLM_TeamTable";
		INSERT INTO "LiteLLM_SpendLogs" (request_id, call_type, "startTime", "endTime", prompt_tokens, total_tokens, messages)
		SELECT 'r' || i, 'acompletion', timestamp '2026-10-01' + (i / 7000) * interval '1 hour', timestamp '2026-10-02', i, i, '"EXAMPLE-NOT-REAL"' FROM generate_series(1, %d) i`, rows))
	t.Setenv(dsnEnv, s.dsn("postgres", "litellm"))
	home := filepath.Join(t.TempDir(), "case")
	if code, printed := call(t, home, "collect", "litellm", "--from", "2026-10-01", "--to", "2026-10-01"); code != exitOK {
		t.Fatalf("exit code %d: %s", code, printed)
	}
	seen := map[string]bool{}
	for _, r := range spendRows(t, home) {
		id, _, _ := strings.Cut(r, "|")
		seen[id] = true
	}
	if len(seen) != rows || len(spendRows(t, home)) != rows {
		t.Errorf("%d rows, %d different: want %d", len(spendRows(t, home)), len(seen), rows)
	}
	noMark(t, home)
}
