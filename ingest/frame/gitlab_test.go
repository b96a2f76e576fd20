package frame

import (
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

func TestGitLabStamp(t *testing.T) {
	for _, c := range []struct {
		line string
		want bool
	}{
		{"2026-10-21T12:50:05.094219Z 00O Running with gitlab-runner 18.5.0", true},
		{"2026-10-21T12:50:05.094219Z ffE+", true},
		{"2026-10-21T12:50:05.094219Z stdout F text of a container", false},
		{"2026-10-21T12:50:05.0942190Z 00O seven digits", false},
		{"2026-10-21T12:50:05.094219Z 0xO no stream", false},
		{"2026-99-21T12:50:05.094219Z 00O no month, the clock is wrong", true},
	} {
		if got := gitlabStamp([]byte(c.line)); got != c.want {
			t.Errorf("gitlabStamp(%q) = %t", c.line, got)
		}
	}
}

func FuzzGitLab(f *testing.F) { fuzz(f, GitLab) }

// TestGitLabCoverage takes lines out of a whole trace.
func TestGitLabCoverage(t *testing.T) {
	whole := []string{
		"Running with gitlab-runner 18.5.0 (bda84871)",
		"section_start:1792587013:get_sources\rGetting source",
		"section_end:1792587013:get_sources\rsection_start:1792587014:step_script\rExecuting",
		"$ get a", "got a",
		"section_end:1792587020:step_script\r",
		"Job succeeded",
	}
	without := func(drop ...int) (out []string) {
		for i, l := range whole {
			if len(drop) == 0 || i < drop[0] || i > drop[len(drop)-1] {
				out = append(out, l)
			}
		}
		return out
	}
	for _, c := range []struct {
		about   string
		lines   []string
		covers  int
		partial bool
	}{
		{"whole", whole, 1, false},
		{"as it is copied from the page", []string{whole[0], "$ get a", "got a", "Job succeeded"}, 1, false},
		{"no command", without(3, 4), 0, true},
		{"a section that does not end", without(5), 0, true},
		{"a section that does not begin", without(2), 0, true},
		{"the end of one and the beginning of the next", without(3, 5), 0, true},
		{"a job that failed before its script", []string{whole[0], whole[1], "ERROR: Job failed (system failure): no such image"}, 1, false},
		{"a trace that was too long", append(without(5, 6), "Job's log exceeded limit of 4194304 bytes.", "Job succeeded"), 0, true},
	} {
		covers := 0
		r := evidence.NewMachine([]evidence.Format{GitLab}).NewReading("t.log", timeline.Subject{}, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
			covers += len(b.Coverage)
			return nil
		})
		r.Claimed(GitLab.Name, &evidence.Head{Path: "t.log", Name: "t.log", Bytes: []byte(strings.Join(c.lines, "\n"))})
		for i, l := range c.lines {
			r.Line(&evidence.Line{Text: []byte(l), No: int64(i + 1)})
		}
		totals, err := r.Finish(timeline.Span{})
		if err != nil {
			t.Fatal(err)
		}
		if covers != c.covers || (totals.Partial != "") != c.partial {
			t.Errorf("%s: %d rows of coverage, %q", c.about, covers, totals.Partial)
		}
	}
}
