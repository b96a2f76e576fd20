package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// Compose is what docker compose prints in front of the lines of its services.
// https://docs.docker.com/reference/cli/docker/compose/logs/
var Compose = evidence.Format{
	Name:   "compose-logs",
	Shape:  evidence.FrameShape,
	Title:  "docker compose output",
	Proves: "which service wrote a line",
	Cannot: "time, host, container ID, image",
	Doc:    "https://docs.docker.com/reference/cli/docker/compose/logs/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		line, _, _ := bytes.Cut(h.Bytes, []byte("\n"))
		_, n := composePrefix(line)
		return n > 0
	},
	First: "abcdefghijklmnopqrstuvwxyz0123456789",
	Looks: func(text []byte) bool {
		_, n := composePrefix(text)
		return n > 0
	},
	Cuts: true,
	New:  func() evidence.Peeler { return compose{} },
}

type compose struct{}

// composePrefix returns the container of a line and the length of the prefix.
// The number of the container is asked for: without it a table with vertical
// bars would do.
//
//	pypi-cache_1        | 172.30.0.3 - - [05/Dec/2021:05:00:19 +0000] "GET …
//	web-1  | Collecting litellm
func composePrefix(line []byte) (name []byte, n int) {
	for n < len(line) && n < 128 {
		c := line[n]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c >= 'A' && c <= 'Z' {
			n++
			continue
		}
		break
	}
	name = line[:n]
	digits := n
	for digits > 0 && name[digits-1] >= '0' && name[digits-1] <= '9' {
		digits--
	}
	if digits < 2 || digits == n || name[digits-1] != '_' && name[digits-1] != '-' {
		return nil, 0
	}
	blanks := 0
	for n < len(line) && line[n] == ' ' {
		n++
		blanks++
	}
	if blanks == 0 || n == len(line) || line[n] != '|' {
		return nil, 0
	}
	n++
	if n < len(line) && line[n] != ' ' || progressBar(line[n:]) {
		return nil, 0
	}
	return name, min(n+1, len(line))
}

// progressBar knows conda's progress, whose rows may begin like a container:
//
//	r-codetools-0.2_16   | 105 KB    | ########## | 100%
func progressBar(rest []byte) bool {
	return bytes.Count(rest, []byte("|")) == 2 && bytes.HasSuffix(bytes.TrimRight(rest, " \r"), []byte("%"))
}

// Peel takes the prefix off.
func (compose) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	name, n := composePrefix(l.Text)
	if n == 0 {
		return nil
	}
	child := s.Child(o, name)
	l.Text = l.Text[n:]
	return child
}
