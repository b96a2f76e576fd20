package tool

import (
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// scanEvents reads a log, and writes each event with its subject.
func scanEvents(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	r := evidence.NewMachine([]evidence.Format{Echo}).NewReading("x.log", timeline.Subject{Kind: timeline.Job, ID: "j"}, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
		for _, e := range b.Events {
			if e.Action != timeline.Opaque && !strings.Contains(e.Items[0].Artifact, "acme.example") {
				out = append(out, e.Action.String()+" "+e.Subject.String()+" "+e.Items[0].Artifact)
			}
		}
		return nil
	})
	for i, line := range strings.Split(text, "\n") {
		command, echo := strings.CutPrefix(line, "> ")
		r.Line(&evidence.Line{Text: []byte(command), No: int64(i + 1), Echo: echo})
	}
	if _, err := r.Finish(timeline.Span{}); err != nil {
		t.Fatal(err)
	}
	return out
}

const grypeRow = "NAME     INSTALLED  FIXED-IN  TYPE    VULNERABILITY  SEVERITY\nlitellm  1.107.0    1.107.1   python  GHSA-1         Critical"

// TestScannedThings: a scanner's row is of what was scanned, and of nobody where
// that cannot be told.
func TestScannedThings(t *testing.T) {
	const litellm, nobody = " pkg:pypi/litellm@1.107.0", "present source:x.log pkg:pypi/litellm@1.107.0"
	for text, want := range map[string][]string{
		"+ grype registry.acme.example/api:1\n" + grypeRow:           {"present image:registry.acme.example/api:1" + litellm},
		"+ grype sbom:sbom.json\n" + grypeRow:                        {nobody},
		"+ grype api\n" + grypeRow:                                   {nobody}, // a folder, or an image
		"+ grype ./api\n" + grypeRow:                                 {"require job:j" + litellm},
		"+ grype -o json registry.acme.example/api:1\n" + grypeRow:   nil,
		"+ grype registry.acme.example/api:1 > out.txt\n" + grypeRow: nil,
		grypeRow: nil,
		"> grype registry.acme.example/a:1\n> grype registry.acme.example/b:1\n" + grypeRow + "\n" + grypeRow:                                      {nobody, nobody}, // whose is which
		"> grype registry.acme.example/a:1\n> grype ./b\n" + grypeRow:                                                                              {nobody},
		"+ trivy image registry.acme.example/a:1\nregistry.acme.example/b:2 (alpine 3.19.1)\n│ Library │ Installed Version │\n│ musl │ 1.2.4-r2 │": nil, // another
		"+ trivy image --input a.tar\na.tar (alpine 3.19.1)\n│ Library │ Installed Version │\n│ musl │ 1.2.4-r2 │":                                 {"present source:x.log pkg:apk/musl@1.2.4-r2"},
		"+ trivy rootfs /\nPython (python-pkg)\n│ Library │ Installed Version │\n│ litellm │ 1.107.0 │":                                            {"present job:j" + litellm},
		"+ trivy image registry.acme.example/a:1\n│ Library │ Installed Version │\n│ litellm │ 1.107.0 │":                                          nil, // of which kind?
		"+ trivy image registry.acme.example/a:1\n+ pip list\n│ Library │ Installed Version │\n│ litellm │ 1.107.0 │":                              nil,
		"Running trivy with options: trivy image registry.acme.example/a:1\nPython (python-pkg)\n│ Library │ Installed Version │\n│ litellm │ 1.107.0 │": {
			"present image:registry.acme.example/a:1" + litellm,
		},
		"> trivy image registry.acme.example/a:1\n> ./report\nPython (python-pkg)\n┌──┐\n│ Library │ Installed Version │\n│ litellm │ 1.107.0 │\n└──┘\n╭──╮\n│ pkg │ was │\n│ httpx │ 0.28.1 │": {
			"present image:registry.acme.example/a:1" + litellm,
		},
		"+ docker scout cves registry.acme.example/api:1\n   0C     1H     0M     0L  litellm 1.107.0\npkg:pypi/litellm@1.107.0\n":   {"present image:registry.acme.example/api:1" + litellm},
		"+ docker scout cves fs://.\npkg:pypi/litellm@1.107.0\n":                                                                     {"require job:j" + litellm},
		"+ docker scout cves\npkg:pypi/litellm@1.107.0\n":                                                                            {nobody},
		"+ snyk container test registry.acme.example/a:1\n  ✗ x [High Severity][https://s/SNYK-PYTHON-LITELLM-1] in litellm@1.107.0": nil,
		"+ snyk test\n  ✗ x [High Severity][https://s/SNYK-JS-LITELLM-1] in @acme/ui@1.0.0":                                          {"require job:j pkg:npm/%40acme/ui@1.0.0"},
	} {
		if got := scanEvents(t, text); !slices.Equal(got, want) {
			t.Errorf("%s\ngot %q\nwant %q", text, got, want)
		}
	}
}
