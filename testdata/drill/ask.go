package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// incident is what the drill's advisory says: the release, and when the index
// served it.
const incident = `schema: pulltrail.incident/1
id: drill
title: "litellm 1.107.0, as the drill's index served it"
kind: malicious-release
aliases: []
published: "DAY"
summary: "A harmless wheel that plays a bad one."
references: ["https://advisory.acme.example/drill"]
channels:
  - name: pypi
    windows:
      - {from: "FROM", to: "TO", precision: second, basis: stated, source: 0}
packages:
  - {purl: "pkg:pypi/litellm", channel: pypi, versions: ["1.107.0"], role: payload, trigger: import, source: 0}
images: []
actions: []
indicators: []
complete: {versions: true, tags: true, digests: true, commits: true}
response_order: []
rotation: []
not_affected: []
disagreements: []
unknown: []
hits: ["exposed: FROM install host:a pkg:pypi/litellm@1.107.0"]
misses: ["FROM install host:a pkg:pypi/litellm@1.106.2"]
`

// inventory says which addresses the machines had. All of them get images from
// the registry, and packages only in jobs.
const inventory = `address,host,from,to,service,owner,customer,egress,channels
127.0.0.11,runner-1,,,ci,,,,hosted pypi
127.0.0.12,runner-2,,,ci,,,,hosted pypi
127.0.0.21,one,,,web,,,,hosted
127.0.0.22,two,,,web,,,,hosted
127.0.0.23,three,,,web,,,,hosted
127.0.0.24,four,,,web,,,,hosted
`

// want is the answer: all subjects that are named, with their verdicts.
// Digests are those of this run, so images are counted by what they are called.
var wanted = map[string]string{
	"job:gitlab:acme/base/jobs/100": "clear",   // installed and built the release before
	"job:gitlab:acme/tool/jobs/101": "unknown", // its log has no end mark, and asked for nothing
	"job:gitlab:acme/base/jobs/102": "exposed", // installed it and built it in
	"job:gitlab:acme/late/jobs/103": "exposed", // the cache served it after the removal
	"job:gitlab:acme/app/jobs/104":  "pulled",  // built on it
	"job:gitlab:acme/base/jobs/105": "unknown",
	"image base:1":                  "exposed",
	"image app:1":                   "exposed",
	"host:runner-1":                 "exposed", // pushed it
	"host:runner-2":                 "exposed",
	"host:one":                      "pulled",
	"host:two":                      "pulled",
	"host:three":                    "clear",   // got another image of the same tag
	"host:four":                     "unknown", // its log is cut, and the registry's was rotated
	"host:registry-1":               "pulled",
	"host:mirror-1":                 "pulled",
}

type answer struct {
	Findings []struct {
		ID      string
		Subject struct{ Kind, ID string }
		Verdict string
		Because string
		Via     []string
	}
}

// ask gives the evidence to pulltrail in several ways, and checks the answer of
// each.
func ask(ctx context.Context, bin string, w *world) error {
	a := asking{ctx: ctx, bin: bin, w: w}
	day, from, to := w.from.UTC().Format(time.DateOnly), w.from.UTC().Format(time.RFC3339), w.to.UTC().Format(time.RFC3339)
	w.write("drill.yaml", strings.NewReplacer("DAY", day, "FROM", from, "TO", to).Replace(incident))
	w.write("hosts.csv", inventory)
	if w.err != nil {
		return w.err
	}
	first, err := a.findings("in order", w.evidence)
	if err != nil {
		return err
	}
	if err := a.check(first); err != nil {
		return err
	}
	shuffled := slices.Clone(w.evidence)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] }) //nolint:gosec // an order, no secret
	backwards := slices.Clone(w.evidence)
	slices.Reverse(backwards)
	for name, exhibits := range map[string][]exhibit{
		"shuffled": shuffled, "backwards": backwards, "each twice": append(slices.Clone(shuffled), w.evidence...),
	} {
		again, err := a.findings(name, exhibits)
		if err != nil {
			return err
		}
		if !bytes.Equal(first, again) {
			return fmt.Errorf("evidence %s gives other findings:\n%s\n--- and in order:\n%s", name, again, first)
		}
		fmt.Printf("ok: evidence %s gives the same findings\n", name)
	}
	return a.leaveOneOut(first)
}

// leaveOneOut takes one file of evidence away: nobody becomes clear by that.
func (a asking) leaveOneOut(all []byte) error {
	before, err := verdicts(all)
	if err != nil {
		return err
	}
	for i, left := range a.w.evidence {
		name := filepath.Base(left.path)
		findings, err := a.findings("without "+name, slices.Delete(slices.Clone(a.w.evidence), i, i+1))
		if err != nil {
			return err
		}
		after, err := verdicts(findings)
		if err != nil {
			return err
		}
		for who, v := range after {
			if v == "clear" && before[who] != "clear" {
				return fmt.Errorf("without %s %s is clear, and was %s", name, who, before[who])
			}
		}
	}
	fmt.Println("ok: nobody is clear because a file is missing")
	return nil
}

func verdicts(findings []byte) (map[string]string, error) {
	var a answer
	if err := json.Unmarshal(findings, &a.Findings); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, f := range a.Findings {
		out[f.Subject.Kind+":"+f.Subject.ID] = f.Verdict
	}
	return out, nil
}

type asking struct {
	ctx context.Context
	bin string
	w   *world
}

// findings reads evidence into a new case, one file at a time, and returns the
// findings as JSON.
func (a asking) findings(name string, exhibits []exhibit) ([]byte, error) {
	dir := a.w.path("case " + name)
	if _, err := a.run(dir, 0, "inventory", a.w.path("hosts.csv")); err != nil {
		return nil, err
	}
	// Whole seconds would end before the last lines of a quick drill.
	covers := a.w.begin.UTC().Format(time.RFC3339Nano) + "/" + time.Now().UTC().Format(time.RFC3339Nano)
	for _, e := range exhibits {
		args := []string{"ingest", e.path, "--subject", e.subject}
		if e.covers {
			args = append(args, "--covers", covers)
		}
		if _, err := a.run(dir, 3, args...); err != nil {
			return nil, err
		}
	}
	out, err := a.run(dir, 10, "match", a.w.path("drill.yaml"), "--json")
	defer func() { a.w.fail(os.RemoveAll(dir)) }()
	if err != nil {
		return nil, err
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(out, &parts); err != nil {
		return nil, err
	}
	return parts["findings"], nil
}

// run runs pulltrail; code is an exit code besides 0 that is an answer.
func (a asking) run(dir string, code int, args ...string) ([]byte, error) {
	c := exec.CommandContext(a.ctx, a.bin, append(args, "--case", dir)...) //nolint:gosec // the program that is tested
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == code {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("pulltrail %s: %w\n%s%s", strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return out, nil
}

// check compares findings with what has to come out.
func (a asking) check(findings []byte) error {
	var got answer
	if err := json.Unmarshal(findings, &got.Findings); err != nil {
		return err
	}
	images, err := a.images()
	if err != nil {
		return err
	}
	said, wrong := map[string]string{}, 0
	for _, f := range got.Findings {
		name := f.Subject.Kind + ":" + f.Subject.ID
		if known := images[f.Subject.ID]; f.Subject.Kind == "image" && known != "" {
			name = "image " + known
		}
		if f.Verdict == "exposed" || f.Verdict == "pulled" || f.Verdict == "possible" || wanted[name] != "" {
			said[name] = f.Verdict
		}
		if wanted[name] != f.Verdict && (wanted[name] != "" || f.Verdict != "clear" && f.Verdict != "unknown") {
			wrong++
			fmt.Printf("WRONG: %s is %s, wanted %q: %s\n", name, f.Verdict, wanted[name], f.Because)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if said[name] == "" {
			wrong++
			fmt.Printf("WRONG: nothing is said of %s, wanted %q\n", name, wanted[name])
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d verdicts are wrong", wrong)
	}
	fmt.Printf("ok: %d verdicts are what happened\n", len(said))
	return nil
}

// images maps the digests under which the registry keeps images to their names:
// manifests and configs, read from its store, which pulltrail never sees.
func (a asking) images() (map[string]string, error) {
	names := map[string]string{}
	root := a.w.path("registry/docker/registry/v2")
	tags, err := filepath.Glob(root + "/repositories/acme/*/_manifests/tags/*/index/sha256/*")
	if err != nil {
		return nil, err
	}
	for _, tag := range tags {
		rel := strings.Split(filepath.ToSlash(tag), "/")
		n := len(rel)
		digest, name := "sha256:"+rel[n-1], rel[n-7]+":"+rel[n-4]
		if name == "base:1" && a.older(tag) {
			name += " before"
		}
		names[digest] = name
		blob, err := os.Open(filepath.Join(root, "blobs", "sha256", rel[n-1][:2], rel[n-1], "data"))
		if err != nil {
			return nil, err
		}
		var manifest struct{ Config struct{ Digest string } }
		err = json.NewDecoder(io.LimitReader(blob, 1<<20)).Decode(&manifest)
		blob.Close()
		if err != nil {
			return nil, err
		}
		names[manifest.Config.Digest] = name
	}
	return names, nil
}

// older reports whether a tag pointed at a digest after the release was gone.
func (a asking) older(tag string) bool {
	info, err := os.Stat(path.Join(tag, "link"))
	return err == nil && info.ModTime().After(a.w.to)
}
