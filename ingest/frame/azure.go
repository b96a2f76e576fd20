package frame

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Azure is the log of an Azure Pipelines job or task. Its lines carry the same
// stamp as those of GitHub Actions.
// https://learn.microsoft.com/en-us/azure/devops/pipelines/troubleshooting/review-logs
var Azure = evidence.Format{
	Name:   "azure-pipelines",
	Shape:  evidence.FrameShape,
	Title:  "Azure Pipelines job log",
	Proves: "time of each line (UTC, 100 ns), the tasks, the scripts that they ran, the machine of an agent of one's own",
	Cannot: "organisation, project, build and job; whether the log is whole",
	Doc:    "https://learn.microsoft.com/en-us/azure/devops/pipelines/troubleshooting/review-logs",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return githubStamp(bytes.TrimPrefix(h.Bytes, bom)[:min(len(bytes.TrimPrefix(h.Bytes, bom)), stampLen)]) && bytes.Contains(h.Bytes, []byte("Z ##[section]Starting:"))
	},
	New: func() evidence.Peeler { return &azure{} },
}

// azure knows whether the lines are those of a script that is shown.
// and who runs the job.
type azure struct {
	script bool
	hosted bool
}

// agent links the job with the machine of its agent, where it is one's own: a
// machine of Microsoft's is made for the job.
//
//	Agent name: 'pool-7'
//	Agent machine name: 'build-07'
//	Agent name: 'Azure Pipelines 3'
//
// https://learn.microsoft.com/en-us/azure/devops/pipelines/agents/agents
func (a *azure) agent(text []byte, o *evidence.Out) {
	name := quoted(text)
	switch {
	case name == "":
	case bytes.HasPrefix(text, []byte("Agent name: '")):
		a.hosted = strings.HasPrefix(name, "Azure Pipelines ") || strings.HasPrefix(name, "Hosted Agent") || strings.HasPrefix(name, "Hosted ")
	case !a.hosted && o.Claim.Kind == timeline.Job && !strings.HasPrefix(name, "fv-az") && !strings.HasPrefix(name, "runnervm"):
		o.Link(timeline.On, o.Claim.String(), timeline.Subject{Kind: timeline.Host, ID: name}.String())
	}
}

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
	case bytes.HasPrefix(text, []byte("Agent name: '")), bytes.HasPrefix(text, []byte("Agent machine name: '")):
		a.agent(text, o)
	case string(text) == "Script contents:":
		a.script = true
	case a.script:
		l.Echo = true
	}
	return child
}
