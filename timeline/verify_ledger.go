package timeline

import (
	"fmt"
	"strings"
)

// checkLedger compares what collectors asked for with the log.
func (x *verifier) checkLedger(ledger []Inquiry) {
	there := map[string]bool{}
	for i := range ledger {
		r := &ledger[i]
		there[r.URL] = true
		e, ok := x.requests[plain(r.URL)]
		c := Checked{What: "request", Outcome: Mismatch, Path: r.URL, Claim: r.Claim, SHA256: r.SHA256}
		if !ok {
			c.State, c.Detail = "not recorded", "the ledger has it, the custody log does not"
			x.add(c)
		} else if fields := otherwise(r, &e); fields != "" {
			c.State, c.Detail = "differs", fmt.Sprintf("not as entry %d has it: %s", e.N, fields)
			x.add(c)
		}
	}
	for _, e := range byNumber(x.requests) {
		if !there[e.Path] {
			x.add(Checked{
				What: "request", Outcome: Mismatch, State: "missing", Path: e.Path, Claim: e.Claim, SHA256: e.SHA256,
				Detail: fmt.Sprintf("entry %d recorded it, the ledger does not have it", e.N),
			})
		}
	}
}

// otherwise names the fields of a request that are not as they were recorded.
func otherwise(r *Inquiry, e *Entry) string {
	var names []string
	for _, f := range []struct {
		name string
		same bool
	}{
		{"sha256", r.SHA256 == e.SHA256},
		{"bytes", r.Bytes == e.Bytes},
		{"outcome", r.Reply == e.Outcome},
		{"status", r.Status == e.Status},
		{"claim", plain(r.Claim) == e.Claim},
	} {
		if !f.same {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}
