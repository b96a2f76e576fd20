package ingest

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// member is a file by its name in an archive or folder.
type member struct {
	name string
	size int64
}

// task is what is read as one log: usually one member, or the step files of a
// job in the order of their numbers.
type task struct {
	members []int  // indexes into the members that were planned
	job     string // folder of the job, there or not; its last element is the job's name as file names have it
}

// jobFiles are the files of one job in a run archive:
//
//	0_build.txt                    the whole job
//	build/1_Set up job.txt         and the same lines again, step by step
//	build/system.txt
//
// https://docs.github.com/en/rest/actions/workflow-runs#download-workflow-run-logs
type jobFiles struct {
	folder string
	whole  int // index, -1: missing
	steps  []step
	system int // index, -1: missing
}

type step struct{ number, index int }

// markSize is the byte order mark that each file of a run archive begins with.
const markSize = 3

// sizes are how many bytes the whole-job file and the step files hold, without
// their marks.
func (j *jobFiles) sizes(all []member) (whole, steps int64) {
	for _, s := range j.steps {
		steps += max(all[s.index].size-markSize, 0)
	}
	return max(all[j.whole].size-markSize, 0), steps
}

// torn tells what is wrong with the jobs, by folder, whose two copies are not the
// same: a run archive holds each byte of a job twice, so a member that is
// missing or cut shows.
func torn(all []member) map[string]string {
	jobs, wrong := runJobs(all), map[string]string{}
	for _, folder := range slices.Sorted(maps.Keys(jobs)) {
		j := jobs[folder]
		if len(j.steps) == 0 {
			continue
		}
		if j.whole < 0 {
			wrong[folder] = "the whole-job file is missing, and with it what would show that no step file is"
			continue
		}
		if whole, steps := j.sizes(all); steps != whole {
			wrong[folder] = fmt.Sprintf("the whole-job file holds %d bytes and the step files %d, which should be the same: members are missing or cut", whole, steps)
		}
	}
	return wrong
}

// numbered cuts "12_Run tests.txt" into number and name.
func numbered(base string) (number int, name string, ok bool) {
	digits, rest, _ := strings.Cut(base, "_")
	if rest, ok = strings.CutSuffix(rest, ".txt"); !ok || len(digits) == 0 || len(digits) > 6 {
		return 0, "", false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, "", false
		}
		number = number*10 + int(c-'0')
	}
	return number, rest, rest != ""
}

// runJobs finds the jobs of run archives among the members, by folder: a
// folder is a job's when it holds the step that every job begins with, or
// system.txt and has a whole-job file beside it.
func runJobs(all []member) map[string]*jobFiles {
	jobs := map[string]*jobFiles{} // by the path of the job's folder
	of := func(folder string) *jobFiles {
		if jobs[folder] == nil {
			jobs[folder] = &jobFiles{folder: folder, whole: -1, system: -1}
		}
		return jobs[folder]
	}
	known := map[string]bool{}
	for i, m := range all {
		dir, base := split(m.name)
		if number, name, ok := numbered(base); ok {
			of(dir).steps = append(of(dir).steps, step{number, i})
			known[dir] = known[dir] || number == 1 && name == "Set up job"
			of(join(dir, name)).whole = i
		}
		if base == "system.txt" {
			of(dir).system = i
		}
	}
	for folder, j := range jobs {
		known[folder] = known[folder] || j.system >= 0 && j.whole >= 0
		if !known[folder] {
			j.steps = nil
		}
		if j.whole < 0 && !known[folder] {
			delete(jobs, folder)
		}
	}
	dropSteps(jobs)
	return jobs
}

// dropSteps forgets whole-job files that are steps of a job: both are called
// N_name.txt.
func dropSteps(jobs map[string]*jobFiles) {
	isStep := map[int]bool{}
	for _, j := range jobs {
		slices.SortFunc(j.steps, func(a, b step) int { return cmp.Compare(a.number, b.number) })
		for _, s := range j.steps {
			isStep[s.index] = true
		}
	}
	for folder, j := range jobs {
		if j.whole >= 0 && isStep[j.whole] {
			if j.whole = -1; len(j.steps) == 0 && j.system < 0 {
				delete(jobs, folder)
			}
		}
	}
}

func split(name string) (dir, base string) {
	name = strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "./")
	return path.Dir(name), path.Base(name)
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// plan says what to read of the members, each job once, in their order: twice
// where its two copies are not the same. copies maps members that hold what
// another one holds too to that one.
func plan(all []member) (tasks []task, copies map[int]int) {
	copies = map[int]int{}
	jobOf := map[int]*jobFiles{}
	first := map[int]*jobFiles{}
	for _, j := range runJobs(all) {
		if j.system >= 0 {
			jobOf[j.system] = j
		}
		if j.whole >= 0 {
			jobOf[j.whole] = j
		}
		if len(j.steps) == 0 {
			continue
		}
		if j.whole >= 0 {
			if whole, steps := j.sizes(all); whole == steps {
				for _, s := range j.steps {
					copies[s.index] = j.whole
				}
				continue
			} // else each may hold what the other lacks
		}
		first[j.steps[0].index] = j
		for _, s := range j.steps[1:] {
			copies[s.index] = j.steps[0].index
		}
	}
	for i := range all {
		if j := first[i]; j != nil {
			t := task{job: j.folder}
			for _, s := range j.steps {
				t.members = append(t.members, s.index)
			}
			tasks = append(tasks, t)
			continue
		}
		if _, copied := copies[i]; copied {
			continue
		}
		t := task{members: []int{i}}
		if j := jobOf[i]; j != nil {
			t.job = j.folder
		}
		tasks = append(tasks, t)
	}
	return tasks, copies
}

// runMembers chooses among the members of an archive that comes as a stream.
type runMembers struct {
	names   func() ([]member, error) // of all members, when they can be had
	skip    map[string]bool
	jobs    map[string]string // job's folder by member
	planned bool
	known   map[string]bool // folders of jobs
	whole   map[string]bool // jobs by folder whose whole-job file came first
	steps   map[string]bool // and those whose step files did
	came    []member        // that look like those of a run archive
}

func newRunMembers(names func() ([]member, error)) *runMembers {
	return &runMembers{names: names, known: map[string]bool{}, whole: map[string]bool{}, steps: map[string]bool{}}
}

// choose says which job a member is of, and whether it is a copy. The names
// are asked for when the first member looks like one of a run archive; where
// they cannot be had, what comes first of a job counts.
func (r *runMembers) choose(m member) (job string, skip bool) {
	dir, base := split(m.name)
	_, name, ok := numbered(base)
	if !ok && base != "system.txt" {
		return "", false
	}
	r.came = append(r.came, m)
	if !r.planned {
		r.planned = true
		if all, err := r.names(); err == nil && all != nil {
			r.jobs, r.skip = map[string]string{}, map[string]bool{}
			tasks, _ := plan(all)
			for i := range all {
				r.skip[all[i].name] = true
			}
			for _, t := range tasks {
				for _, i := range t.members {
					r.skip[all[i].name] = false
					r.jobs[all[i].name] = t.job
				}
			}
		}
	}
	if r.skip != nil {
		return r.jobs[m.name], r.skip[m.name]
	}
	if len(r.known) >= maxMembers {
		return "", false
	}
	if base == "system.txt" {
		if r.known[dir] = r.known[dir] || r.whole[dir]; r.known[dir] {
			return dir, false
		}
		return "", false
	}
	if base == "1_Set up job.txt" {
		r.known[dir] = true
	}
	if r.whole[dir] && r.known[dir] {
		return "", true
	}
	folder := join(dir, name)
	if r.steps[folder] && r.known[folder] {
		return "", true
	}
	r.whole[folder], r.steps[dir] = true, true
	if r.known[dir] {
		return dir, false
	}
	return folder, false
}

// countJobs counts the jobs of a plan.
func countJobs(tasks []task) int {
	jobs := map[string]bool{}
	for _, t := range tasks {
		if t.job != "" {
			jobs[t.job] = true
		}
	}
	return len(jobs)
}
