package reports_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

var update = flag.Bool("update", false, "write the goldens of the reports anew")

const asOf = "2026-03-12T08:00:00Z"

// at is a time of the day on which the made-up release was served.
func at(t *testing.T, clock string) int64 {
	t.Helper()
	if clock == "" {
		return timeline.Beginning
	}
	if !strings.Contains(clock, "T") {
		clock = "2026-03-10T" + clock + "Z"
	}
	ns, err := timeline.ParseTime(clock, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

// fact is a line of evidence; from and to are clocks, "" when not known.
func fact(t *testing.T, action timeline.Action, subject, artifact, from, to, place string) timeline.Fact {
	t.Helper()
	s, err := timeline.ParseSubject(subject)
	if err != nil {
		t.Fatal(err)
	}
	path, line, _ := strings.Cut(place, ":")
	f := timeline.Fact{
		Action: action, Subject: s, Item: timeline.Item{Artifact: artifact}, Parts: timeline.Split(artifact),
		Span: timeline.Span{From: at(t, from), To: at(t, to), Clock: timeline.Exact}, SHA256: strings.Repeat("ab", 32),
		Origin: timeline.Origin{Path: path, Text: "the line that says so"},
	}
	if to == "" {
		f.Span.To = timeline.Forever
	}
	fmt.Sscan(line, &f.Line)
	return f
}

// incident is a made-up incident with all that a report shows of one.
func incident(t *testing.T) *matchers.Incident {
	t.Helper()
	window := func(from, to, basis, note string) matchers.Window {
		return matchers.Window{From: at(t, from), To: at(t, to), Precision: "minute", Basis: basis, Cite: matchers.Cite{Note: note}}
	}
	return &matchers.Incident{
		ID: "leftpad-9.9.9", Title: "leftpad 9.9.9 carried a stealer", Kind: matchers.MaliciousRelease, Revision: strings.Repeat("0f", 32),
		Summary:    "A made-up release of a made-up package.",
		References: []string{"https://advisory.acme.example/leftpad", "a letter from the maintainers"},
		Channels: []matchers.Channel{
			{Name: "npm", Windows: []matchers.Window{
				window("10:00:00", "12:30:59", "stated", "by the vendor"), window("09:30:00", "12:00:59", "derived", "by the registry"),
			}},
			{Name: "dockerhub", Windows: []matchers.Window{window("10:30:00", "14:00:59", "outer-bound", "")}},
		},
		Packages:      []matchers.Package{{PURL: "pkg:npm/leftpad", Channel: "npm", Versions: []string{"9.9.9"}}},
		Images:        []matchers.Image{{Repository: "docker.io/acme/leftpad", Channel: "dockerhub", Tags: []string{"9"}}},
		Complete:      matchers.Completeness{Versions: true},
		ResponseOrder: []matchers.Step{{Step: "isolate before you revoke"}, {Step: "keep a copy", Cite: matchers.Cite{Source: matchers.Reference{Index: 1}, Disputed: true}}},
		Rotation: []matchers.Rotation{
			{Class: "package-publish-token", Scope: "job", Why: "it reads .npmrc"},
			{Class: "process-environment", Scope: "host", Why: "it reads /proc", Cite: matchers.Cite{Disputed: true}},
		},
		NotAffected:   []matchers.NotAffected{{What: "leftpad-lite"}},
		Disagreements: []string{"the start"},
		Unknown:       []string{"who did it", "whether mirrors kept it", "the trigger"},
	}
}

// result is an answer with every verdict, and rows of rotation for it.
func result(t *testing.T) (*matchers.Result, []matchers.Credential) {
	t.Helper()
	const bad = "pkg:npm/leftpad@9.9.9"
	image := "docker.io/acme/leftpad:9@sha256:" + strings.Repeat("c0ffee", 10) + "c0ff"
	finding := func(id, subject string, v matchers.Verdict, rule, because string, lines ...matchers.Evidence) matchers.Finding {
		s, err := timeline.ParseSubject(subject)
		if err != nil {
			t.Fatal(err)
		}
		f := matchers.Finding{
			ID: id, Subject: s, Verdict: v, Rule: rule, Because: because, Artifact: bad, Span: timeline.Always(), Egress: "unknown",
			Channels: map[string]matchers.Verdict{"npm": v, "dockerhub": matchers.Unknown},
			Reasons:  map[string]string{"npm": because, "dockerhub": "no source covers it"}, Evidence: lines,
		}
		if len(lines) > 0 {
			f.Span = lines[0].Span
		}
		return f
	}
	line := func(part string, v matchers.Verdict, f timeline.Fact) matchers.Evidence {
		return matchers.Evidence{Fact: &f, Part: part, Verdict: v}
	}
	job, image2, pod := "job:github:acme/web/runs/7/attempts/1/jobs/build", "image:sha256:"+strings.Repeat("dd", 32), "container:k8s/shop/web-1/app"
	res := &matchers.Result{
		Incident: incident(t), Counts: map[matchers.Verdict]int{}, Inventory: []string{"hosts.csv"},
		Tallies:  []matchers.Tally{{What: "hosts", Held: 4, Of: 6, Missing: []string{"web-3", "web-4"}}},
		Unplaced: []matchers.Unplaced{{Path: "old.env", Names: []string{"SHOP_TOKEN", "SHOP_KEY"}}},
		Findings: []matchers.Finding{
			finding("f-000000000001", job, matchers.Exposed, "exact-version", "Installed "+bad,
				line("decides", matchers.Exposed, fact(t, timeline.Install, job, bad, "10:40:05", "10:40:05", "run.zip!0_build.txt:41")),
				line("also exposed: exact-version", matchers.Exposed, fact(t, timeline.Download, job, bad, "10:40:02", "10:40:02", "run.zip!0_build.txt:40")),
				line("another version, digest or commit", "", fact(t, timeline.Install, job, "pkg:npm/leftpad@9.9.8", "10:39:00", "10:39:00", "run.zip!0_build.txt:30")),
				line("ask, answered", "", fact(t, timeline.Require, job, "pkg:npm/leftpad", "", "", "package.json:7"))),
			finding("f-000000000002", pod, matchers.Exposed, "spread", "Ran an image that was built there",
				line("decides", matchers.Exposed, fact(t, timeline.Run, pod, image, "2026-03-19T06:00:00Z", "2026-03-19T06:00:00Z", "pods.json:12"))),
			finding("f-000000000003", image2, matchers.Exposed, "exact-version", "Holds "+bad,
				line("decides", matchers.Exposed, fact(t, timeline.Present, image2, bad, "", "", "sbom.json:5"))),
			finding("f-000000000004", "client:10.0.0.9", matchers.Pulled, "exact-version", "Downloaded "+bad,
				line("decides", matchers.Pulled, fact(t, timeline.Download, "client:10.0.0.9", bad, "11:00:00", "11:30:00", "access.log:9"))),
			finding("f-000000000005", "host:web-2", matchers.Possible, "moving-tag", "Pulled a moving tag",
				line("decides", matchers.Possible, fact(t, timeline.Pull, "host:web-2", image, "13:00:00", "", "dockerd.log:3"))),
			finding("f-000000000006", "host:web-3", matchers.Unknown, "not-covered", "Nothing that was read answers the question"),
			finding("f-000000000007", "host:web-4", matchers.Clear, "answered", "Installed another version",
				line("another version, digest or commit", "", fact(t, timeline.Install, "host:web-4", "pkg:npm/leftpad@9.9.8", "", "11:10:00", "npm.log:2"))),
		},
		Sources: []timeline.SourceRow{
			{ID: 1, SourceInfo: timeline.SourceInfo{SHA256: strings.Repeat("ab", 32), Path: "run.zip", Claim: "job:github:acme/web/runs/7/attempts/1", Format: "github-job", State: timeline.Read, Events: 40, First: at(t, "10:00:00"), Last: at(t, "11:00:00")}},
			{ID: 2, SourceInfo: timeline.SourceInfo{SHA256: strings.Repeat("cd", 32), Path: "it's.log", Claim: "it's.log", Format: "text", State: timeline.Partial, Why: "cut in the middle", Zone: "Europe/Berlin", First: timeline.Beginning, Last: timeline.Forever}},
		},
		Gaps: []matchers.Gap{
			{Subject: "host:web-3", Channel: "dockerhub", Reason: "uncovered", Detail: "no source covers it", Fix: "ingest the journal"},
			{Subject: "host:web-3", Channel: "npm", Reason: "uncovered", Detail: "no source covers it", Fix: "ingest the journal"},
			{Source: "it's.log", Reason: "partial", Detail: "cut in the middle", Fix: "bring the whole file"},
		},
	}
	res.Findings[4].Dispositions = []timeline.Decision{{Act: timeline.Disposed, About: "host:web-2", Who: "mia", Reason: "rebuilt from the March image"}}
	res.Findings[1].Via, res.Findings[1].On = []string{"f-000000000001"}, "node-1"
	res.Findings[4].Owner, res.Findings[4].Service, res.Findings[4].Egress = "payments", "shop", "seen"
	res.Findings[5].Uncovered = []matchers.Hole{{Channel: "npm", From: at(t, "09:30:00"), To: at(t, "12:30:59")}, {Channel: "dockerhub", From: at(t, "10:30:00"), To: at(t, "14:00:59")}}
	for _, f := range res.Findings {
		res.Counts[f.Verdict]++
	}
	exposer := func(i int) matchers.Exposer {
		f := &res.Findings[i]
		return matchers.Exposer{Finding: f.ID, Subject: f.Subject, On: f.On, Verdict: f.Verdict}
	}
	hold := fact(t, timeline.Hold, job, "secret:NPM_TOKEN", "10:39:00", "10:39:00", "run.zip!0_build.txt:20")
	return res, []matchers.Credential{
		{
			ID: "c-000000000001", Name: "NPM_TOKEN", Class: "package-publish-token", Listed: true, Scope: "job", Why: "it reads .npmrc", Verdict: matchers.Exposed, Held: []matchers.Holding{{Subject: hold.Subject, Line: hold}}, By: []matchers.Exposer{exposer(0), exposer(1)}, Owners: []string{"web"},
			Power: 4, PowerWhy: "it changes what others run", State: matchers.Verified, Because: "NPM_TOKEN in github:acme/web, made 2026-03-11T09:00:00Z",
			Safe: matchers.SafeAfter{At: at(t, "10:45:00"), Because: "the last that could read it is the job"}, Made: at(t, "2026-03-11T09:00:00Z"), Used: at(t, "2026-03-11T10:00:00Z"),
			Records: []matchers.Record{{
				CredentialRow: timeline.CredentialRow{SHA256: strings.Repeat("ef", 32), Credential: timeline.Credential{
					Subject: hold.Subject, Store: "github:acme/web", Name: "NPM_TOKEN", Part: "1", Owner: "web", Provider: "npm", Alias: "publish", Team: "web", Customer: "initech",
					Created: at(t, "2026-03-11T09:00:00Z"), Updated: at(t, "2026-03-11T09:00:00Z"), State: timeline.Active, Origin: timeline.Origin{Path: "secrets.json", Line: 4},
				}}, Link: "kept in github:acme/web",
			}},
			Said: []timeline.Decision{{Act: timeline.Rotated, About: "NPM_TOKEN", At: at(t, "2026-03-11T09:00:00Z"), Who: "tom", Reason: "SEC-12"}},
		},
		{
			ID: "c-000000000002", Class: "process-environment", Listed: true, Scope: "host", Why: "it reads /proc", Cite: matchers.Cite{Disputed: true}, Verdict: matchers.Pulled, By: []matchers.Exposer{exposer(3)},
			State: matchers.Open, Because: "nobody says that it was rotated", Safe: matchers.SafeAfter{Because: "nothing says when client:10.0.0.9 was stopped or rebuilt", Waiting: []timeline.Subject{{Kind: timeline.Client, ID: "10.0.0.9"}}},
		},
		{
			ID: "c-000000000003", Name: "SHOP_PEPPER", Class: "process-environment", Verdict: matchers.Possible, By: []matchers.Exposer{exposer(4)},
			State: matchers.WaivedState, Because: "mia approved until 2026-04-01T00:00:00Z: it salts nothing any more",
			Said: []timeline.Decision{{Act: timeline.Waived, About: "SHOP_PEPPER", Until: at(t, "2026-04-01T00:00:00Z"), Who: "mia", Reason: "it salts nothing any more"}},
		},
	}
}

// render writes a report in one form.
func render(t *testing.T, name, form string, res *matchers.Result, rows []matchers.Credential) string {
	t.Helper()
	return renderCase(t, name, form, caseOf(t, res, rows))
}

// renderCase writes a report of a case in one form.
func renderCase(t *testing.T, name, form string, c *reports.Case) string {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch name {
	case "rotation":
		err = reports.RotationReport(&b, form, c.Result, c.Rows, asOf)
	case "manifest":
		err = reports.ManifestReport(&b, form, reports.NewManifest(c.Result.Sources, &timeline.Custody{Head: strings.Repeat("cd", 32)}, asOf))
	case "questionnaire":
		err = questionnaire(&b, form, c, c.Inventory[0].Customer)
	case "customer":
		err = customerReport(&b, form, c, c.Inventory[0].Customer)
	default:
		err = reports.Responder(&b, form, c.Result, asOf)
	}
	if err != nil {
		t.Fatalf("%s.%s: %v", name, form, err)
	}
	return b.String()
}

// TestReports compares each report in each form with its golden.
func TestReports(t *testing.T) {
	for _, name := range reports.Names() {
		for _, form := range reports.Forms() {
			res, rows := result(t)
			got := render(t, name, form, res, rows)
			file := filepath.Join("..", "testdata", "reports", name+"."+form)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // a golden
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s: not as the golden; 'go test ./reports -update' writes it anew:\n%s", file, differing(string(want), got))
			}
		}
	}
}

// differing shows the first line that differs.
func differing(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// TestLostFinding makes a document that lost a finding: no form is written.
func TestLostFinding(t *testing.T) {
	for _, form := range reports.Forms() {
		res, rows := result(t)
		res.Findings[1].ID = res.Findings[0].ID // two findings that are told apart no more
		var b bytes.Buffer
		if err := reports.Responder(&b, form, res, ""); err == nil || b.Len() > 0 {
			t.Errorf("responder.%s: %d bytes, %v: want none and an error", form, b.Len(), err)
		}
		rows[1].ID = rows[0].ID
		if err := reports.RotationReport(&b, form, res, rows, ""); err == nil || b.Len() > 0 {
			t.Errorf("rotation.%s: %d bytes, %v: want none and an error", form, b.Len(), err)
		}
		res.Counts[matchers.Exposed]++
		if err := reports.Responder(&b, form, res, ""); err == nil {
			t.Errorf("responder.%s: a wrong count passed", form)
		}
	}
}

// TestManyFindings draws a bounded picture of many subjects, and lists them all.
func TestManyFindings(t *testing.T) {
	res, _ := result(t)
	for i := range 500 {
		f := res.Findings[5]
		f.ID, f.Subject.ID = fmt.Sprintf("f-1%011d", i), fmt.Sprintf("many-%d", i)
		res.Findings = append(res.Findings, f)
		res.Counts[f.Verdict]++
	}
	page := render(t, "responder", "html", res, nil)
	if !strings.Contains(page, "Timeline of 40 of 507 subjects") || !strings.Contains(page, "and 467 more subjects") {
		t.Error("the picture does not say what it leaves out")
	}
	if n := strings.Count(page, `<a class="mono" href="#i-f-1`); n != 500 {
		t.Errorf("%d of 500 in the contents", n)
	}
}

// TestLargeAnswer checks that findings which are converted while they are
// written make the same bytes as a document that holds them, in reports that are
// too large to be held.
func TestLargeAnswer(t *testing.T) {
	res, _ := result(t)
	for i := range 6000 {
		f := res.Findings[i%5]
		f.ID, f.Subject.ID = fmt.Sprintf("f-1%011d", i), fmt.Sprintf("many-%d", i)
		res.Findings = append(res.Findings, f)
		res.Counts[f.Verdict]++
	}
	d, err := reports.NewDocument(res)
	if err != nil {
		t.Fatal(err)
	}
	var want, got bytes.Buffer
	if err := reports.WriteJSON(&want, d); err != nil {
		t.Fatal(err)
	}
	if err := reports.WriteAnswer(&got, res); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("match --json: " + differing(want.String(), got.String()))
	}
	got.Reset()
	if err := reports.Responder(&got, "json", res, ""); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("report responder: " + differing(want.String(), got.String()))
	}
	summary := reports.NewSummary(res, 3)
	for v, n := range res.Counts {
		if summary.Counts[string(v)] != n {
			t.Errorf("a summary counts %d %s, want %d", summary.Counts[string(v)], v, n)
		}
	}
	if len(summary.Findings) > 15 {
		t.Errorf("%d findings in a summary of three of each verdict", len(summary.Findings))
	}
}
