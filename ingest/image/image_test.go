package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pulltrail/timeline"
)

const hex = "54c812c6a618474da878d34118b4c14d8d7435a1e663148b70d9d62e10e6d2eb"

func TestPartOf(t *testing.T) {
	for name, want := range map[string]struct {
		part     Part
		promised string
	}{
		"blobs/sha256/" + hex:          {Blob, "sha256:" + hex},
		"./layout/blobs/sha256/" + hex: {Blob, "sha256:" + hex},
		hex + ".json":                  {Blob, "sha256:" + hex},
		"sha256:" + hex:                {Blob, "sha256:" + hex},
		hex:                            {Blob, "sha256:" + hex},
		hex + ".tar.gz":                {Blob, ""},
		hex + ".tar":                   {Blob, ""},
		hex + "/layer.tar":             {Blob, ""},
		"l/layer.tar":                  {Blob, ""},
		hex + "/VERSION":               {Old, ""},
		hex + "/json":                  {Old, ""},
		"src/VERSION":                  {Other, ""},
		"a/json":                       {Other, ""},
		"manifest.json":                {List, ""},
		"oci-layout":                   {List, ""},
		hex + "-json.log":              {Other, ""},
		hex + ".log":                   {Other, ""},
		hex[:63]:                       {Other, ""},
		"0_build.txt":                  {Other, ""},
		"logs.tar.gz":                  {Other, ""},
		"":                             {Other, ""},
	} {
		if part, promised := PartOf(name); part != want.part || promised != want.promised {
			t.Errorf("%q: %d %q, want %d %q", name, part, promised, want.part, want.promised)
		}
	}
}

func TestName(t *testing.T) {
	for _, c := range []struct{ name, ref, want string }{
		{"docker.io/library/alpine:3.20", "3.20", "docker.io/library/alpine:3.20"},
		{"", "registry.acme.example:5000/acme/tiny:1.0", "registry.acme.example:5000/acme/tiny:1.0"},
		{"", "gw:1", "docker.io/library/gw:1"},
		{"", "latest", ""},
		{"", "", ""},
		{"", "no image: at all", ""},
	} {
		got := Name(map[string]string{"io.containerd.image.name": c.name, "org.opencontainers.image.ref.name": c.ref})
		if got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.name, c.ref, got, c.want)
		}
	}
}

// TestTooMuch: what is kept of an archive is bounded.
func TestTooMuch(t *testing.T) {
	diffs := strings.TrimSuffix(strings.Repeat(`"sha256:`+hex+`",`, maxLayers+1), ",")
	for name, data := range map[string]string{
		"layers": `{"os":"linux","rootfs":{"type":"layers","diff_ids":[` + diffs + `]}}`,
		"names":  `[{"Config":"c","Layers":[],"RepoTags":[` + strings.TrimSuffix(strings.Repeat(`"a",`, maxNames+1), ",") + `]}]`,
	} {
		if err := New().Add("manifest.json", "x", "sha256:"+hex, []byte(data), true); err == nil {
			t.Errorf("too many %s are taken", name)
		}
	}
	a := New()
	var err error
	for range maxImages + 1 {
		if err = a.Add("manifest.json", "x", "sha256:"+hex, []byte(`[{"Config":"c","Layers":[],"RepoTags":[]}]`), true); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("too many lists are taken")
	}
}

// FuzzAdd gives an archive any document: nothing breaks, and an image has as
// many layers as diff IDs.
func FuzzAdd(f *testing.F) {
	samples, err := filepath.Glob("../../testdata/formats/image-*/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range samples {
		data, err := os.ReadFile(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, true)
		f.Add(data, false)
	}
	f.Add([]byte(`[{"Config":"`+hex+`.json","RepoTags":["a:1"],"Layers":["l/layer.tar"]}]`), true)
	f.Add([]byte(`[null]`), true)
	f.Add([]byte(`{"layers":null,"config":{}}`), false)
	f.Fuzz(func(t *testing.T, data []byte, list bool) {
		a := New()
		_ = a.Add("d/manifest.json", "x!d/manifest.json", "sha256:"+hex, data, list) // an error is an answer
		a.AddLayer(&Layer{Path: "x!l", Diff: "sha256:" + hex})
		for _, img := range a.Images() {
			if len(img.Layers) != len(img.Diffs) || img.Digests[0].Role != timeline.Config {
				t.Errorf("%d layers, %d diff IDs, %v", len(img.Layers), len(img.Diffs), img.Digests)
			}
			_ = img.Missing()
		}
		_ = a.Gaps()
		_ = a.Orphans()
	})
}
