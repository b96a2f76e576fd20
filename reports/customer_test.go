package reports_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

// caseOf makes the case of an answer, with what people know.
func caseOf(t *testing.T, res *matchers.Result, rows []matchers.Credential) *reports.Case {
	t.Helper()
	c := &reports.Case{
		Result: res, Rows: rows, AsOf: asOf, Phase: "update",
		Inventory: []timeline.InventoryRow{
			{Address: "192.0.2.2", Host: "web-2", Service: "shop", Owner: "payments", Customer: "initech", File: "hosts.csv"},
			{Address: "192.0.2.3", Host: "web-3", Customer: "initech", File: "hosts.csv"},
			{Address: "192.0.2.4", Host: "web-4", Customer: "hooli", File: "hosts.csv"},
		},
		Decisions: []timeline.Decision{{Act: timeline.Stopped, About: "host:web-2", At: at(t, "14:00:00"), Who: "mia"}},
		Canary: []matchers.CanaryCell{
			{Probe: timeline.MarkerProbe, Subject: timeline.Subject{Kind: timeline.Client, ID: "tenant/canary-a"}, Target: "gateway-eu", Verdict: matchers.Clear, At: at(t, "09:00:00")},
			{Probe: timeline.MarkerProbe, Subject: timeline.Subject{Kind: timeline.Client, ID: "tenant/canary-b"}, Target: "gateway-eu", Verdict: matchers.Unknown, At: at(t, "09:00:00")},
			{Probe: timeline.LongProbe, Subject: timeline.Subject{Kind: timeline.Client, ID: "llm.acme.example"}, Target: "gateway-eu", Verdict: matchers.Exposed, At: at(t, "09:00:00")},
		},
		Settings: []timeline.SettingRow{
			setting(t, "host:web-2", timeline.EngineKind, "sglang"), setting(t, "host:web-2", timeline.EngineVersion, "0.5.20"),
			setting(t, "host:web-2", timeline.PoolTokens, "681280"), setting(t, "host:web-2", timeline.ContextTokens, "1048576"),
			setting(t, "host:web-3", timeline.EngineKind, "sglang"), setting(t, "host:web-3", timeline.KVChecksum, "on"),
		},
		Gateway: []timeline.Fact{fact(t, timeline.Present, "host:web-4", "pkg:pypi/litellm@1.106.0", "08:00:00", "", "sbom.json:1")},
		Tenancy: &matchers.Tenancy{
			Company: matchers.Company{Name: "Acme AI", Contact: "privacy@acme.example", DPO: "dpo@acme.example"},
			Nature:  "a release of a library ran a stealer", Consequences: "misuse of keys",
			Measures: []matchers.Measure{{Day: "2026-03-11", What: "mirrors were emptied"}}, Advice: []string{"look at your bills"},
			Layers: []matchers.Layer{
				{Name: matchers.InferenceLayer, Operator: "we do", Shared: "all customers", Told: "the terms, section 4", Confirm: []string{"the partition key"}, AsOf: "2026-01-10", ReviewBy: "2026-02-10"},
				{Name: matchers.TraceLayer, Operator: "a vendor", Region: "eu-central-1", Retention: "30 days", Partition: "none", Vendors: []string{"Tracebox"}, AsOf: "2026-03-01", ReviewBy: "2026-09-01"},
			},
			Customers: []matchers.Tenant{
				{Name: "initech", Contact: "sec@initech.example", Region: "eu-central-1", Data: []string{"names", "addresses"}, Persons: "about 1,200", Layers: []matchers.Layer{{Name: matchers.InferenceLayer, Shared: "nobody", AsOf: "2026-03-02", ReviewBy: "2026-09-01"}}},
				{Name: "hooli"},
			},
			Subprocessors: []matchers.Subprocessor{{Name: "Tracebox", Purpose: "traces", Region: "eu-central-1", Since: "2025-01-01", ReviewBy: "2026-01-01"}},
			DPA:           matchers.DPA{Version: "3", Signed: "2025-05-05"},
		},
	}
	return c
}

func setting(t *testing.T, subject string, name timeline.SettingName, value string) timeline.SettingRow {
	t.Helper()
	s, err := timeline.ParseSubject(subject)
	if err != nil {
		t.Fatal(err)
	}
	return timeline.SettingRow{SHA256: strings.Repeat("ab", 32), Setting: timeline.Setting{
		Subject: s, Name: name, Value: value, Span: timeline.Span{From: at(t, "08:00:00"), To: at(t, "08:00:00"), Clock: timeline.Exact},
		Origin: timeline.Origin{Path: "engine.log", Line: 3},
	}}
}

// customerReport renders the report for the first customer.
func customerReport(b *bytes.Buffer, form string, c *reports.Case, name string) error {
	internal, err := reports.NewInternal(c)
	if err != nil {
		return err
	}
	return reports.CustomerReport(b, form, c, name, internal)
}

func questionnaire(b *bytes.Buffer, form string, c *reports.Case, name string) error {
	internal, err := reports.NewInternal(c)
	if err != nil {
		return err
	}
	return reports.QuestionnaireReport(b, form, c, name, internal)
}

// TestQuestionnaire asks for cells of one customer, of all and of a case of
// which nobody knows anything.
func TestQuestionnaire(t *testing.T) {
	res, rows := result(t)
	c := caseOf(t, res, rows)
	nothing := &reports.Case{Result: res, Tenancy: &matchers.Tenancy{}, Phase: "initial"}
	early := *c
	early.AsOf = "2026-02-10T08:00:00Z"
	for _, x := range []struct {
		name string
		c    *reports.Case
		want string
	}{
		{"", c, "| who shares it | all customers | stale | 2026-01-10 | 2026-02-10 |"},
		{"", &early, "| who shares it | all customers | stated | 2026-01-10 | 2026-02-10 |"},
		{"initech", c, "| who shares it | nobody | stated | 2026-03-02 | 2026-09-01 |"},
		{"initech", c, "| who operates it | we do | stale | 2026-01-10 | 2026-02-10 |"},
		{"hooli", c, "| who shares it | all customers | stale |"},
		{"", c, "| engine and version, by the evidence | sglang 0.5.20: 1 node, evidence of 2026-03-10; not confirmed: 1 node | evidence | 2026-03-10 |"},
		{"", c, "| pool covers the advertised context on every node | no, it holds 681280 tokens of 1048576: 1 node, evidence of 2026-03-10; not confirmed: 1 node |"},
		{"", c, "| transferred cache is checked by a checksum | on: 1 node, evidence of 2026-03-10; not confirmed: 1 node |"},
		{"", c, "| LiteLLM, by the evidence | litellm 1.106.0: 1 system, evidence of 2026-03-10 | evidence |"},
		{"", c, "| Tracebox | purpose: traces; region: eu-central-1; data: not confirmed | stale |"},
		{"", nothing, "| who operates it | not confirmed | not confirmed |"},
		{"", nothing, "| pool covers the advertised context on every node | not confirmed |"},
		{"", nothing, "| list of subprocessors | not confirmed |"},
	} {
		var b bytes.Buffer
		if err := questionnaire(&b, "md", x.c, x.name); err != nil {
			t.Fatal(err)
		}
		if got := anchors.ReplaceAllString(b.String(), ""); !strings.Contains(got, x.want) {
			t.Errorf("%q: want %s in\n%s", x.name, x.want, got)
		}
	}
	var b bytes.Buffer
	c.Tenancy.Layers[0].Shared = "hooli and initech"
	if err := questionnaire(&b, "md", c, ""); err == nil || b.Len() > 0 {
		t.Errorf("customers are named to everybody: %v", err)
	}
}

var anchors = regexp.MustCompile(`<a id="[^"]*"></a>`)

// TestCustomersApart plants names of 200 customers everywhere that a case has
// names: nobody reads any but the own.
func TestCustomersApart(t *testing.T) {
	res, rows := result(t)
	c := caseOf(t, res, rows)
	c.Inventory, c.Tenancy.Customers = nil, nil
	for i := range 200 {
		name, inside := fmt.Sprintf("canary%03dcustomer", i), func(what string) string { return fmt.Sprintf("canary%03d%s", i, what) }
		host := timeline.Subject{Kind: timeline.Host, ID: inside("host")}
		f := res.Findings[i%7]
		f.ID, f.Subject, f.On, f.Owner, f.Service, f.Because = fmt.Sprintf("f-9%011d", i), host, "", inside("owner"), inside("service"), inside("because")
		job := f
		job.ID, job.Subject, job.On = fmt.Sprintf("f-8%011d", i), timeline.Subject{Kind: timeline.Job, ID: inside("job")}, host.ID
		tenant := f
		tenant.ID, tenant.Subject = fmt.Sprintf("f-7%011d", i), timeline.Subject{Kind: timeline.Client, ID: "tenant/" + name}
		res.Findings = append(res.Findings, f, job, tenant)
		c.Inventory = append(c.Inventory, timeline.InventoryRow{Address: inside("address"), Host: host.ID, Owner: f.Owner, Service: f.Service, Customer: name, File: inside("file")})
		key := timeline.CredentialRow{Credential: timeline.Credential{
			Subject: host, Name: inside("SECRET"), Store: inside("store"), Alias: inside("alias"), Team: inside("team"), Customer: name,
			Origin: timeline.Origin{Path: inside("list"), Text: inside("text")},
		}}
		c.Lists = append(c.Lists, key)
		row := rows[i%3]
		row.ID, row.Name, row.Records = fmt.Sprintf("c-9%011d", i), inside("SECRET"), []matchers.Record{{CredentialRow: key}}
		c.Rows = append(c.Rows, row)
		c.Tenancy.Customers = append(c.Tenancy.Customers, matchers.Tenant{Name: name, Contact: name + "@mail.example", Data: []string{name + " data"}})
		c.Decisions = append(c.Decisions, timeline.Decision{Act: timeline.Stopped, About: host.String(), At: at(t, "14:00:00"), Who: inside("who"), Reason: inside("reason")})
	}
	internal, err := reports.NewInternal(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Customers(); len(got) != 200 {
		t.Fatalf("%d customers", len(got))
	}
	for _, name := range c.Customers() {
		for _, form := range reports.Forms() {
			var b bytes.Buffer
			if err := reports.CustomerReport(&b, form, c, name, internal); err != nil {
				t.Fatalf("%s.%s: %v", name, form, err)
			}
			rest := strings.ReplaceAll(b.String(), name, "")
			if i := strings.Index(strings.ToLower(rest), "canary"); i >= 0 || len(rest) == b.Len() {
				t.Fatalf("%s.%s: own name %t, and %s", name, form, len(rest) < b.Len(), rest[max(0, i):min(len(rest), max(0, i)+60)])
			}
			for _, inside := range []string{"web-2", "NPM_TOKEN", "payments", "run.zip", "acme/web", "node-1"} {
				if strings.Contains(rest, inside) {
					t.Fatalf("%s.%s names %s", name, form, inside)
				}
			}
		}
	}
}

// TestCustomerFolder names folders that stay apart where capitals are none, and
// that lead nowhere else.
func TestCustomerFolder(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"acme", "Acme", "ACME", "acme corp", "acme/corp", "acme-corp", "..", "../x", "ä", "ö", strings.Repeat("a", 300), strings.Repeat("a", 301), "con:", ""} {
		folder := reports.CustomerFolder(name)
		if other, ok := seen[strings.ToLower(folder)]; ok || strings.ContainsAny(folder, `/\.: `) || len(folder) > 80 {
			t.Errorf("%q: %q, which is also that of %q", name, folder, other)
		}
		seen[strings.ToLower(folder)] = name
	}
}

// TestCustomerLeak writes into the facts that people state what the customer
// must not read: nothing is written.
func TestCustomerLeak(t *testing.T) {
	for said, want := range map[string]string{
		"the same happened to Hooli":          `the name "hooli" (customer)`,
		"it ran on web-4, we think":           `the name "web-4" (host)`,
		"the payments team knows":             `the name "payments" (owner)`,
		"see *run.zip*":                       `the name "run.zip" (path)`,
		"NPM_TOKEN was sent":                  `the name "npm_token" (credential)`,
		"also for exposed":                    `the name "exposed" (customer)`,
		"this is about weblogs and hooligans": "",
	} {
		for _, form := range reports.Forms() {
			res, rows := result(t)
			c := caseOf(t, res, rows)
			c.Inventory = append(c.Inventory, timeline.InventoryRow{Host: "evidence", Service: "systems", Customer: "exposed"}) // names that are words of every report
			c.Tenancy.Nature = said
			var b bytes.Buffer
			err := customerReport(&b, form, c, "initech")
			switch {
			case want == "" && err != nil:
				t.Errorf("%s, %q: %v", form, said, err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want) || b.Len() > 0):
				t.Errorf("%s, %q: %d bytes, %v; want %s", form, said, b.Len(), err, want)
			}
		}
	}
}

// TestCustomerAnswer asks what a customer is told of its own systems, of shared
// ones and of keys.
func TestCustomerAnswer(t *testing.T) {
	res, _ := result(t)
	host := func(id string, v matchers.Verdict) matchers.Finding {
		return matchers.Finding{ID: "f-" + id, Subject: timeline.Subject{Kind: timeline.Host, ID: id}, Verdict: v}
	}
	for _, c := range []struct {
		name        string
		own, shared matchers.Verdict
		key         matchers.Verdict
		complete    bool
		want        string
	}{
		{"nothing is known", "", "", "", true, `"exposed": "unknown"`},
		{"clear, and nothing shared", matchers.Clear, "", "", true, `"exposed": "clear"`},
		{"clear, but not complete", matchers.Clear, "", "", false, `"exposed": "unknown"`},
		{"clear, and a shared one is exposed", matchers.Clear, matchers.Exposed, "", true, `"exposed": "possible"`},
		{"clear, and a shared one is unknown", matchers.Clear, matchers.Unknown, "", true, `"exposed": "unknown"`},
		{"pulled", matchers.Pulled, matchers.Exposed, "", true, `"exposed": "pulled"`},
		{"its key lay on an exposed host", matchers.Clear, matchers.Clear, matchers.Exposed, true, `"exposed": "exposed"`},
	} {
		res.Findings, res.Complete = nil, c.complete
		k := &reports.Case{Result: res, Tenancy: &matchers.Tenancy{}, Phase: "initial", Inventory: []timeline.InventoryRow{{Host: "own", Customer: "initech"}}}
		if c.own != "" {
			res.Findings = append(res.Findings, host("own", c.own))
		}
		if c.shared != "" {
			res.Findings = append(res.Findings, host("shared", c.shared))
		}
		if c.key != "" {
			k.Rows = []matchers.Credential{{Class: "saas-token", Verdict: c.key, State: matchers.Open, Records: []matchers.Record{
				{CredentialRow: timeline.CredentialRow{Credential: timeline.Credential{Customer: "initech"}}},
			}}}
		}
		var b bytes.Buffer
		if err := customerReport(&b, "json", k, "initech"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), c.want) {
			t.Errorf("%s: want %s in\n%s", c.name, c.want, b.String())
		}
	}
}
