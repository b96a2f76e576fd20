package matchers

import (
	"slices"
	"testing"

	"pulltrail/timeline"
)

// TestSaysWhatDecides changes a fact of an incident that decides verdicts: its
// revisions then say different things.
func TestSaysWhatDecides(t *testing.T) {
	for _, c := range []struct {
		id     string
		change func(*Incident)
		want   []string // taken away, then added
	}{
		{"warp-vendor-2026-10", func(inc *Incident) { inc.Vendors[0].Domains = []string{"vendor.example"} }, []string{
			"+ the indicator, domain vendor.example",
		}},
		{"warp-vendor-2026-10", func(inc *Incident) { inc.Vendors[0].Windows = []Window{{From: 0, To: timeline.Forever}} }, []string{
			"- the window of Warp (through a vendor it does not name), any time",
			"+ the window of Warp (through a vendor it does not name), 1970-01-01 00:00:00 to an unknown time UTC",
		}},
		{"sglang-kv-isolation-2026-10", func(inc *Incident) { inc.Engines[0].Fixed["mooncake"] = "0.5.20" }, []string{
			"- the fix of pkg:pypi/sglang, mooncake 0.5.21",
			"+ the fix of pkg:pypi/sglang, mooncake 0.5.20",
		}},
		{"sglang-kv-isolation-2026-10", func(inc *Incident) { inc.Engines[0].When["disaggregation"] = false }, []string{
			"+ the condition of pkg:pypi/sglang, disaggregation: false", // the other engine still needs it
		}},
	} {
		inc, err := builtIn(c.id)
		if err != nil {
			t.Fatal(err)
		}
		before := inc.Says()
		c.change(inc)
		var got []string
		for _, change := range changesOf(before, inc.Says()) {
			got = append(got, map[bool]string{true: "+ ", false: "- "}[change.Added]+change.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.id, got, c.want)
		}
	}
}
