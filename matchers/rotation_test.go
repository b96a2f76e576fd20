package matchers

import (
	"slices"
	"strings"
	"testing"

	"pulltrail/timeline"
)

func TestClassOf(t *testing.T) {
	for name, want := range map[string]string{
		"OPENAI_API_KEY":        "llm-provider-key",
		"AZURE_OPENAI_API_KEY":  "llm-provider-key",
		"anthropic-api-key":     "llm-provider-key",
		"HF_TOKEN":              "llm-provider-key",
		"LITELLM_MASTER_KEY":    "gateway-master-key",
		"RAILS_MASTER_KEY":      ciSecret,
		"DATABASE_URL":          "database-credential",
		"PGPASSWORD":            "database-credential",
		"REDIS_PASSWORD":        "database-credential",
		"SENTRY_DSN":            "saas-token",
		"AWS_SECRET_ACCESS_KEY": "cloud-static-key",
		"AWS_ACCESS_KEY_ID":     "cloud-static-key",
		"AWS_REGION":            ciSecret,
		"LAWS_KEY":              ciSecret,
		"GITHUB_TOKEN":          "git-token",
		"GITHUB_CLIENT_ID":      ciSecret,
		"CI_JOB_TOKEN":          "git-token",
		"CI_REGISTRY_PASSWORD":  "registry-credential",
		"DOCKER_AUTH_CONFIG":    "registry-credential",
		"NPM_TOKEN":             "package-publish-token",
		"UV_PUBLISH_TOKEN":      "package-publish-token",
		"CARGO_REGISTRY_TOKEN":  "package-publish-token",
		"VAULT_TOKEN":           "vault-token",
		"KUBECONFIG":            "kubernetes-credential",
		"SSH_PRIVATE_KEY":       "ssh-key",
		"COSIGN_PASSWORD":       "signing-key",
		"token":                 ciSecret,
		"":                      ciSecret,
	} {
		if got := classOf(name, timeline.Job); got != want {
			t.Errorf("classOf(%q) = %s, want %s", name, got, want)
		}
	}
	if got := classOf("SOMETHING", timeline.Container); got != processEnv {
		t.Errorf("of a container: %s", got)
	}
	for _, class := range rotationClasses {
		if rank, why := powerOf(class); rank < 1 || why == "" || rank == len(powers) && !slices.Contains(powers[len(powers)-1].classes, class) {
			t.Errorf("class %s has no place in the order", class)
		}
	}
	for _, r := range nameRules {
		if !slices.Contains(rotationClasses, r.class) {
			t.Errorf("class %s is none that an incident may use", r.class)
		}
	}
}

func subjectOf(t *testing.T, text string) timeline.Subject {
	t.Helper()
	s, err := timeline.ParseSubject(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rotationCase is a case with a host whose container is exposed, a neighbour of
// it, and a host that has nothing to do with them.
func rotationCase(t *testing.T) (*timeline.DB, *Result) {
	t.Helper()
	db, err := timeline.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	bad, near, far := subjectOf(t, "container:node-1/aaaaaaaaaaaa"), subjectOf(t, "container:node-1/bbbbbbbbbbbb"), subjectOf(t, "container:node-2/cccccccccccc")
	var events []timeline.Event
	for i, h := range []struct {
		s    timeline.Subject
		name string
	}{
		{bad, "OPENAI_API_KEY"}, {bad, "DATABASE_URL"}, {near, "DATABASE_URL"}, {near, "SOMETHING"}, {far, "STRIPE_KEY"},
	} {
		events = append(events, timeline.Event{
			Action: timeline.Hold, Subject: h.s, Items: []timeline.Item{{Artifact: "secret:" + h.name}}, Span: timeline.Always(),
			Origin: timeline.Origin{Path: "inspect.json", Line: int64(10 + i)},
		})
	}
	w, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&timeline.Batch{Events: events}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(timeline.SourceInfo{SHA256: strings.Repeat("a", 64), Path: "inspect.json", State: timeline.Read, First: timeline.Beginning, Last: timeline.Forever}); err != nil {
		t.Fatal(err)
	}
	return db, &Result{
		Incident: &Incident{ID: "test", Rotation: []Rotation{
			{Class: "cloud-instance-role", Scope: "host", Why: "role"},
			{Class: "database-credential", Scope: "host", Why: "url"},
			{Class: processEnv, Scope: "host", Why: "all"},
		}},
		Findings: []Finding{
			{ID: "f-1", Subject: bad, On: "node-1", Verdict: Exposed},
			{ID: "f-2", Subject: near, On: "node-1", Verdict: Clear},
			{ID: "f-3", Subject: far, On: "node-2", Verdict: Unknown},
			{ID: "f-4", Subject: subjectOf(t, "host:node-1"), Verdict: Clear, Owner: "platform"},
		},
	}
}

func TestPlanRotation(t *testing.T) {
	db, res := rotationCase(t)
	type row struct {
		name, class, why string
		listed           bool
		held, by         int
	}
	check := func(what string, want []row) {
		t.Helper()
		got, err := PlanRotation(db, res, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d rows, want %d: %+v", what, len(got), len(want), got)
		}
		for i, w := range want {
			g := got[i]
			if (row{g.Name, g.Class, g.Why, g.Listed, len(g.Held), len(g.By)}) != w || g.Verdict != Exposed {
				t.Errorf("%s, row %d: %+v, want %+v", what, i, g, w)
			}
		}
	}
	check("host", []row{
		{"", "cloud-instance-role", "role", true, 0, 1},
		{"OPENAI_API_KEY", "llm-provider-key", "all", true, 1, 1},
		{"DATABASE_URL", "database-credential", "url", true, 2, 1},
		{"SOMETHING", processEnv, "all", true, 1, 1},
	})
	res.Incident.Rotation = []Rotation{{Class: "git-token", Scope: "container", Why: "git"}}
	check("container", []row{
		{"", "git-token", "git", true, 0, 1},
		{"OPENAI_API_KEY", "llm-provider-key", "", false, 1, 1},
		{"DATABASE_URL", "database-credential", "", false, 1, 1},
	})
}

// TestPlanRotationOwner tells whose host it was, and that an image holds
// nothing where somebody runs it.
func TestPlanRotationOwner(t *testing.T) {
	db, res := rotationCase(t)
	res.Findings = append(res.Findings, Finding{ID: "f-5", Subject: subjectOf(t, "image:sha256:dd"), Verdict: Exposed})
	rows, err := PlanRotation(db, res, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 || len(rows[0].By) != 1 || len(rows[0].Owners) != 1 || rows[0].Owners[0] != "platform" {
		t.Errorf("rows: %+v", rows)
	}
	res.Findings = res.Findings[4:]
	if rows, err = PlanRotation(db, res, 0); err != nil || len(rows) != 3 || rows[0].By[0].Finding != "f-5" {
		t.Errorf("only an image: %+v, %v", rows, err)
	}
	res.Findings[0].Verdict = Unknown
	if rows, err = PlanRotation(db, res, 0); err != nil || len(rows) != 0 {
		t.Errorf("nobody: %+v, %v", rows, err)
	}
}
