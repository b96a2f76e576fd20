package matchers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pulltrail/timeline"
)

// goodFile has every part that a file of the first kind can have.
const goodFile = `schema: pulltrail.incident/1
id: good-1
title: "A title"
kind: malicious-release
aliases: [CVE-2026-0001]
published: 2026-10-21
summary: One sentence. Another one.
references:
  - "https://advisory.example/1"
  - "seed document: 'A title' (October 2026)"
channels:
  - name: pypi
    windows:
      - {from: 2026-10-21T11:39:00Z, to: 2026-10-21T14:20:00Z, precision: minute, basis: stated, source: 0, note: "a note"}
      - {from: null, to: null, precision: day, basis: outer-bound, source: "https://advisory.example/2"}
  - name: ghcr/second
    windows:
      - {from: 2026-10-21T00:00:00Z, to: 2026-10-21T00:00:00Z, precision: day, basis: derived, source: 1}
packages:
  - purl: pkg:pypi/some-name
    channel: pypi
    versions: ["1.107.0", ">=1.95.6,<1.95.8"]
    safe: ["1.106.0"]
    role: payload
    trigger: import
    files: [{name: "x.whl", sha256: "` + hex64 + `"}]
    source: 1
    disputed: true
images:
  - repository: ghcr.io/acme/name
    channel: ghcr/second
    tags: ["v1.107.0"]
    moving_tags: ["latest", "main-*"]
    digests: [{digest: "sha256:` + hex64 + `", role: index, platform: linux/amd64}]
    source: 0
actions:
  - repository: acme/action
    channel: pypi
    refs: ["*"]
    commits: ["` + hex40 + `"]
    safe_commits: []
    source: 0
indicators:
  - {type: domain, value: "*.bad.example", source: 0}
  - {type: ip, value: "2001:db8::1", source: 0}
complete: {versions: true, tags: false, digests: false, commits: true}
response_order:
  - {step: stop first, source: 0}
rotation:
  - {class: ssh-key, scope: host, why: it reads them, source: 0}
not_affected:
  - {what: the other edition, source: 0}
disagreements: []
unknown: []
hits:
  - "exposed: 2026-10-21T12:04:51Z install job:x pkg:pypi/some-name@1.107.0"
misses:
  - "2026-10-21T12:04:51Z install job:x pkg:pypi/some-name@1.107.0.post1"
`

const (
	hex40 = "0123456789abcdef0123456789abcdef01234567"
	hex64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

func TestLoad(t *testing.T) {
	inc, err := Load("somewhere/good-1.yaml", []byte(goodFile))
	if err != nil {
		t.Fatal(err)
	}
	w := inc.Channels[0].Windows[0]
	if got := (timeline.Span{From: w.From, To: w.To}).String(); got != "2026-10-21T11:39:00Z/2026-10-21T14:20:59.999999999Z" {
		t.Errorf("window to the minute is %s", got)
	}
	if w := inc.Channels[0].Windows[1]; w.From != timeline.Beginning || w.To != timeline.Forever || w.Source.URL == "" {
		t.Errorf("unknown window is %+v", w)
	}
	if w := inc.Channels[1].Windows[0]; time.Duration(w.To-w.From) != 24*time.Hour-1 {
		t.Errorf("window of a day lasts %s", time.Duration(w.To-w.From))
	}
	if f := inc.Packages[0].Files[0]; f.Source.Index != 1 || !f.Disputed {
		t.Errorf("a file is cited as %+v, not as its package", f.Cite)
	}
	if len(inc.Revision) != 64 || inc.ID != "good-1" || inc.Images[0].Digests[0].Role != timeline.Index {
		t.Errorf("read %+v", inc)
	}
}

// Each row changes one text of the good file and says where the fault is found
// and what its author is told.
func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"title:", "titel:", `good-1.yaml:3: incident: unknown key "titel": allowed are schema, id, title`},
		{"title:", "titel:", `good-1.yaml:1: incident: title is missing`},
		{"kind:", "title:", `good-1.yaml:4: incident: key title twice, first on line 3`},
		{"pulltrail.incident/1", "pulltrail.incident/2", `:1: schema: "pulltrail.incident/2": want one of pulltrail.incident/1`},
		{"id: good-1", "id: good-2", `:2: id: "good-2" differs from the file name: want "good-1"`},
		{"id: good-1", "id: Good 1", `:2: id: "Good 1": want small letters`},
		{`"A title"`, `""`, `:3: title: want one line of text`},
		{`"A title"`, `"A\ttitle\n"`, `:3: title: want one line of text`},
		{`"A title"`, `[a]`, `:3: title: want text`},
		{`"A title"`, `12`, `:3: title: want text (quote numbers`},
		{"kind: malicious-release", "kind: worm", `:4: kind: "worm": want one of malicious-release, engine-flaw, vendor-breach`},
		{"kind: malicious-release", "kind: engine-flaw", `:4: engines is missing`},
		{"unknown: []", "unknown: []\nvendors: []", `vendors: only for an incident of kind vendor-breach`},
		{"published: 2026-10-21", "published: 21.10.2026", `:6: published: "21.10.2026": want a day such as`},
		{"published: 2026-10-21", "published: 2026-13-01", `:6: published: 2026-13-01 is no day`},
		{"Another one.", "Another one. A third.", `:7: summary: want two sentences at most`},
		{"https://advisory.example/1", "http://advisory.example/1", `:9: references[0]: "http://advisory.example/1": want an https address`},
		{"aliases: [CVE-2026-0001]", "aliases: [a, a]", `:5: aliases[1]: "a" stands in the list twice`},
		{"aliases: [CVE-2026-0001]", "aliases: a", `:5: aliases: want a list`},
		{"aliases: [CVE-2026-0001]", "aliases: &x [a]", `:5: anchors and aliases are refused`},
		{"aliases: [CVE-2026-0001]", "aliases: [&x a, *x]", `:5: anchors and aliases are refused`},
		{"aliases: [CVE-2026-0001]", "aliases: [!!str 1]", `:5: tags are refused`},
		{"disagreements: []", "<<: {}", `merge keys are refused`},
		{"name: pypi", "name: PyPI", `:12: channels[0].name: "PyPI": want a word such as npm`},
		{"name: ghcr/second", "name: pypi", `:16: name pypi twice, first on line 12`},
		{"from: 2026-10-21T11:39:00Z", "from: 2026-10-21 11:39", `:14: channels[0].windows[0].from: "2026-10-21 11:39": want UTC to the second`},
		{"from: 2026-10-21T11:39:00Z", "from: 2026-10-21T11:39:00+02:00", `windows[0].from: "2026-10-21T11:39:00+02:00": want UTC`},
		{"from: 2026-10-21T11:39:00Z", "from: 2026-02-30T11:39:00Z", `windows[0].from: time "2026-02-30T11:39:00Z"`},
		{"from: 2026-10-21T11:39:00Z", "from: 2026-10-21T11:39:01Z", `is finer than its precision, minute`},
		{"from: 2026-10-21T11:39:00Z", "from: 2026-10-21T15:39:00Z", `windows[0]: ends before it starts`},
		{"precision: minute", "precision: week", `windows[0].precision: "week": want one of second, minute, hour, day`},
		{"basis: stated", "basis: guessed", `windows[0].basis: "guessed": want one of stated, outer-bound, derived`},
		{"basis: stated, source: 0", "basis: stated", `:14: channels[0].windows[0]: source is missing`},
		{"basis: stated, source: 0", "basis: stated, source: 2", `source: 2 is no reference: there are 0 to 1`},
		{"basis: stated, source: 0", "basis: stated, source: -1", `source: -1 is no reference`},
		{"basis: stated, source: 0", "basis: stated, source: advisory", `want the number of a reference (0 is the first), or an https address`},
		{"purl: pkg:pypi/some-name", "purl: pkg:pypi/Some_Name", `packages[0].purl: "pkg:pypi/Some_Name" is not normalised: write pkg:pypi/some-name`},
		{"purl: pkg:pypi/some-name", "purl: pkg:pypi/some-name@1.0", `packages[0].purl: "pkg:pypi/some-name@1.0": want a package URL without version`},
		{"channel: pypi\n    versions", "channel: npm\n    versions", `packages[0].channel: "npm" is not declared: channels has pypi, ghcr/second`},
		{`"1.107.0", ">=`, `1.107, ">=`, `packages[0].versions[0]: want text (quote numbers, versions`},
		{`"1.107.0", ">=`, `"1 107", ">=`, `packages[0].versions[0]: "1 107": want a version, a range`},
		{`<1.95.8`, `<=>1.95.8`, `packages[0].versions[1]: ">=1.95.6,<=>1.95.8": want a version, a range`},
		{`["1.107.0", ">=1.95.6,<1.95.8"]`, `[]`, `packages[0].versions: want at least one`},
		{`safe: ["1.106.0"]`, `safe: ["1.107.0"]`, `packages[0].safe: "1.107.0" cannot be both bad and safe`},
		{"role: payload", "role: worm", `packages[0].role: "worm": want one of payload, puller`},
		{"trigger: import", "trigger: later", `packages[0].trigger: "later": want one of install, import`},
		{`sha256: "0123`, `sha256: "x123`, `packages[0].files[0].sha256: "x123`},
		{"disputed: true", "disputed: yes", `packages[0].disputed: want true or false`},
		{"ghcr.io/acme/name", "ghcr.io/acme/name:v1", `images[0].repository: "ghcr.io/acme/name:v1": want host/path without tag`},
		{"ghcr.io/acme/name", "busybox", `images[0].repository: "busybox" is not normalised: write docker.io/library/busybox`},
		{`tags: ["v1.107.0"]`, `tags: ["v1 107"]`, `images[0].tags[0]: "v1 107": want a tag`},
		{`tags: ["v1.107.0"]`, `tags: ["v1.*"]`, `images[0].tags[0]: "v1.*": want a tag`},
		{`digest: "sha256:0123`, `digest: "sha256:`, `images[0].digests[0].digest: "sha256:4567`},
		{"role: index", "role: blob", `images[0].digests[0].role: "blob": want one of index, manifest, config, layer, diff, file`},
		{"acme/action", "acme", `actions[0].repository: "acme": want owner/name`},
		{`commits: ["0123`, `commits: ["`, `actions[0].commits[0]: "4567`},
		{"safe_commits: []", `safe_commits: ["` + hex40 + `"]`, `actions[0].safe_commits: ` + hex40 + ` cannot be both bad and safe`},
		{"type: domain", "type: host", `indicators[0].type: "host": want one of domain, ip, url`},
		{"*.bad.example", "bad", `indicators[0].value: "bad": want a domain in small letters`},
		{"2001:db8::1", "300.1.1.1", `indicators[1].value: "300.1.1.1": want one IP address`},
		{"commits: true}", "commits: 1}", `complete.commits: want true or false`},
		{", commits: true}", "}", `complete: commits is missing`},
		{"class: ssh-key", "class: keys", `rotation[0].class: "keys": want one of cloud-instance-role`},
		{"scope: host", "scope: world", `rotation[0].scope: "world": want one of job, container, host, org`},
		{"why: it reads them, ", "", `rotation[0]: why is missing`},
		{"exposed: 2026", "clear: 2026", `hits[0]: want a verdict before the line: one of exposed, pulled, possible`},
		{"exposed: 2026-10-21T12:04:51Z install", "exposed: 2026-10-21T12:04:51Z got", `hits[0]: unknown action "got"`},
		{"Z install job:x pkg:pypi/some-name@1.107.0.post1", "Z install who:x pkg:pypi/some-name", `misses[0]: subject "who:x"`},
		{"job:x pkg:pypi/some-name@1.107.0.post1", "job:x pkg:pypi/@1", `misses[0]: "pkg:pypi/@1": want a package URL`},
		{"job:x pkg:pypi/some-name@1.107.0.post1", "job:x Some%20Thing", `misses[0]: "Some Thing" is neither a package URL`},
		{"misses:\n", "misses: []\nother:\n", `misses: want at least one line`},
		{"schema: pulltrail.incident/1", "schema: {a: {b: {c: {d: {e: {f: {g: {h: {i: {j: k}}}}}}}}}}", `:1: nested deeper than 10 levels`},
		{"schema: pulltrail.incident/1", "[1]: 2", `:1: incident: unknown key`},
		{"A title", "A \u202etitle", `:3: the invisible character U+202E`},
		{"A title", "A \xfftitle", `:3: not UTF-8`},
		{"unknown: []", "---\nunknown: []", `a second document: want one a file`},
		{"unknown: []", "unknown: [", `no YAML: `},
	} {
		text := strings.Replace(goodFile, c.old, c.new, 1)
		if text == goodFile {
			t.Errorf("%q does not stand in the good file", c.old)
			continue
		}
		_, err := Load("good-1.yaml", []byte(text))
		if err == nil {
			t.Errorf("%q -> %q is accepted, want: %s", c.old, c.new, c.want)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q -> %q:\n got %v\nwant %s", c.old, c.new, err, c.want)
		}
	}
}

func TestLoadRefusesFiles(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"x.yaml", "", "x.yaml:1: the file is empty"},
		{"x.yaml", "# only a comment\n", "x.yaml:1: "},
		{"x.yaml", "[]", "x.yaml:1: incident: want a mapping"},
		{"x.yaml", "a", "x.yaml:1: incident: want a mapping"},
		{"x.yaml", strings.Repeat("#", 1<<20) + "\n", "x.yaml:1: larger than 1 MiB"},
		{"x.yaml", strings.Repeat("[", 1<<19), "x.yaml:1: no YAML: "},
		{"x.txt", goodFile, "x.txt:1: an incident file is called <id>.yaml"},
	} {
		_, err := Load(c.name, []byte(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.20q: got %v, want %s", c.name, c.data, err, c.want)
		}
	}
	if _, err := LoadFile(filepath.Join(t.TempDir(), "no.yaml")); err == nil {
		t.Error("a missing file is accepted")
	}
}

// TestLoadEngines: what is no range has no version in it, and what no engine is
// called would clear every node.
func TestLoadEngines(t *testing.T) {
	const id = "sglang-kv-isolation-2026-10.yaml"
	data, err := os.ReadFile(filepath.Join("incidents", id))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{`affected: ">=0.4.0,<0.5.22"`, "affected: LiteLLM", `engines[0].affected: "LiteLLM": want a version or a range`},
		{"disaggregation: true", "disaggregation: pd", `engines[0].when.disaggregation: want true or false`},
		{"[mooncake, nixl, mori]", "[Mooncake RDMA, nixl]", `engines[0].when.transfer_backends[0]: "Mooncake RDMA": want the name of a backend`},
	} {
		text := strings.Replace(string(data), c[0], c[1], 1)
		if _, err := Load(id, []byte(text)); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: got %v, want %s", c[1], err, c[2])
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(goodFile))
	for _, id := range []string{"sglang-kv-isolation-2026-10", "warp-vendor-2026-10", "reviewdog-2025-03"} {
		data, err := os.ReadFile(filepath.Join("incidents", id+".yaml"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		inc, err := Load("good-1.yaml", data)
		if (inc == nil) == (err == nil) {
			t.Fatalf("incident %v, error %v", inc, err)
		}
		if err != nil {
			return
		}
		for i := range inc.Packages {
			p := &inc.Packages[i]
			newVersionSet(timeline.Split(p.PURL).Type, p.Versions, p.Safe).Admits("")
		}
	})
}
