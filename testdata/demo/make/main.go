// Command make writes the run archives and API records of the demo evidence
// anew:
//
//	go run ./testdata/demo/make testdata/demo
//
// What the steps print stands in output/, written by real tools; this program
// puts GitHub's frame around it. The same input gives the same bytes. The rest
// of the evidence (hosts, mirror, registry, cluster) is kept as it is.
package main

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

//go:embed output
var outputs embed.FS

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: make DIR")
		os.Exit(2)
	}
	if err := writeAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

// writeAll writes what is made of both halves below dir.
func writeAll(dir string) error {
	for half, runs := range map[string][]run{"complete": complete, "incident": incident} {
		for _, r := range runs {
			if err := r.write(filepath.Join(dir, half, "github")); err != nil {
				return err
			}
		}
	}
	return nil
}

// run is one attempt of a workflow run.
type run struct {
	repo     string
	id       int64
	attempt  int
	attempts int // in all
	started  string
	subject  string // first line of the commit
	jobs     []job
	noLog    bool // only the API knows of it
}

type job struct {
	name   string
	steps  []step
	failed bool
	cut    int // whole-job file ends after so many lines; 0: it is whole
}

// step is a command, how long it takes and what it prints.
type step struct {
	command string
	output  string // file of output/
	seconds float64
	env     []string // NAME: value
	before  []string // lines that the command prints of its own
}

func (r *run) at() time.Time {
	t, err := time.Parse(time.RFC3339, r.started)
	if err != nil {
		panic(err) // the table beside this says it wrong
	}
	return t
}

// write writes a file that everybody may read.
func write(path string, data []byte) error {
	return os.WriteFile(path, data, 0o644) //nolint:gosec // evidence of a made-up company
}

// name is how files of the run are called: api-24801000101.
func (r *run) name() string { return fmt.Sprintf("%s-%d", filepath.Base(r.repo), r.id) }

func (r *run) write(dir string) error {
	records, logs := filepath.Join(dir, "records"), filepath.Join(dir, "logs")
	for _, d := range []string{records, logs} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	a := r.archive()
	if r.attempt == r.attempts {
		if err := write(filepath.Join(records, r.name()+".run.json"), r.runRecord(a.end)); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("%s.attempt-%d", r.name(), r.attempt)
	if err := write(filepath.Join(records, name+".jobs.json"), r.jobsRecord(a)); err != nil {
		return err
	}
	if r.noLog {
		return nil
	}
	return write(filepath.Join(logs, name+".zip"), a.zip)
}
