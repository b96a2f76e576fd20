package matchers

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pulltrail/timeline"
)

func TestLibraryLoads(t *testing.T) {
	owner := map[string]string{}
	for _, id := range Library() {
		inc, err := Find(id)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range append([]string{inc.ID}, inc.Aliases...) {
			name = strings.ToLower(name)
			if owner[name] != "" {
				t.Errorf("%s and %s share the name %s", owner[name], id, name)
			}
			owner[name] = id
			if aliases()[name] != id {
				t.Errorf("%s is not found by its name %s", id, name)
			}
		}
		for _, err := range SelfTest(inc) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if len(owner) != len(aliases()) {
		t.Errorf("the index has %d names, the files %d", len(aliases()), len(owner))
	}
}

func TestFind(t *testing.T) {
	file := filepath.Join(t.TempDir(), "good-1.yaml")
	if err := os.WriteFile(file, []byte(goodFile), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"litellm-1.107.0":                   "litellm-1.107.0",
		"LiteLLM-2026-10":                   "litellm-1.107.0",
		"ghsa-fw8c-xr5c-95f9":               "axios-2026-03",
		"Shai-Hulud-2":                      "shai-hulud-2-2025-11",
		file:                                "good-1",
		"pkg:pypi/LiteLLM@1.107.0":          "pkg:pypi/litellm@1.107.0",
		"pkg:npm/%40scope/name@1.0.0":       "pkg:npm/%40scope/name@1.0.0",
		"pkg:npm/@scope/name@1.0.0":         "pkg:npm/%40scope/name@1.0.0",
		"acme/name:v1":                      "docker.io/acme/name:v1",
		"ghcr.io/acme/name@sha256:" + hex64: "ghcr.io/acme/name@sha256:" + hex64,
		"pkg:github/Acme/Action@" + hex40:   "pkg:github/acme/action@" + hex40,
	} {
		inc, err := Find(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if inc.ID != want {
			t.Errorf("%s is %s, want %s", name, inc.ID, want)
		}
	}
}

func TestFindUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"litelm-1.107.0":  "did you mean litellm-1.107.0",
		"litelm":          "did you mean litellm-",
		"litellm":         "litellm-1.82.7",
		"qqqqqqqqqqqqq":   "'pulltrail incidents' lists the known ones",
		"":                "'pulltrail incidents' lists",
		"pkg:pypi/x":      "needs a type, a name and a version",
		"pkg:/x@1":        "needs a type, a name and a version",
		"pkg:":            "needs a type, a name and a version",
		"nowhere/no.yaml": "there is no file nowhere/no.yaml",
		"ghcr.io/a/b":     "unknown incident",
	} {
		_, err := Find(name)
		if !errors.Is(err, ErrUnknownIncident) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

func TestAdHoc(t *testing.T) {
	inc, err := Find("pkg:pypi/LiteLLM@1.107.0")
	if err != nil {
		t.Fatal(err)
	}
	p, w := inc.Packages[0], inc.Channels[0].Windows[0]
	if p.PURL != "pkg:pypi/litellm" || p.Channel != "pypi" || inc.Channels[0].Name != "pypi" ||
		!slices.Equal(p.Versions, []string{"1.107.0"}) || w.From != timeline.Beginning || w.To != timeline.Forever {
		t.Errorf("%+v", inc)
	}
	again, err := Find("pkg:pypi/litellm@1.107.0")
	if err != nil || again.Revision != inc.Revision || len(inc.Revision) != 64 {
		t.Errorf("the same question has two revisions: %v", err)
	}
	image, err := Find("litellm/litellm:v1.107.0")
	if err != nil {
		t.Fatal(err)
	}
	if i := image.Images[0]; i.Repository != "docker.io/litellm/litellm" || i.Channel != "dockerhub" || !slices.Equal(i.Tags, []string{"v1.107.0"}) {
		t.Errorf("%+v", i)
	}
}
