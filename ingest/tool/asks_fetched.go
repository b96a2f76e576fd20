package tool

import (
	"path"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// with is the command with other words: the one that a wrapper runs.
func (c shellCommand) with(words []string) shellCommand {
	return shellCommand{words: words, muted: c.muted, hidden: c.hidden, to: c.to, from: c.from, behind: c.behind, yields: c.yields, sifted: c.sifted}
}

// fetchers are programs that print or save what an address holds.
var fetchers = wordSet("curl wget fetch aria2c http https xh iwr irm invoke-webrequest invoke-restmethod")

// fetches reports whether a command fetches a file.
func fetches(words []string) bool {
	name, _ := unwrap(words)
	return fetchers[strings.ToLower(name)]
}

// shells run a script that they are given.
var shells = wordSet("sh bash dash ash zsh ksh")

// interpreters do so too; -c and -e give them the program as a word.
var interpreters = wordSet("node nodejs perl ruby php")

// runsInput reports whether a command runs what was fetched for it:
//
//	curl -fsSL https://acme.example/install.sh | sudo -E bash -
//	wget -qO- https://acme.example/install.sh | sh -s -- --yes
//	bash <(curl -s https://acme.example/install.sh)
//	sh -c "$(curl -fsSL https://acme.example/install.sh)"
//	irm https://acme.example/install.ps1 | iex
//
// "curl … | python3 -m json.tool" and "curl … | perl -ne …" only read it.
func runsInput(name string, args []string) bool {
	switch lower := strings.ToLower(name); {
	case lower == "iex" || lower == "invoke-expression":
		return true
	case name == "eval":
		return len(args) > 0 && variable(args[0][:min(1, len(args[0]))])
	case name == "source" || name == ".":
		return len(args) == 0
	case shells[name]:
		if i := slices.IndexFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c")
		}); i >= 0 {
			return i+1 < len(args) && variable(args[i+1][:min(1, len(args[i+1]))])
		}
		f, plain := leadingFlags(args, wordSet("-o -O"))
		return len(plain) == 0 || plain[0] == "-" || f.has("-s") || strings.HasPrefix(plain[0], "/dev/")
	case isPython(name), interpreters[name]:
		f, plain := leadingFlags(args, wordSet("-W -X"))
		return (len(plain) == 0 || plain[0] == "-") && !f.has("-c", "-m", "-e", "-p", "-n", "-r", "-V", "-v", "--version", "--help")
	}
	return false
}

// printers are programs that print what stands in files.
var printers = wordSet("cat git diff head tail grep rg sed awk less more bat jq yq echo printf type gh column sort comm ls cd set export")

// printsFiles reports whether a command line has nothing else.
func printsFiles(commands []shellCommand) bool {
	return !slices.ContainsFunc(commands, func(c shellCommand) bool {
		name, _ := unwrap(c.words)
		return !printers[name]
	})
}

// proseEndings are those of files in which people explain something.
var proseEndings = []string{".md", ".markdown", ".mdx", ".rst", ".adoc", ".html"}

// printsProse reports whether a command line only prints such files:
//
//	cat README.md
//	head -n 40 docs/install.rst CHANGELOG.md
func printsProse(commands []shellCommand) bool {
	for _, c := range commands {
		name, args := unwrap(c.words)
		if name != "cat" && name != "head" && name != "tail" && name != "less" && name != "more" && name != "bat" {
			return false
		}
		_, plain := splitFlags(args, wordSet("-n -c --lines --bytes"))
		if len(plain) == 0 || slices.ContainsFunc(plain, func(file string) bool {
			return !slices.ContainsFunc(proseEndings, func(end string) bool { return strings.HasSuffix(strings.ToLower(file), end) })
		}) {
			return false
		}
	}
	return len(commands) > 0
}

// scriptAsk asks for anything: nobody knows what a fetched script installs.
// get-pip.py is known: it prints what pip prints.
// https://pip.pypa.io/en/stable/installation/#get-pip-py
func scriptAsk(name, from string) *ask {
	if strings.Contains(from, "get-pip.py") {
		return &ask{tool: "pip", kind: "pypi", unnamed: true}
	}
	return &ask{tool: name, kind: "pypi", items: addressed(from), others: everyKind, quiet: true}
}

// addressed are the files that the words of a fetcher name by their address: a
// file of a release, or a script that somebody hosts. One without a scheme is
// taken for an address when it begins with a name that has a dot.
//
//	curl -s https://codecov.io/bash    curl -sL codecov.io/bash
func addressed(command string) []timeline.Item {
	var items []timeline.Item
	for i, w := range strings.Fields(command) {
		w = strings.Trim(w, `'"()<`)
		scheme, rest, ok := strings.Cut(w, "://")
		if !ok {
			rest = w
		}
		host, file, _ := strings.Cut(rest, "/")
		if i == 0 || variable(w) || ok && scheme != "http" && scheme != "https" || !ok && (strings.Contains(host, "=") || strings.IndexByte(host, '.') <= 0) {
			continue
		}
		file, _, _ = strings.Cut(file, "?")
		file, _, _ = strings.Cut(file, "#")
		if it, ok := releaseFile(strings.Split(file, "/")); ok {
			items = append(items, it)
		} else if host = strings.ToLower(host[strings.LastIndexByte(host, '@')+1:]); host != "" && file != "" && !strings.HasSuffix(file, "/") {
			items = append(items, timeline.Item{Artifact: timeline.PURL("generic", path.Join(host, path.Dir(file)), path.Base(file), "")})
		}
	}
	return items
}

// releaseFile reads the path of a file that hangs on a release, as GitHub and
// those that copy its paths have it.
// https://docs.github.com/en/repositories/releasing-projects-on-github/linking-to-releases
//
//	aquasecurity/trivy/releases/download/v0.69.4/trivy_0.69.4_Linux-64bit.tar.gz
func releaseFile(w []string) (timeline.Item, bool) {
	if len(w) != 6 || w[2] != "releases" || w[3] != "download" || w[0] == "" || w[1] == "" || w[4] == "" || w[5] == "" {
		return timeline.Item{}, false
	}
	return timeline.Item{Artifact: timeline.PURL("github", w[0], w[1], w[4])}, true
}

// scripts are the files that the commands of a log fetched or wrote.
type scripts struct {
	fetched map[string]string   // path and the command that fetched it, or that wrote what the log does not show
	written map[string][]string // path and the lines that a here-document wrote
	open    string              // the file that a here-document is writing
	size    int
}

// maxScripts bounds the files, maxScript the text that is remembered.
const (
	maxScripts = 256
	maxScript  = 256 << 10
)

func (s *scripts) begin(line string) {
	s.open = ""
	commands, _, _ := shellCommands(line)
	for _, c := range commands {
		if to := writes(c); to != "" && len(s.written) < maxScripts {
			if s.written == nil {
				s.written = map[string][]string{}
			}
			s.open, s.written[to] = to, nil
		}
	}
}

// writes returns the file that a command which copies its input writes.
func writes(c shellCommand) string {
	switch name, args := unwrap(c.words); {
	case name == "cat" && c.to != "":
		return path.Clean(c.to)
	case name == "tee":
		if _, plain := leadingFlags(args, nil); len(plain) > 0 {
			return path.Clean(plain[0])
		}
	}
	return ""
}

func (s *scripts) line(text string) {
	if s.open != "" && s.size < maxScript {
		s.size += len(text)
		s.written[s.open] = append(s.written[s.open], text)
	}
}

// save notes where a command puts what it fetched.
func (s *scripts) save(name string, args []string, c shellCommand) {
	to := c.to
	f, plain := splitFlags(args, wordSet("-o -O --output --output-document -OutFile -P -d -H -X -u -A -e -b -m --retry --max-time --connect-timeout"))
	if name == "curl" {
		f, plain = splitFlags(args, wordSet("-o --output -d -H -X -u -A -e -b -m --retry --max-time --connect-timeout"))
	}
	for _, opt := range []string{"-o", "--output", "--output-document", "-OutFile"} {
		if v := f[opt]; len(v) > 0 && v[0] != "" {
			to = v[0]
		}
	}
	switch {
	case name != "curl" && len(f["-O"]) > 0:
		to = f["-O"][0]
	case to == "" && len(plain) > 0 && (name == "wget" || f.has("-O", "--remote-name")):
		to, _, _ = strings.Cut(path.Base(plain[len(plain)-1]), "?")
	}
	s.keep(to, strings.Join(c.words, " "))
}

func (s *scripts) keep(to, command string) {
	if to == "" || to == "-" || variable(to) || len(s.fetched) >= maxScripts {
		return
	}
	if s.fetched == nil {
		s.fetched = map[string]string{}
	}
	s.fetched[path.Clean(to)] = command
}

// script returns the file that a command runs as a script, "" for none.
func script(words []string, name string, args []string) string {
	if shells[name] || name == "source" || name == "." || isPython(name) || interpreters[name] {
		f, plain := leadingFlags(args, wordSet("-W -X -o -O"))
		if len(plain) == 0 || f.has("-c", "-m", "-e") {
			return ""
		}
		return path.Clean(plain[0])
	}
	at := len(words) - len(args) - 1
	if at < 0 || !strings.Contains(words[at], "/") {
		return ""
	}
	return path.Clean(words[at])
}

// fetched reads commands that fetch a script or run one; ok tells that it is
// dealt with. A shell that traces prints the commands of a pipe on lines of
// their own, so that a shell without arguments stands alone:
//
//	$ sh -x deploy.sh
//	+ curl -fsSL https://acme.example/install.sh
//	+ sh
func (e *echo) fetched(name string, args []string, c shellCommand, o *evidence.Out, depth int) (known, ok bool) {
	command := strings.Join(c.words, " ")
	switch {
	case fetchers[strings.ToLower(name)]:
		e.last = command
		e.files.save(name, args, c)
		return packageFiles(args, o) || keptScript(name, args, c, o), true
	case c.fed != "" && runsInput(name, args):
		scriptAsk(name, c.fed).emit(c.fed+" | "+command, c.muted, o)
		return true, true
	case e.alone && depth == 0 && (shells[name] || isPython(name)) && runsInput(name, args):
		scriptAsk(name, e.last).emit(command, c.muted, o)
		return true, true
	}
	if known, ok := e.given(name, args, c, o, depth); ok {
		return known, true
	}
	if code := program(name, args); code != "" {
		return e.simple(c.with(strings.Fields(code)), o, depth+1), true
	}
	file := script(c.words, name, args)
	if file == "" {
		return false, false
	}
	if lines, here := e.files.written[file]; here {
		for _, line := range lines {
			known = e.command(line, o, depth+1) || known
		}
		return known, known
	}
	from, here := e.files.fetched[file]
	if !here {
		return false, false
	}
	scriptAsk(name, from+" "+file).emit(command, c.muted, o)
	return true, true
}

// packageFiles records the files of packages that a fetcher is asked for by
// address; whether they came, and were installed, other lines say.
//
//	wget -q https://mirror.acme.example/packages/litellm-1.107.0-py3-none-any.whl
func packageFiles(args []string, o *evidence.Out) (known bool) {
	for _, a := range args {
		_, rest, ok := strings.Cut(a, "://")
		if !ok {
			continue
		}
		_, path, _ := strings.Cut(rest, "/")
		path, _, _ = strings.Cut(path, "?")
		path, _, _ = strings.Cut(path, "#")
		item, kind := packagePath("/" + path)
		ok = kind == wholeFile
		if !ok && !variable(path) {
			item, ok = releaseFile(strings.Split(path, "/"))
		}
		if ok {
			o.Emit(timeline.Require, nil, item)
			known = true
		}
	}
	return known
}

// keptScript records a script that a fetcher keeps: nothing says that it came, or
// that it ran later.
//
//	curl -Os https://codecov.io/bash    wget https://acme.example/tools/install.sh
func keptScript(name string, args []string, c shellCommand, o *evidence.Out) (known bool) {
	if name == "curl" && c.to == "" && !slices.ContainsFunc(args, keepsFile) {
		return false
	}
	for _, it := range addressed(strings.Join(c.words, " ")) {
		address, ok := strings.CutPrefix(it.Artifact, "pkg:generic/")
		host, _, _ := strings.Cut(address, "/")
		if !ok || strings.Trim(host, "0123456789.:") == "" || !strings.Contains(host, ".") { // a service of the job's own
			continue
		}
		switch path.Ext(address[strings.LastIndexByte(address, '/')+1:]) {
		case "", ".sh", ".bash", ".ps1", ".py", ".pl", ".rb":
			o.Emit(timeline.Require, nil, it)
			known = true
		}
	}
	return known
}

// keepsFile reports whether an option of curl names a file, or has it named after
// the address: -o x, -Os, -sSLo, --remote-name.
func keepsFile(flag string) bool {
	if strings.HasPrefix(flag, "--") {
		return strings.HasPrefix(flag, "--output") || strings.HasPrefix(flag, "--remote-name")
	}
	return strings.HasPrefix(flag, "-") && strings.ContainsAny(flag, "oO")
}

// readsScript returns what runs the here-document of a command line: "sh" for
// any shell ("bash -eux <<EOF", "cat <<EOF | sudo sh", "ssh host <<EOF"), the
// name of an interpreter, or "".
func readsScript(commands []shellCommand) string {
	for _, c := range commands {
		name, args := unwrap(c.words)
		for after := behind(name, args); after != nil; after = behind(name, args) {
			name, args = unwrap(after)
		}
		_, plain := leadingFlags(args, wordSet("-o -O -W -X"))
		switch {
		case name == "ssh":
			return "sh"
		case len(plain) > 0 && plain[0] != "-" && plain[0] != "/dev/stdin" && name != "su":
		case shells[name] || name == "su":
			return "sh"
		case isPython(name) || interpreters[name]:
			return name
		}
	}
	return ""
}

// read looks into a program that a here-document gave to an interpreter.
//
//	python3 - <<EOF
func (e *echo) read(o *evidence.Out) {
	flag := "-e"
	if isPython(e.fed) {
		flag = "-c"
	}
	if code := program(e.fed, []string{flag, string(e.code)}); len(e.code) > 0 && code != "" {
		e.command(code, o, 0)
	}
	e.fed, e.code = "", nil
}

// program finds the call of pip or npm in a program that an interpreter was
// given as a word:
//
//	python3 -c 'import subprocess, sys; subprocess.check_call([sys.executable, "-m", "pip", "install", "-q", "litellm"])'
func program(name string, args []string) string {
	if !isPython(name) && !interpreters[name] && name != "awk" && name != "gawk" {
		return ""
	}
	f, plain := leadingFlags(args, wordSet("-c -e -W -X -F -v"))
	code := f["-e"]
	if isPython(name) {
		code = f["-c"]
	} else if code == nil && !interpreters[name] {
		code = plain
	}
	if len(code) == 0 || !slices.ContainsFunc([]string{"system", "subprocess", "popen", "exec", "run(", "call(", "main(", "run_module", "`"}, func(w string) bool { return strings.Contains(code[0], w) }) {
		return ""
	}
	if quoted := strings.NewReplacer(`"`, "'", " ", "").Replace(code[0]); strings.Contains(quoted, "run_module('pip'") {
		return "pip install $@" // with words that are made elsewhere
	}
	internal := strings.Contains(code[0], "pip._internal") // from pip._internal.cli.main import main
	text := strings.NewReplacer("'", " ", `"`, " ", "`", " ", ",", " ", "[", " ", "]", " ", "(", " ").Replace(code[0])
	for _, call := range []string{"pip", "npm"} {
		words := strings.Fields(text)
		for i, w := range words {
			verb := ""
			if i+1 < len(words) {
				verb, _, _ = strings.Cut(words[i+1], ")")
			}
			if w != call && !strings.HasSuffix(w, "/"+call) && w != call+".main" && !(internal && call == "pip" && (w == "main" || strings.HasSuffix(w, ".main"))) || verb != "install" && verb != "i" && verb != "ci" {
				continue
			}
			end := slices.IndexFunc(words[i:], func(w string) bool { return strings.ContainsAny(w, ");") })
			rest := words[i+1:]
			if end > 0 {
				last, _, _ := strings.Cut(words[i+end], ")")
				last, _, _ = strings.Cut(last, ";")
				rest = append(slices.Clone(words[i+1:i+end]), last)
			}
			return call + " " + strings.Join(rest, " ")
		}
	}
	return ""
}
