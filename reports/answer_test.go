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
