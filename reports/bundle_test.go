package reports_test

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pulltrail/reports"
	"pulltrail/timeline"
)

// recorded makes a case with two sources, and returns its manifest and log.
func recorded(t *testing.T) (*reports.Manifest, []byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "case")
	db, err := timeline.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ab", "cd"} {
		s, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		info := timeline.SourceInfo{SHA256: strings.Repeat(name, 32), Path: name + ".log", Claim: "host:" + name, Format: "text", State: timeline.Read, First: timeline.Beginning, Last: timeline.Forever}
		if _, err := s.Finish(info); err != nil {
			t.Fatal(err)
		}
	}
	sources, err := db.Sources()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := timeline.CustodyLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	custody, err := timeline.ParseCustody(log)
	if err != nil {
		t.Fatal(err)
	}
	return reports.NewManifest(sources, custody, asOf), log
}

// TestBundleTampered changes one thing of a bundle at a time: each is found, and
// what is bad is named.
func TestBundleTampered(t *testing.T) {
	res, _ := result(t)
	doc, err := reports.NewDocument(res)
	if err != nil {
		t.Fatal(err)
	}
	m, log := recorded(t)
	var b bytes.Buffer
	sum, err := reports.WriteBundle(&b, m, log, doc, []reports.File{{Name: "reports/a.md", Data: []byte("a report\n")}})
	if err != nil {
		t.Fatal(err)
	}
	files := unpack(t, b.Bytes())
	again := func(change func(files map[string][]byte)) *reports.Bundle {
		changed := map[string][]byte{}
		for name, data := range files {
			changed[name] = bytes.Clone(data)
		}
		change(changed)
		data := pack(t, changed)
		got, err := reports.VerifyBundle(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	replace := func(name, old, by string) func(map[string][]byte) {
		return func(files map[string][]byte) {
			if !bytes.Contains(files[name], []byte(old)) {
				t.Fatalf("%s holds no %s", name, old)
			}
			files[name] = bytes.Replace(files[name], []byte(old), []byte(by), 1)
		}
	}
	if got := again(func(map[string][]byte) {}); got.Worst() != timeline.Good || got.Sum != sum || len(got.Custody.Entries) != 2 {
		t.Fatalf("a whole bundle: %+v", got.Verification)
	}
	head := m.Head
	for _, c := range []struct {
		name   string
		change func(map[string][]byte)
		want   string // of the first mismatch
	}{
		{"a report", replace("reports/a.md", "report", "rapport"), "reports/a.md changed"},
		{"a report is gone", func(f map[string][]byte) { delete(f, "reports/a.md") }, "reports/a.md missing"},
		{"a file more", func(f map[string][]byte) { f["reports/b.md"] = nil }, "reports/b.md added"},
		{"the findings", replace("findings.json", `"exposed"`, `"clear"`), "findings.json changed"},
		{"a line of the log", replace("custody.jsonl", "host:ab", "host:xy"), "custody.jsonl changed"},
		{"the head", replace("manifest.json", head, strings.Repeat("0", 64)), "custody.jsonl another head"},
		{"the hash of a source", replace("manifest.json", strings.Repeat("ab", 32), strings.Repeat("ef", 32)), "ab.log not recorded"},
		{"the claim of a source", replace("manifest.json", "host:ab", "host:xy"), "ab.log not recorded"},
	} {
		got := again(c.change)
		i := slices.IndexFunc(got.Checks, func(c timeline.Checked) bool { return c.Outcome == timeline.Mismatch })
		if i < 0 || got.Checks[i].Path+" "+got.Checks[i].State != c.want {
			t.Errorf("%s: %+v, want %s first", c.name, got.Checks, c.want)
		}
	}
	for _, bad := range []string{"", "no zip", "PK\x03\x04"} {
		if _, err := reports.VerifyBundle(strings.NewReader(bad), int64(len(bad))); err == nil {
			t.Errorf("%q is a bundle", bad)
		}
	}
	empty := pack(t, map[string][]byte{"findings.json": []byte("{}")})
	if _, err := reports.VerifyBundle(bytes.NewReader(empty), int64(len(empty))); err == nil || !strings.Contains(err.Error(), "manifest.json") {
		t.Errorf("without a manifest: %v", err)
	}
}

// TestBundleNamesTwice refuses two files of one name.
func TestBundleNamesTwice(t *testing.T) {
	res, _ := result(t)
	doc, err := reports.NewDocument(res)
	if err != nil {
		t.Fatal(err)
	}
	m, log := recorded(t)
	if _, err := reports.WriteBundle(io.Discard, m, log, doc, []reports.File{{Name: "x"}, {Name: "x"}}); err == nil {
		t.Error("written")
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a member became a file")
	}
}

func unpack(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func pack(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
