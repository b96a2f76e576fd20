package tool

import (
	"bytes"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
)

// bareStarts are the words that the command lines start with that make prints
// without a mark before it runs them.
var bareStarts = []string{
	"pip install", "pip -q", "pip --quiet", "pip download", "pip3", "python -m pip", "python3", "uv ", "pipx install", "poetry ", "pipenv ", "pdm ",
	"npm ", "pnpm ", "yarn ", "bun install", "conda ", "mamba ", "docker pull", "docker build", "docker compose", "docker-compose",
	"cd ", ". ", "source ", "sudo ", "env ", "test ", "./venv/bin/", "./.venv/bin/", "venv/bin/", ".venv/bin/", "env/bin/", "/usr/bin/pip", "/usr/bin/python",
	"/usr/local/bin/pip", "/usr/local/bin/python", "/opt/",
}

// bareLine reads a command line without a mark, as make prints it:
//
//	pip install -q litellm
//	. .venv/bin/activate && python3 -m pip install --quiet --no-cache-dir -r requirements.txt
//	npm ci
//
// Only commands that print no versions are read: of another, the output tells.
// That the line is a command and no sentence shows in its words alone, so it
// asks for what it names, and states nothing.
func (e *echo) bareLine(line []byte, o *evidence.Out) evidence.Result {
	if e.half != nil {
		line = slices.Concat(e.half, line)
		e.half = nil
	} else if !startsBare(line) || o.Prints() {
		return evidence.Miss
	}
	if len(line) > maxCommand {
		return evidence.Miss
	}
	if half, ok := bytes.CutSuffix(line, []byte(`\`)); ok {
		e.half = append(bytes.Clone(half), ' ')
		return evidence.More
	}
	text := string(line)
	commands, here, open := shellCommands(text)
	if open || here != "" || sentence(text) {
		return evidence.Miss
	}
	e.bare = true
	known := false
	for _, c := range commands {
		known = e.simple(c, o, 0) || known
	}
	e.bare = false
	if known {
		e.listed.interrupt(o)
		return evidence.Done
	}
	return evidence.Miss
}

func startsBare(line []byte) bool {
	return slices.ContainsFunc(bareStarts, func(w string) bool { return bytes.HasPrefix(line, []byte(w)) })
}

// silent reports whether a command that was printed without a mark is one that
// prints no versions, and has no word that belongs to a sentence.
func (a *ask) silent(args []string, muted bool) bool {
	if a.none || !a.quiet && !muted && !slices.Contains(args, "ci") {
		return false
	}
	return !slices.ContainsFunc(args, func(w string) bool { return proseWords[strings.ToLower(w)] })
}

// sentence reports whether a line has marks of prose, or of a manual that shows
// how a command is written.
//
//	npm ci can only install packages with an existing package-lock.json
//	pip install [options] <requirement specifier> [package-index-options] ...
func sentence(line string) bool {
	line = strings.TrimSuffix(line, "/...") // go test ./...
	if strings.HasSuffix(line, ".") && !strings.HasSuffix(line, " .") && !strings.HasSuffix(line, "/.") || strings.HasSuffix(line, ":") || strings.HasSuffix(line, "...") {
		return true
	}
	for _, mark := range []string{", ", " [", " <", " (", " - ", " ...", "…", "`", "?", "! "} {
		if strings.Contains(line, mark) && (mark != "`" || strings.Count(line, mark) == 1) {
			return true
		}
	}
	return false
}

// proseWords are words of sentences that nobody calls a package.
var proseWords = wordSet("a an the to and or for in of on with without if is are was were will can cannot only has have had not it its this that these " +
	"you your we from before after again instead then when because failed succeeded finished completed returned exited did does do may must should would could")

// longestProse is the length of the longest of them.
const longestProse = len("succeeded")
