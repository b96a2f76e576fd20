package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/frame"
	"pulltrail/timeline"
)

// noise are lines of a job's log that no tool wants.
const noise = "building index shard 4 of 12\n\n    return await self._bundle.sync(lock=writer)\nsrc/kernel/driver_flow.py    1364     792    94%   88-91, 140\n"

// TestPassing reads each sample with noise around it as it is, when lines that
// nothing wants are passed over many at once, and with a carriage return at the
// end of each line, when each is read: the same is found on the same lines.
func TestPassing(t *testing.T) {
	machine := evidence.NewMachine(Formats)
	samples, err := filepath.Glob("../testdata/formats/*/*.golden")
	if err != nil || len(samples) == 0 {
		t.Fatal(samples, err)
	}
	found := 0
	for _, golden := range samples {
		data, err := os.ReadFile(strings.TrimSuffix(golden, ".golden"))
		if err != nil || sniff(data) != plain || strings.ContainsAny(string(data), "\x1b\r\x00") {
			continue // a folder, an archive, or what a terminal was told
		}
		lines := noise + string(data) + "\n" + noise
		for _, format := range []string{"", frame.GitHub.Name} {
			text := lines
			if format != "" {
				text = stamped(lines)
			}
			passed := readBytes(t, machine, []byte(text), format)
			if passed.info.Format != textFormat && format == "" {
				continue // a document
			}
			got, want := places(passed), places(readBytes(t, machine, []byte(strings.ReplaceAll(text, "\n", "\r\n")), format))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s as %q: passing over lines\n%s\nreading each\n%s", golden, format, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			found += len(got)
		}
	}
	if found < 1000 {
		t.Errorf("only %d findings in all samples", found)
	}
}

// TestNoiseIsPassed holds a job's log that is mostly noise to be passed over,
// also behind commands whose output tools listen to: reading each line costs ten
// times as much.
func TestNoiseIsPassed(t *testing.T) {
	machine := evidence.NewMachine(Formats)
	const block = noise + `tests/window/test_alert.py::test_litellm_router_codec SKIPPED (needs replay)               [ 83%]
==================== 184 passed, 358 skipped, 2 warnings in 1683.31s =====================
  File "/home/runner/work/catalog/catalog/src/limit/event_ingest.py", line 216, in budget_cluster
[ 92%] Building CXX object src/billing/CMakeFiles/flow.dir/writer_worker.cpp.o
[       OK ] digest_test.queue_region_handles_runner (939 ms)
/home/runner/work/catalog/catalog/src/notify/health_policy.cpp: In member function 'void catalog::pass()':
-- Looking for merge_tool.h - found
INFO     invoice.layer:query.py:496 driver selected deployment feature for model dispatch-1526 after 613 ms
DEBUG    payment.window:quota.py:1501 request_id=a5c467f04cac status=200 latency_ms=799 cache=miss tokens=471
ok  	github.com/acme/catalog/internal/route	0.412s	coverage: 81.2% of statements
go: finding module for package github.com/acme/edge
warning  Unexpected any. Specify a different type  @typescript-eslint/no-explicit-any
asset tenant.0f176a5e4834.js 1022 KiB [emitted] [immutable] [minimized] (name: vault) 1 related asset
dist/assets/quota-32dce299941b.css                   377.21 kB │ gzip:  1413.05 kB
PASS src/billing/cache_worker.test.tsx (1978.021 s)
`
	for _, command := range []string{"make test", "npm run lint", "./scripts/build.sh", "pip install litellm"} {
		head := stamped("Current runner version: '2.331.0'\nComplete job name: build\n##[group]Run " + command + "\n" + command + "\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n" +
			"Collecting litellm==1.106.2\nbuilding\n")
		r := machine.NewReading("in", timeline.Subject{}, timeline.Subject{}, evidence.Times{}, func(*timeline.Batch) error { return nil })
		r.Claimed(frame.GitHub.Name, newHead("in", []byte(head)))
		no := int64(0)
		for text := range strings.SplitSeq(strings.TrimSuffix(head, "\n"), "\n") {
			no++
			r.Line(&evidence.Line{Text: []byte(text), No: no, Flat: true})
		}
		lines := stamped(block)
		if n, size := r.Pass([]byte(lines)); size < int64(len(lines)) {
			first, _, _ := strings.Cut(lines[size:], "\n")
			t.Errorf("behind %q, of %d lines %d are passed over, and then: %s", command, strings.Count(lines, "\n"), n, first)
		}
	}
}

// stamped are the lines as those of a GitHub job.
func stamped(lines string) string {
	var b strings.Builder
	for i, l := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
		fmt.Fprintf(&b, "2026-10-21T12:%02d:%02d.%07dZ %s\n", i/60%60, i%60, i, l)
	}
	return b.String()
}

// places are the findings of a reading with their lines and times, and how it
// ended.
func places(r reading) (all []string) {
	for _, e := range r.batch.Events {
		all = append(all, fmt.Sprint(e.Action, e.Subject, e.Items, e.Span, e.Line, e.Text))
	}
	for _, l := range r.batch.Links {
		all = append(all, fmt.Sprint(l.Relation, l.From, l.To, l.Span, l.Line))
	}
	for _, s := range r.batch.Skips {
		all = append(all, fmt.Sprint(s.Reason, s.Line))
	}
	slices.Sort(all) // streams end in no order
	return append(all, fmt.Sprint(r.info.State, r.info.Why, r.info.First, r.info.Last))
}
