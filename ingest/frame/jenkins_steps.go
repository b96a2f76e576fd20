package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// untraced is a step that runs a script of which no line was seen yet. A shell
// traces ("+ pytest") unless its script names another one in its first line, cmd
// shows commands behind its folder unless it is told not to, PowerShell shows
// none.
// https://www.jenkins.io/doc/pipeline/steps/workflow-durable-task-step/#sh-shell-script
type untraced struct {
	by string // who shows them: sh, bat, or nobody
	at evidence.Mark
}

// stepBegins notes a step of a pipeline that runs a script. Branches that run
// side by side print their steps among each other, and tell nothing here.
//
//	[Pipeline] sh
//	[Pipeline] sh (install)
//	[Pipeline] powershell
func (j *jenkins) stepBegins(step []byte, o *evidence.Out) {
	j.stepEnds(o)
	if len(j.branches) > 0 {
		return
	}
	name, _, _ := bytes.Cut(step, []byte(" "))
	switch string(name) {
	case "sh", "pysh":
		j.untraced = untraced{"sh", o.Mark()}
	case "bat":
		j.untraced = untraced{"bat", o.Mark()}
	case "powershell", "pwsh":
		j.untraced = untraced{"nobody", o.Mark()}
	}
}

// runs takes the folder off a command that a build of the old kind shows before
// it runs it, and notes when that is a script whose lines need not show:
//
//	[api] $ /bin/sh -xe /tmp/jenkins5710329.sh
//	[api] $ /bin/bash /tmp/jenkins5710329.sh
//	[api] $ powershell.exe -NonInteractive -File C:\Windows\TEMP\jenkins123.ps1
func (j *jenkins) runs(l *evidence.Line, end int, o *evidence.Out) bool {
	command, ok := bytes.CutPrefix(l.Text[end+1:], []byte(" $ "))
	if !ok || len(command) == 0 {
		return false
	}
	j.stepEnds(o)
	l.Text = l.Text[end+2:]
	lower := bytes.ToLower(command)
	if !bytes.Contains(lower, []byte("jenkins")) && !bytes.Contains(lower, []byte("hudson")) {
		return true
	}
	switch shell, _, _ := bytes.Cut(lower, []byte(" ")); {
	case bytes.Contains(lower, []byte(".bat")):
		j.untraced = untraced{"bat", o.Mark()}
	case bytes.Contains(lower, []byte(".ps1")):
		j.untraced = untraced{"nobody", o.Mark()}
	case bytes.HasSuffix(shell, []byte("sh")) && !bytes.Contains(lower, []byte(" -xe ")) && !bytes.Contains(lower, []byte(" -x ")) && !bytes.Contains(lower, []byte(" -ex ")):
		j.untraced = untraced{"sh", o.Mark()}
	}
	return true
}

// traces looks for a line that shows a command of the script at work.
func (j *jenkins) traces(text []byte) {
	switch j.untraced.by {
	case "sh":
		if text[0] == '+' {
			j.untraced = untraced{}
		}
	case "bat":
		if len(text) > 3 && text[1] == ':' && text[2] == '\\' && bytes.IndexByte(text, '>') > 0 {
			j.untraced = untraced{}
		}
	}
}

// stepEnds tells that a script ran of which no line was shown: it may have
// installed anything.
func (j *jenkins) stepEnds(o *evidence.Out) {
	if j.untraced.by != "" {
		o.At(j.untraced.at, timeline.Event{Action: timeline.Opaque, Items: []timeline.Item{{Artifact: timeline.Anything}}})
	}
	j.untraced = untraced{}
}
