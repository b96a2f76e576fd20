package tool

import (
	"strings"
	"testing"
)

func TestAsked(t *testing.T) {
	for command, want := range map[string]string{
		"pip install --no-cache-dir litellm":                              "pkg:pypi/litellm",
		"python3 -m pip install -U 'litellm[proxy]>=1.80' openai==1.99.9": "pkg:pypi/litellm pkg:pypi/openai@1.99.9",
		"set -eux; pip3.12 install -r requirements.txt; rm -rf /root":     "pkg:pypi",
		"sh -c 'uv sync --frozen && npm ci'":                              "pkg:pypi pkg:npm",
		"pip install litellm || pip install litellm":                      "pkg:pypi/litellm",
		"docker pull busybox":                                             "docker.io/library/busybox:latest", "pip --version": "", "echo done": "", "": "",
	} {
		var got []string
		for _, it := range asked(command, 0) {
			got = append(got, it.Artifact)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("asked(%q) = %q, want %q", command, got, want)
		}
	}
}
