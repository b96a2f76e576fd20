package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// Azure is the log of an Azure Pipelines job or task. Its lines carry the same
// stamp as those of GitHub Actions.
// https://learn.microsoft.com/en-us/azure/devops/pipelines/troubleshooting/review-logs
var Azure = evidence.Format{
	Name:   "azure-pipelines",
	Shape:  evidence.FrameShape,
	Title:  "Azure Pipelines job log",
	Proves: "time of each line (UTC, 100 ns), the tasks, the scripts that they ran",
	Cannot: "organisation, project, build and job; whether the log is whole",
	Doc:    "https://learn.microsoft.com/en-us/azure/devops/pipelines/troubleshooting/review-logs",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return githubStamp(bytes.TrimPrefix(h.Bytes, bom)[:min(len(bytes.TrimPrefix(h.Bytes, bom)), stampLen)]) && bytes.Contains(h.Bytes, []byte("Z ##[section]Starting:"))
	},
	New: func() evidence.Peeler { return &azure{} },
}

// azure knows whether the lines are those of a script that is shown.
type azure struct{ script bool }

// Peel takes the stamp off, and tells commands from output:
//
//	2026-03-31T01:12:01.0211873Z ##[section]Starting: Bash
//	2026-03-31T01:12:01.6301188Z Script contents:
//	2026-03-31T01:12:01.6301190Z npm ci
//	2026-03-31T01:12:01.6301188Z ========================== Starting Command Output ===========================
//	2026-03-31T01:12:01.6512345Z ##[command]docker pull redis:7
func (a *azure) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	child := s.Child(o, nil)
	text := bytes.TrimPrefix(l.Text, bom)
	if githubStamp(text) {
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], text[:stampLen]...), Read: evidence.ISOStamp}
		l.Stamp = child.Last
		text = text[stampLen:]
		if len(text) > 0 {
			text = text[1:]
		}
	} else if child.Last.Read != nil {
		l.Stamp = child.Last
		l.Stamp.Inherited = true
	}
	l.Text = text
	switch {
	case bytes.HasPrefix(text, []byte("##[section]")):
		child.Step(o)
		a.script = false
		o.Seen("")
		return s
	case bytes.HasPrefix(text, []byte("##[command]")):
		l.Text, l.Echo, l.Runs = text[len("##[command]"):], true, true
	case bytes.HasPrefix(text, []byte("[command]")):
		l.Text, l.Echo, l.Runs = text[len("[command]"):], true, true
	case bytes.HasPrefix(text, []byte("========================== ")):
		a.script = false
	case string(text) == "Script contents:":
		a.script = true
	case a.script:
		l.Echo = true
	}
	return child
}
