package frame

import "testing"

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
