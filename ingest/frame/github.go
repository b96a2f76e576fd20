// Package frame holds the frames: each takes one layer off a line and knows
// when and where.
package frame

import (
	"bytes"
	"encoding/binary"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GitHub is the log of a GitHub Actions job: the whole-job file and the step
// files of a run archive, system.txt, and what gh run view --log prints.
// https://docs.github.com/en/actions/how-tos/monitor-workflows/use-workflow-run-logs
var GitHub = evidence.Format{
	Name:   "github-job",
	Shape:  evidence.FrameShape,
	Title:  "GitHub Actions job log",
	Proves: "time of each line (UTC, 100 ns), job, steps and their commands, actions run, self-hosted runner, names of masked secrets, start and end of the job",
	Cannot: "what quiet commands fetched; other attempts of the run",
	Doc:    "https://docs.github.com/en/actions/how-tos/monitor-workflows/use-workflow-run-logs",
	Sample: "written by hand after logs of public runs",
	Claim:  claimGitHub,
	First:  "2",
	Cuts:   true,
	New:    func() evidence.Peeler { return &github{} },
}

// stampLen is the length of "2026-10-21T12:04:51.1231127Z".
const stampLen = 28

var bom = []byte("\xef\xbb\xbf")

// githubStamp reports whether text starts with seven digits of fraction and Z:
// no other log writes 100 ns.
//
//	2026-03-19T20:11:02.1000007Z Current runner version: '2.332.0'
func githubStamp(t []byte) bool {
	if len(t) < stampLen || t[27] != 'Z' || t[19] != '.' || t[10] != 'T' || t[4] != '-' || t[7] != '-' || t[13] != ':' || t[16] != ':' ||
		len(t) > stampLen && t[stampLen] != ' ' {
		return false
	}
	// The seven digits at once: all have the upper half 3, and stay so with 6 added.
	const upper, six, zeros = 0x00f0f0f0f0f0f0f0, 0x0006060606060606, 0x0030303030303030
	digits := binary.LittleEndian.Uint64(t[20:28]) &^ (0xff << 56)
	return digits&upper == zeros && (digits+six)&upper == zeros
}

// claimGitHub wants the stamp on the first line, and no mark of Azure DevOps,
// whose logs carry the same stamp.
func claimGitHub(h *evidence.Head) bool {
	line, _, _ := bytes.Cut(bytes.TrimPrefix(h.Bytes, bom), []byte("\n"))
	if _, _, ok := githubColumns(line); !ok && !githubStamp(bytes.TrimSuffix(line, []byte("\r"))) {
		return false
	}
	return !bytes.Contains(h.Bytes, []byte("Z ##[section]Starting:"))
}

// githubColumns cuts a line of gh run view --log: job, step and the line
// itself, between tabs, or what an editor or a page made of them.
//
//	build	Set up job	2026-03-19T20:11:02.1000007Z Current runner version: '2.332.0'
//	build (3.12)    Set up job    2026-03-19T20:11:02.1000007Z Current runner version: '2.332.0'
func githubColumns(line []byte) (job, text []byte, ok bool) {
	job, rest, ok := bytes.Cut(line, []byte("\t"))
	if !ok {
		return githubBlanks(line)
	}
	if len(job) == 0 || len(job) > 300 {
		return nil, nil, false
	}
	_, text, ok = bytes.Cut(rest, []byte("\t"))
	if text = bytes.TrimPrefix(text, bom); !ok || !githubStamp(text) {
		return nil, nil, false
	}
	return job, text, true
}

// githubBlanks is githubColumns for columns with two blanks or more between
// them.
func githubBlanks(line []byte) (job, text []byte, ok bool) {
	head := line[:min(len(line), 600)]
	job, rest, ok := bytes.Cut(head, []byte("  "))
	if !ok || len(job) == 0 || job[0] == ' ' || len(job) > 300 {
		return nil, nil, false
	}
	for at := len(head) - len(rest); at < len(head); at++ {
		i := bytes.IndexByte(head[at:], '2')
		if i < 0 {
			break
		}
		at += i
		if before := bytes.TrimSuffix(head[:at], bom); bytes.HasSuffix(before, []byte("  ")) && githubStamp(line[at:]) {
			return job, line[at:], true
		}
	}
	return nil, nil, false
}

// github is the frame at work in one source.
type github struct {
	columns bool // as gh run view prints it
	jobs    map[*evidence.Stream]*githubJob
	at      *evidence.Stream // the stream of the last line,
	job     *githubJob       // and its job
}

// Start takes the job's real name from the head: file names have '_' for '/'.
func (g *github) Start(h *evidence.Head, s *evidence.Stream, o *evidence.Out) {
	line, _, _ := bytes.Cut(bytes.TrimPrefix(h.Bytes, bom), []byte("\n"))
	if _, _, g.columns = githubColumns(line); g.columns {
		return
	}
	_, rest, ok := bytes.Cut(h.Bytes, []byte("Z "+completeJobName))
	if !ok {
		return
	}
	name, _, _ := bytes.Cut(rest, []byte("\n"))
	if who := evidence.GitHubJob(o.Claim, string(bytes.TrimSpace(name))); !who.IsZero() {
		s.Subject = who
	}
}

// Peel takes the stamp off.
func (g *github) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text := l.Text
	own := o.IsClaimed(s)
	var name []byte
	if g.columns && own {
		job, rest, ok := githubColumns(text)
		if ok {
			name, text = job, rest
		}
	}
	if !githubStamp(text) {
		if !own {
			return nil
		}
		return g.raw(l, s, o)
	}
	j := g.of(s, name, o)
	j.take(l, text)
	if !j.timed {
		j.timed, j.first = true, j.last
	}
	o.Enter(j.text)
	return j.line(l, s, o)
}

// Skim takes the stamp off a line that is none of the runner's own.
func (g *github) Skim(l *evidence.Line, s *evidence.Stream) *evidence.Stream {
	j := g.job
	if g.columns || g.at != s || j == nil || !j.timed || !githubStamp(l.Text) || j.own(l.Text[stampLen:]) {
		return nil
	}
	j.take(l, l.Text)
	return j.text
}

// Skims returns the stream of the job at work.
func (g *github) Skims(s *evidence.Stream) *evidence.Stream {
	j := g.job
	if g.columns || g.at != s || j == nil || !j.timed || j.header != outside || j.service.at != nowhere || j.ours.uses != "" {
		return nil
	}
	return j.text
}

// Rest is what stands behind the stamp of a line that is none of the runner's
// own.
func (g *github) Rest(line []byte) (text []byte, ok bool) {
	if !githubStamp(line) {
		return nil, false
	}
	text = line[stampLen:]
	if len(text) < 3 {
		return text[min(len(text), 1):], true
	}
	switch text[1] {
	case '#', '[', 'C', 'P', 'D', 'S', 'R', 'M', 'A', 'H', 'J':
		if g.job.own(text) {
			return nil, false
		}
	}
	return text[1:], true
}

// take takes the stamp off that text, the rest of a line, begins with.
func (j *githubJob) take(l *evidence.Line, text []byte) {
	copy(j.last[:], text)
	l.Stamp = evidence.Stamp{Text: j.last[:], Read: evidence.ISOStamp}
	l.Text = text[stampLen:]
	if len(l.Text) > 0 {
		l.Text = l.Text[1:]
	}
}

// raw takes a line without a stamp: values of several lines in with: and env:
// go on like that, and so do messages. It has the time of the line before.
func (g *github) raw(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	j := g.job
	if g.at != s || j == nil {
		j = g.of(s, nil, o)
	}
	if elided(l.Text) {
		o.Cut("somebody took lines out of it, and left a mark: " + evidence.Excerpt(l.Text))
	}
	if g.columns {
		if _, rest, ok := bytes.Cut(l.Text, []byte("\t")); ok {
			if _, rest, ok = bytes.Cut(rest, []byte("\t")); ok {
				l.Text = rest
			}
		}
	}
	if j.timed {
		l.Stamp = evidence.Stamp{Text: j.last[:], Read: evidence.ISOStamp, Inherited: true}
	}
	if j.header != outside {
		if j.restoring.goes {
			j.restoring.path(l.Text)
		}
		if j.input(l) {
			return j.text
		}
		return s
	}
	return j.text
}

// of returns the job that the lines of a stream belong to; name tells several
// in one stream apart.
func (g *github) of(s *evidence.Stream, name []byte, o *evidence.Out) *githubJob {
	if g.at == s && g.job != nil && (name == nil || string(name) == g.job.column) {
		return g.job
	}
	if g.jobs == nil {
		g.jobs = map[*evidence.Stream]*githubJob{}
	}
	text := s.Child(o, name)
	j := g.jobs[text]
	if j == nil {
		j = &githubJob{text: text, column: string(name)}
		if name != nil {
			text.Subject = evidence.GitHubJob(o.Claim, j.column)
		}
		g.jobs[text] = j
	}
	g.at, g.job = s, j
	return j
}

// End tells what the jobs' logs cover.
func (g *github) End(o *evidence.Out) {
	for _, j := range g.jobs {
		j.end(o)
	}
}

// end says that a log with the runner's first and last words is whole, and
// that one with steps and only one of the two is cut. A step file has no
// steps of its own beside the job's marks, and covers nothing.
func (j *githubJob) end(o *evidence.Out) {
	j.ran(o)
	if j.started && !j.ended && (j.steps > 0 || !j.named) {
		o.Cut(`the log ends before the job does: its last step "Cleaning up orphan processes" is missing`)
	}
	if j.torn != "" {
		o.Cut(j.torn)
	}
	if !j.started && j.ended && j.steps > 0 {
		o.Cut(`the log begins after the job does: its first line "Current runner version" is missing`)
	}
	if j.started && j.ended && j.named && j.steps == 0 && len(j.commits) > 0 && j.column == "" {
		o.Cut("actions came over and no step begins in the log: lines were taken out of it")
	}
	if !j.started || !j.ended || o.Gap() {
		return
	}
	who := j.text.Who()
	if who.IsZero() {
		who = o.Subject()
	}
	span := evidence.ISOStamp(j.first[:], &o.Times)
	last := evidence.ISOStamp(j.last[:], &o.Times)
	span.From, span.To = min(span.From, last.From), max(span.To, last.To)
	o.Cover(timeline.Coverage{
		Subject: who, Topic: timeline.Everything, Span: span, Whole: true,
		Why: "the job's log runs from the runner's first line to its clean-up",
	})
	for _, head := range j.heads {
		o.Cover(timeline.Coverage{Subject: who, Topic: timeline.StepSeen, Span: head, Why: "a step begins in the log"})
	}
}
