package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// argv joins the arguments in a field of an object to a line that a shell would
// read the same way.
//
//	"EXECVE":{"argc":4,"ARGV":["node","/usr/bin/npm","install","left-pad@1.3.0"]}
func argv(object []byte, field string) string {
	for f := evidence.JSONFields(object); f.Next(); {
		if string(f.Key) == field {
			return argvOf(f.Value)
		}
	}
	return ""
}

func argvOf(list []byte) string {
	var words []string
	for e := evidence.JSONElements(list); e.Next() && len(words) < maxNPMWords; {
		words = append(words, shellWord(string(unescaped(e.Value))))
	}
	return strings.Join(words, " ")
}

// traceeArgv finds the arguments of a program among those of an event.
//
//	"args":[{"name":"cmdpath","value":"/usr/bin/npm"},{"name":"argv","value":["npm","install","left-pad@1.3.0"]}]
//
// https://aquasecurity.github.io/tracee/latest/docs/events/builtin/
func traceeArgv(list []byte) string {
	for e := evidence.JSONElements(list); e.Next(); {
		name := ""
		var val []byte
		for f := evidence.JSONFields(e.Value); f.Next(); {
			switch string(f.Key) {
			case "name":
				name = string(plain(f.Value))
			case "value":
				val = append([]byte(nil), f.Value...)
			}
		}
		if name == "argv" {
			return argvOf(val)
		}
	}
	return ""
}

// tetragonProcess reads a process with its arguments, and the container that it
// ran in.
//
//	"process_exec":{"process":{"binary":"/usr/bin/npm","arguments":"install left-pad@1.3.0",…,"pod":{"namespace":"ai","name":"web-1","container":{"name":"web",…}}}}
//
// https://tetragon.io/docs/concepts/events/
func tetragonProcess(object []byte) (command string, pod timeline.Subject) {
	binary, arguments := "", ""
	for f := evidence.JSONFields(object); f.Next(); {
		if string(f.Key) != "process" {
			continue
		}
		for q := evidence.JSONFields(f.Value); q.Next(); {
			switch string(q.Key) {
			case "binary":
				binary = string(unescaped(q.Value))
			case "arguments":
				arguments = string(unescaped(q.Value))
			case "pod":
				pod = tetragonPod(q.Value)
			}
		}
	}
	return strings.TrimSpace(binary + " " + arguments), pod
}

func tetragonPod(object []byte) timeline.Subject {
	space, name, container := "", "", ""
	for f := evidence.JSONFields(object); f.Next(); {
		switch string(f.Key) {
		case "namespace":
			space = string(plain(f.Value))
		case "name":
			name = string(plain(f.Value))
		case "container":
			for q := evidence.JSONFields(f.Value); q.Next(); {
				if string(q.Key) == "name" {
					container = string(plain(q.Value))
				}
			}
		}
	}
	if space == "" || name == "" || container == "" {
		return timeline.Subject{}
	}
	return timeline.Subject{Kind: timeline.Container, ID: "k8s/" + space + "/" + name + "/" + container}
}
