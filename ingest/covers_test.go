package ingest_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// TestCoverageOfParts reads run archives of two jobs, of which the second is
// not whole: what the first one covers stands, when a checksum shows that it is
// whole, and that of the second does not.
func TestCoverageOfParts(t *testing.T) {
	subject, err := timeline.ParseSubject("job:github:acme/api/runs/1/attempts/1")
	check(err)
	both := append(runFiles(0, "build", "build", "idna"), runFiles(1, "lint", "lint", "ruff")...)
	whole := zipSized(both...)
	cutAt := bytes.Index(whole, []byte("1_lint.txt")) + 300
	wrong := slices.Clone(both)
	wrong[5].data = wrong[5].data[:len(wrong[5].data)-20] // whole-job file and steps differ
	short := slices.Clone(both)
	short[7].data = short[7].data[:20] // a step file
	damaged := bytes.Replace(whole, []byte("ruff-1.0"), []byte("RUFF-1.0"), 1)
	for _, c := range []struct {
		name, why   string
		data        []byte
		build, lint bool
	}{
		{"whole", "", whole, true, true},
		{"whole, as a stream", "", tarOf(file{"z", whole}), true, true},
		{"cut in the second job", "the log ends before", whole[:cutAt], true, false},
		{"cut in the second job, as a stream", "the log ends before", tarOf(file{"z", whole[:cutAt]}), true, false},
		{"cut in the second job, in a tar that is cut", "the log ends before", tarOf(file{"z", whole})[:cutAt+512], true, false},
		{"damaged in the second job", "checksum", damaged, true, false},
		{"damaged in the second job, as a stream", "checksum", tarOf(file{"z", damaged}), true, false},
		{"tar cut in the second job", "cut", tarOf(both...)[:bytes.Index(tarOf(both...), []byte("1_lint.txt"))+700], false, false},
		{"copies differ", "should be the same", zipOf(wrong...), true, false},
		{"copies differ, as a stream", "the log ends before", tarOf(file{"z", zipOf(wrong...)}), false, false},
		{"copies differ in a tar", "the log ends before", tarOf(wrong...), false, false},
		{"a step is short", "should be the same", zipOf(short...), true, false},
		{"a step is short, as a stream", "should be the same", tarOf(file{"z", zipOf(short...)}), false, false},
		{"another name in the directory", "another name", tarOf(file{"z", swapLast(whole, "1_lint.txt", "1_test.txt")}), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := readFiles(t, ingest.Options{Subject: subject}, file{"in", c.data})[0]
			if (got.State == timeline.Read) != (c.why == "") || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s: %q", got.State, got.Why)
			}
			for job, want := range map[string]bool{"build": c.build, "lint": c.lint} {
				whole := false
				for line := range strings.Lines(got.dump) {
					whole = whole || strings.HasPrefix(line, "covers job:github:acme/api/runs/1/attempts/1/jobs/"+job+" *") && strings.Contains(line, "whole=true")
				}
				if whole != want {
					t.Errorf("%s is covered: %t\n%s", job, !want, got.dump)
				}
			}
		})
	}
}
