package tool

import (
	"bytes"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Echo is a command that a log shows before its output: a script's lines, a
// shell that traces, the RUN of a build.
// https://www.gnu.org/software/bash/manual/html_node/The-Set-Builtin.html
var Echo = evidence.Format{
	Name:   "command-echo",
	Shape:  evidence.ToolShape,
	Title:  "commands shown before their output (set -x, script lines, RUN)",
	Proves: "what pip, uv, poetry, conda, npm, apt, docker, code --install-extension, jenkins-plugin-cli and others were told to fetch; what commands that list packages print: pip, conda, pipx, npm, pnpm, gem, dpkg, rpm, apk; what Trivy, Grype, Syft, pip-audit, OSV-Scanner, Snyk, docker scout, cargo audit, bundler-audit and govulncheck show of an image or a project; a lock file as poetry show, uv tree, pip-compile print it",
	Cannot: "that the command succeeded, which version a command without output got, and what a script or a task ran of which no line is shown: a job that ran one is unknown",
	Doc:    "https://www.gnu.org/software/bash/manual/html_node/The-Set-Builtin.html",
	Sample: "made with dash and bash, and written by hand after the programs' documentation",
	Starts: slices.Concat([]string{"+ ", "++", "$ ", "[90m$", `Running "`, hookInstalled, remoteBuild, "null_resource.", "terraform_data.", "module."}, toldStarts, runnerMarks, drives, pageMarks, cellMarks, bareStarts),
	// A command is always given to its own tool first.
	Commands: true,
	Tool:     func() evidence.Parser { return &echo{} },
	Asks:     func(command string) []timeline.Item { return asked(command, 0) },
}

type echo struct {
	open     []byte // a command whose quotes are not closed yet
	here     string // delimiter of the here-document being read
	fed      string // what reads the here-document as a program: a shell, an interpreter
	code     []byte // of that program
	half     []byte // a command without a mark that goes on in the next line
	bare     bool   // the command at work has no mark
	listed   listing
	files    scripts
	shown    bool            // a line of a script was seen
	scripted bool            // the command is one of a script, whose output follows all of it
	alone    bool            // the command is one of a trace: what it reads does not show
	word     bool            // and its output is a word of another: "++"
	last     string          // the last command that fetched something
	pulled   map[string]bool // images that a command here pulled: a later run finds them
	said     meanings
	runs     shown
	flow     flow
	told     bool // a line told of something that runs and is not shown: see toldLine
}

// maxQuoted bounds the lines of a text in quotes.
const maxQuoted = 40

// maxNesting bounds "sh -c" inside "sh -c".
const maxNesting = 4

// Line reads one line.
func (e *echo) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return e.script(l.Text, o)
	}
	if bytes.HasPrefix(l.Text, []byte(hookInstalled)) {
		o.Emit(timeline.Opaque, nil, (&ask{others: hookKinds}).some()...)
		return evidence.Done
	}
	if bytes.HasPrefix(l.Text, []byte(remoteBuild)) {
		o.Stream().Spoken()
		return evidence.Done
	}
	if command, ok := traced(l.Text); ok {
		e.listed.command(false, o)
		commands, _, _ := shellCommands(command)
		o.SetPrints(printsFiles(commands))
		o.SetProse(printsProse(commands))
		e.tracedLine(l.Text, o)
		e.alone, e.word = bytes.HasPrefix(l.Text, []byte("+")), bytes.HasPrefix(l.Text, []byte("++"))
		known := e.commands(command, commands, o, 0)
		if e.alone, e.word = false, false; known {
			return evidence.Done
		}
		return evidence.Miss
	}
	if r := e.ranLine(l.Text, o); r != evidence.Miss {
		return r
	}
	if r := e.toldLine(l.Text, o); r != evidence.Miss {
		return r
	}
	if r := e.bareLine(l.Text, o); r != evidence.Miss {
		return r
	}
	return e.listed.line(l.Text, o)
}

// traced takes the mark off a line that a shell or a runner prints before it
// runs a command:
//
//	$ pip install -r requirements.txt
//	+ pip install -q litellm
//	++ docker pull redis:7
//	[90m$ docker compose pull
//	Running "install" command: `npm ci`...
//	nox > python -m pip install litellm
//	C:\jenkins\workspace\api>pip install litellm
//	# Executing command: pip install litellm
//	!pip install litellm
func traced(line []byte) (command string, ok bool) {
	text := bytes.TrimLeft(line, " \t")
	if len(text) == 0 || len(line) != len(text) && text[0] == '$' {
		return "", false // indented: an example that some text shows
	}
	if rest, ok := bytes.CutPrefix(text, []byte(`Running "`)); ok {
		_, rest, ok = bytes.Cut(rest, []byte("command: `"))
		end := bytes.LastIndexByte(rest, '`')
		if !ok || end < 0 {
			return "", false
		}
		return string(rest[:end]), true
	}
	if command, ok := localExec(text); ok {
		return command, true
	}
	if command := runnerCommand(text); command != "" {
		return command, true
	}
	if command := batchCommand(line); command != nil {
		return string(command), true
	}
	if command := pageCommand(text); command != nil {
		return string(command), true
	}
	if rest, ok := bytes.CutPrefix(text, []byte("[90m$")); ok {
		return string(bytes.TrimPrefix(rest, []byte("[0m"))), true
	}
	if len(line) != len(text) && text[0] == '+' {
		return "", false // a row of uv, a difference
	}
	mark := len(text) - len(bytes.TrimLeft(text, "+"))
	if mark == 0 && text[0] == '$' {
		mark = 1
	}
	if mark == 0 || len(text) < mark+2 || text[mark] != ' ' || text[mark+1] == ' ' || len(text) > maxCommand ||
		bytes.HasPrefix(text, []byte("+++ b/")) { // the head of a difference
		return "", false
	}
	return string(text[mark+1:]), true
}

// drives begin the lines that cmd.exe shows of a batch file.
var drives = []string{`C:\`, `D:\`, `E:\`, `F:\`, `c:\`, `d:\`}

// batchCommand returns the command that cmd.exe shows behind its folder, nil for
// other lines that begin with a path: a command follows at once.
func batchCommand(line []byte) []byte {
	if len(line) < 5 || line[1] != ':' || line[2] != '\\' {
		return nil
	}
	i := bytes.IndexAny(line[:min(len(line), 260)], `<>|"*?`)
	if i < 0 || line[i] != '>' || i+1 == len(line) || !letter(line[i+1]) && line[i+1] != '.' && line[i+1] != '"' {
		return nil
	}
	return bytes.TrimRight(line[i+1:], " ")
}

// pageMarks are what hosting platforms put before a command that they run: AWS
// Amplify, Render. cellMarks begin commands of a notebook's cell.
var (
	pageMarks = []string{"# Executing command: ", "==> Running build command '"}
	cellMarks = []string{"!pip ", "!pip3 ", "%pip ", "!uv ", "!conda ", "%conda ", "!npm ", "!apt", "!python"}
)

// pageCommand returns the command behind such a mark, nil when there is none.
//
//	# Executing command: npm ci
//	==> Running build command 'pip install -r requirements.txt'...
//	!pip install -q litellm
func pageCommand(text []byte) []byte {
	for _, mark := range pageMarks {
		if rest, ok := bytes.CutPrefix(text, []byte(mark)); ok {
			return bytes.TrimSuffix(rest, []byte("'..."))
		}
	}
	for _, mark := range cellMarks {
		if bytes.HasPrefix(text, []byte(mark)) {
			return text[1:]
		}
	}
	return nil
}

// runnerMarks are what programs that run tasks put before a command.
var runnerMarks = []string{"nox > ", "✨ Pixi task (", "cmd [", "Running Trivy with options: ", "Running trivy with options: "}

// runnerCommand returns the command that such a program says it runs; "" when
// the line is none, as what nox says of its sessions.
//
//	nox > python -m pip install litellm==1.107.0
//	nox > Session tests was successful.
//	✨ Pixi task (setup in default): pip install -e .
//	cmd [1] | pip install -e .                 (hatch)
//	Running Trivy with options: trivy image registry.acme.example/api:1.4
func runnerCommand(text []byte) string {
	for i, mark := range runnerMarks {
		rest, ok := bytes.CutPrefix(text, []byte(mark))
		if ok && i > 0 {
			_, rest, ok = bytes.Cut(rest, []byte([]string{"", "): ", "] | ", "", ""}[i]))
		}
		if ok && len(rest) > 0 && len(rest) <= maxCommand && (rest[0] < 'A' || rest[0] > 'Z') && rest[0] != '*' {
			return string(rest)
		}
	}
	return ""
}

// script reads a line of a script. A command goes on while its quotes are
// open; what a here-document writes is no command.
func (e *echo) script(text []byte, o *evidence.Out) evidence.Result {
	e.scripted = true
	defer func() { e.scripted = false }()
	if e.here != "" {
		switch {
		case string(bytes.TrimSpace(text)) == e.here:
			e.here = ""
			e.read(o)
		case e.fed == "sh":
			e.command(string(text), o, 0)
		case e.fed != "":
			if len(e.code) < maxCommand {
				e.code = append(append(e.code, text...), '\n')
			}
		default:
			e.files.line(string(text))
		}
		return evidence.Done
	}
	e.listed.command(true, o)
	if e.open == nil {
		if command, ok := traced(text); ok {
			text = []byte(command)
		}
	}
	joined := append(e.open, text...)
	line := string(joined)
	commands, here, open := shellCommands(line)
	if open && bytes.Count(joined, []byte("\n")) >= maxQuoted { // no quotes, but an apostrophe
		for part := range strings.SplitSeq(line, "\n") {
			e.command(part, o, 0)
		}
		e.open = nil
		return evidence.Done
	}
	if open && len(joined) < maxCommand {
		end := byte('\n') // inside quotes
		if bytes.HasSuffix(joined, []byte(`\`)) {
			joined, end = joined[:len(joined)-1], ' '
		}
		e.open = append(append([]byte(nil), joined...), end)
		return evidence.Done
	}
	e.open = nil
	// The output of a whole script follows it.
	o.SetPrints(printsFiles(commands) && (!e.shown || o.Prints()))
	o.SetProse(printsProse(commands) && (!e.shown || o.Prose()))
	e.shown = true
	e.commands(line, commands, o, 0)
	e.here, e.fed = here, ""
	if here != "" {
		if e.fed = readsScript(commands); e.fed == "" {
			e.files.begin(line)
		}
	}
	return evidence.Done
}

// command reads a command line; it reports whether some tool's command is in it.
func (e *echo) command(line string, o *evidence.Out, depth int) (known bool) {
	if instructed(line) {
		line = strings.TrimPrefix(evidence.Instruction(line), "RUN ")
	}
	commands, _, _ := shellCommands(line)
	return e.simples(commands, o, depth)
}

// commands is command for a line that was taken apart already.
func (e *echo) commands(line string, commands []shellCommand, o *evidence.Out, depth int) (known bool) {
	if instructed(line) {
		return e.command(line, o, depth)
	}
	known = e.simples(commands, o, depth)
	if strings.HasSuffix(line, collapsedMark) {
		e.rest(line, o)
		return true
	}
	return known
}

func (e *echo) simples(commands []shellCommand, o *evidence.Out, depth int) (known bool) {
	for _, c := range commands {
		if depth == 0 && !e.alone {
			e.flow.follow(c.words)
		}
		if e.simple(c, o, depth) {
			known = true
		}
	}
	return known
}

// instructed reports whether a command is written as in a Dockerfile or in the
// history of an image, where a shell's command is not quoted.
func instructed(line string) bool {
	return strings.HasPrefix(line, "RUN ") || strings.HasPrefix(line, "/bin/sh -c ") && !strings.HasPrefix(line[11:], "'") && !strings.HasPrefix(line[11:], `"`) ||
		strings.HasPrefix(line, "|") && strings.Contains(line, " -c ")
}

// simple reads one simple command.
func (e *echo) simple(c shellCommand, o *evidence.Out, depth int) bool {
	e.said.note(c.words)
	if name := whichProgram(c); name != "" {
		c.words = append([]string{name}, c.words[1:]...)
	}
	c.words = e.said.spell(c.words)
	name, args := unwrap(c.words)
	if depth >= maxNesting {
		return false
	}
	if !e.bare {
		environment(c.words, name, args, o)
	}
	if !e.bare {
		if known, ok := e.fetched(name, args, c, o, depth); ok {
			return known
		}
	}
	if o.EngineCommand(c.words, timeline.Span{}) {
		return true
	}
	if e.alone && !e.shown && name == "set" && len(args) > 0 && strings.HasPrefix(args[0], "+") && strings.Contains(args[0], "x") { // what follows is shown no more
		e.rest(strings.Join(c.words, " "), o)
		return true
	}
	if inner, ok := inside(name, args); ok {
		if len(inner) == 1 { // sh -c 'several commands'
			if name == "ssh" && (c.from != "" || c.behind != nil) { // ssh host bash -s < deploy.sh
				return e.simple(c.with(strings.Fields(inner[0])), o, depth+1)
			}
			return e.command(inner[0], o, depth+1)
		}
		return e.simple(c.with(inner), o, depth+1)
	}
	if !e.bare && e.listed.asked(name, args, c.muted, e.scripted, o) && !runners[name] { // those fetch what they run
		return true
	}
	a := askOf(name, args)
	if e.bare {
		if a == nil || !a.silent(args, c.muted) {
			return false
		}
		a.unproved = true
	}
	if a == nil && c.hidden && len(args) < len(c.words) {
		a = mutedScript(name, c.words[len(c.words)-len(args)-1:])
	}
	if a == nil && !e.bare && !e.word {
		a = unseenAsk(name, args, c)
		e.unseen(a, o)
	}
	if a != nil {
		if a.kind == "image" && len(a.items) > 0 {
			e.image(a, args)
		}
		a.quiet = a.quiet || c.sifted && a.loud // silence is no answer there
		a.certain = depth == 0 && !c.maybe && !e.flow.forked()
		a.emit(strings.Join(c.words, " "), c.muted, o)
	}
	if after := behind(name, args); after != nil {
		return e.simple(c.with(after), o, depth+1) || a != nil
	}
	if a != nil || e.bare {
		return a != nil
	}
	switch words, line := within(name, args); {
	case words != nil:
		return e.simple(c.with(words), o, depth+1)
	case line != "":
		return e.command(line, o, depth+1)
	}
	return false
}

// emit records what a command asks for. Named packages are asked for at once;
// what no output answers was opaque.
func (a *ask) emit(command string, muted bool, o *evidence.Out) {
	if a.also != nil {
		a.also.emit(command, muted, o)
	}
	o.Seen(a.topic())
	quiet := a.quiet || muted
	var opaque []timeline.Item
	ran := a.speaks && a.certain && !quiet
	if !a.none && (quiet || !a.loud || ran) {
		if quiet || a.kind != "image" {
			opaque = append(opaque, a.items...)
		}
		opaque = append(opaque, a.some()...)
	}
	op, traced := o.Command(a.tool, command, quiet, opaque)
	if ran {
		op.Speaks()
	}
	if a.tool == makeInstalls {
		op.Indirect()
	}
	if traced || a.unproved {
		return
	}
	var named []timeline.Item
	for _, it := range a.items {
		// Of a quiet command, opaque says more than the question; a pin is kept.
		parts := timeline.Split(it.Artifact)
		if !quiet || parts.Digest != "" || parts.Type != "image" && parts.Version != "" {
			named = append(named, it)
		}
	}
	if named != nil {
		o.Emit(timeline.Require, op, named...)
	}
}

// topic is what a source with the command speaks of.
func (a *ask) topic() timeline.Topic {
	switch a.kind {
	case "image":
		return timeline.Images
	case timeline.JenkinsPlugin:
		return timeline.JenkinsPlugins
	}
	return timeline.Topic(a.kind)
}

// End forgets an open command: half of one proves nothing.
func (e *echo) End(_ timeline.OpState, o *evidence.Out) {
	e.open, e.here, e.pulled, e.files, e.half = nil, "", nil, scripts{}, nil
	e.said, e.runs, e.flow, e.told = meanings{}, shown{}, flow{}, false
	e.listed.stop(o)
}
