package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// machine links a job with the machine that it ran on, where that stays: the
// shell executor works on the runner's own machine and the SSH executor on one
// that others use too, without a container around the job. Other executors make
// a container or a virtual machine for it.
//
//	Using Shell (bash) executor...
//	Using SSH executor...
//	Running on build-host-3...
//	Running on build-host-3 via runner-7...
//
// https://docs.gitlab.com/runner/executors/
func (t *trace) machine(text []byte, o *evidence.Out) {
	switch {
	case bytes.HasPrefix(text, []byte("Using Shell")), bytes.HasPrefix(text, []byte("Using SSH executor")):
		t.bare = bytes.Contains(text, []byte("executor"))
	case t.bare && bytes.HasPrefix(text, []byte("Running on ")):
		t.bare = false // the job may print it too
		name := bytes.TrimSuffix([]byte(firstWord(string(text[len("Running on "):]))), []byte("..."))
		if job := o.Subject(); job.Kind == timeline.Job && len(name) > 0 {
			o.Link(timeline.On, job.String(), timeline.Subject{Kind: timeline.Host, ID: string(name)}.String())
		}
	}
}
