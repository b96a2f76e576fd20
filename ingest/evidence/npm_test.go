package evidence

import "testing"

func TestNPMRequirement(t *testing.T) {
	for _, c := range []struct{ name, spec, want, ref string }{
		{"axios", "^1.14.0", "pkg:npm/axios", "^1.14.0"},
		{"axios", "=1.14.1", "pkg:npm/axios@1.14.1", ""},
		{"axios", "1.14", "pkg:npm/axios", "1.14"},
		{"cache", "npm:@acme/keyv@6.0.0-rc.1", "pkg:npm/%40acme/keyv@6.0.0-rc.1", ""},
		{"cache", "npm:keyv", "pkg:npm/keyv", ""},
		{"axios", "npm:1.14.1", "pkg:npm/axios@1.14.1", ""},
		{"ui", "workspace:*", "", ""},
		{"ui", "file:../ui", "", ""},
		{"../ui", "1.0.0", "", ""},
	} {
		it, _ := NPMRequirement(c.name, c.spec)
		if it.Artifact != c.want || it.Ref != c.ref {
			t.Errorf("%s %s: %q, ref %q; want %q, ref %q", c.name, c.spec, it.Artifact, it.Ref, c.want, c.ref)
		}
	}
}

func TestSplitNPM(t *testing.T) {
	for text, want := range map[string]string{
		"axios@1.14.1": "axios 1.14.1", "@acme/ui@1.0.0-a.b+c": "@acme/ui 1.0.0-a.b+c",
		"axios@^1.14.1": "", "axios@1.14": "", "axios@latest": "", "@1.14.1": "", "axios@1.14.1 extra": "", "a b@1.0.0": "", "axios@1.14.1-": "",
	} {
		got := ""
		if name, version, ok := SplitNPM(text); ok {
			got = name + " " + version
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
