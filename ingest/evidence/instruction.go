package evidence

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// buildStage is how BuildKit marks a step: "[2/4] ", "[app_release  1/11] ".
var buildStage = regexp.MustCompile(`^\[[^\]]*\]\s*`)

// shellForm is the shell that a builder puts before a command: "/bin/sh -c ",
// "/bin/bash -o pipefail -c ", "cmd /S /C ".
var shellForm = regexp.MustCompile(`^(?:(?:/\S*/)?(?:ba|da|a|z|k)?sh(?: -\w*o \w+| -\w+)*? -\w*c|cmd /S /C) `)

// argsThenShell are the build arguments before it: "|2 A=x B=y z /bin/sh -c ".
var argsThenShell = regexp.MustCompile(`^\|\d+ .*? (/\S*sh(?: -\w*o \w+| -\w+)*? -\w*c )`)

// Instruction is the one spelling of an instruction of a Dockerfile, so that
// the step of a build log and the history of an image can be compared. These
// are all "RUN pip install x":
//
//	[2/4] RUN --mount=type=cache,target=/var/cache/pip pip install x
//	RUN /bin/sh -c pip install x # buildkit
//	RUN |1 VERSION=3 /bin/sh -c pip install x # buildkit
//	/bin/sh -c pip install x
//
// Stage, flags, build arguments, shell, the builder's mark and the number of
// blanks are dropped; of COPY and ADD stay sources and target. What names no
// instruction and no shell stays as it is. The form is for comparing and for
// reading the command in it, and it is its own normal form.
func Instruction(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = buildStage.ReplaceAllString(text, "")
	text = strings.TrimSuffix(text, " # buildkit")
	word, rest, _ := strings.Cut(text, " ")
	switch strings.ToUpper(word) {
	case "RUN":
		return "RUN " + shellCommand(dropFlags(rest))
	case "COPY", "ADD":
		return strings.ToUpper(word) + " " + dropFlags(rest)
	}
	command := shellCommand(text)
	if nop, ok := strings.CutPrefix(command, "#(nop) "); ok {
		return Instruction(nop)
	}
	if command != text {
		return "RUN " + command
	}
	return text
}

// dropFlags drops "--mount=… --network=…" before an instruction's arguments.
func dropFlags(s string) string {
	for strings.HasPrefix(s, "--") {
		_, rest, ok := strings.Cut(s, " ")
		if !ok {
			break
		}
		s = rest
	}
	return s
}

// shellCommand drops build arguments and shells around a command, and reads
// the form of a JSON list.
func shellCommand(s string) string {
	if strings.HasPrefix(s, "|") {
		if m := argsThenShell.FindStringSubmatchIndex(s); m != nil {
			s = s[m[2]:]
		} else if fields := strings.Split(s, " "); len(fields) > 1 {
			if n, err := strconv.Atoi(fields[0][1:]); err == nil && n >= 0 && n+1 < len(fields) {
				s = strings.Join(fields[n+1:], " ")
			}
		}
	}
	if strings.HasPrefix(s, "[") {
		var words []string
		if json.Unmarshal([]byte(s), &words) == nil && len(words) > 0 {
			s = strings.Join(words, " ")
		}
	}
	for {
		n := len(shellForm.FindString(s))
		if n == 0 {
			return s
		}
		s = unquote(s[n:])
	}
}

// unquote takes the quotes off a text that is one quoted word.
func unquote(s string) string {
	if len(s) > 2 && (s[0] == '"' || s[0] == '\'') && strings.IndexByte(s[1:], s[0]) == len(s)-2 {
		return s[1 : len(s)-1]
	}
	return s
}
