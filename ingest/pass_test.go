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
