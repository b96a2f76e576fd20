// Bench measures how fast pulltrail reads, as ratios to what anybody has at
// hand, over the same files in the same run: openssl hashing them on every core
// (the floor, since every byte is owed a hash) and ripgrep counting the lines
// that an event is made of (what one would do without pulltrail). Only ratios
// travel between machines, so it prints no bare seconds. Then it makes a large
// timeline, the month of a fleet with a few dozen planted exposures, and compares
// what it takes to ask it with the sqlite3 shell reading its events once.
//
//	go run ./testdata/bench -bin bin/pulltrail [-mb 256] [-subjects 100000] [-events 10000000] [-rounds 3] [-keep DIR]
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// kinds are the evidence, with the pattern that finds its event lines and the
// action that a planted one is.
var kinds = []struct{ name, pattern, action string }{
	{
		"jobs", `^\x{FEFF}?[0-9T:.-]{27}Z (?:Collecting [A-Za-z0-9._-]+==[^ ]+ \(from .*\)$| *Downloading [^ ]+\.whl(?:\.metadata)? \(` +
			`|Successfully installed [A-Za-z0-9]|Download action repository '|##\[group\]Run |.\[36;1mpip )`, "install",
	},
	{"access", `"GET /(?:simple/[a-z0-9-]+/|packages/[^ "]+\.whl) HTTP/1\.1" 200 `, "download"},
}

func main() {
	bin := flag.String("bin", "bin/pulltrail", "the program")
	mb := flag.Int("mb", 256, "MiB of each kind of evidence; 0 leaves it out")
	subjects := flag.Int("subjects", 100_000, "subjects of the large timeline")
	events := flag.Int("events", 10_000_000, "events of the large timeline; 0 leaves it out")
	rounds := flag.Int("rounds", 3, "measure so often; the median counts")
	keep := flag.String("keep", "", "directory for the evidence, kept")
	only := flag.String("write", "", "write the large timeline into that case and its truth to standard output, and nothing else")
	flag.Parse()
	if *only != "" {
		if err := write(*only, *subjects, *events); err != nil {
			fmt.Fprintln(os.Stderr, "bench: "+err.Error())
			os.Exit(1)
		}
		return
	}
	if err := bench(*bin, *mb, *rounds, *subjects, *events, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		os.Exit(1)
	}
}

func bench(bin string, mb, rounds, subjects, events int, dir string) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "pulltrail-bench-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
	}
	if mb > 0 {
		if err := ingests(bin, dir, mb, rounds); err != nil {
			return err
		}
	}
	if events == 0 {
		return nil
	}
	return large(bin, dir, subjects, events, rounds)
}

// ingests measures reading.
func ingests(bin, dir string, mb, rounds int) error {
	peers := map[string]bool{"openssl": have("openssl", "openssl"), "rg": have("rg", "ripgrep")}
	fmt.Printf("%-10s %8s %16s %12s %10s %10s\n", "evidence", "MiB", "ingest/openssl", "ingest/rg", "memory", "found")
	for _, k := range kinds {
		logs := filepath.Join(dir, k.name)
		planted, err := evidence(logs, k.name, mb, 1)
		if err != nil {
			return err
		}
		caseDir := filepath.Join(dir, "case")
		commands := map[string][]string{
			"ingest":  {bin, "ingest", logs, "--case", caseDir},
			"openssl": {"sh", "-c", fmt.Sprintf("find '%s' -type f -print0 | xargs -0 -P %d -n 1 openssl dgst -sha256", logs, runtime.NumCPU())},
			"rg":      {"rg", "--no-config", "--no-ignore", "-j", fmt.Sprint(runtime.NumCPU()), "-c", k.pattern, logs},
		}
		r, err := measure(commands, peers, rounds, caseDir)
		if err != nil {
			return err
		}
		found, err := exec.Command(bin, "timeline", "--case", caseDir, "--artifact", "pkg:pypi/"+culprit+"@1.107.0*", "--action", k.action).Output()
		if err != nil {
			return fmt.Errorf("timeline: %w", err)
		}
		n := strings.Count(string(found), "\n")
		fmt.Printf("%-10s %8d %16s %12s %7d MB %10s\n", k.name, mb, r.ratio("openssl"), r.ratio("rg"), r.memory>>10, fmt.Sprintf("%d/%d", n, planted))
		if n != planted {
			return errors.New("not all that was planted was found: the ratios mean nothing")
		}
		if err := os.RemoveAll(caseDir); err != nil {
			return err
		}
	}
	return nil
}

// result holds the wall times of each command, and the peak memory of ingest
// in KiB.
type result struct {
	walls  map[string][]time.Duration
	memory int64
}

// ratio compares medians.
func (r result) ratio(peer string) string {
	walls := r.walls[peer]
	if len(walls) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(median(r.walls["ingest"]))/float64(median(walls)))
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// measure runs the commands in turns, so that what else the machine does falls
// on all of them.
func measure(commands map[string][]string, peers map[string]bool, rounds int, caseDir string) (result, error) {
	r := result{walls: map[string][]time.Duration{}}
	for round := range rounds + 1 {
		for _, name := range []string{"openssl", "rg", "ingest"} {
			if name != "ingest" && !peers[name] {
				continue
			}
			if name == "ingest" {
				if err := os.RemoveAll(caseDir); err != nil {
					return r, err
				}
			}
			c := exec.Command(commands[name][0], commands[name][1:]...)
			begin := time.Now()
			out, err := c.CombinedOutput()
			wall := time.Since(begin)
			if err != nil {
				return r, fmt.Errorf("%s: %w\n%s", strings.Join(commands[name], " "), err, out)
			}
			if round == 0 {
				continue // fills the disk cache, for everybody
			}
			r.walls[name] = append(r.walls[name], wall)
			if use, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok && name == "ingest" {
				r.memory = max(r.memory, use.Maxrss)
			}
		}
	}
	return r, nil
}

// have reports whether a program is there, and installs it where that is
// possible.
func have(program, pkg string) bool {
	if _, err := exec.LookPath(program); err == nil {
		return true
	}
	if _, err := exec.LookPath("apt-get"); err == nil && os.Getuid() == 0 {
		fmt.Fprintln(os.Stderr, "bench: installing "+pkg)
		install := exec.Command("sh", "-c", "apt-get update -qq && apt-get install -qq -y --no-install-recommends "+pkg)
		out, err := install.CombinedOutput()
		if err == nil {
			return true
		}
		fmt.Fprintf(os.Stderr, "bench: %v\n%s", err, out)
	}
	fmt.Fprintf(os.Stderr, "bench: %s is missing (install %s): not measured\n", program, pkg)
	return false
}
