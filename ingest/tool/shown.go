package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
)

// shown answers the commands of unseenAsk where the output shows what they ran.
type shown struct {
	waits   bool // one of them has no answer yet
	recipes bool // make runs in this step: lines of recipes are commands
	headed  bool // the line before was the head of a script of npm's
	made    bool // and each make has its answer
}

// await has the lines that follow looked at.
func (e *echo) await(a *ask, o *evidence.Out) {
	if a.quiet {
		return
	}
	e.runs.waits, e.runs.made = true, false
	e.runs.recipes = e.runs.recipes || a.tool == "make" || a.tool == makeInstalls
	o.Listen()
}

// ran tells that the output shows what a command of one of those programs ran.
func ran(tool string, o *evidence.Out) bool {
	if !o.Awaited(tool) {
		return false
	}
	o.Invocation(tool).Answer()
	return true
}

// ranLine reads a line that may show what a script or task ran:
//
//	> api@1.0.0 lint
//	> eslint src
//	packages/web lint$ eslint .
//	task: [lint] ruff check .
//	Poe => ruff check .
//	Task lint deno lint
//	ruff check .                       (make)
//	make: Nothing to be done for 'lint'.
func (e *echo) ranLine(line []byte, o *evidence.Out) evidence.Result {
	if !e.runs.waits && !e.runs.recipes {
		return evidence.Miss
	}
	text := string(line)
	headed := e.runs.headed
	e.runs.headed = false
	switch {
	case strings.HasPrefix(text, "> "):
		if !headed { // the name of the script; its command follows
			e.runs.headed = o.Awaited(npmScript)
			return evidence.Miss
		}
		ran(npmScript, o)
		e.runs.headed = true // it may have several lines
		e.command(text[2:], o, 0)
		return evidence.Done
	case strings.HasPrefix(text, "task: ["), strings.HasPrefix(text, "Poe => "), strings.HasPrefix(text, "Task "):
		_, command, ok := strings.Cut(text, "] ")
		if after, poe := strings.CutPrefix(text, "Poe => "); poe {
			command, ok = after, true
		} else if after, deno := strings.CutPrefix(text, "Task "); deno {
			_, command, ok = strings.Cut(after, " ")
		}
		if ok && ran("task", o) {
			e.command(command, o, 0)
			return evidence.Done
		}
	case strings.HasPrefix(text, "make: Nothing to be done for "), strings.HasPrefix(text, "make: '") && strings.HasSuffix(text, "' is up to date."):
		ran("make", o)
		ran(makeInstalls, o)
		return evidence.Done
	case e.runs.recipes && isRecipe(text):
		ran("make", o)
		if o.Awaited(makeInstalls) && (asked(text, 0) != nil || recipes[firstWord(text)]) {
			ran(makeInstalls, o)
		}
		e.runs.made = !o.Awaited("make") && !o.Awaited(makeInstalls)
		if !compiles(line) {
			e.command(strings.TrimLeft(text, "@-+"), o, 0)
		}
		return evidence.Done
	}
	if at := strings.Index(text, "$ "); at > 0 && at < 120 && strings.Count(text[:at], " ") == 1 && ran(npmScript, o) {
		e.command(text[at+2:], o, 0)
		return evidence.Done
	}
	return evidence.Miss
}

// tracedLine tells that a line with the mark of a trace shows what a script ran,
// and that a "$" shows what yarn or bun did.
func (e *echo) tracedLine(line []byte, o *evidence.Out) {
	switch {
	case !e.runs.waits:
	case bytes.HasPrefix(line, []byte("+")):
		ran("script", o)
	case bytes.HasPrefix(line, []byte("$")), bytes.HasPrefix(line, []byte("[90m$")):
		ran(npmScript, o)
	}
}

// isRecipe reports whether a line of output is a command that make or just
// shows: it starts with the name of a program that recipes call, and has no
// mark of a sentence.
func isRecipe(text string) bool {
	if len(text) > maxCommand || text == "" || text[0] == ' ' || text[0] == '\t' || strings.HasPrefix(text, `{"`) || sentence(text) {
		return false
	}
	words := strings.Fields(text)
	if len(words) == 0 { // a form feed alone
		return false
	}
	name, args := unwrap(words)
	if words[0] == "[" && !closes([]byte(text)) || name == "install" && (len(args) < 2 || args[0][0] != '-') {
		return false
	}
	for _, w := range args {
		if len(w) <= longestProse && proseWords[strings.ToLower(w)] && w != "for" && w != "do" && w != "in" && w != "then" && w != "if" {
			return false
		}
	}
	script := isScript(words[0]) || strings.Contains(words[0], "/bin/")
	return script || isPython(name) || isPip(name) || asking[name] != nil || shells[name] || recipes[name] || recipePrograms[name]
}

// compiles reports whether a recipe calls a compiler and nothing else: a build
// shows thousands of them.
func compiles(text []byte) bool {
	name, _, _ := bytes.Cut(text, []byte(" "))
	name = name[bytes.LastIndexByte(name, '/')+1:]
	return compilers[string(name)] && !bytes.ContainsAny(text, ";|&$`<>()")
}

var compilers = wordSet("gcc g++ cc c++ clang clang++ ld ar rustc javac")

// recipePrograms are called in recipes, and their names begin no sentence.
var recipePrograms = wordSet("ruff pytest py.test mypy flake8 black isort pylint pyright bandit coverage sphinx-build mkdocs pre-commit eslint prettier tsc jest vitest " +
	"webpack vite rollup esbuild gcc g++ cc c++ clang clang++ ld ar rustc javac java mvn gradle ./gradlew golangci-lint gofmt goimports staticcheck protoc buf " +
	"terraform tofu helm kustomize kubeconform ansible-lint yamllint shellcheck shfmt hadolint markdownlint codespell node nodejs ruby perl php rubocop rspec " +
	"install git rsync scp ssh curl wget aws gcloud gsutil az rm mkdir cp mv ln chmod touch printf echo cd export source . [ @echo cmake ctest ninja meson swift dotnet msbuild " +
	"mdbook hugo jekyll pandoc latexmk twine trivy cosign syft grype gh glab sed awk grep ansible ansible-playbook")

// unseen prepares for the output of a command that runs others. In a trace the
// commands of a script cannot be told from those around it.
func (e *echo) unseen(a *ask, o *evidence.Out) {
	if a == nil {
		return
	}
	if a.tool != "make" {
		o.Makes("pypi") // it may have
		if a.tool != npmScript {
			o.Makes("npm")
		}
	}
	if a.tool == "script" && e.alone {
		a.quiet = !a.traces
		a.loud = a.traces
	}
	e.await(a, o)
}
