package frame

import (
	"bytes"
	"regexp"

	"pulltrail/ingest/evidence"
)

// TaskPrefix is what runners of a monorepo's tasks put before each line of a
// task: Turborepo, Lerna, pnpm with several projects.
// https://turborepo.com/docs/reference/run
// https://lerna.js.org/docs/api-reference/commands#run
// https://pnpm.io/cli/recursive
var TaskPrefix = evidence.Format{
	Name:   "task-prefix",
	Shape:  evidence.FrameShape,
	Title:  "Output of tasks behind their names (Turborepo, Lerna, pnpm -r)",
	Proves: "what tools say in a task; that a task's output is replayed from a cache",
	Cannot: "when a task ran whose output is replayed",
	Doc:    "https://turborepo.com/docs/reference/run",
	Sample: "written by hand after public logs",
	First:  "@abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./\xe2 S",
	Looks:  looksTasks,
	New:    func() evidence.Peeler { return &taskPrefix{replayed: map[string]bool{}} },
}

// taskRunners are the runners, by the lines that they begin and end with, and by
// what stands before a line of a task.
//
//   - Packages in scope: docs, web
//     web:build: added 3 packages in 2s
//     lerna notice cli v6.6.2
//     @acme/ui: added 1 package, and audited 2 packages in 1s
//     packages/web build$ npm ci
//     packages/web build: added 12 packages in 3s
var taskRunners = []struct {
	begins, ends []byte
	line         *regexp.Regexp
}{
	{[]byte("• Packages in scope: "), []byte(" Tasks:  "), regexp.MustCompile(`^(@?[\w./-]+[:#][\w:.-]+): `)},
	{[]byte("lerna notice cli v"), []byte("lerna success "), regexp.MustCompile(`^(@?[\w./-]+): `)},
	{nil, nil, regexp.MustCompile(`^([\w.@/-]+ [\w:.-]+): `)},
}

// pnpmTask is the line of a command that pnpm runs in a project.
var pnpmTask = regexp.MustCompile(`^(?:\.|[\w.@-]+(?:/[\w.@-]+)+) [\w:.-]+\$ \S`)

// looksTasks knows the first lines.
func looksTasks(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	switch text[0] {
	case 0xe2:
		return bytes.HasPrefix(text, taskRunners[0].begins)
	case 'l':
		if bytes.HasPrefix(text, taskRunners[1].begins) {
			return true
		}
	}
	i := bytes.IndexByte(text[:min(len(text), 100)], '$')
	return i > 2 && i+1 < len(text) && text[i+1] == ' ' && text[i-1] != ' ' && pnpmTask.Match(text)
}

type taskPrefix struct {
	runner   int // 1 + index of the one at work
	replayed map[string]bool
}

// Peel takes the name of a task off. A task that was cached prints again what it
// did when it ran.
func (p *taskPrefix) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if looksTasks(l.Text) {
		p.runner = len(taskRunners)
		for i := range taskRunners {
			if r := &taskRunners[i]; r.begins != nil && bytes.HasPrefix(l.Text, r.begins) {
				p.runner = i + 1
			}
		}
		o.Watch(s)
		return nil
	}
	if p.runner == 0 {
		return nil
	}
	r := &taskRunners[p.runner-1]
	if r.ends != nil && bytes.HasPrefix(l.Text, r.ends) {
		p.runner = 0
		o.Unwatch(s)
		return nil
	}
	m := r.line.FindSubmatchIndex(l.Text[:min(len(l.Text), maxPrefix)])
	if m == nil {
		return nil
	}
	name, rest := l.Text[m[2]:m[3]], l.Text[m[1]:]
	if bytes.HasPrefix(rest, []byte("cache ")) {
		p.replayed[string(name)] = bytes.HasPrefix(rest, []byte("cache hit"))
		return s
	}
	if p.replayed[string(name)] {
		return s
	}
	child := s.Child(o, name)
	l.Text = rest
	return child
}
