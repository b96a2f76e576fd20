package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// part is where a line stands in the header of a step:
//
//	##[group]Run pip install litellm
//	pip install litellm                (the script, in colour)
//	shell: /usr/bin/bash -e {0}
//	env:
//	  API_KEY: ***
//	##[endgroup]
type part uint8

const (
	outside  part = iota
	begun         // behind the first line
	script        // in the script
	settings      // behind shell:, in with: or env:
)

// marker reads a line that starts with one of the runner's own marks.
func (j *githubJob) marker(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text := l.Text
	switch {
	case bytes.HasPrefix(text, []byte("##[group]")):
		return j.group(l, s, o, text[len("##[group]"):])
	case bytes.HasPrefix(text, []byte("##[endgroup]")):
		j.service = service{}
		return s
	case bytes.HasPrefix(text, []byte("##[error]")):
		j.text.Failed()
		return j.text
	case bytes.HasPrefix(text, []byte("##[command]")):
		l.Text, l.Echo, l.Runs = text[len("##[command]"):], true, true
	case bytes.HasPrefix(text, []byte("[command]")):
		l.Text, l.Echo, l.Runs = text[len("[command]"):], true, true
	default:
		return j.text
	}
	if j.service.at != nowhere {
		return j.service.line(l, s, j.text, o)
	}
	return j.text
}

// group reads the head of a group.
func (j *githubJob) group(l *evidence.Line, s *evidence.Stream, o *evidence.Out, title []byte) *evidence.Stream {
	j.service = service{}
	if run, ok := bytes.CutPrefix(title, []byte("Run ")); ok {
		return j.step(l, s, o, run)
	}
	switch {
	case bytes.HasPrefix(title, []byte("Download immutable action package '")):
		j.parcel, _ = evidence.CutActionPackage(title)
		l.Text = title
		return j.text
	case bytes.HasPrefix(title, []byte("Starting ")) && bytes.HasSuffix(title, []byte(" container")):
		j.service.at = starting
	case j.steps > 0:
	case bytes.HasPrefix(title, []byte("Runner Image")), bytes.HasPrefix(title, []byte("Virtual Environment")):
		j.hosted = true // only GitHub's own images say what is in them
	case bytes.HasPrefix(title, []byte("GITHUB_TOKEN Permissions")):
		j.hold("GITHUB_TOKEN", o)
	}
	return s
}

// maxHeads bounds the steps whose beginning is kept; more cannot be compared
// with the record of the job.
const maxHeads = 256

// step begins a step. Its first line is a command, or the action or image that
// runs now.
func (j *githubJob) step(l *evidence.Line, s *evidence.Stream, o *evidence.Out, run []byte) *evidence.Stream {
	j.link(o)
	j.text.Step(o)
	if j.ended {
		j.tear("a step stands behind the job's last words: the log of another job goes on there")
	}
	j.steps++
	if len(j.heads) < maxHeads {
		j.heads = append(j.heads, o.Mark().Span())
	}
	j.header, j.title, j.told = begun, append(j.title[:0], run...), false
	j.command, j.pending, j.restoring = j.command[:0], timeline.Item{}, restoring{}
	j.inputs, j.ours, j.code = inputs{}, ours{}, j.code[:0]
	if image, ok := bytes.CutPrefix(run, []byte("docker://")); ok {
		if name := timeline.NormalizeImage(string(image)); name != "" {
			j.pending, j.action = timeline.Item{Artifact: name}, o.Mark()
		}
		return s
	}
	if a, ok := evidence.ParseCIAction(run); ok {
		o.Seen(timeline.GitHubActions)
		j.pending, j.action = a.Item(j.commits[a.Key()]), o.Mark()
		j.restoring.begins(a)
		j.inputs.begins(a)
		if isOurs(a, j.who(o)) {
			j.ours = ours{string(run), o.Mark()}
		}
		installs(a, o)
		return s
	}
	if continued(run) {
		j.command = append(append(j.command, run[:len(run)-1]...), ' ')
		return s
	}
	if local := bytes.HasPrefix(run, []byte("./")) || bytes.HasPrefix(run, []byte("../")); local && !bytes.Contains(run, []byte(" ")) {
		j.inputs.step, j.ours = true, ours{string(run), o.Mark()}
		return s // an action of the repository, or a script that the next line repeats
	}
	l.Text, l.Echo, j.told = run, true, true
	return j.text
}

// continued reports whether a line of a script goes on: sh with a backslash,
// PowerShell with a backtick.
func continued(line []byte) bool {
	n := len(line)
	return n > 0 && (line[n-1] == '\\' || n > 1 && line[n-1] == '`' && line[n-2] == ' ')
}

// inHeader reads a line of a step's header; nil when it stands behind it.
func (j *githubJob) inHeader(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if bytes.HasPrefix(l.Text, []byte("[36;1m")) { // the byte that begins a colour was lost, and the head of the log does not show it
		l.Text = evidence.StripColours(l.Text)
	}
	text := l.Text
	switch {
	case bytes.HasPrefix(text, []byte("##[")):
		j.header = outside
	case bytes.HasPrefix(text, []byte("shell: ")):
		j.header = settings
		if j.shellOf(l) {
			j.ran(o)
			return j.text
		}
	case j.header == script:
		return j.scriptLine(l, s)
	case string(text) == "with:" || string(text) == "env:":
		j.header = settings
		j.inputs.with, j.inputs.told = text[0] == 'w', false
	case j.header == settings && j.input(l):
		return j.text
	case j.header == settings && bytes.HasPrefix(text, []byte("  ")):
		j.restoring.setting(text)
		j.setting(text, o)
		return s
	case j.header == settings && j.inputs.told && len(bytes.TrimSpace(text)) == 0:
		return s
	case j.header == settings && j.restoring.goes:
		j.restoring.path(text)
		return s
	case j.header == begun && bytes.Equal(bytes.TrimLeft(text, " \t"), j.title):
		// The runner repeats the first line of a script, so the title is told
		// apart from an action's, and a command is not counted twice.
		j.header, j.pending, j.command = script, timeline.Item{}, j.command[:0]
		j.inputs, j.ours = inputs{}, ours{}
		if j.told {
			j.codeLine(text)
			return s
		}
		return j.scriptLine(l, s)
	case j.header == begun && len(bytes.TrimSpace(text)) == 0:
		return s
	default:
		j.header = outside
	}
	j.ran(o)
	if len(j.command) > 0 && !bytes.HasPrefix(text, []byte("##[group]")) { // a command that goes on, and the header does not
		l.Text, l.Echo, l.Flat = append([]byte(nil), j.command...), true, false
		j.command = j.command[:0]
		return j.text
	}
	if j.header == outside {
		return nil
	}
	return s
}

// ran tells that the action or image of the step's header runs.
func (j *githubJob) ran(o *evidence.Out) {
	if j.pending.Artifact != "" {
		o.At(j.action, timeline.Event{Action: timeline.Run, Items: []timeline.Item{j.pending}})
		j.pending = timeline.Item{}
	}
}

// maxCommand bounds a command of several lines.
const maxCommand = 64 << 10

// scriptLine hands a command of the script on, joined when it stands on
// several lines.
func (j *githubJob) scriptLine(l *evidence.Line, s *evidence.Stream) *evidence.Stream {
	j.codeLine(l.Text)
	if continued(l.Text) && len(j.command) < maxCommand {
		j.command = append(append(j.command, l.Text[:len(l.Text)-1]...), ' ')
		return s
	}
	l.Echo = true
	if len(j.command) > 0 {
		j.command = append(j.command, l.Text...)
		l.Text, l.Flat = append([]byte(nil), j.command...), false
		j.command = j.command[:0]
	}
	if len(bytes.TrimSpace(l.Text)) == 0 {
		return s
	}
	return j.text
}

// setting reads a line of with: or env:. Only a masked value tells that the
// name is a secret's.
//
//	DEEPSEEK_API_KEY: ***
func (j *githubJob) setting(text []byte, o *evidence.Out) {
	j.sends(text, o)
	if !bytes.Contains(text, []byte("***")) {
		return
	}
	name, value, ok := bytes.Cut(bytes.TrimLeft(text, " "), []byte(": "))
	if !ok || !bytes.Contains(value, []byte("***")) || len(name) > 200 || bytes.ContainsAny(name, " \t\"'") {
		return
	}
	j.hold(string(name), o)
}

// sends reads a variable that has traces sent, once for each job:
//
//	LANGFUSE_HOST: https://langfuse.acme.example
func (j *githubJob) sends(text []byte, o *evidence.Out) {
	text = bytes.TrimLeft(text, " ")
	name, value, ok := bytes.Cut(text, []byte(": "))
	if !ok || len(name) == 0 || len(name) > 100 || len(value) > 1000 || name[0] < 'A' || name[0] > 'Z' || !evidence.SendsTraces(string(name)) ||
		j.sent[string(text)] || len(j.sent) >= maxNames {
		return
	}
	if j.sent == nil {
		j.sent = map[string]bool{}
	}
	j.sent[string(text)] = true
	o.TraceExporter(string(name), string(value), timeline.Span{})
}

// hold tells of a secret's name, once for each job.
func (j *githubJob) hold(name string, o *evidence.Out) {
	if j.held == nil {
		j.held = map[string]bool{}
	}
	if name == "" || j.held[name] || len(j.held) >= maxNames {
		return
	}
	j.held[name] = true
	o.Hold(name)
}

// service is the start of a service or job container:
//
//	##[group]Starting redis service container
//	##[command]/usr/bin/docker pull redis:7-alpine
//	Digest: sha256:ee64a64eaab618d88051c3ade8f6352d11531fcf79d9a4818b9b183d8c1d18ba
//	##[command]/usr/bin/docker start 463c009f7949d9e30456244c5b75329d3f2cd485ffd70f58079c3f90234ce487
//	463c009f7949d9e30456244c5b75329d3f2cd485ffd70f58079c3f90234ce487
type service struct {
	at    place
	item  timeline.Item
	start string // ID of the container that is to start
}

type place uint8

const (
	nowhere place = iota
	starting
	answer // the next line answers "docker start"
)

// line reads a line of the group. The answer to "docker start" proves that the
// container runs; both lines end here.
func (v *service) line(l *evidence.Line, s, text *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if v.at == answer {
		v.at = starting
		if string(bytes.TrimSpace(l.Text)) == v.start && v.item.Artifact != "" {
			o.Seen(timeline.Images)
			o.Emit(timeline.Run, nil, v.item)
			return s
		}
	}
	if !l.Echo {
		if d, ok := bytes.CutPrefix(l.Text, []byte("Digest: ")); ok {
			if sha := timeline.SHA256(string(bytes.TrimSpace(d))); sha != "" {
				v.item.Digests = []timeline.Digest{{Value: sha}}
			}
		}
		return text
	}
	words := bytes.Fields(l.Text)
	if len(words) != 3 || !bytes.HasSuffix(words[0], []byte("docker")) {
		return text
	}
	switch string(words[1]) {
	case "pull":
		v.item = timeline.Item{Artifact: timeline.NormalizeImage(string(words[2]))}
	case "start":
		v.at, v.start = answer, string(words[2])
		return s
	}
	return text
}
