package matchers

import (
	"strings"
	"testing"

	"pulltrail/timeline"
)

// TestProof goes through the life of one row: what lists and people say, and
// the state that follows.
func TestProof(t *testing.T) {
	job := subjectOf(t, "job:github:acme/api/runs/1/attempts/1/jobs/build")
	host := subjectOf(t, "host:prod-3")
	const safe, early, late = 1000, 900, 1100
	list := func(store, part string, made, readAt int64, state timeline.Activity) Record {
		return Record{CredentialRow: timeline.CredentialRow{ReadAt: readAt, Credential: timeline.Credential{
			Subject: subjectOf(t, "source:list.json"), Store: store, Name: "KEY", Part: part, Created: made, State: state,
		}}}
	}
	expired := list("gitlab:acme/api", "", early, 5, timeline.Active)
	expired.Expires = 2000
	loose := list("", "", late, 5, "")
	loose.Loose = true
	by := func(at, said int64) timeline.Decision {
		return timeline.Decision{Act: timeline.Rotated, About: "KEY", At: at, Said: said, Who: "tom"}
	}
	waiver := timeline.Decision{Act: timeline.Waived, About: "KEY", Until: 2000, Who: "mia", Reason: "read-only"}
	none := SafeAfter{Because: "nothing says when host:prod-3 was stopped or rebuilt"}
	for _, c := range []struct {
		name    string
		safe    int64
		held    []timeline.Subject
		lists   []Record
		said    []timeline.Decision
		asOf    int64
		want    State
		because string
	}{
		{"nothing", safe, nil, nil, nil, 0, Open, "nobody says"},
		{"not rotated", safe, nil, []Record{list("aws:1", "", early, 5, timeline.Active)}, nil, 0, Open, "not rotated: KEY in aws:1, made"},
		{"a list shows it", safe, nil, []Record{list("aws:1", "", late, 5, timeline.Active)}, nil, 0, Verified, "safe after"},
		{"revoked", safe, nil, []Record{list("aws:1", "", early, 5, timeline.Inactive)}, nil, 0, Verified, "inactive"},
		{"the old one works", safe, nil, []Record{list("aws:1", "a", early, 5, timeline.Active), list("aws:1", "b", late, 5, timeline.Active)}, nil, 0, Failed, "the old one still works"},
		{"the old one is off", safe, nil, []Record{list("aws:1", "a", early, 5, timeline.Inactive), list("aws:1", "b", late, 5, timeline.Active)}, nil, 0, Verified, "inactive"},
		{"expired", safe, nil, []Record{expired}, nil, 2000, Verified, "expires 1970"},
		{"not yet expired", safe, nil, []Record{expired}, nil, 1999, Open, "not rotated"},
		{"exactly then is not after", safe, nil, []Record{list("aws:1", "", safe, 5, timeline.Active)}, nil, 0, Open, "not rotated"},
		{"a copy says nothing of the old value", safe, []timeline.Subject{job}, []Record{list("github:acme/api", "", late, 5, "")}, nil, 0, Verified, "whether the old value still works, no list says"},
		{"another repository", safe, []timeline.Subject{job}, []Record{list("github:acme/ap", "", late, 5, "")}, nil, 0, Open, "nobody says"},
		{"one of two places", safe, []timeline.Subject{job, host}, []Record{list("github:acme/api", "", late, 5, "")}, []timeline.Decision{by(late, 1)}, 0, CannotVerify, "host:prod-3 held it"},
		{"who issues it speaks for all", safe, []timeline.Subject{job, host}, []Record{list("aws:1", "", late, 5, timeline.Active)}, nil, 0, Verified, "aws:1"},
		{"an old copy of what is revoked", safe, []timeline.Subject{job}, []Record{list("github:acme/api", "", early, 5, ""), list("aws:1", "a", early, 5, timeline.Inactive), list("aws:1", "b", late, 5, timeline.Active)}, nil, 0, Verified, "inactive"},
		{"a copy without a date", safe, []timeline.Subject{job}, []Record{list("gitlab:acme/api", "", 0, 5, ""), list("aws:1", "b", late, 5, timeline.Active)}, nil, 0, Verified, "aws:1"},
		{"a new copy of what still works", safe, []timeline.Subject{job}, []Record{list("github:acme/api", "", late, 5, ""), list("aws:1", "a", early, 5, timeline.Active)}, nil, 0, Open, "not rotated: KEY a in aws:1"},
		{"said, no list", safe, nil, nil, []timeline.Decision{by(late, 1)}, 0, CannotVerify, "no list that was read has it"},
		{"said, only the name", safe, nil, []Record{loose}, []timeline.Decision{by(late, 1)}, 0, CannotVerify, "do not say"},
		{"said, no date", safe, nil, []Record{list("gitlab:acme/api", "", 0, 5, "")}, []timeline.Decision{by(late, 1)}, 0, CannotVerify, "gitlab:acme/api gives no date"},
		{"said, the list is older", safe, nil, []Record{list("aws:1", "", early, 5, timeline.Active)}, []timeline.Decision{by(late, 9)}, 0, Rotated, "no list was read since"},
		{"said, the list knows better", safe, nil, []Record{list("aws:1", "", early, 9, timeline.Active)}, []timeline.Decision{by(late, 5)}, 0, Failed, "a later list says otherwise"},
		{"burnt again", safe, nil, nil, []timeline.Decision{by(safe, 1)}, 0, Failed, "burnt again"},
		{"rotated once more", safe, nil, nil, []timeline.Decision{by(early, 1), by(late, 2)}, 0, CannotVerify, "no list"},
		{"it still runs", 0, nil, []Record{list("aws:1", "", late, 5, timeline.Active)}, []timeline.Decision{by(late, 1)}, 0, CannotVerify, "nothing says when host:prod-3"},
		{"it still runs, nobody says a thing", 0, nil, []Record{list("aws:1", "", late, 5, timeline.Active)}, nil, 0, Open, "not rotated"},
		{"waived", safe, nil, nil, []timeline.Decision{waiver}, 1999, WaivedState, "mia approved until"},
		{"waived, no clock", safe, nil, nil, []timeline.Decision{waiver}, 0, WaivedState, "read-only"},
		{"the waiver is over", safe, nil, nil, []timeline.Decision{waiver}, 2000, Open, "the waiver of mia ended"},
		{"verified needs no waiver", safe, nil, []Record{list("aws:1", "", late, 5, timeline.Active)}, []timeline.Decision{waiver}, 1999, Verified, "safe after"},
	} {
		row := Credential{ID: "c-1", Name: "KEY", Records: c.lists, Said: c.said, Safe: SafeAfter{At: c.safe}}
		if c.safe == 0 {
			row.Safe = none
		}
		for _, s := range c.held {
			row.Held = append(row.Held, Holding{Subject: s})
		}
		row.prove(c.asOf)
		if row.State != c.want || !strings.Contains(row.Because, c.because) {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, row.State, row.Because, c.want, c.because)
		}
	}
}

// TestJobToken tells the token of a job from a secret of that name elsewhere.
func TestJobToken(t *testing.T) {
	job, host := Holding{Subject: subjectOf(t, "job:gitlab:acme/api/jobs/1")}, Holding{Subject: subjectOf(t, "host:prod-3")}
	for _, c := range []struct {
		name string
		held []Holding
		safe int64
		want State
	}{
		{"CI_JOB_TOKEN", []Holding{job}, 5, Verified},
		{"CI_JOB_TOKEN", []Holding{job}, 0, Open},
		{"CI_JOB_TOKEN", []Holding{job, host}, 5, Open},
		{"DEPLOY_TOKEN", []Holding{job}, 5, Open},
	} {
		row := Credential{Name: c.name, Held: c.held, Safe: SafeAfter{At: c.safe}}
		if row.prove(0); row.State != c.want {
			t.Errorf("%s of %d: %s, want %s", c.name, len(c.held), row.State, c.want)
		}
	}
}

// decideAll adds what was said to a case.
func decideAll(t *testing.T, db *timeline.DB, all ...timeline.Decision) {
	t.Helper()
	if err := db.Decide(all...); err != nil {
		t.Fatal(err)
	}
}

// TestSafeAfter follows a row until the last that could read it was stopped.
func TestSafeAfter(t *testing.T) {
	db, res := rotationCase(t)
	res.Findings[3].Verdict = Possible // the host
	plan := func(name string) *Credential {
		t.Helper()
		rows, err := PlanRotation(db, res, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if rows[i].Name == name {
				return &rows[i]
			}
		}
		t.Fatalf("no row %s in %+v", name, rows)
		return nil
	}
	if c := plan("OPENAI_API_KEY"); c.Safe.At != 0 || len(c.Safe.Waiting) != 2 || !strings.Contains(c.Safe.Because, "were stopped or rebuilt") {
		t.Errorf("nothing is stated: %+v", c.Safe)
	}
	decideAll(t, db, timeline.Decision{Act: timeline.Stopped, About: "container:node-1/aaaaaaaaaaaa", At: 5e9, Who: "tom"})
	if c := plan("OPENAI_API_KEY"); c.Safe.At != 0 || len(c.Safe.Waiting) != 1 || c.Safe.Waiting[0].Kind != timeline.Host {
		t.Errorf("the container alone: %+v", c.Safe)
	}
	decideAll(t, db,
		timeline.Decision{Act: timeline.Stopped, About: "host:node-1", At: 7e9, Who: "tom"},
		timeline.Decision{Act: timeline.Stopped, About: "host:node-1", At: 1e9, Who: "eve", Incident: "another"})
	if c := plan("OPENAI_API_KEY"); c.Safe.At != 7e9 || !strings.Contains(c.Safe.Because, "host:node-1") {
		t.Errorf("both: %+v", c.Safe)
	}
	// The evidence shows the release at work on the container later, and only
	// the host was stopped after that.
	res.Findings[0].Evidence = []Evidence{{Fact: &timeline.Fact{Action: timeline.Run, Span: timeline.Span{From: 6e9, To: 6e9}}, Verdict: Exposed}}
	if c := plan("OPENAI_API_KEY"); c.Safe.At != 0 {
		t.Errorf("it ran again: %+v", c.Safe)
	}
	decideAll(t, db, timeline.Decision{Act: timeline.Stopped, About: "container:node-1/aaaaaaaaaaaa", At: 61e8, Who: "tom"})
	if c := plan("OPENAI_API_KEY"); c.Safe.At != 7e9 {
		t.Errorf("stopped once more: %+v", c.Safe)
	}
}

// TestNewest picks what the newest list says, whatever was read last.
func TestNewest(t *testing.T) {
	row := func(path string, listed, made, read int64) timeline.CredentialRow {
		return timeline.CredentialRow{ReadAt: read, Credential: timeline.Credential{Store: "github:acme/api", Name: "KEY", Listed: listed, Created: made, Origin: timeline.Origin{Path: path}}}
	}
	for _, c := range []struct {
		name       string
		first, new timeline.CredentialRow
		want       string
	}{
		{"the same date", row("a", 0, 5, 1), row("b", 0, 5, 2), "b"},
		{"an older list, read later", row("a", 0, 9, 1), row("b", 0, 5, 2), "a"},
		{"made later, of an older value", row("a", 10, 9, 1), row("b", 11, 5, 2), "b"},
		{"made earlier, read later", row("a", 11, 5, 1), row("b", 10, 5, 2), "a"},
		{"a file without dates", row("a", 0, 5, 1), row("b", 0, 0, 2), "a"},
	} {
		if got := newest([]timeline.CredentialRow{c.first, c.new}); len(got) != 1 || got[0].Path != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

// TestLists joins lists with the plan.
func TestLists(t *testing.T) {
	db, res := rotationCase(t)
	res.Incident.Rotation = append(res.Incident.Rotation, Rotation{Class: "gateway-virtual-key", Scope: "org", Why: "virtual keys"})
	w, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	source := subjectOf(t, "source:list")
	one := func(store, name, class string, made int64) timeline.Credential {
		return timeline.Credential{
			Subject: source, Store: store, Name: name, Class: class, Created: made, Team: "chat", Origin: timeline.Origin{Path: "list", Line: made},
		}
	}
	if err := w.Write(&timeline.Batch{Credentials: []timeline.Credential{
		one("litellm:proxy", "initech", "gateway-virtual-key", 1), one("litellm:proxy", "initech", "gateway-virtual-key", 2), // the later row stands
		one("github:acme/web", "STRIPE_KEY", "", 3), // no job of that repository is exposed
		one("", "SOMETHING", "", 4),                 // whose it is, nobody says
		one("aws:1", "ci-deploy", "cloud-static-key", 5),
		one("list:own", "SOMETHING", "saas-token", 6), // what the name does not say
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(timeline.SourceInfo{SHA256: strings.Repeat("b", 64), Path: "list", State: timeline.Read, First: timeline.Beginning, Last: timeline.Forever}); err != nil {
		t.Fatal(err)
	}
	decideAll(t, db, timeline.Decision{Act: timeline.Same, About: "OPENAI_API_KEY", Value: "ci-deploy", Who: "tom"})
	rows, err := PlanRotation(db, res, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*Credential{}
	for i := range rows {
		got[rows[i].Name] = &rows[i]
	}
	if c := got["initech"]; c == nil || c.Class != "gateway-virtual-key" || len(c.Records) != 1 || c.Made != 2 || len(c.By) != 1 || c.Owners[0] != "chat" {
		t.Errorf("the virtual key: %+v", c)
	}
	if c := got["OPENAI_API_KEY"]; len(c.Records) != 1 || c.Records[0].Loose || c.Made != 5 {
		t.Errorf("what an operator calls the same: %+v", c)
	}
	if c := got["SOMETHING"]; len(c.Records) != 2 || c.Records[0].Loose == c.Records[1].Loose || c.Made != 6 || c.Class != "saas-token" || c.Power == len(powers) || c.Why != "all" {
		t.Errorf("a list of nobody, and one of one's own: %+v", c)
	}
	if got["STRIPE_KEY"] != nil || got["ci-deploy"] != nil {
		t.Errorf("rows that nothing exposes: %+v", rows)
	}
	if len(rows) != 5 {
		t.Errorf("%d rows: %+v", len(rows), rows)
	}
}
