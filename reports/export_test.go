package reports_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"pulltrail/reports"
	"pulltrail/timeline"
)

// TestHostileExports puts each payload into every text of an event and looks at
// what the exports make of it: nothing that a terminal acts on, no formula, and
// JSON that is still the same text.
func TestHostileExports(t *testing.T) {
	for _, p := range payloads() {
		events := func(yield func(timeline.Fact) error) error {
			return yield(timeline.Fact{
				Action: timeline.Install, Subject: timeline.Subject{Kind: timeline.Host, ID: p}, SHA256: p,
				Item:   timeline.Item{Artifact: p, Ref: p, Digests: []timeline.Digest{{Value: p, Role: timeline.Manifest}}},
				Span:   timeline.Span{From: 1, To: 1, Clock: timeline.Exact, Written: p},
				Origin: timeline.Origin{Path: p, Line: 1, Text: p},
			})
		}
		for _, form := range []string{"csv", "timesketch.csv", "timesketch.jsonl"} {
			var b bytes.Buffer
			var err error
			if form == "csv" {
				err = reports.ExportCSV(&b, events)
			} else {
				_, err = reports.Timesketch(&b, strings.TrimPrefix(form, "timesketch."), events, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.ReplaceAll(b.String(), "\n", ""); reports.Text(text) != text {
				t.Errorf("%s with %q has raw characters: %q", form, p, b.String())
			}
			if form == "timesketch.jsonl" {
				var e map[string]any
				if err := json.Unmarshal(b.Bytes(), &e); err != nil || e["artifact"] != string([]rune(p)) {
					t.Errorf("%q became %q, %v", p, e["artifact"], err)
				}
				continue
			}
			rows, err := csv.NewReader(&b).ReadAll()
			if err != nil || len(rows) != 2 {
				t.Fatalf("%s with %q: %d rows, %v", form, p, len(rows), err)
			}
			for _, cell := range rows[1] {
				if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
					t.Errorf("%s with %q: the cell %q is a formula", form, p, cell)
				}
			}
		}
	}
}
