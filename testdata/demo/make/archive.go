package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha1" //nolint:gosec // ids that look like commits
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"time"
)

// archive is the log archive of an attempt, and the times in it.
type archive struct {
	zip  []byte
	jobs []timedJob
	end  time.Time
}

type timedJob struct {
	job
	from, to time.Time
	steps    []timedStep
}

type timedStep struct {
	name     string
	from, to time.Time
	lines    []line
}

type line struct {
	at   time.Time
	text string
}

// archive writes each job twice, as GitHub does: as a whole at the top, and in
// a folder by step.
// https://docs.github.com/en/actions/how-tos/monitor-workflows/use-workflow-run-logs
func (r *run) archive() *archive {
	a := &archive{}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	add := func(name, text string) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	for i := range r.jobs {
		t := r.play(i)
		a.jobs = append(a.jobs, t)
		if t.to.After(a.end) {
			a.end = t.to
		}
		var whole []string
		for _, s := range t.steps {
			whole = append(whole, stamped(s.lines, 0)...)
		}
		if t.cut > 0 {
			whole = whole[:t.cut]
		}
		file := strings.ReplaceAll(t.name, "/", "_")
		add(fmt.Sprintf("%d_%s.txt", i, file), bom+strings.Join(whole, "\n")+"\n")
		if t.cut > 0 {
			continue // the runner was lost: no step files came
		}
		add(file+"/system.txt", r.system(i, t.from))
		for n, s := range t.steps {
			add(fmt.Sprintf("%s/%d_%s.txt", file, n+1, strings.ReplaceAll(s.name, "/", "_")),
				bom+strings.Join(stamped(s.lines, -1300), "\n")+"\n")
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	a.zip = b.Bytes()
	return a
}

const bom = "\xef\xbb\xbf"

// stamped writes GitHub's time before each line, 100 ns. The copies of a line
// in step files are a little off.
func stamped(lines []line, shift time.Duration) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.at.Add(shift).UTC().Format("2006-01-02T15:04:05.0000000Z") + " " + l.text
	}
	return out
}

// system is what the service writes of a job: out of order, no line end.
func (r *run) system(i int, from time.Time) string {
	at := func(ms int) string {
		return from.Add(time.Duration(ms-2600)*time.Millisecond).UTC().Format("2006-01-02T15:04:05.000") + "0000Z "
	}
	return at(0) + "Requested labels: ubuntu-24.04\n" +
		at(1) + "Job defined at: " + r.repo + "/.github/workflows/ci.yml@refs/heads/main\n" +
		at(9) + "Waiting for a runner to pick up this job...\n" +
		at(1830) + "Job is about to start running on the hosted runner: " + runner(r, i)
}

func runner(r *run, i int) string {
	return fmt.Sprintf("GitHub Actions %d", 1000000000+r.id%1000*10+int64(i))
}

// play lets a job run.
func (r *run) play(i int) timedJob {
	j := r.jobs[i]
	at := r.at().Add(time.Duration(11+3*i)*time.Second + time.Duration(1203371+i*77003)*100)
	t := timedJob{job: j, from: at}
	add := func(name string, texts []string, seconds float64) {
		s := timedStep{name: name, from: at}
		tick := time.Duration(seconds*float64(time.Second)) / time.Duration(len(texts)) / 100 * 100
		for n, text := range texts {
			at = at.Add(tick + time.Duration((n*7919+i*104729)%9973)*100)
			s.lines = append(s.lines, line{at, text})
		}
		s.to = at
		t.steps = append(t.steps, s)
	}
	add("Set up job", r.setUp(i), 0.9)
	add("Run actions/checkout@v4", r.checkout(), 1.4)
	for _, s := range j.steps {
		add("Run "+s.command, s.lines(), s.seconds)
	}
	if j.failed {
		last := &t.steps[len(t.steps)-1]
		last.lines = append(last.lines, line{at.Add(3120700), "##[error]Process completed with exit code 1."})
	}
	add("Post Run actions/checkout@v4", []string{
		"Post job cleanup.", "[command]/usr/bin/git version", "git version 2.51.0",
		"[command]/usr/bin/git config --local --unset-all http.https://github.com/.extraheader",
	}, 0.3)
	add("Complete job", []string{"Cleaning up orphan processes"}, 0.1)
	t.to = at
	return t
}

func (r *run) setUp(i int) []string {
	return []string{
		"Current runner version: '2.332.0'",
		"##[group]Runner Image Provisioner", "Hosted Compute Agent", "Version: 20261006.611", "Azure Region: westeurope", "##[endgroup]",
		"##[group]Operating System", "Ubuntu", "24.04.3", "LTS", "##[endgroup]",
		"##[group]Runner Image", "Image: ubuntu-24.04", "Version: 20261012.61.1", "##[endgroup]",
		"##[group]GITHUB_TOKEN Permissions", "Contents: read", "Metadata: read", "##[endgroup]",
		"Secret source: Actions", "Prepare workflow directory", "Prepare all required actions", "Getting action download info",
		"Download action repository 'actions/checkout@v4' (SHA:08eba0b27e820071cde6df949e0beb9ba4906955)",
		"Complete job name: " + r.jobs[i].name,
	}
}

func (r *run) checkout() []string {
	base := path.Base(r.repo)
	return []string{
		"##[group]Run actions/checkout@v4", "with:", "  repository: " + r.repo, "  token: ***", "  fetch-depth: 1", "##[endgroup]",
		"Syncing repository: " + r.repo,
		"##[group]Getting Git version info", "Working directory is '/home/runner/work/" + base + "/" + base + "'",
		"[command]/usr/bin/git version", "git version 2.51.0", "##[endgroup]",
		"##[group]Checking out the ref", "[command]/usr/bin/git checkout --progress --force refs/remotes/origin/main",
		"HEAD is now at " + r.commit()[:7] + " " + r.subject, "##[endgroup]",
		"[command]/usr/bin/git log -1 --format=%H", r.commit(),
	}
}

// commit is the made-up commit of the run.
func (r *run) commit() string {
	sum := sha1.Sum([]byte(r.repo + r.subject)) //nolint:gosec // an id that looks like a commit
	return hex.EncodeToString(sum[:])
}

// lines is what the log shows of a step.
func (s *step) lines() []string {
	out := []string{"##[group]Run " + s.command, "\x1b[36;1m" + s.command + "\x1b[0m", "shell: /usr/bin/bash -e {0}"}
	if len(s.env) > 0 {
		out = append(out, "env:")
		for _, e := range s.env {
			out = append(out, "  "+e)
		}
	}
	out = append(append(out, "##[endgroup]"), s.before...)
	if s.output == "" {
		return out
	}
	text, err := outputs.ReadFile("output/" + s.output)
	if err != nil {
		panic(err) // the table names a file that is not there
	}
	return append(out, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
}
