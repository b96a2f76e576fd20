package frame

import "testing"

func TestElided(t *testing.T) {
	for text, want := range map[string]bool{
		"[...]": true, "<snip>": true, "[snip]": true, "... 2034 lines omitted ...": true, "*** LOG TRUNCATED ***": true, "(output truncated)": true,
		"[log truncated: 12345678 bytes omitted]": true, "Job's log exceeded limit of 4194304 bytes.": true, "--More--": true,
		"": false, "...": false, "....F..": false, "[truncated to 80 columns by the renderer because the terminal is narrow]": false,
		"3 files skipped": false, "=== 12 passed, 3 skipped ===": false, "-- removed 3 unused imports": false, "[cut] src/edge.c": false,
	} {
		if got := elided([]byte(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
