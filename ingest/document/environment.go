package document

import (
	"bytes"
	"regexp"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Environment is the environment of a process: what env and printenv print, and
// /proc/PID/environ as the kernel has it.
// https://man7.org/linux/man-pages/man5/proc_pid_environ.5.html
var Environment = evidence.Format{
	Name:   "environment",
	Shape:  evidence.DocumentShape,
	Title:  "environment of a process (env, printenv, /proc/PID/environ)",
	Proves: "names of secrets in the environment of a process; where traces are sent",
	Cannot: "which process, unless its file says so; on which host: say it with --subject",
	Doc:    "https://man7.org/linux/man-pages/man5/proc_pid_environ.5.html",
	Sample: "printed by env of coreutils 9.1, and the kernel's file of the same process, values replaced",
	Claim:  claimEnvironment,
	Read:   readEnvironment,
}

// DotEnv is a file of settings that a process is started with.
// https://github.com/motdotla/dotenv
var DotEnv = evidence.Format{
	Name:   "dotenv",
	Shape:  evidence.DocumentShape,
	Title:  ".env file",
	Proves: "names of secrets that what is started with the file holds; where traces are sent",
	Cannot: "that something was started with it; on which host it lies: say it with --subject",
	Doc:    "https://github.com/motdotla/dotenv#what-other-env-files-can-i-create",
	Sample: "written by hand after the documentation",
	Claim:  claimDotEnv,
	Read:   readDotEnv,
}

// assignment is a variable at the start of a line.
var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// claimEnvironment wants variables and nothing else at the beginning, and one
// that every process has.
//
//	SHELL=/bin/bash
//	PATH=/usr/local/bin:/usr/bin
func claimEnvironment(h *evidence.Head) bool {
	if h.Name == ".env" || strings.HasSuffix(h.Name, ".env") {
		return false
	}
	text := h.Bytes
	separator := byte('\n')
	if bytes.IndexByte(text, 0) >= 0 {
		separator = 0
	}
	usual, n := false, 0
	for part := range bytes.SplitSeq(text, []byte{separator}) {
		if len(part) == 0 {
			continue
		}
		if !assignment.Match(part) {
			if n < 3 {
				return false
			}
			continue // the rest of a value of several lines
		}
		n++
		name, _, _ := bytes.Cut(part, []byte("="))
		switch string(name) {
		case "PATH", "HOME", "PWD":
			usual = true
		}
	}
	return usual && n >= 3
}

func readEnvironment(d *evidence.Doc, o *evidence.Out) error {
	separator := "\n"
	if bytes.IndexByte(d.Data, 0) >= 0 {
		separator = "\x00"
	}
	o.Seen("")
	off := 0
	for part := range strings.SplitSeq(string(d.Data), separator) {
		if assignment.MatchString(part) {
			name, val, _ := strings.Cut(strings.TrimSuffix(part, "\r"), "=")
			holdVariable(d, o, off, name, val)
		}
		off += len(part) + len(separator)
	}
	return nil
}

// holdVariable records a variable that holds a secret or has traces sent, on the
// line on which it stands.
func holdVariable(d *evidence.Doc, o *evidence.Out, off int, name, val string) {
	if strings.TrimSpace(strings.Trim(val, `"'`)) == "" {
		return
	}
	no, start, _ := d.LineBounds(min(off, len(d.Data)))
	o.SetLine(no, int64(start), []byte(name+"=[redacted]"))
	if holdsSecret(name, val) {
		o.Hold(name)
	}
	o.TraceExporter(name, val, timeline.Span{})
}

// claimDotEnv goes by the name of the file, and wants a variable in it.
func claimDotEnv(h *evidence.Head) bool {
	if h.Name != ".env" && !strings.HasPrefix(h.Name, ".env.") && !strings.HasSuffix(h.Name, ".env") {
		return false
	}
	for line := range strings.Lines(string(h.Bytes)) {
		if line = dotEnvLine(line); line != "" {
			return assignment.MatchString(line)
		}
	}
	return false
}

// dotEnvLine is a line without what does not count, "" for a comment.
//
//	export OPENAI_API_KEY="…"
//	DATABASE_URL = postgres://…
func dotEnvLine(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") {
		return ""
	}
	line = strings.TrimSpace(strings.TrimPrefix(line, "export "))
	if name, val, ok := strings.Cut(line, "="); ok {
		return strings.TrimSpace(name) + "=" + strings.TrimSpace(val)
	}
	return line
}

// readDotEnv reads one variable a line; a value in quotes may go on on the next
// ones, as keys do.
func readDotEnv(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	for _, word := range []string{"example", "sample", "template", "dist"} {
		if strings.Contains(d.Name, word) {
			return nil // it shows how such a file looks
		}
	}
	off, quote := 0, ""
	for raw := range strings.Lines(string(d.Data)) {
		at := off
		off += len(raw)
		if quote != "" {
			if strings.Contains(raw, quote) {
				quote = ""
			}
			continue
		}
		line := dotEnvLine(raw)
		if !assignment.MatchString(line) {
			continue
		}
		name, val, _ := strings.Cut(line, "=")
		if q := val[:min(len(val), 1)]; (q == `"` || q == "'" || q == "`") && !strings.Contains(val[1:], q) {
			quote = q
		}
		holdVariable(d, o, at, name, val)
	}
	return nil
}
