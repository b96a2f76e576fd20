package matchers

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOSVRanges turns ranges into ones of the incident format, and asks them.
func TestOSVRanges(t *testing.T) {
	for _, c := range []struct {
		ecosystem, events string
		bad, good         []string
	}{
		{"PyPI", `[{"introduced":"0"}]`, []string{"0.1a1", "1", "99!1.0"}, nil},
		{"PyPI", `[{"introduced":"1.0"},{"fixed":"1.2"}]`, []string{"1.0", "1.1.9"}, []string{"1.2", "0.9"}},
		{"PyPI", `[{"introduced":"1.0"},{"last_affected":"1.2"},{"introduced":"2.0"},{"fixed":"2.1"}]`, []string{"1.2", "2.0.5"}, []string{"1.3", "2.1"}},
		{"npm", `[{"introduced":"0"},{"fixed":"2.0.0"}]`, []string{"0.0.0-alpha", "1.9.9"}, []string{"2.0.0"}},
		{"npm", `[{"introduced":"1.0.0"},{"introduced":"3.0.0"},{"fixed":"3.1.0"}]`, []string{"1.0.0", "2.5.0", "3.0.1"}, []string{"0.9.0"}},
	} {
		d, err := DraftOSV([]byte(fmt.Sprintf(`{"id":"MAL-1","modified":"2026-01-02T03:04:05Z","affected":[{"package":{"ecosystem":%q,"name":"x"},
			"ranges":[{"type":"ECOSYSTEM","events":%s}]}]}`, c.ecosystem, c.events)))
		if err != nil {
			t.Errorf("%s: %v", c.events, err)
			continue
		}
		set := newVersionSet(strings.ToLower(c.ecosystem), d.Incident.Packages[0].Versions, nil)
		for _, v := range c.bad {
			if !set.Exact(v) {
				t.Errorf("%s as %q: %s is not bad", c.events, d.Incident.Packages[0].Versions, v)
			}
		}
		for _, v := range c.good {
			if set.Exact(v) {
				t.Errorf("%s as %q: %s is bad", c.events, d.Incident.Packages[0].Versions, v)
			}
		}
	}
}

// TestOSVNothingLost: what cannot be compared counts as every version, and no
// list that lost something is complete.
func TestOSVNothingLost(t *testing.T) {
	for _, affected := range []string{
		`{"package":{"ecosystem":"PyPI","name":"x"}}`,
		`{"package":{"ecosystem":"PyPI","name":"x"},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"not a version"}]}]}`,
		`{"package":{"ecosystem":"PyPI","name":"x"},"ranges":[{"type":"ECOSYSTEM","events":[{"fixed":"1.0"}]}]}`,
		`{"package":{"ecosystem":"PyPI","name":"x"},"ranges":[{"type":"GIT","repo":"https://git.example/x","events":[{"introduced":"0"}]}]}`,
		`{"package":{"ecosystem":"PyPI","name":"x"},"versions":["*"]}`,
	} {
		d, err := DraftOSV([]byte(`{"id":"MAL-1","modified":"2026-01-02T03:04:05Z","affected":[` + affected + `]}`))
		if err != nil {
			t.Errorf("%s: %v", affected, err)
			continue
		}
		if p := d.Incident.Packages[0]; !slices.Contains(p.Versions, "*") || d.Incident.Complete.Versions {
			t.Errorf("%s: versions %q, complete %v", affected, p.Versions, d.Incident.Complete)
		}
	}
}

// TestOSVArchive reads records out of an archive whose names and members are
// what an attacker would choose.
func TestOSVArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.zip")
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"../../etc/MAL-1.json": `{"id":"../../MAL-1","modified":"2026-01-02T03:04:05Z"}`,
		"MAL-2.json":           `{"id":"MAL-2","modified":"2026-01-02T03:04:05Z","affected":[{"package":{"ecosystem":"npm","name":"x"},"versions":["1.0.0"]}]}`,
		"bomb.json":            strings.Repeat(" ", maxRecord+5),
		"readme.txt":           "no record",
	} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err := ReadOSV(path, func(name string, data []byte, err error) bool {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		d, err := DraftOSV(data)
		if err != nil {
			got[filepath.Base(name)] = err.Error()
		} else {
			got[filepath.Base(name)] = d.Incident.ID
		}
		return true
	})
	if err != nil || len(got) != 3 || got["all.zip!MAL-2.json"] != "mal-2" || !strings.Contains(got["MAL-1.json"], "want letters") || !strings.Contains(got["all.zip!bomb.json"], "larger") {
		t.Errorf("got %q, %v", got, err)
	}
}

// FuzzOSV: whatever a record says, a draft of it is a file that passes every
// check, is called what its name says, and loses no version that it lists.
func FuzzOSV(f *testing.F) {
	f.Add([]byte(`{"schema_version":"1.7.4","id":"MAL-2026-1","modified":"2026-01-02T03:04:05Z","summary":"a. b. c.","aliases":["x","x"],
		"affected":[{"package":{"ecosystem":"PyPI","name":"A_b"},"versions":["1.0","1.0"],"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"}]}]}],
		"references":[{"type":"WEB","url":"https://a.example/x"}]}`))
	f.Add([]byte(`{"id":"MAL-1","modified":"2026-01-02T03:04:05Z","summary":"\u202e- !!str x: &a *b","affected":[{"package":{"ecosystem":"npm","name":"@a/b"},"versions":["1.0.0"]}]}`))
	f.Add([]byte(`{"id":"GHSA-1","modified":"2026-01-02T03:04:05Z","affected":[{"package":{"ecosystem":"GitHub Actions","name":"a/b/c"}}, {"package":{"ecosystem":"Maven","name":"g:a"},"versions":["x@y"]}]}`))
	f.Add([]byte(`{"id":"null","modified":"~","affected":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := DraftOSV(data)
		if err != nil {
			if text := err.Error(); strings.ContainsAny(text, "\x1b\u202e") {
				t.Errorf("the error holds what the record chose: %q", text)
			}
			return
		}
		again, err := Load(d.Incident.ID+".yaml", d.YAML)
		if err != nil || again.Revision != d.Incident.Revision {
			t.Fatalf("the draft is refused: %v\n%s", err, d.YAML)
		}
		if strings.ContainsAny(d.Incident.ID, `/\`) || d.Incident.ID == "" {
			t.Errorf("the id is %q", d.Incident.ID)
		}
		var r osvRecord
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		listed := 0
		for _, p := range again.Packages {
			listed += len(p.Versions)
		}
		if listed == 0 && len(again.Actions) == 0 {
			t.Errorf("nothing is listed of %s", data)
		}
	})
}
