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
		line, rest, _ := bytes.Cut(h.Bytes, []byte("\n"))
		name, n := composePrefix(line)
		if n == 0 || numberedName(name) {
			return n > 0
		}
		return bytes.HasPrefix(rest, line[:n])
	},
	First: "abcdefghijklmnopqrstuvwxyz0123456789",
	Looks: func(text []byte) bool {
		_, n := barPrefix(text)
		return n > 0
	},
	Cuts: true,
	New:  func() evidence.Peeler { return compose{} },
}

// compose counts the lines of containers without a number, by their names and
// the blanks behind them. A first line that any table could have is let pass, a
// second is believed.
type compose map[string]int

// maxNamed bounds the names.
const maxNamed = 256

// composePrefix returns the container of a line and the length of the prefix.
// A service whose container was given a name has no number there; then nothing
// in the rest may look like another column of a table.
//
//	pypi-cache_1        | 172.30.0.3 - - [05/Dec/2021:05:00:19 +0000] "GET …
//	web-1  | Collecting litellm
//	registry           | time="2026-10-21T12:04:51Z" level=info msg="response completed" …
func composePrefix(line []byte) (name []byte, n int) {
	if name, n = barPrefix(line); n == 0 || !numberedName(name) && !speaks(line[n:]) {
		return nil, 0
	}
	return name, n
}

// barPrefix returns the word before the bar that a line may have, and the
// length of both.
func barPrefix(line []byte) (name []byte, n int) {
	for n < len(line) && n < 128 {
		c := line[n]
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c >= 'A' && c <= 'Z' {
			n++
			continue
		}
		break
	}
	name = line[:n]
	blanks := 0
	for n < len(line) && line[n] == ' ' {
		n++
		blanks++
	}
	if blanks == 0 || n == len(line) || line[n] != '|' {
		return nil, 0
	}
	n++
	if n < len(line) && line[n] != ' ' || progressBar(line[n:]) || len(bytes.TrimLeft(name, "0123456789")) == 0 {
		return nil, 0 // a number alone is that of a line
	}
	return name, min(n+1, len(line))
}

// numberedName reports whether a name ends with the number of a container.
func numberedName(name []byte) bool {
	stem := bytes.TrimRight(name, "0123456789")
	n := len(stem)
	return n >= 2 && n < len(name) && (stem[n-1] == '_' || stem[n-1] == '-')
}

// speaks reports whether what follows a bar is what a server writes, and no
// cell of a table, size in git's list of changes, or command in a pipe.
//
//	registry  | time="2026-10-21T12:04:51Z" level=info msg="response completed" …
//	db        | 2026-10-21 12:04:51.123 UTC [1] LOG:  database system is ready
//	pyproject.toml | 12 ++--
func speaks(rest []byte) bool {
	text := bytes.TrimSpace(rest)
	if !cell(text) {
		return false
	}
	switch c := text[0]; {
	case c == '[', c == '{', bytes.HasPrefix(text, []byte("time=")), bytes.HasPrefix(text, []byte("ts=")), bytes.HasPrefix(text, []byte("level=")):
		return true
	case c >= '0' && c <= '9': // a time or an address
		return bytes.ContainsAny(text[:16], "/:.") || text[4] == '-'
	}
	return false
}

// cell reports whether a text may be a line of output: no table goes on in it.
func cell(text []byte) bool {
	return len(text) >= 16 && !bytes.Contains(text, []byte(" | ")) && !bytes.HasSuffix(text, []byte(" |")) && bytes.Contains(text, []byte(" "))
}

// progressBar knows conda's progress, whose rows may begin like a container:
//
//	r-codetools-0.2_16   | 105 KB    | ########## | 100%
func progressBar(rest []byte) bool {
	return bytes.Count(rest, []byte("|")) == 2 && bytes.HasSuffix(bytes.TrimRight(rest, " \r"), []byte("%"))
}

// Peel takes the prefix off.
func (c compose) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	name, n := barPrefix(l.Text)
	if n == 0 {
		return nil
	}
	if !numberedName(name) && !c.named(l.Text[:n], l.Text[n:]) {
		return nil
	}
	child := s.Child(o, name)
	l.Text = l.Text[n:]
	return child
}

// named reports whether a prefix without a number is that of a container.
func (c compose) named(prefix, rest []byte) bool {
	lines, known := c[string(prefix)]
	sure := speaks(rest)
	if !known && (len(c) >= maxNamed || !sure && !cell(bytes.TrimSpace(rest))) {
		return sure
	}
	if sure {
		lines++
	}
	c[string(prefix)] = lines + 1
	return lines > 0
}
