package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Ansible is what ansible-playbook -v prints of a task: the result of a module
// on a host, as an object on one line or over several. The command and the output
// in it are read as if they stood in a log of that host.
// https://docs.ansible.com/ansible/latest/reference_appendices/common_return_values.html
var Ansible = evidence.Format{
	Name:   "ansible",
	Shape:  evidence.ToolShape,
	Title:  "Ansible's results of tasks (ansible-playbook -v)",
	Proves: "what pip, apt, docker and others printed on which host, where the module returns it",
	Cannot: "times, unless a frame around it has them; without -v what a task did",
	Doc:    "https://docs.ansible.com/ansible/latest/reference_appendices/common_return_values.html",
	Sample: "written by hand after the documentation and public reports",
	Starts: []string{"changed: [", "ok: [", "fatal: [", "failed: ["},
	Looks: func(text []byte) bool {
		return bytes.Contains(text, []byte("] ")) || bytes.Contains(text, []byte("]: "))
	},
	Tool: func() evidence.Parser { return &ansible{} },
}

// maxResult bounds a result that stands on several lines.
const maxResult = 1 << 20

type ansible struct {
	host   string
	result []byte // of a task, up to the line at work
}

// Line reads a result:
//
//	changed: [web1] => {"changed": true, "cmd": ["/usr/bin/pip3", "install", "litellm"], "stdout": "Collecting litellm\n…", "stdout_lines": […], …}
//	changed: [web1] => (item=litellm) => {
//	    "cmd": [
//	        "/usr/bin/pip3",
//	…
//	}
func (a *ansible) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if a.result == nil {
		text := evidence.TrimIndent(l.Text)
		_, rest, _ := bytes.Cut(text, []byte(": ["))
		host, rest, ok := bytes.Cut(rest, []byte("]"))
		if !ok || len(host) == 0 || bytes.ContainsAny(host, "\"'{") {
			return evidence.Miss
		}
		o.Seen("")
		if _, to, delegated := bytes.Cut(host, []byte(" -> ")); delegated {
			host, _, _ = bytes.Cut(to, []byte("("))
		}
		i := bytes.Index(rest, []byte("=> {"))
		if i < 0 || bytes.ContainsAny(host, " /") {
			return evidence.Done
		}
		a.host, a.result = string(host), append([]byte(nil), rest[i+3:]...)
	} else {
		a.result = append(append(a.result, '\n'), l.Text...)
	}
	f := evidence.JSONFields(a.result)
	for f.Next() {
		continue
	}
	if !f.Whole() && len(a.result) < maxResult {
		return evidence.More
	}
	a.returned(a.result, l, o)
	a.result = nil
	return evidence.Done
}

// returned reads a result, or those of the items of a loop.
func (a *ansible) returned(object []byte, l *evidence.Line, o *evidence.Out) {
	var command, output string
	var lines []string
	skipped := false
	for f := evidence.JSONFields(object); f.Next(); {
		switch string(f.Key) {
		case "cmd":
			if command = argvOf(f.Value); f.Value[0] == '"' {
				command = string(unescaped(f.Value))
			}
		case "stdout":
			output = string(unescaped(f.Value))
		case "stdout_lines":
			for e := evidence.JSONElements(f.Value); output == "" && e.Next(); {
				lines = append(lines, string(unescaped(e.Value)))
			}
		case "skipped":
			skipped = string(f.Value) == "true"
		case "results":
			for e := evidence.JSONElements(f.Value); e.Next(); {
				if len(e.Value) > 0 && e.Value[0] == '{' {
					a.returned(e.Value, l, o)
				}
			}
		}
	}
	if output == "" {
		output = strings.Join(lines, "\n")
	}
	if skipped || command == "" && output == "" {
		return
	}
	child := o.Stream().Child(o, []byte(a.host))
	child.Subject = timeline.Subject{Kind: timeline.Host, ID: a.host}
	line := *l
	if command != "" {
		line.Text, line.Echo = []byte(command), true
		o.Feed(&line, child)
	}
	line.Echo = false
	for text := range strings.SplitSeq(output, "\n") {
		if text = strings.TrimRight(text, "\r"); text != "" {
			line.Text = []byte(text)
			o.Feed(&line, child)
		}
	}
	child.Step(o) // a module returns when it is done
}

// End has nothing to do: a result that is cut off is none.
func (a *ansible) End(_ timeline.OpState, o *evidence.Out) {
	if a.result != nil {
		o.Cut("the result of a task is cut off")
	}
}
