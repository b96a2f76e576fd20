package tool

import (
	"slices"
	"strings"
)

// words are what the script of a log said that its own words mean.
type meanings struct {
	alias map[string]string // alias p='pip install -q'
	value map[string]string // CMD="pip install -q litellm"
}

// maxMeanings bounds what is remembered of one log, maxMeaning each.
const (
	maxMeanings = 256
	maxMeaning  = 4 << 10
)

// note keeps what a command defines.
func (m *meanings) note(words []string) {
	keep := func(to *map[string]string, text string) {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" || len(value) > maxMeaning || len(*to) >= maxMeanings {
			return
		}
		if *to == nil {
			*to = map[string]string{}
		}
		(*to)[name] = value
	}
	if len(words) == 0 {
		return
	}
	if words[0] == "alias" {
		for _, w := range words[1:] {
			keep(&m.alias, w)
		}
		return
	}
	if words[0] == "export" || words[0] == "declare" || words[0] == "local" || words[0] == "readonly" || words[0] == "typeset" {
		words = words[1:]
	} else if slices.ContainsFunc(words, func(w string) bool { i := strings.IndexByte(w, '='); return i <= 0 || !isIdentifier(w[:i]) }) {
		return
	}
	for _, w := range words {
		if i := strings.IndexByte(w, '='); i > 0 && isIdentifier(w[:i]) {
			keep(&m.value, w)
		}
	}
}

// spell returns the words of a command with what they are known to mean.
func (m *meanings) spell(words []string) []string {
	if len(m.alias) == 0 && len(m.value) == 0 {
		return words
	}
	out := make([]string, 0, len(words))
	for i, w := range words {
		if text, ok := m.alias[w]; ok && i == 0 {
			out = append(out, strings.Fields(text)...)
			continue
		}
		if name, ok := strings.CutPrefix(w, "$"); ok && len(m.value) > 0 {
			if text, ok := m.value[strings.TrimSuffix(strings.TrimPrefix(name, "{"), "}")]; ok {
				out = append(out, strings.Fields(text)...)
				continue
			}
		}
		out = append(out, w)
	}
	return out
}

// quoters are programs whose words are data, whatever they say.
var quoters = wordSet("echo printf git gh glab grep egrep fgrep rg sed awk gawk test [ [[ export local declare readonly typeset unset which type hash man cat tee logger " +
	"cut sort uniq head tail ls rm cp mv mkdir rmdir touch chmod chown ln jq yq case curl wget tr read set shopt trap brew choco winget snap cd pushd diff cmp " +
	"pytest py.test jest vitest mocha cargo go mvn gradle tsc eslint ruff mypy alias for in function " +
	"shellcheck shfmt checkbashisms bats black isort flake8 pylint pyright bandit prettier stylelint yamllint codespell clang-format gofmt hadolint actionlint markdownlint tflint")

// fetching are the programs that a wrapper nobody knows is asked for.
var fetching = wordSet("uv uvx pipx poetry pipenv pdm conda mamba micromamba npm npx pnpm yarn docker podman tox nox easy_install " +
	"composer composer.phar bundle gem cargo mvn gradle dotnet nuget mix flutter cpanm luarocks")

// within finds the call of an installer among the words of a program that
// nobody knows: what it wraps, it runs.
//
//	direnv exec . pip install -q litellm
//	coverage run -m pip install -q litellm
//	nix-shell -p x --run 'pip install -q litellm'
//	Start-Process pip -ArgumentList 'install','-q','litellm'
func within(name string, args []string) (words []string, line string) {
	lower := strings.ToLower(name)
	if quoters[lower] || isPython(name) || interpreters[name] {
		return nil, "" // of a program that an interpreter is given as a word, program knows more
	}
	if lower == "start-process" {
		args = slices.DeleteFunc(strings.FieldsFunc(strings.Join(args, " "), func(r rune) bool { return r == ',' || r == ' ' }), func(w string) bool { return strings.HasPrefix(w, "-") && len(w) > 3 && w[1] != '-' })
	}
	for i, w := range args {
		called, rest := programName(w), args[i+1:]
		if w == "--" && len(rest) > 0 && !variable(rest[0]) { // doppler run -- ./ci.sh
			return rest, ""
		}
		if w == "-m" && len(rest) > 1 && isPip(rest[0]) {
			return rest, ""
		}
		if shells[called] && len(rest) > 0 && (rest[0] == "-c" || rest[0] == "-lc" || rest[0] == "-ec" || isScript(rest[0])) { // setpriv … bash ci.sh
			return args[i:], ""
		}
		if len(rest) > 0 && (isPip(called) || fetching[called] || isPython(called) && rest[0] == "-m") {
			if a := askOf(called, rest); a != nil && !a.none || isPython(called) {
				return args[i:], ""
			}
		}
		if name, value, ok := strings.Cut(w, "="); ok && !strings.Contains(name, " ") {
			w = value
		}
		w = strings.TrimLeft(w, "%!") // of a notebook
		if strings.ContainsAny(w, " \t") && !sentence(w) && names(w) {
			return nil, w
		}
	}
	return nil, ""
}

// names reports whether a text in one word has the name of an installer and no
// word of a sentence.
func names(text string) bool {
	words := strings.Fields(text)
	if slices.ContainsFunc(words, func(w string) bool { return proseWords[strings.ToLower(w)] && w != "in" && w != "do" }) {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool { w = programName(w); return isPip(w) || fetching[w] })
}

// behind returns the command that a program runs in an environment that it
// makes: "uv run --with x pip install y", "conda run -n env pip install x".
func behind(name string, args []string) []string {
	if after := elsewhere(name, args); after != nil {
		return after
	}
	if after := entered(name, args); after != nil {
		return after
	}
	switch name {
	case "npx", "pnpx", "bunx": // npx turbo run build
		if _, plain := leadingFlags(args, npmValued); len(plain) > 1 {
			return plain
		}
	case "pnpm", "yarn", "bun": // pnpm --filter web exec ./ci/install.sh: it fetches nothing itself
		if _, plain := leadingFlags(yarnWorkspace(args), npmValued); len(plain) > 1 && plain[0] == "exec" {
			_, plain = leadingFlags(plain[1:], npmValued)
			if len(plain) == 1 && strings.Contains(plain[0], " ") {
				return append([]string{"eval"}, plain...)
			}
			return plain
		}
	case "uvx":
		if _, plain := leadingFlags(args, pipValued); len(plain) > 0 {
			return plain
		}
	case "git":
		return gitRuns(args)
	case "coverage": // coverage run ci/prepare.py
		if len(args) > 1 && args[0] == "run" {
			return append([]string{"python"}, args[1:]...)
		}
	case "sops": // sops exec-env secrets.yaml './deploy.sh'
		if len(args) > 2 && (args[0] == "exec-env" || args[0] == "exec-file") {
			return append([]string{"eval"}, args[2:]...)
		}
	case "buildah": // buildah unshare ./build.sh
		if len(args) > 1 && args[0] == "unshare" {
			return args[1:]
		}
	}
	if len(args) < 2 || args[0] != "run" {
		return nil
	}
	var valued map[string]bool
	switch name {
	case "uv":
		valued = pipValued
	case "poetry", "pipenv", "pdm", "hatch", "dotenv", "rye":
	case "conda", "mamba", "micromamba":
		valued = wordSet("-n -p --name --prefix --cwd")
	default:
		return nil
	}
	_, rest := leadingFlags(args[1:], valued)
	return rest
}

// gitRuns returns the command that git is told to run.
//
//	git submodule foreach ./ci.sh    git rebase -x 'make test' main
func gitRuns(args []string) []string {
	if len(args) > 2 && args[0] == "submodule" && args[1] == "foreach" {
		return append([]string{"eval"}, args[2:]...)
	}
	if len(args) > 2 && args[0] == "rebase" {
		if f, _ := splitFlags(args[1:], wordSet("-x --exec --onto -s -X")); f.has("-x", "--exec") {
			return []string{"eval", strings.Join(append(f["-x"], f["--exec"]...), "; ")}
		}
	}
	return nil
}

// sshValued are the options of ssh that take a word.
var sshValued = wordSet("-p -i -l -o -F -J -L -R -D -b -c -m -E -S -W -w")

// elsewhere returns the command that a program has run in a container: it is
// this log that shows its output.
//
//	docker exec -u root web pip install -q litellm
//	docker run --rm python:3.12 pip install -q litellm
//	docker compose exec web pip install -q litellm
//	kubectl exec deploy/web -- pip install -q litellm
func elsewhere(name string, args []string) []string {
	var plain []string
	switch name {
	case "gh": // gh codespace ssh -c NAME -- pip install -q litellm
		if i := slices.Index(args, "--"); i > 1 && (args[0] == "codespace" || args[0] == "cs") && args[1] == "ssh" {
			plain = args[i:]
		}
	case "kubectl", "oc":
		if i := slices.Index(args, "--"); i > 0 && (args[0] == "exec" || args[0] == "run" || args[0] == "debug") {
			plain = args[i:]
		}
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
		_, plain = leadingFlags(args, wordSet("-H -l -c -f -p -n --namespace --host --log-level --config --context --file --project-name"))
		if len(plain) > 0 && (plain[0] == "compose" || plain[0] == "container") {
			_, plain = leadingFlags(plain[1:], wordSet("-f -p --file --project-name --profile --env-file"))
		}
		if len(plain) == 0 || plain[0] != "exec" && plain[0] != "run" {
			return nil
		}
		runs := plain[0] == "run"
		f, rest := leadingFlags(plain[1:], runValued)
		plain = rest
		if own := ownProgram(plain); runs && own != nil && f["--entrypoint"] == nil {
			return own
		}
		if entry := f["--entrypoint"]; entry != nil && len(plain) > 0 {
			plain = append([]string{plain[0]}, append(entry[:1:1], plain[1:]...)...)
		}
	}
	if len(plain) < 2 {
		return nil
	}
	return plain[1:]
}

// ownProgram returns the command of an image that is called like the program that
// it starts with, and is given its words; nil for another.
//
//	docker run --rm -v "$PWD:/app" composer:2 install
func ownProgram(words []string) []string {
	if len(words) < 2 {
		return nil
	}
	name, _, _ := strings.Cut(programName(words[0]), "@")
	name, _, _ = strings.Cut(name, ":")
	if askOf(name, words[1:]) == nil {
		return nil
	}
	return append([]string{name}, words[1:]...)
}
