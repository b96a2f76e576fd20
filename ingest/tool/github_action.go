package tool

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GitHubAction is what the runner says when it fetches the code of actions.
// https://github.com/actions/runner/blob/main/src/Runner.Worker/ActionManager.cs
var GitHubAction = evidence.Format{
	Name:   "github-action",
	Shape:  evidence.ToolShape,
	Title:  "GitHub action downloads",
	Proves: "the commit of each action that came over, with the tag or branch that was asked for",
	Cannot: "that the action ran: its step's start says that",
	Doc:    "https://docs.github.com/en/actions/how-tos/reuse-automations",
	Sample: "written by hand after logs of public runs",
	Starts: []string{"Download action repository '", "Download immutable action package '"},
	Tool:   func() evidence.Parser { return &githubAction{} },
}

// githubAction holds the immutable package whose lines are being read.
type githubAction struct {
	open   bool
	action evidence.CIAction
	digest string
	mark   evidence.Mark
}

// Line reads one line.
func (p *githubAction) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if p.open {
		return p.detail(text, o)
	}
	if a, ok := evidence.CutActionPackage(text); ok {
		o.Seen(timeline.GitHubActions)
		*p = githubAction{open: true, action: a, mark: o.Mark()}
		return evidence.More
	}
	a, commit, ok := evidence.CutActionDownload(text)
	if !ok {
		return evidence.Miss
	}
	o.Seen(timeline.GitHubActions)
	o.Emit(timeline.Download, nil, a.Item(commit))
	return evidence.Done
}

// detail reads a line of the group of an immutable package. Its digest is that
// of the action's package: no image was pulled.
//
//	Version: 3.6.0
//	Digest: sha256:942562b9c7d4b1f2557f1da21f4d3eb4eb4fd01f2ad78b2a6e187d1b193e0a0f
//	Source commit SHA: f43a0e5ff2bd294095638e18286ca9a3d1956744
func (p *githubAction) detail(text []byte, o *evidence.Out) evidence.Result {
	if sha, ok := bytes.CutPrefix(text, []byte("Source commit SHA: ")); ok {
		p.emit(string(sha), o)
		return evidence.Done
	}
	if d, ok := bytes.CutPrefix(text, []byte("Digest: ")); ok {
		p.digest = timeline.SHA256(string(d))
		return evidence.More
	}
	if bytes.HasPrefix(text, []byte("Version: ")) {
		return evidence.More
	}
	p.emit("", o)
	return evidence.Miss
}

func (p *githubAction) emit(commit string, o *evidence.Out) {
	item := p.action.Item(commit)
	if p.digest != "" {
		item.Digests = append(item.Digests, timeline.Digest{Value: p.digest})
	}
	o.At(p.mark, timeline.Event{Action: timeline.Download, Items: []timeline.Item{item}})
	*p = githubAction{}
}

// End tells of a package whose lines are cut off.
func (p *githubAction) End(_ timeline.OpState, o *evidence.Out) {
	if p.open {
		p.emit("", o)
	}
}
