package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pulltrail/reports"
)

// tenancy is all that only people know, for the reports that ask for it.
const tenancy = `schema: pulltrail.tenancy/1
company: {name: Acme AI, contact: privacy@acme.example}
customers: [{name: initech, contact: sec@initech.example}]
`

// TestSameBytes writes every report and export of one case again in other time
// zones, languages and with other numbers of processors: it must be the same
// bytes each time. PULLTRAIL_SOAK does it a hundred times, else it is thrice.
func TestSameBytes(t *testing.T) {
	h := newHalf(t, "incident")
	home := filepath.Join(t.TempDir(), "case")
	h.fill(home, h.steps)
	file := filepath.Join(h.dir, "tenancy.yaml")
	if err := os.WriteFile(file, []byte(tenancy), 0o600); err != nil {
		t.Fatal(err)
	}
	runs := 3
	if long() {
		runs = 100
	}
	t.Parallel()                           // from here on other processes do the work
	r := rand.New(rand.NewPCG(1939, 2026)) //nolint:gosec // no secret
	first := everything(t, home, file, nil)
	if len(first) < 24 {
		t.Fatalf("only %d files were written", len(first))
	}
	zones := []string{"UTC", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia", "Europe/London", "Nowhere/Else", ""}
	languages := []string{"C", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.eucJP", "ar_EG.UTF-8", ""}
	for i := range runs {
		lang := languages[r.IntN(len(languages))]
		env := []string{"TZ=" + zones[r.IntN(len(zones))], "LANG=" + lang, "LC_ALL=" + lang, fmt.Sprint("GOMAXPROCS=", 1+r.IntN(8))}
		again := everything(t, home, file, env)
		for name, sum := range first {
			if again[name] != sum {
				t.Errorf("run %d, %v: %s is not the same", i, env, name)
			}
		}
		if len(again) != len(first) {
			t.Errorf("run %d: %d files, not %d", i, len(again), len(first))
		}
	}
}

// everything runs all that writes something, and returns the hash of each file.
func everything(t *testing.T, home, tenancy string, env []string) map[string][32]byte {
	t.Helper()
	dir := t.TempDir()
	sums := map[string][32]byte{}
	do := func(keep string, args ...string) {
		c := exec.Command("pulltrail", append(args, "--case", home)...)
		c.Env = append(os.Environ(), env...)
		out, err := c.Output()
		if code := c.ProcessState.ExitCode(); code != exitOK && code != exitExposed && code != exitIncomplete {
			t.Fatalf("%v: %v", args, err)
		}
		if keep != "" {
			sums[keep] = sha256.Sum256(out)
		}
	}
	do("match", "match", "litellm-1.107.0", "--json") // and what the reports are asked of
	const asOf = "2026-10-22T18:00:00Z"
	for _, name := range reports.Names() {
		if name == "customer" {
			do("", "report", name, "--as-of", asOf, "--tenancy", tenancy, "-o", filepath.Join(dir, "customers")+"/")
			continue
		}
		for _, form := range reports.Forms() {
			args := []string{"report", name, "--as-of", asOf, "-o", filepath.Join(dir, name+"."+form)}
			if name == "questionnaire" {
				args = append(args, "--tenancy", tenancy)
			}
			do("", args...)
		}
	}
	do("coverage", "coverage", "litellm-1.107.0", "--json")
	do("explain", "explain", "host:prod-3")
	do("plan", "rotate", "plan", "--as-of", asOf)
	do("timeline", "timeline", "--json")
	do("events", "export", "csv", "-o", "-")
	do("", "export", "timesketch", "-o", filepath.Join(dir, "sketch.jsonl"))
	do("vex", "export", "openvex", "-o", "-", "--as-of", asOf, "--author", "Acme AI")
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		sums[strings.TrimPrefix(p, dir)] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}
