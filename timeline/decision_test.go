package timeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// said is a case in which somebody said two things.
func said(t *testing.T) (string, *DB) {
	t.Helper()
	dir := t.TempDir()
	db := create(t, dir)
	write(t, db, "one", info("a", "host:one", "pip.log"))
	if err := db.Decide(
		Decision{Act: Stopped, About: "host:one", At: 5, Who: "mia", Reason: "rebuilt from a clean image"},
		Decision{Act: Rotated, About: "NPM_TOKEN", At: 7, Who: "tom"},
	); err != nil {
		t.Fatal(err)
	}
	return dir, db
}

// TestDecisions checks that what was said is kept in its order, and stands in
// the custody log.
func TestDecisions(t *testing.T) {
	dir, db := said(t)
	all, err := db.Decisions()
	if err != nil || len(all) != 2 || all[0].Act != Stopped || all[1].Who != "tom" || all[1].At != 7 || all[0].Said == 0 {
		t.Fatalf("decisions %+v, %v", all, err)
	}
	log, err := os.ReadFile(filepath.Join(dir, custodyFile))
	if err != nil || !strings.Contains(string(log), `"decision":"rotated NPM_TOKEN at=1970-01-01T00:00:00.000000007Z who=tom"`) {
		t.Errorf("the custody log: %s, %v", log, err)
	}
	v, err := db.Verify(t.Context())
	if err != nil || slices.ContainsFunc(v.Checks, func(c Checked) bool { return c.Outcome == Mismatch }) {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// TestDecisionsStay checks that nothing that was said can be changed through
// the case, and that a change past it is seen.
func TestDecisionsStay(t *testing.T) {
	_, db := said(t)
	for _, change := range []string{"DELETE FROM decision", "UPDATE decision SET who='eve'"} {
		if _, err := db.w.exec(change); err == nil {
			t.Errorf("%s was done", change)
		}
	}
	for i, change := range []string{
		"DROP TRIGGER decision_stays", "UPDATE decision SET who='eve' WHERE id=1",
		"DROP TRIGGER decision_is_kept", "DELETE FROM decision WHERE id=2",
	} {
		if _, err := db.w.exec(change); err != nil {
			t.Fatal(err)
		}
		if err := db.w.commit(); err != nil {
			t.Fatal(err)
		}
		v, err := db.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		bad := 0
		for _, c := range v.Checks {
			if c.What == "decision" && c.Outcome == Mismatch {
				bad++
			}
		}
		if want := []int{0, 2, 2, 3}[i]; bad != want {
			t.Errorf("after %s: %d mismatches, want %d: %+v", change, bad, want, v.Checks)
		}
	}
}

// TestCredentials checks that a record comes back as it was written, and that
// who only keeps secrets and has no name is no subject.
func TestCredentials(t *testing.T) {
	db := create(t, t.TempDir())
	s, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	at := Origin{Path: "keys.csv", Line: 2, Text: "NPM_TOKEN,…"}
	want := Credential{
		Subject: Subject{Source, "keys.csv"}, Store: "github:acme/api", Name: "NPM_TOKEN", Part: "1", Class: "package-publish-token",
		Owner: "tom", Provider: "npm", Alias: "ci", Team: "platform", Customer: "acme", Created: 1, Updated: 2, Used: 3, Expires: 4, Listed: 5,
		State: Active, Origin: at,
	}
	hold := Event{Action: Hold, Subject: want.Subject, Span: Always(), Items: []Item{{Artifact: "secret:NPM_TOKEN"}}, Origin: at}
	if err := s.Write(&Batch{Events: []Event{hold}, Credentials: []Credential{want}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finish(info("a", "keys.csv", "keys.csv")); err != nil {
		t.Fatal(err)
	}
	got, err := db.Credentials()
	if err != nil || len(got) != 1 || got[0].Credential != want || got[0].ReadAt == 0 {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if subjects, err := db.Subjects(); err != nil || len(subjects) != 0 {
		t.Errorf("subjects %v, %v", subjects, err)
	}
}
