package canary

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pulltrail/timeline"
)

// Schema is what each row begins with.
const Schema = "pulltrail.canary-run/1"

// Row is one request, and what counts of its reply: nothing that a server said
// is quoted in it. Counts that are not known are -1.
type Row struct {
	Schema  string          `json:"pulltrail_canary"`
	Run     string          `json:"run"`
	ID      string          `json:"id"`
	Target  string          `json:"target"`
	Node    string          `json:"node"`    // kind:id
	Gateway bool            `json:"gateway"` // there may be several engines behind it
	Model   string          `json:"model"`
	Tenant  string          `json:"tenant"`
	Probe   timeline.Probe  `json:"probe"`
	Outcome timeline.Ending `json:"outcome"`
	Why     string          `json:"why,omitempty"`
	Status  int             `json:"status"` // of HTTP, 0 without an answer
	Sent    int64           `json:"sent_tokens"`
	Limit   int64           `json:"limit_tokens"`
	Rate    int64           `json:"prefill_rate"`

	Prompt   int64 `json:"prompt_tokens"`
	Cached   int64 `json:"cached_tokens_at_most"`
	Output   int64 `json:"output_tokens"`
	Streamed bool  `json:"streamed"` // tokens came one after the other

	Start time.Time  `json:"start"`
	First *time.Time `json:"first_token,omitempty"`
	End   time.Time  `json:"end"`

	Own    timeline.Marks `json:"own_codes"`
	Stale  bool           `json:"other_request"`
	Others []string       `json:"other_tenants"`
}

// Report is what a round came to.
type Report struct {
	Run   string
	Begun time.Time
	Rows  []Row
}

// Name is what the report is called as a file.
func (r *Report) Name() string { return "canary/" + r.Run + ".jsonl" }

// Lines is the report as the format "canary" reads it, one row a line.
func (r *Report) Lines() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range r.Rows {
		if err := e.Encode(&r.Rows[i]); err != nil {
			return nil, fmt.Errorf("write the report of the canary: %w", err)
		}
	}
	return b.Bytes(), nil
}

// sortRows orders rows by probe, then tenant.
func sortRows(rows []Row) {
	order := []timeline.Probe{timeline.SizeProbe, timeline.MarkerProbe, timeline.LongProbe}
	slices.SortStableFunc(rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(slices.Index(order, x.Probe), slices.Index(order, y.Probe)), cmp.Compare(x.Tenant, y.Tenant))
	})
}
