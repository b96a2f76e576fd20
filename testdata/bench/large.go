package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// scan is what anybody would run on the same file: it reads every event once.
const scan = "SELECT count(*) FROM event WHERE excerpt <> ''"

// large makes a large timeline and asks it, as ratios to the sqlite3 shell
// reading the events once. It is no pass: each run is a new process.
func large(bin, dir string, subjects, events, rounds int) error {
	if !have("sqlite3", "sqlite3") {
		return errors.New("the large timeline is measured against sqlite3")
	}
	caseDir := filepath.Join(dir, "fleet")
	if err := os.RemoveAll(caseDir); err != nil {
		return err
	}
	truth, err := written(caseDir, subjects, events)
	if err != nil {
		return err
	}
	answer := filepath.Join(dir, "answer")
	some := "host:" + hostName(7)
	questions := []struct {
		name  string
		args  []string
		truth map[string]string
	}{
		{"match " + release, []string{"match", release, "--json"}, truth[release]},
		{"match " + worm, []string{"match", worm, "--json"}, truth[worm]},
		{"explain", []string{"explain", some, "--incident", release}, nil},
		{"coverage", []string{"coverage", release}, nil},
		{"report responder", []string{"report", "responder", "--incident", release, "-o", filepath.Join(dir, "responder.json")}, nil},
		{"timeline of a host", []string{"timeline", "--subject", some}, nil},
		{"timeline of a package", []string{"timeline", "--artifact", "pkg:pypi/litellm@1.107.0"}, nil},
	}
	fmt.Printf("\n%d events, %d subjects\n%-30s %10s %10s %10s\n", events, subjects, "", "/sqlite3", "memory", "found")
	for _, q := range questions {
		var own, peer []time.Duration
		var memory int64
		found := "-"
		for round := range rounds + 1 {
			wall, _, err := ask(os.DevNull, "sqlite3", "-readonly", filepath.Join(caseDir, "timeline.db"), scan)
			if err != nil {
				return err
			}
			w, rss, err := ask(answer, bin, append(q.args, "--case", caseDir)...)
			if err != nil {
				return err
			}
			if round == 0 { // fills the disk cache
				if found, err = check(answer, q.truth); err != nil {
					return fmt.Errorf("%s: %w", q.name, err)
				}
				continue
			}
			own, peer, memory = append(own, w), append(peer, wall), max(memory, rss)
		}
		fmt.Printf("%-30s %10.2f %7d MB %10s\n", q.name, float64(slices.Min(own))/float64(slices.Min(peer)), memory>>10, found)
	}
	return nil
}

// written writes the timeline in a process of its own: memory of this one would
// count as that of those it starts.
func written(caseDir string, subjects, events int) (truth map[string]map[string]string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(self, "-write", caseDir, "-subjects", fmt.Sprint(subjects), "-events", fmt.Sprint(events))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("write the large timeline: %w", err)
	}
	return truth, json.Unmarshal(out, &truth)
}

// write is what that process does.
func write(caseDir string, subjects, events int) error {
	truth, err := writeFleet(caseDir, subjects, events)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(truth)
}

// ask runs a program with its output in a file; verdicts and gaps are no
// failure.
func ask(output, program string, args ...string) (wall time.Duration, rss int64, err error) {
	f, err := os.Create(output)
	if err != nil {
		return 0, 0, err
	}
	c := exec.Command(program, args...)
	c.Stdout = f
	begin := time.Now()
	err = c.Run()
	wall = time.Since(begin)
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains([]int{3, 10, 11}, exit.ExitCode()) {
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, 0, fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	if use, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		rss = use.Maxrss
	}
	return wall, rss, nil
}

// check compares an answer with what was planted, finding by finding: it may be
// large, and what this process holds counts as memory of those it starts.
func check(answer string, truth map[string]string) (string, error) {
	if truth == nil {
		return "-", nil
	}
	f, err := os.Open(answer)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was read
	d := json.NewDecoder(f)
	for t := json.Token(nil); t != "findings"; {
		if t, err = d.Token(); err != nil {
			return "", err
		}
	}
	if _, err := d.Token(); err != nil { // the bracket that opens them
		return "", err
	}
	order := []string{"exposed", "pulled", "possible", "unknown", "clear"}
	n := 0
	for d.More() {
		var f struct {
			Subject struct{ Kind, ID string }
			Verdict string
		}
		if err := d.Decode(&f); err != nil {
			return "", err
		}
		if want, planted := truth[f.Subject.Kind+":"+f.Subject.ID]; planted && slices.Index(order, f.Verdict) <= slices.Index(order, want) {
			n++
		}
	}
	found := fmt.Sprintf("%d/%d", n, len(truth))
	if n != len(truth) {
		return "", fmt.Errorf("%s planted exposures were found: the ratios mean nothing", found)
	}
	return found, nil
}
