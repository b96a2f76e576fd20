package timeline

import (
	"strings"
	"testing"
)

func TestPURL(t *testing.T) {
	for _, c := range []struct{ kind, namespace, name, version, want string }{
		{"pypi", "", "LiteLLM", "1.107.0", "pkg:pypi/litellm@1.107.0"},
		{"pypi", "", "lite_llm", "", "pkg:pypi/lite-llm"},
		{"pypi", "", "zope.interface--x", "1!2.0+a", "pkg:pypi/zope-interface-x@1!2.0+a"},
		{"npm", "", "@scope/name", "1.0.0", "pkg:npm/%40scope/name@1.0.0"},
		{"npm", "@scope", "name", "1.0.0-rc.1+b", "pkg:npm/%40scope/name@1.0.0-rc.1+b"},
		{"vscode-extension", "Nrwl", "Angular-Console", "18.95.0", "pkg:vscode-extension/nrwl/angular-console@18.95.0"},
		{"golang", "github.com/acme", "Thing", "v1.2.3", "pkg:golang/github.com/acme/Thing@v1.2.3"},
		{"github", "Acme", "Action", "0123456789abcdef0123456789abcdef01234567", "pkg:github/acme/action@0123456789abcdef0123456789abcdef01234567"},
		{"deb", "debian", "xz-utils", "1:5.6.0-1~b", "pkg:deb/debian/xz-utils@1:5.6.0-1~b"},
		{"generic", "", "a b/c", "x@y#z?", "pkg:generic/a%20b%2Fc@x%40y%23z%3F"},
	} {
		got := PURL(c.kind, c.namespace, c.name, c.version)
		if got != c.want {
			t.Errorf("%v is %s, want %s", c, got, c.want)
		}
		if p := Split(got); p.Type != c.kind || p.Version != c.version {
			t.Errorf("%s is taken apart into %+v", got, p)
		}
	}
}

func TestSplit(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	for artifact, want := range map[string]Parts{
		"pkg:pypi/LiteLLM@1.107.0":          {"pypi", "litellm", "1.107.0", ""},
		"pkg:pypi/litellm":                  {"pypi", "litellm", "", ""},
		"pkg:pypi/litellm@1.107.0?x=y@2#z":  {"pypi", "litellm", "1.107.0", ""},
		"pkg:npm/%40scope/name@1.0.0":       {"npm", "@scope/name", "1.0.0", ""},
		"pkg:npm/@scope/name@1.0.0":         {"npm", "@scope/name", "1.0.0", ""},
		"pkg:npm/@scope/name":               {"npm", "@scope/name", "", ""},
		"pkg:github/Acme/Action@v1":         {"github", "acme/action", "v1", ""},
		"docker.io/library/busybox:1.36":    {"image", "docker.io/library/busybox", "1.36", ""},
		"reg.example:5000/a/b":              {"image", "reg.example:5000/a/b", "", ""},
		"reg.example:5000/a/b:v1@" + digest: {"image", "reg.example:5000/a/b", "v1", digest},
		"domain:bad.example":                {"domain", "bad.example", "", ""},
		"url:https://bad.example/a@b:1":     {"url", "https://bad.example/a@b:1", "", ""},
		"secret:OPENAI_API_KEY":             {"secret", "OPENAI_API_KEY", "", ""},
	} {
		if got := Split(artifact); got != want {
			t.Errorf("%s is %+v, want %+v", artifact, got, want)
		}
	}
}

func TestNormalizeImage(t *testing.T) {
	hex := strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		"busybox":                              "docker.io/library/busybox:latest",
		"busybox:1.36":                         "docker.io/library/busybox:1.36",
		"acme/app":                             "docker.io/acme/app:latest",
		"docker.io/busybox":                    "docker.io/library/busybox:latest",
		"index.docker.io/acme/app:v1":          "docker.io/acme/app:v1",
		"GHCR.io:443/acme/app:v1":              "ghcr.io/acme/app:v1",
		"index.docker.io:443/redis:7":          "docker.io/library/redis:7",
		"registry-1.docker.io/library/redis:7": "docker.io/library/redis:7",
		"ghcr.io/berriai/litellm:main-latest":  "ghcr.io/berriai/litellm:main-latest",
		"GHCR.io/acme/app:v1":                  "ghcr.io/acme/app:v1",
		"localhost/app":                        "localhost/app:latest",
		"localhost:5000/app":                   "localhost:5000/app:latest",
		"10.0.0.5:5000/team/app:v1":            "10.0.0.5:5000/team/app:v1",
		"[2001:db8::1]:5000/app:v1":            "[2001:db8::1]:5000/app:v1",
		"quay.io/a/b@sha256:" + hex:            "quay.io/a/b@sha256:" + hex,
		"quay.io/a/b:v1@sha256:" + hex:         "quay.io/a/b:v1@sha256:" + hex,
		"a__b/c-d.e":                           "docker.io/a__b/c-d.e:latest",
		"":                                     "",
		"acme-/app":                            "",
		"[00]/app":                             "",
		"Busybox":                              "",
		"acme/App":                             "",
		"a//b":                                 "",
		"/a":                                   "",
		"a:":                                   "",
		"a@sha256:abc":                         "",
		"a b":                                  "",
		"https://ghcr.io/a/b":                  "",
		hex:                                    "",
		"sha256:" + hex:                        "",
		"a:" + strings.Repeat("t", 129):        "",
		strings.Repeat("a", 600):               "",
	} {
		if got := NormalizeImage(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestSHA256(t *testing.T) {
	hex := strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		hex: "sha256:" + hex, "sha256:" + hex: "sha256:" + hex, strings.ToUpper(hex): "sha256:" + hex,
		hex[:63]: "", hex + "a": "", "sha256:" + hex[:12]: "", "md5:" + hex: "", "": "", strings.Repeat("g", 64): "",
	} {
		if got := SHA256(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func FuzzArtifact(f *testing.F) {
	for _, s := range []string{"pkg:npm/@scope/name@1.0", "pkg:pypi/%zz", "ghcr.io/a/b:v1@sha256:00", "[::1]:5/a", "url:x", "pkg:", "@", ":"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		Split(text)
		if once := NormalizeImage(text); once != "" && NormalizeImage(once) != once {
			t.Errorf("%q is %q, and then %q", text, once, NormalizeImage(once))
		}
		if n := normalizePyPI(text); normalizePyPI(n) != n {
			t.Errorf("PyPI name %q is not stable", text)
		}
		p := Split(PURL("npm", "", "x", text))
		if text != "" && (p.Version != text || p.Name != "x") {
			t.Errorf("version %q comes back as %q of %q", text, p.Version, p.Name)
		}
	})
}
