package tool

import (
	"path"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
)

// unseenAsk reads a command that runs others which stand in a file or in a
// variable: a script, a task of make or npm. Those may install without a word,
// so the command asks for anything, until the log shows what it ran:
//
//   - npm, pnpm, yarn, bun, task and poe print the command of a script before
//     they run it: that one is read in its place;
//   - make and just print the lines of a recipe, unless they are told not to (-s).
//     The first one that is printed shows that they do; of a target that is called
//     after an installation (deps, venv) the first one that installs. A line with
//     "@" among others is not printed: what it installs quietly is missed;
//   - a shell that traces (bash -x, set -x) prints each command. Where the shell
//     around it traces too, the two cannot be told apart, and nothing is shown.
//
// Not counted, since else no job would ever be clear, are programs that do a
// work of their own, even where they could run others: compilers and their
// drivers (cargo, go, mvn, gradle, cmake), tests (pytest), programs and modules
// of the project (python -m acme.selftest), unless their names speak of an
// installation, files that set up a shell (activate, .bashrc), and a script
// whose output is only data of another command: V=$(./version.sh).
func unseenAsk(name string, args []string, c shellCommand) *ask {
	word := name
	if at := slices.IndexFunc(c.words, func(w string) bool { return programName(w) == name }); at >= 0 {
		word = c.words[at]
	}
	name = called(name)
	lower := strings.ToLower(name)
	switch {
	case name == "" || isQuery(c):
		return nil
	case shells[lower] || lower == "source" || lower == ".":
		return shellAsk(lower, args, c)
	case recipes[lower]:
		return makeAsk(lower, args)
	case taskRunners[lower]:
		return &ask{tool: shownBy(lower), others: anything}
	case scriptVerbs[lower] != nil:
		return packageScriptAsk(lower, args)
	case buildsTarget(lower, args):
		return &ask{tool: "script", others: anything, quiet: true}
	case runsTask(lower, args):
		return &ask{tool: "task", others: anything}
	case lower == "ssh" && (c.from != "" || c.behind != nil) && len(args) > 0:
		return &ask{tool: "script", others: anything}
	case lower == "iex" || lower == "invoke-expression" || isVariable(word):
		return &ask{tool: "script", others: anything, quiet: true}
	case lower == "call" && len(args) > 0 && isScript(args[0]), isPowerShell(lower) && slices.ContainsFunc(args, isScript),
		isPowerShell(lower) && slices.ContainsFunc(args, encodedFlag), isScript(word):
		return &ask{tool: "script", others: anything}
	case lower == "go" && len(args) > 0 && args[0] == "generate":
		return &ask{tool: "script", others: anything, quiet: !slices.Contains(args, "-x")}
	case runsProgram(lower, name, args, c):
		return &ask{tool: "script", others: anything, quiet: true}
	}
	return nil
}

// anyKind is the ecosystem of a command that may have fetched whatever there is:
// timeline.Anything.
const anyKind = "any"

var anything = []string{anyKind}

// given reads what a shell is told to run that another command prints: the text
// of echo, or what stands in a file.
//
//	eval "$(cat ci.sh)"    . <(echo pip install -q litellm)    echo 'npm ci' | bash
func (e *echo) given(name string, args []string, c shellCommand, o *evidence.Out, depth int) (known, ok bool) {
	words := strings.Fields(c.yields)
	if len(words) > 0 && (name != "eval" && name != "source" && name != "." && !shells[name] || fetches(words)) {
		return false, false
	}
	if len(words) == 0 {
		if words = c.behind; len(words) == 0 || !shells[name] || !runsInput(name, args) {
			return false, false
		}
	} else if last := len(words) - 1; true {
		words[last] = strings.TrimSuffix(words[last], ")")
	}
	switch {
	case words[0] == "echo" || words[0] == "printf":
		_, plain := leadingFlags(words[1:], nil)
		return e.command(strings.Trim(strings.Join(plain, " "), `'"`), o, depth+1), true
	case !printers[words[0]]:
		return false, false
	}
	a := &ask{tool: "script", others: anything}
	e.unseen(a, o)
	a.emit(strings.Join(c.words, " "), c.muted, o)
	return true, true
}

// isQuery reports whether the output of a command is only data: a word of
// another command, or a file that is no log.
func isQuery(c shellCommand) bool {
	if !c.muted || c.hidden {
		return false
	}
	switch path.Ext(c.to) {
	case "", ".txt", ".json", ".env", ".yml", ".yaml", ".xml", ".md", ".csv", ".toml":
		return true
	}
	return strings.HasPrefix(c.to, "$")
}

// recipes are programs that print the lines of a recipe as they run them.
var recipes = wordSet("make gmake bmake remake just")

// makeValued are the options of make and just that take a word.
var makeValued = wordSet("-C -f -I -l -o -W --directory --file --makefile --include-dir --old-file --what-if --justfile -d --working-directory")

// makeAsk reads make and just.
// https://www.gnu.org/software/make/manual/html_node/Options-Summary.html
func makeAsk(name string, args []string) *ask {
	f, _ := splitFlags(args, makeValued)
	shows := []string{"-n", "--just-print", "--dry-run", "--recon", "-v", "--version", "-h", "--help", "-q", "--question"}
	if name == "just" { // whose -v says more
		shows = []string{"-n", "--dry-run", "-V", "--version", "-h", "--help", "-l", "--list", "--summary", "-s", "--show", "--evaluate", "--variables", "--groups", "--dump"}
	}
	if f.has(shows...) {
		return nil
	}
	_, targets := splitFlags(args, makeValued)
	tool := "make"
	if slices.ContainsFunc(targets, installsTarget) {
		tool = makeInstalls
	}
	return &ask{tool: tool, others: anything, quiet: f.has("-s", "--silent", "--quiet", "-q")}
}

// makeInstalls is the tool of a make whose target is called after an
// installation: that a line of its recipe is shown is not enough where none of
// them installs anything, for then those that do are hidden.
const makeInstalls = "make deps"

// installsTarget reports whether a target of make is called after packages that
// it installs. "install" alone is none: that puts the project's own files where
// they belong.
//
//	deps    .venv    install-dev    setup_requirements
func installsTarget(target string) bool {
	words := strings.FieldsFunc(strings.ToLower(target), func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == '/' || r == ':' })
	for _, w := range words {
		if targetWords[w] || w == "install" && len(words) > 1 && words[0] != "modules" {
			return true
		}
	}
	return target == "node_modules"
}

var targetWords = wordSet("dep deps dependencies requirements reqs setup bootstrap venv virtualenv")

// taskRunners are programs whose work it is to run what a file of the project
// lists, here, in a container or on other machines, and whose output is not read.
var taskRunners = wordSet("task go-task pyinvoke poe invoke inv fab fastlane mage doit rake thor lerna nx turbo ansible ansible-playbook ansible-pull " +
	"vagrant packer salt salt-ssh salt-call chef-client puppet bazel bazelisk buck2 pants act circleci gitlab-runner drone woodpecker-cli garden okteto " +
	"earthly dagger pack s2i devcontainer devpod plz pleasew molecule scons waf paver pyb zx wireit invoke-build invoke-psake nuke devenv")

// runnerValued are the options of task runners that take a word.
var runnerValued = wordSet("-C -f --file --cd --env -E --project -p --vcs-ref -P")

// runsTask reports whether one of several commands of a program runs what a file
// of the project lists.
func runsTask(name string, args []string) bool {
	_, plain := splitFlags(args, runnerValued)
	if len(plain) == 0 {
		return false
	}
	switch name {
	case "direnv": // it runs .envrc first
		return plain[0] == "exec" || plain[0] == "export" || plain[0] == "reload"
	case "cargo":
		return plain[0] == "make" || plain[0] == "xtask" || plain[0] == "run" && slices.Contains(args, "xtask")
	case "mise", "rtx": // a word that it does not know is a task
		return len(plain) > 1 && (plain[0] == "run" || plain[0] == "r" || plain[0] == "watch" || plain[0] == "w") || !miseVerbs[plain[0]]
	case "devbox", "deno", "composer":
		return len(plain) > 1 && (plain[0] == "run" || plain[0] == "task" || plain[0] == "run-script")
	case "moon":
		return plain[0] == "run" || plain[0] == "r" || plain[0] == "ci" || plain[0] == "check" || plain[0] == "exec"
	case "pdm", "pipenv", "rye": // a word that is no program is a script of the project
		return len(plain) > 1 && plain[0] == "run" && taskName(plain[1])
	case "dotnet":
		return plain[0] == "cake" || plain[0] == "fake" || plain[0] == "nuke"
	case "poetry":
		return plain[0] == "poe" || len(plain) > 1 && plain[0] == "run" && namesPackages(plain[1])
	case "bundle":
		return len(plain) > 1 && plain[0] == "exec" && (plain[1] == "rake" || plain[1] == "fastlane")
	case "git":
		return len(plain) > 2 && plain[0] == "bisect" && plain[1] == "run"
	case "run-parts": // the machine's own belong to it
		return !strings.HasPrefix(plain[0], "/etc/")
	case "tilt":
		return plain[0] == "ci" || plain[0] == "up"
	}
	return false
}

// taskName reports whether a word that is no program names a script of the
// project: test:unit, ci-lint, prepare-env.
func taskName(name string) bool {
	return taskNames[nameWords(name)[0]] || namesPackages(name)
}

// namesPackages reports whether a name speaks of packages that are installed.
func namesPackages(name string) bool {
	return slices.ContainsFunc(nameWords(name), func(w string) bool { return targetWords[w] || w == "install" })
}

// nameWords are the words of a name, one at least.
func nameWords(name string) []string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == ':' || r == '.' })
	return append(words, "")[:max(1, len(words))]
}

// taskNames are names of scripts that no program has.
var taskNames = wordSet("test tests ci lint format fmt check checks build release deploy setup start dev serve docs all clean bootstrap prepare migrate e2e integration unit typecheck")

// shownBy names whose output shows what a runner of tasks ran.
func shownBy(name string) string {
	switch name {
	case "task", "go-task", "poe":
		return "task"
	case "lerna", "nx", "turbo":
		return npmScript
	case "rake":
		return "make" // its sh prints the command
	}
	return "script"
}

// npmScript is the tool of those that run the scripts of a package.json.
const npmScript = "npm run"

// scriptVerbs are the words of package managers that run no script of the
// project, by program; what else stands in their place names one. A nil entry
// has npm's rule: only some words run a script.
var scriptVerbs = map[string]map[string]bool{
	"npm": {}, "bun": {},
	"pnpm": wordSet("list ls ll why outdated audit store config c get set setup env publish pack prune rebuild rb remove rm uninstall un link ln unlink init root bin fetch " +
		"import licenses patch patch-commit deploy exec dlx server create install i add update up upgrade ci doctor completion help cat-file approve-builds dedupe"),
	"yarn": wordSet("list why outdated audit cache config publish pack remove link unlink init bin import licenses exec dlx create install add up upgrade upgrade-interactive " +
		"version versions info login logout owner tag team help global check autoclean node plugin plugins set dedupe constraints npm patch workspaces policies explain prune rebuild"),
}

// packageScriptAsk reads a script of package.json that npm or one of its kin
// runs. https://docs.npmjs.com/cli/commands/npm-run
func packageScriptAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, npmValued)
	if len(plain) > 1 && name == "yarn" && plain[0] == "workspace" {
		plain = plain[2:]
	}
	if len(plain) == 0 || f.has("--help", "-h", "--version", "-v") {
		return nil
	}
	others := scriptVerbs[name]
	switch verb := plain[0]; {
	case verb == "run" || verb == "run-script" || verb == "recursive" || verb == "foreach":
		if len(plain) < 2 || strings.HasSuffix(plain[1], ".ts") || strings.HasSuffix(plain[1], ".js") {
			return nil
		}
	case len(others) == 0 && (name != "npm" || !slices.Contains([]string{"test", "tst", "t", "start", "stop", "restart"}, verb)):
		return nil
	case others[verb]:
		return nil
	}
	return &ask{tool: npmScript, others: anything, quiet: npmSilent(f)}
}

// shellAsk reads a shell or source that is given a script: a file, or what it
// reads.
func shellAsk(name string, args []string, c shellCommand) *ask {
	f, plain := leadingFlags(args, wordSet("-o -O +o --rcfile --init-file"))
	if f.has("--version", "--help", "-n") {
		return nil
	}
	a := &ask{tool: "script", others: anything, traces: f.has("-x")}
	switch {
	case f.has("-c"):
		return nil
	case len(plain) > 0 && plain[0] != "-" && plain[0] != "/dev/stdin" && !f.has("-s"):
		if setsUp(plain[0]) || ofRunner(plain[0]) {
			return nil
		}
	case name == "source" || name == ".", c.from == "" && c.behind == nil:
		return nil
	}
	return a
}

// ofRunner reports whether a file is that of a runner, which writes a step's
// script there and shows it before.
//
//	/usr/bin/bash /home/vsts/work/_temp/6f0d.sh
//	/bin/sh -xe /tmp/jenkins5710329.sh
func ofRunner(file string) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	return strings.Contains(file, "/_temp/") || strings.HasPrefix(path.Base(file), "jenkins") || strings.HasPrefix(path.Base(file), "hudson") ||
		strings.HasSuffix(file, "/step_script")
}

// setsUp reports whether a file sets up a shell, as programs that manage
// versions and environments want it.
func setsUp(file string) bool {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	switch {
	case strings.HasPrefix(strings.ToLower(base), "activate"), strings.HasSuffix(base, "rc"), strings.Contains(base, "profile"), strings.HasSuffix(base, ".env"), strings.HasSuffix(base, "-release"):
		return true
	}
	return slices.Contains([]string{"env", ".env", "nvm.sh", "conda.sh", "asdf.sh", "sdkman-init.sh", "rvm", "mamba.sh", "setvars.sh", "emsdk_env.sh", "$GITHUB_ENV", "$BASH_ENV", "vcvarsall.bat"}, base)
}

// isScript reports whether a word in the place of a program is a script: it is
// called so, or it has a path in the project and nothing says that it is a
// program.
//
//	./scripts/ci.sh    hack/verify    .\ci.ps1
func isScript(word string) bool {
	if ofRunner(word) {
		return false
	}
	file := strings.ReplaceAll(word, `\`, "/")
	base := path.Base(file)
	switch ext := path.Ext(base); ext {
	case ".sh", ".bash", ".zsh", ".ksh", ".fish", ".ps1", ".bat", ".cmd":
		return !setsUp(base)
	case ".py":
		return strings.Contains(file, "/") && namesTask(file)
	case "":
	default:
		return false
	}
	first, _, inside := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(file, "./"), "../"), "/")
	if inside && !scriptFolders[first] && !(first == "bin" && scriptNames[base]) || !inside && !strings.HasPrefix(file, "./") && !strings.HasPrefix(file, "../") {
		return false
	}
	return !projectPrograms[base]
}

// scriptFolders are where projects keep scripts.
var scriptFolders = wordSet("scripts script ci tools hack dev .ci .github .gitlab .circleci .buildkite build-tools devops deploy etc")

// scriptNames are what projects call the scripts among their programs.
var scriptNames = wordSet("setup bootstrap ci install deps update cibuild")

// projectPrograms stand in a project under names without an end, and are no
// scripts of its own.
var projectPrograms = wordSet("gradlew mvnw configure a.out manage.py artisan sbt mill bazelw node_modules main server app")

// isVariable reports whether a program's name is in a variable that is not
// called like a program: nobody knows what it runs.
//
//	$INSTALL_CMD    find ci -name '*.sh' -exec {} \;
func isVariable(word string) bool {
	if word == "{}" {
		return true
	}
	if !strings.HasPrefix(word, "$") || strings.Contains(word, "/") || len(word) < 2 || strings.Trim(word, "$") == "" {
		return false
	}
	name := strings.ToLower(strings.Trim(word, "${} "))
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		switch part {
		case "bin", "binary", "exe", "tool", "cc", "cxx", "cpp", "ld", "ar", "sudo", "java", "home", "cli", "editor":
			return false
		}
	}
	return !isPython(word) && !isPip(name) && asking[name] == nil && !recipes[name] && !printers[name]
}

func isPowerShell(name string) bool { return name == "pwsh" || name == "powershell" }

// encodedFlag reports whether a flag of PowerShell is followed by a command that
// is encoded: any beginning of the word will do.
func encodedFlag(flag string) bool {
	name := strings.ToLower(strings.TrimLeft(flag, "-/"))
	const whole = "encodedcommand"
	return len(flag) > len(name) && len(name) > 0 && (name == whole[:min(len(name), len(whole))] || name == "ec") && (name != "e" || flag[0] == '-')
}
