package timeline

import (
	"slices"
	"testing"
)

// TestBegun has commands begin in a case, and end or not.
func TestBegun(t *testing.T) {
	dir := t.TempDir()
	run := func(command string, ends bool) {
		t.Helper()
		db, err := Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Starts(command); err != nil {
			t.Fatal(err)
		}
		if ends {
			db.Ended(command)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := func(all ...string) {
		t.Helper()
		db, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if got, err := db.Begun(); err != nil || !slices.Equal(got, all) {
			t.Errorf("got %q, %v; want %q", got, err, all)
		}
	}
	run("pulltrail ingest a", true)
	want()
	run("pulltrail ingest b", false)
	run("pulltrail ingest 'c\nd'", false)
	run("pulltrail ingest a", true)
	want("pulltrail ingest b", "pulltrail ingest 'c d'")
	run("pulltrail ingest 'c\nd'", true)
	run("pulltrail ingest b", true)
	want()
}
