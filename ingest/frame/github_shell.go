package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// maxCode bounds the program of a step that is not a shell's.
const maxCode = 8 << 10

// shellOf reads the last line of a step's script: which program runs it. One that
// the workflow names is a command like others, and what is written for an
// interpreter is its program.
//
//	shell: /usr/bin/bash -e {0}
//	shell: nix develop -c bash -e {0}
//	shell: ./ci/in-container.sh {0}
//	shell: /usr/bin/python {0}
//
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#custom-shell
func (j *githubJob) shellOf(l *evidence.Line) bool {
	code := j.code
	j.code = j.code[:0]
	shell, _, ok := bytes.Cut(l.Text[len("shell: "):], []byte("{0}"))
	if shell = bytes.TrimSpace(shell); !ok || len(shell) == 0 {
		return false
	}
	name, _, _ := bytes.Cut(shell, []byte(" "))
	name = bytes.TrimSuffix(bytes.ToLower(name[bytes.LastIndexAny(name, `/\`)+1:]), []byte(".exe"))
	switch string(name) {
	case "bash", "sh", "pwsh", "powershell", "cmd", "program":
		return false
	case "python", "python3", "node", "perl", "ruby":
		flag := " -e '"
		if name[0] == 'p' && name[1] == 'y' {
			flag = " -c '"
		}
		l.Text = append([]byte("$ "+string(name)+flag), append(bytes.ReplaceAll(code, []byte("'"), []byte(`"`)), '\'')...)
	default:
		l.Text = append([]byte("$ "), bytes.Trim(shell, `'"`)...)
	}
	l.Flat = false
	return true
}

// codeLine keeps a line of a step's script.
func (j *githubJob) codeLine(text []byte) {
	if len(j.code)+len(text) < maxCode {
		j.code = append(append(j.code, text...), ';', ' ')
	}
}
