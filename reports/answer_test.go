package reports

import (
	"fmt"
	"strings"
	"testing"
)

// TestManySources checks that a screen stays short and names what was not read.
func TestManySources(t *testing.T) {
	d := &Document{}
	for i := range 500 {
		d.Coverage.Sources = append(d.Coverage.Sources, Source{Path: fmt.Sprintf("logs/%03d.txt", i), Format: "github-job", State: "read", Events: 2})
	}
	d.Coverage.Sources[321].State, d.Coverage.Sources[321].Why = "partial", "it ends early"
	var b strings.Builder
	if err := CoverageText(&b, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"500 sources: 499 read, 1 partial, 0 unread\n", "partial  logs/321.txt  github-job, 2 events: it ends early\n", "read     499 files  github-job, 998 events\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "\n"); n > 20 {
		t.Errorf("%d lines", n)
	}
}

// TestManyFindings checks that many subjects of one verdict are cut on the
// screen, and that the cut is said.
func TestManyFindings(t *testing.T) {
	d := &Document{Counts: map[string]int{"unknown": 100, "exposed": 1}}
	d.Incident.ID = "x-1"
	for i := range 100 {
		d.Findings = append(d.Findings, Finding{Subject: Subject{Kind: "host", ID: fmt.Sprintf("h%d", i)}, Verdict: "unknown", Rule: "not-covered", Because: "Nothing"})
	}
	d.Findings = append(d.Findings, Finding{Subject: Subject{Kind: "host", ID: "bad"}, Verdict: "exposed", Because: "Installed it"})
	var b strings.Builder
	if err := Answer(&b, d, func(_, text string) string { return text }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"exposed   host:bad\n", "and 60 more unknown: 'pulltrail match x-1 --json'"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	if strings.Count(b.String(), "unknown   host:") != MaxRows {
		t.Errorf("not %d unknown subjects", MaxRows)
	}
}

// TestAlike: what is said of many subjects is said once.
func TestAlike(t *testing.T) {
	d := &Document{Counts: map[string]int{"unknown": 5}}
	for i, because := range []string{"Nothing", "Nothing", "It asked", "Nothing", "It asked"} {
		f := Finding{Subject: Subject{Kind: "host", ID: fmt.Sprintf("h%d", i)}, Verdict: "unknown", Rule: "not-covered", Because: because}
		if because == "It asked" {
			f.Rule, f.Evidence = "opaque", []Evidence{{Path: "pip.log", Line: int64(i)}}
		}
		d.Findings = append(d.Findings, f)
	}
	var b strings.Builder
	if err := rows(&b, d, "unknown", func(_, text string) string { return text }); err != nil {
		t.Fatal(err)
	}
	want := `
unknown   host:h0
unknown   host:h1
unknown   host:h3
          Nothing
unknown   host:h2
          It asked
          pip.log:2
unknown   host:h4
          It asked
          pip.log:4
`
	if b.String() != want {
		t.Errorf("got %s", b.String())
	}
}

// TestManyGaps checks that a gap that many have is said once, with all or many of
// their names, and that the others stand on their own.
func TestManyGaps(t *testing.T) {
	d := &Document{}
	d.Incident.ID = "x-1"
	for i := range 100 {
		id := fmt.Sprintf("job:github:acme/api/runs/%d/attempts/1/jobs/build", i)
		d.Coverage.Gaps = append(d.Coverage.Gaps, Gap{Subject: id, Channel: "pypi", Reason: "uncovered", Detail: "no source covers it", Fix: "fetch the log of SUBJECT"})
	}
	d.Coverage.Gaps = append(d.Coverage.Gaps, Gap{Subject: "host:a", Channel: "pypi", Reason: "uncovered", Detail: "no source covers it"}, Gap{Source: "a.zip", Reason: "cut"})
	var b strings.Builder
	if err := CoverageText(&b, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nhost:a\n  uncovered (pypi): no source covers it\n", "\na.zip\n  cut\n", "\n100 uncovered (pypi): no source covers it\n  job:github:acme/api/runs/0/", "  and 80 more: 'pulltrail coverage x-1 --json' lists all\n",
		"to close it, of the first, and of the others likewise: fetch the log of job:github:acme/api/runs/0/attempts/1/jobs/build\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "no source covers it"); n != 2 {
		t.Errorf("it is said %d times", n)
	}
}

// TestGrouped checks that gaps of a subject that differ in the channel alone
// are one, and that no other is lost.
func TestGrouped(t *testing.T) {
	g := func(subject, channel, reason string) Gap {
		return Gap{Subject: subject, Channel: channel, Reason: reason}
	}
	got := grouped([]Gap{g("host:a", "ghcr", "uncovered"), g("host:a", "pypi", "uncovered"), g("host:a", "", "cut"), g("host:b", "pypi", "uncovered")})
	want := []Gap{g("host:a", "ghcr, pypi", "uncovered"), g("host:a", "", "cut"), g("host:b", "pypi", "uncovered")}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
