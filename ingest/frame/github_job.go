package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

const completeJobName = "Complete job name: "

// githubJob is what is known of one job.
type githubJob struct {
	text        *evidence.Stream
	column      string // its name in the columns of gh run view
	first, last [stampLen]byte
	timed       bool
	heads       []timeline.Span // when its steps began

	started bool   // the runner's first line was seen
	named   bool   // its name was seen: the job is set up
	ended   bool   // the runner's clean-up was seen
	torn    string // where two logs meet of which one is not whole: what was seen
	steps   int

	hosted  bool // a hosted runner dies with its job
	linked  bool
	runner  string
	machine string

	commits map[string]string // commits of actions that came over, by CIAction.Key
	parcel  evidence.CIAction // the immutable package whose lines are being read
	held    map[string]bool
	sent    map[string]bool // variables that have traces sent, with their values

	header  part
	title   []byte // the header's first line
	told    bool   // the title was handed on as a command
	command []byte // lines of a command that goes on with a backslash
	code    []byte // all lines of the step's script
	action  evidence.Mark
	pending timeline.Item // an action's or image's step has begun, if no script follows
	service service

	restoring restoring
	inputs    inputs
	ours      ours
}

// maxNames bounds what is remembered of one job.
const maxNames = 2000

// line reads what the runner itself says and hands the rest on.
func (j *githubJob) line(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if j.header != outside {
		if child := j.inHeader(l, s, o); child != nil {
			return child
		}
	}
	if j.ours.uses != "" {
		j.printed(l.Text, o)
	}
	if len(l.Text) < 2 {
		return j.text
	}
	switch l.Text[0] {
	case '#', '[':
		return j.marker(l, s, o)
	case 'C', 'P':
		j.phase(l.Text, o)
	case 'D':
		j.download(l.Text)
	case 'S':
		if sha, ok := bytes.CutPrefix(l.Text, []byte("Source commit SHA: ")); ok && j.parcel.Name != "" {
			j.commit(j.parcel, string(sha))
			j.parcel = evidence.CIAction{}
		}
	case 'R', 'M', 'A', 'H', 'J':
		if j.steps == 0 {
			j.place(l.Text, o)
		}
	}
	if j.service.at != nowhere {
		return j.service.line(l, s, j.text, o)
	}
	return j.text
}

// own reports whether line may have to do with a text; a blank stands in front
// of it.
func (j *githubJob) own(text []byte) bool {
	if j.header != outside || j.service.at != nowhere || j.ours.uses != "" {
		return true
	}
	if len(text) < 3 {
		return false
	}
	switch text[1] {
	case '#':
		return true
	case '[':
		return text[2] == 'c' // [command]
	case 'C':
		return bytes.HasPrefix(text, []byte(" Current ")) || bytes.HasPrefix(text, []byte(" Complete ")) ||
			bytes.HasPrefix(text, []byte(" Cleaning ")) || bytes.HasPrefix(text, []byte(" Cache "))
	case 'P':
		return bytes.HasPrefix(text, []byte(" Post "))
	case 'D':
		return bytes.HasPrefix(text, []byte(" Download "))
	case 'S':
		return bytes.HasPrefix(text, []byte(" Source "))
	case 'R', 'M', 'A', 'H', 'J':
		return j.steps == 0
	}
	return false
}

// phase reads the runner's marks of the job's life, and its cache steps.
//
//	Current runner version: '2.332.0'
//	Complete job name: build
//	Post job cleanup.
//	Cleaning up orphan processes
func (j *githubJob) phase(text []byte, o *evidence.Out) {
	switch {
	case bytes.HasPrefix(text, []byte("Current runner version: '")):
		switch {
		case j.started && !j.ended:
			j.tear("a job's log begins before the one before it has ended")
		case !j.started && (j.ended || j.steps > 0):
			j.tear(`a job's log stands before the first "Current runner version"`)
		}
		j.started, j.ended, j.named = true, false, false
	case bytes.HasPrefix(text, []byte(completeJobName)):
		if j.named || j.ended {
			j.tear("a job is named twice: the log of one goes on in that of another")
		}
		j.named = true
		j.link(o)
	case string(text) == "Post job cleanup.":
		j.text.Step(o)
	case string(text) == "Cleaning up orphan processes":
		j.ended = true
		j.text.Step(o)
	case bytes.HasPrefix(text, []byte("Cache ")):
		j.cache(text, o)
	}
}

// tear notes that the log is of several jobs of which one is not whole.
func (j *githubJob) tear(why string) {
	if j.torn == "" {
		j.torn = why
	}
}

// cache links the job with the cache entry that it got or wrote.
//
//	Cache restored from key: Linux-pip-dc256607d04067962fd327583382ffc58d841f2f
//	Cache hit for: setup-python-Linux-x64-24.04-Ubuntu-python-3.11.9-pip-4f53
//	Cache saved with key: Linux-pip-dc256607d04067962fd327583382ffc58d841f2f
//	Cache saved with the key: node-cache-Linux-x64-npm-dc256607d04067962fd3
func (j *githubJob) cache(text []byte, o *evidence.Out) {
	for _, c := range cacheLines {
		if key, ok := bytes.CutPrefix(text, []byte(c.head)); ok && len(key) > 0 && len(key) <= 512 {
			o.Link(c.relation, j.who(o).String(), timeline.CacheEnd+string(bytes.TrimSpace(key)))
			if c.relation == timeline.Uses {
				j.restored(string(bytes.TrimSpace(key)), o)
			}
			return
		}
	}
}

// cacheLines are what actions/cache and the setup actions print.
// https://github.com/actions/cache/blob/main/src/saveImpl.ts
var cacheLines = []struct {
	head     string
	relation timeline.Relation
}{
	{"Cache restored from key: ", timeline.Uses},
	{"Cache hit for: ", timeline.Uses},
	{"Cache hit for restore-key: ", timeline.Uses},
	{"Cache saved with key: ", timeline.Saves},
	{"Cache saved with the key: ", timeline.Saves},
}

// who is the job as a subject.
func (j *githubJob) who(o *evidence.Out) timeline.Subject {
	if w := j.text.Who(); !w.IsZero() {
		return w
	}
	return o.Subject()
}

// download remembers the commit of an action for its step; the tool for these
// lines makes the event.
func (j *githubJob) download(text []byte) {
	if a, sha, ok := evidence.CutActionDownload(text); ok {
		j.commit(a, sha)
	}
}

func (j *githubJob) commit(a evidence.CIAction, sha string) {
	if j.commits == nil {
		j.commits = map[string]string{}
	}
	if len(j.commits) < maxNames {
		j.commits[a.Key()] = sha
	}
}

// place reads where the job runs. A self-hosted runner names its machine:
//
//	Runner name: 'build-07'
//	Runner group name: 'Default'
//	Machine name: 'build-07'
//
// A hosted one is an image that dies with the job:
//
//	Hosted Compute Agent
//	Azure Region: eastus
//	Job is about to start running on the hosted runner: GitHub Actions 1000000049
func (j *githubJob) place(text []byte, o *evidence.Out) {
	switch {
	case bytes.HasPrefix(text, []byte("Hosted Compute Agent")), bytes.HasPrefix(text, []byte("Azure Region: ")),
		bytes.HasPrefix(text, []byte("Runner group name: 'GitHub Actions'")),
		bytes.HasPrefix(text, []byte("Job is about to start running on the hosted runner:")):
		j.hosted = true
	case bytes.HasPrefix(text, []byte("Runner name: '")):
		j.runner = quoted(text)
		j.hosted = j.hosted || bytes.HasPrefix(text, []byte("Runner name: 'GitHub Actions ")) || j.runner == "Hosted Agent"
	case bytes.HasPrefix(text, []byte("Machine name: '")):
		j.machine = quoted(text)
	case bytes.HasPrefix(text, []byte("Job defined at: ")):
		if workflow := bytes.TrimSpace(text[len("Job defined at: "):]); len(workflow) > 0 && len(workflow) <= 512 {
			o.Link(timeline.Uses, j.who(o).String(), "workflow:"+string(workflow))
		}
	}
}

// quoted is the text between the first and the last quote.
func quoted(text []byte) string {
	i, k := bytes.IndexByte(text, '\''), bytes.LastIndexByte(text, '\'')
	if k <= i || k-i > 300 {
		return ""
	}
	return string(text[i+1 : k])
}

// link tells on which host the job runs, once the runner has said all of it.
func (j *githubJob) link(o *evidence.Out) {
	if j.linked || j.hosted {
		return
	}
	host := j.machine
	if host == "" {
		host = j.runner
	}
	if host != "" {
		j.linked = true
		o.Link(timeline.On, j.who(o).String(), timeline.Subject{Kind: timeline.Host, ID: host}.String())
	}
}
