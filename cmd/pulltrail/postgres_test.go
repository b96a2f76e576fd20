//go:build postgres

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pulltrail/timeline"
)

// server is a PostgreSQL of the system, started for one test.
type server struct {
	t     *testing.T
	bin   string
	dir   string
	creds *syscall.Credential // of who runs it: it refuses to be run by root
}

// startServer starts a server that listens on a socket in a folder of its own.
func startServer(t *testing.T) *server {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		if path, err := exec.LookPath("initdb"); err == nil {
			found = []string{path}
		}
	}
	if len(found) == 0 {
		t.Fatal("PostgreSQL is not installed: apt-get install postgresql")
	}
	dir, err := os.MkdirTemp("", "pulltrail-pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &server{t: t, bin: filepath.Dir(found[len(found)-1]), dir: dir}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.creds = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	s.run("", "initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
	s.run("", "pg_ctl", "-D", data, "-l", filepath.Join(dir, "log"), "-o", fmt.Sprintf("-k %s -c listen_addresses='' -c fsync=off", dir), "-w", "start")
	t.Cleanup(func() { s.run("", "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop") })
	return s
}

// run runs one of the server's programs.
func (s *server) run(input, name string, args ...string) string {
	s.t.Helper()
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir, c.Stdin = s.dir, strings.NewReader(input)
	if s.creds != nil {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: s.creds}
	}
	if name != "pg_ctl" { // what pg_ctl starts would hold the pipe
		out, err := c.CombinedOutput()
		if err != nil {
			s.t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	if err := c.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		s.t.Fatalf("%s: %v\n%s", name, err, log)
	}
	return ""
}

func (s *server) sql(database, text string) string {
	s.t.Helper()
	return s.run(text, "psql", "-qAt", "-h", s.dir, "-U", "postgres", "-d", database, "-v", "ON_ERROR_STOP=1", "-f", "-")
}

// dsn is the address of a database as the proxy writes it, with what the client
// of the proxy takes out of it.
func (s *server) dsn(who, database string) string {
	return fmt.Sprintf("postgresql://%s:EXAMPLE-NOT-REAL-password@/%s?host=%s&connection_limit=10&pool_timeout=20&schema=public", who, database, s.dir)
}

// proxy makes the database of a proxy.
func (s *server) proxy(database string, more ...string) {
	s.t.Helper()
	s.sql("postgres", "CREATE DATABASE "+database)
	for _, file := range []string{"schema.sql", "rows.sql"} {
		text, err := os.ReadFile("../../testdata/litellm/" + file)
		if err != nil {
			s.t.Fatal(err)
		}
		s.sql(database, string(text))
	}
	for _, m := range more {
		s.sql(database, m)
	}
}

// call runs the program on a case and returns what it printed.
func call(t *testing.T, home string, args ...string) (code int, printed string) {
	t.Helper()
	var out bytes.Buffer
	code = run(t.Context(), append(args, "--case", home), strings.NewReader(""), &out, &out)
	return code, out.String()
}

// credentials lists what a case knows of credentials.
func credentials(t *testing.T, home string) []timeline.CredentialRow {
	t.Helper()
	db, err := timeline.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := db.Credentials()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPostgres reads the database of a LiteLLM proxy on a real server, as a user
// that may read names and dates alone.
func TestPostgres(t *testing.T) {
	s := startServer(t)
	s.proxy("litellm", `CREATE ROLE auditor LOGIN;
		GRANT SELECT (key_alias, user_id, team_id, organization_id, created_at, last_rotation_at, last_active, expires, blocked) ON "LiteLLM_VerificationToken" TO auditor;
		GRANT SELECT (credential_name, credential_info, created_at, updated_at, created_by) ON "LiteLLM_CredentialsTable" TO auditor;
		GRANT SELECT (model_name, created_at, updated_at, created_by) ON "LiteLLM_ProxyModelTable" TO auditor;
		GRANT SELECT (key_alias, team_id, created_at, deleted_at) ON "LiteLLM_DeletedVerificationToken" TO auditor;
		GRANT SELECT (organization_id, organization_alias) ON "LiteLLM_OrganizationTable" TO auditor;
		GRANT SELECT (team_id, team_alias) ON "LiteLLM_TeamTable" TO auditor;
		GRANT SELECT (user_id, user_alias) ON "LiteLLM_UserTable" TO auditor;`)
	home := filepath.Join(t.TempDir(), "case")
	t.Setenv(dsnEnv, s.dsn("auditor", "litellm"))
	code, printed := call(t, home, "rotate", "import", "postgres")
	if code != exitOK || !strings.Contains(printed, "litellm-database") || !strings.Contains(printed, "postgres") {
		t.Fatalf("exit code %d: %s", code, printed)
	}
	var got []string
	for _, c := range credentials(t, home) {
		at := func(ns int64) string {
			if ns == 0 {
				return "-"
			}
			return timeline.FormatTime(ns)
		}
		got = append(got, strings.Join([]string{c.Store, c.Class, c.Name, c.Owner, c.Team, c.Customer, c.Provider, at(c.Created), at(c.Updated), at(c.Used), at(c.Expires), string(c.State)}, "|"))
		if c.Listed == 0 {
			t.Errorf("%s: when it was listed is not known", c.Name)
		}
	}
	want := []string{
		"litellm:litellm|gateway-virtual-key|unnamed/svc-chat/2025-07-01T08:00:00.000Z|svc-chat||||2025-07-01T08:00:00Z|-|-|-|inactive",
		"litellm:litellm|gateway-virtual-key|hooli-prod||team-2|hooli||2025-06-01T08:00:00Z|2026-10-22T09:00:00Z|-|2027-01-01T00:00:00Z|active",
		"litellm:litellm|gateway-virtual-key|initech-prod|svc-chat|chat|initech||2025-05-01T08:00:00Z|-|2026-10-21T12:00:00Z|-|active",
		"litellm:litellm|gateway-virtual-key|umbrella-prod||chat|||2025-05-02T08:00:00Z|-|-|-|inactive",
		"litellm:litellm|llm-provider-key|azure-eu|admin||||2025-03-01T08:00:00Z|2026-10-22T10:00:00Z|-|-|active",
		"litellm:litellm|llm-provider-key|openai-prod|admin|||openai|2025-02-01T08:00:00Z|2025-02-01T08:00:00Z|-|-|active",
		"litellm:litellm|llm-provider-key|claude/litellm_params|admin||||2025-02-03T08:00:00Z|2025-02-03T08:00:00Z|-|-|active",
		"litellm:litellm|llm-provider-key|gpt-4o/litellm_params|admin||||2025-02-02T08:00:00Z|2025-02-02T08:00:00Z|-|-|active",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	noMark(t, home)
	if code, printed := call(t, home, "verify"); code != exitOK || !strings.Contains(printed, "whole") {
		t.Errorf("verify: exit code %d: %s", code, printed)
	}
}

// noMark looks for the values of secrets, and for the DSN, in the bytes of a
// case.
func noMark(t *testing.T, home string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		for _, mark := range []string{"EXAMPLE-NOT-REAL", "auditor"} {
			if bytes.Contains(data, []byte(mark)) {
				t.Errorf("%s holds %s", path, mark)
			}
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatal(files, err)
	}
}

// TestPostgresOlder reads the database of an older proxy, whose tables have
// fewer columns, and of one of which a table may not be read.
func TestPostgresOlder(t *testing.T) {
	s := startServer(t)
	s.proxy("older", `ALTER TABLE "LiteLLM_VerificationToken" DROP COLUMN last_rotation_at, DROP COLUMN last_active, DROP COLUMN organization_id;
		DROP TABLE "LiteLLM_DeletedVerificationToken", "LiteLLM_OrganizationTable", "LiteLLM_ProxyModelTable";`)
	home := filepath.Join(t.TempDir(), "case")
	t.Setenv(dsnEnv, s.dsn("postgres", "older"))
	code, printed := call(t, home, "rotate", "import", "postgres", "--store", "litellm:eu")
	if code != exitIncomplete || !strings.Contains(printed, "LiteLLM_ProxyModelTable") {
		t.Errorf("exit code %d: %s", code, printed)
	}
	all := credentials(t, home)
	if len(all) != 5 || all[0].Store != "litellm:eu" {
		t.Errorf("credentials: %+v", all)
	}
	s.sql("postgres", "CREATE ROLE nobody_here LOGIN")
	t.Setenv(dsnEnv, s.dsn("nobody_here", "older"))
	if code, printed := call(t, filepath.Join(t.TempDir(), "case"), "rotate", "import", "postgres"); code != exitIncomplete || !strings.Contains(printed, "did not give") {
		t.Errorf("without any right: exit code %d: %s", code, printed)
	}
	t.Setenv(dsnEnv, s.dsn("nobody", "older"))
	if code, printed := call(t, home, "rotate", "import", "postgres"); code != exitFailure || strings.Contains(printed, "EXAMPLE-NOT-REAL") || !strings.Contains(printed, "nobody") {
		t.Errorf("a user that is not there: exit code %d: %s", code, printed)
	}
}

// TestPostgresReadsOnly lets the server itself say whether the session may
// write.
func TestPostgresReadsOnly(t *testing.T) {
	s := startServer(t)
	s.proxy("litellm", `
		ALTER TABLE "LiteLLM_CredentialsTable" RENAME TO hidden;
		CREATE TABLE trace (setting text);
		CREATE FUNCTION written() RETURNS text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO trace VALUES (current_setting('transaction_read_only')); RETURN 'x'; END $$;
		CREATE VIEW "LiteLLM_CredentialsTable" AS SELECT written() AS credential_name, now() AS created_at;`)
	t.Setenv(dsnEnv, s.dsn("postgres", "litellm"))
	code, printed := call(t, filepath.Join(t.TempDir(), "case"), "rotate", "import", "postgres")
	if code != exitFailure || !strings.Contains(printed, "read-only transaction") {
		t.Errorf("exit code %d: %s", code, printed)
	}
	if got := s.sql("litellm", "SELECT count(*) FROM trace"); got != "0\n" {
		t.Errorf("%s rows were written", got)
	}
}
