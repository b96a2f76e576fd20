package matchers

import (
	"strings"
	"testing"
)

const tenancyHead = "schema: pulltrail.tenancy/1\ncompany: {name: Acme AI}\n"

// TestTenancyFaults writes one fault at a time: each is named with its line.
func TestTenancyFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":   "tenancy.yaml:1: the file is empty: want a mapping that begins with schema: pulltrail.tenancy/1",
		"[]": "want a mapping",
		"schema: pulltrail.incident/1\ncompany: {name: A}":            "tenancy.yaml:1: schema",
		"schema: pulltrail.tenancy/1":                                 "company is missing",
		tenancyHead + "phone: 1":                                      `tenancy.yaml:3: tenancy: unknown key "phone"`,
		tenancyHead + "customers:\n- {name: a}\n- {name: a}":          `tenancy.yaml:5: customers[1]: customer "a" stands in the list twice`,
		tenancyHead + "customers:\n- {name: a, secret: b}":            `tenancy.yaml:4: customers[0]: unknown key "secret"`,
		tenancyHead + "layers:\n- {layer: cloud}":                     `tenancy.yaml:4: layers[0].layer: "cloud": want one of inference, gateway, traces`,
		tenancyHead + "layers:\n- {layer: traces}\n- {layer: traces}": `tenancy.yaml:5: layers[1]: layer "traces" stands in the list twice`,
		tenancyHead + "layers:\n- {layer: traces, as_of: 2026-13-01}": "layers[0].as_of: 2026-13-01 is no day of the calendar",
		tenancyHead + "measures:\n- {day: soon, what: x}":             "want a day",
		tenancyHead + "nature: &a x\nconsequences: *a":                "anchors and aliases are refused",
		tenancyHead + "nature: \"a\\u202eb\"\nadvice: x":              "want a list",
		tenancyHead + "nature: \x1b":                                  "invisible character U+001B",
		tenancyHead + "---\na: b":                                     "a second document",
		tenancyHead + "nature: 1":                                     "nature: want text",
		strings.Repeat("#", maxIncident+1):                            "larger than 1 MiB",
	} {
		_, err := parseTenancy("tenancy.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

func TestTenancy(t *testing.T) {
	got, err := parseTenancy("tenancy.yaml", []byte(tenancyHead+`
layers: [{layer: traces, vendors: [Tracebox], as_of: 2026-10-01}]
customers: [{name: initech, persons: "about 5", layers: [{layer: traces, shared: nobody}]}]
dpa: {version: "3", signed: 2025-05-05}
`))
	if err != nil {
		t.Fatal(err)
	}
	c := got.Tenant("initech")
	if got.Company.Name != "Acme AI" || got.Layers[0].AsOf != "2026-10-01" || got.Layers[0].Vendors[0] != "Tracebox" || c.Persons != "about 5" || c.Layers[0].Shared != "nobody" || got.DPA.Version != "3" {
		t.Errorf("got %+v", got)
	}
	if other := got.Tenant("hooli"); other.Name != "hooli" || other.Persons != "" {
		t.Errorf("of a customer that is not listed: %+v", other)
	}
}

// FuzzTenancy reads anything without falling over.
func FuzzTenancy(f *testing.F) {
	f.Add([]byte(tenancyHead))
	f.Add([]byte(tenancyHead + "layers: [{layer: traces, confirm: [a]}]\nmeasures: 1\ncustomers: {}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseTenancy("tenancy.yaml", data)
		if (got == nil) == (err == nil) {
			t.Errorf("%v, %v", got, err)
		}
	})
}
