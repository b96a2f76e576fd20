package ingest_test

import (
	"bytes"
	"fmt"
	"testing"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// TestManyFiles reads requests for more files than are remembered: what was
// forgotten is settled before, and nothing is lost.
func TestManyFiles(t *testing.T) {
	const n = 10_000
	var log bytes.Buffer
	for i := range n {
		fmt.Fprintf(&log, "10.4.0.7 - - [21/Oct/2026:12:%02d:%02d +0000] \"GET /packages/5c/0a/tool-%d.0-py3-none-any.whl HTTP/1.1\" 200 8123 \"-\" \"pip/25.2\"\n", i/60%60, i%60, i)
	}
	got := readFiles(t, ingest.Options{}, file{"mirror.log", log.Bytes()})[0]
	if got.State != timeline.Read || got.Events != n {
		t.Errorf("%s with %d events, want read with %d: %s", got.State, got.Events, n, got.Why)
	}
}
