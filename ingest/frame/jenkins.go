package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Jenkins is the console log of a build, with or without the times of the
// Timestamper plugin, and with the branch names that parallel stages print.
// https://www.jenkins.io/doc/book/pipeline/
// https://plugins.jenkins.io/timestamper/
var Jenkins = evidence.Format{
	Name:   "jenkins",
	Shape:  evidence.FrameShape,
	Title:  "Jenkins console log (plain, Timestamper, pipeline, parallel)",
	Proves: "the stages and commands of a build, its node, the variables that held credentials, which parallel branch wrote a line where the log says so; times with Timestamper",
	Cannot: "job and number of the build; times without Timestamper; which branch wrote a line that has no prefix",
	Doc:    "https://www.jenkins.io/doc/book/pipeline/",
	Sample: "written by hand after the documentation and public logs",
	Claim:  claimJenkins,
	First:  "",
	New:    func() evidence.Peeler { return &jenkins{branches: map[string]bool{}} },
}

// claimJenkins wants one of the lines that a build begins with.
func claimJenkins(h *evidence.Head) bool {
	if h.Name == "consoleText" { // as its address ends
		return true
	}
	line, _, _ := bytes.Cut(h.Bytes, []byte("\n"))
	line, _ = jenkinsTime(evidence.StripEscapes(bytes.Clone(line)))
	begins := bytes.HasPrefix(line, []byte("Started by ")) || bytes.HasPrefix(line, []byte("[Pipeline] ")) || bytes.HasPrefix(line, []byte("Started from "))
	return begins || bytes.Contains(h.Bytes, []byte("\n[Pipeline] Start of Pipeline"))
}

type jenkins struct {
	branches map[string]bool // names of parallel branches
	begun    bool
	ended    bool
	nodes    int
	fresh    string // an agent that was made for the build

	untraced untraced

	// whole tells that the first line is the one that a build begins with, done that
	// the last one so far is the one that it ends with.
	whole, done bool
	first, last timeline.Span
}

// jenkinsTime takes the time of the Timestamper plugin off:
//
//	[2026-10-21T12:04:51.123Z] + pip install litellm
func jenkinsTime(line []byte) (rest, stamp []byte) {
	if len(line) < 22 || line[0] != '[' || line[1] != '2' {
		return line, nil
	}
	m, n := evidence.ParseISO(line[1:])
	if n == 0 || !m.HasOffset || len(line) <= n+1 || line[n+1] != ']' {
		return line, nil
	}
	return bytes.TrimPrefix(line[n+2:], []byte(" ")), line[1 : n+1]
}

// masking begins the line that names the variables to which credentials were
// bound.
//
//	Masking supported pattern matches of $TWINE_PASSWORD or $NPM_TOKEN
//
// https://plugins.jenkins.io/credentials-binding/
const masking = "Masking supported pattern matches of "

// Peel reads what Jenkins itself says, and takes times and branches off:
//
//	[Pipeline] { (Branch: unit)
//	[unit] + pip install litellm
//	Running on agent-7 in /var/lib/jenkins/workspace/api@2
//	ERROR: script returned exit code -1
func (j *jenkins) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	child := s.Child(o, nil)
	text := l.Text
	// What the plugin's own page shows may have a time before the log's.
	for rest, stamp := jenkinsTime(text); stamp != nil; rest, stamp = jenkinsTime(text) {
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], stamp...), Read: evidence.ISOStamp}
		l.Stamp, l.Text, text = child.Last, rest, rest
	}
	if len(text) > 0 {
		j.done = false
	}
	if elided(text) || bytes.HasPrefix(text, []byte("Skipping ")) && bytes.Contains(text, []byte(" KB.. Full Log")) { // the page shows the end alone
		o.Cut("lines were taken out of it, and a mark stands there: " + evidence.Excerpt(text))
	}
	if step, ok := bytes.CutPrefix(text, []byte("[Pipeline] ")); ok {
		j.begin(l, string(step) == "Start of Pipeline", o)
		j.pipeline(step, child, o)
		if l.Stamp.Read == nil && child.Last.Read != nil {
			l.Stamp, l.Stamp.Inherited = child.Last, true
		}
		j.stepBegins(step, o)
		return s
	}
	if len(text) == 0 {
		return child
	}
	j.traces(text)
	switch {
	case text[0] == '[':
		if end := bytes.IndexByte(text[:min(len(text), 260)], ']'); end > 0 && j.branches[string(text[1:end])] && end+1 < len(text) && text[end+1] == ' ' {
			branch := child.Child(o, text[1:end])
			branch.Last = child.Last
			l.Text = text[end+2:]
			return branch
		} else if end > 0 && j.runs(l, end, o) {
			return child
		}
	case bytes.HasPrefix(text, []byte("Started by ")), bytes.HasPrefix(text, []byte("Started from ")):
		j.begin(l, l.No == 1, o)
	case bytes.HasPrefix(text, []byte("Running on ")), bytes.HasPrefix(text, []byte("Building ")), bytes.HasPrefix(text, []byte("Agent ")):
		j.node(string(text), o)
	case bytes.HasPrefix(text, []byte("ERROR: script returned exit code -")):
		o.Cut("the node was lost while a script ran on it: what that printed last is missing")
	case bytes.HasPrefix(text, []byte(masking)):
		o.Enter(child)
		for _, name := range bytes.Split(text[len(masking):], []byte(" or ")) {
			if name, ok := bytes.CutPrefix(name, []byte("$")); ok {
				o.Hold(string(name))
			}
		}
		return s
	case bytes.HasPrefix(text, []byte("Finished: ")):
		j.ended, j.done, j.last = true, results[string(bytes.TrimRight(text[len("Finished: "):], "\r"))], stampSpan(l, o)
		child.Step(o)
		j.stepEnds(o)
	}
	return child
}

// results are those of a build, as its last line has them.
// https://javadoc.jenkins.io/hudson/model/Result.html
var results = map[string]bool{"SUCCESS": true, "UNSTABLE": true, "FAILURE": true, "NOT_BUILT": true, "ABORTED": true}

// begin notes one of the lines that a build begins with.
func (j *jenkins) begin(l *evidence.Line, whole bool, o *evidence.Out) {
	if j.begun = true; whole && !j.whole {
		j.whole, j.first = true, stampSpan(l, o)
	}
}

// pipeline reads a step of the pipeline. A shell's step ends what came before,
// unless branches run side by side.
func (j *jenkins) pipeline(step []byte, child *evidence.Stream, o *evidence.Out) {
	if name, ok := bytes.CutPrefix(step, []byte("{ (Branch: ")); ok && len(j.branches) < maxSteps {
		j.branches[string(bytes.TrimSuffix(name, []byte(")")))] = true
	}
	if len(j.branches) == 0 && (bytes.HasPrefix(step, []byte("sh")) || bytes.HasPrefix(step, []byte("stage"))) {
		child.Step(o)
	}
}

// End says that a log from one of the lines that a build begins with to the one
// that it ends with is whole, and that one which lacks either is cut.
func (j *jenkins) End(o *evidence.Out) {
	j.stepEnds(o)
	switch {
	case j.begun && !j.ended:
		o.Cut(`the log ends before the build does: its last line "Finished:" is missing`)
	case j.ended && !j.begun:
		o.Cut("the log begins after the build does")
	case j.whole && j.done && o.Claim.Kind == timeline.Job && !o.Gap():
		o.Cover(timeline.Coverage{
			Subject: o.Claim, Topic: timeline.Everything, Span: timeline.Span{From: j.first.From, To: j.last.To, Clock: j.last.Clock},
			Whole: true, Why: "the build's log runs from its cause to its result",
		})
	}
}
