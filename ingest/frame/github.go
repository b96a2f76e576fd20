// Package frame holds the frames: each takes one layer off a line and knows
// when and where.
package frame

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GitHub is the log of a GitHub Actions job: the whole-job file and the step
// files of a run archive, and system.txt.
// https://docs.github.com/en/actions/how-tos/monitor-workflows/use-workflow-run-logs
var GitHub = evidence.Format{
	Name:   "github-job",
	Shape:  evidence.FrameShape,
	Title:  "GitHub Actions job log",
	Proves: "time of each line (UTC, 100 ns), job, step, self-hosted runner, masked secrets' names, start and end of the job",
	Cannot: "what quiet commands fetched; other attempts of the run",
	Doc:    "https://docs.github.com/en/actions/how-tos/monitor-workflows/use-workflow-run-logs",
	Sample: "written by hand after the documentation",
	Claim:  claimGitHub,
	First:  "2",
	New:    func() evidence.Peeler { return &github{} },
}

// stampLen is the length of "2026-10-21T12:04:51.1231127Z".
const stampLen = 28

// githubStamp reports whether text starts with seven digits of fraction and Z:
// no other log writes 100 ns.
//
//	2026-03-19T20:11:02.1000007Z Current runner version: '2.332.0'
func githubStamp(text []byte) bool {
	if len(text) < stampLen || text[19] != '.' || text[27] != 'Z' || len(text) > stampLen && text[stampLen] != ' ' {
		return false
	}
	for i, c := range text[:27] {
		switch i {
		case 4, 7:
			if c != '-' {
				return false
			}
		case 10:
			if c != 'T' {
				return false
			}
		case 13, 16:
			if c != ':' {
				return false
			}
		case 19:
		default:
			if c < '0' || c > '9' {
				return false
			}
		}
	}
	return true
}

// claimGitHub wants the stamp on the first line, and no mark of Azure DevOps,
// whose logs carry the same stamp.
func claimGitHub(h *evidence.Head) bool {
	return githubStamp(bytes.TrimPrefix(h.Bytes, []byte("\xef\xbb\xbf"))) &&
		!bytes.Contains(h.Bytes, []byte("##[section]Starting:"))
}

type github struct {
	streams map[*evidence.Stream]*githubJob
}

// githubJob is what is known of one job log.
type githubJob struct {
	text     *evidence.Stream
	started  bool // "Current runner version" was seen
	ended    bool // "Cleaning up orphan processes" was seen
	hosted   bool
	runner   string
	machine  string
	last     timeline.Span
	first    timeline.Span
	group    string // header of the open group
	inEnv    bool   // in the env: or with: block of a step's header
	echoing  bool   // in the header of a run step: the lines are the script
	actions  map[string]evidenceCommit
	lastLine evidence.Mark
}

type evidenceCommit struct{ commit string }

func (g *github) job(s *evidence.Stream, o *evidence.Out) *githubJob {
	if j := g.streams[s]; j != nil {
		return j
	}
	if g.streams == nil {
		g.streams = map[*evidence.Stream]*githubJob{}
	}
	j := &githubJob{text: s.Child(o, nil)}
	g.streams[s] = j
	return j
}

// Peel takes the stamp off.
func (g *github) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text := l.Text
	if !githubStamp(text) {
		if !o.IsClaimed(s) {
			return nil
		}
		// Values of several lines in with: and env: go on without a stamp.
		j := g.job(s, o)
		l.Stamp = j.text.Last
		l.Stamp.Inherited = true
		return j.text
	}
	j := g.job(s, o)
	l.Stamp = evidence.Stamp{Text: append(j.text.Last.Text[:0], text[:stampLen]...), Read: evidence.ISOStamp}
	j.text.Last = l.Stamp
	l.Text = text[stampLen:]
	if len(l.Text) > 0 && l.Text[0] == ' ' {
		l.Text = l.Text[1:]
	}
	j.marker(l, o)
	return j.text
}

func (j *githubJob) marker(l *evidence.Line, o *evidence.Out) {
	_ = strings.Cut
}
