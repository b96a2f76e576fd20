package tool

import (
	"slices"
	"strings"
)

// everyKind is what a build or a script may fetch when nobody sees its output.
var everyKind = []string{"image", "pypi", "npm", anyKind}

// buildAsk reads "docker build", "docker buildx build" and bake. What a build
// fetches stands in its output; a quiet one may have fetched anything.
// https://docs.docker.com/reference/cli/docker/buildx/build/
func buildAsk(name string, words []string) *ask {
	if len(words) > 1 && (words[0] == "buildx" || words[0] == "builder") {
		words = words[1:]
	}
	if words[0] != "build" && words[0] != "bake" && words[0] != "bud" {
		return nil
	}
	f, _ := splitFlags(words[1:], wordSet("-f -t --file --tag --build-arg --target --platform --progress --label --secret --cache-from --cache-to --network"))
	if f.has("--help", "--print", "--check", "--call", "--list") {
		return nil
	}
	return &ask{tool: name, kind: "image", others: everyKind, loud: true, speaks: true, quiet: f.has("-q", "--quiet") || slices.Contains(f["--progress"], "quiet")}
}

// executorAsk reads kaniko's program, which says what it does unless it is told
// to warn alone.
//
//	/kaniko/executor --context $CI_PROJECT_DIR --destination registry.acme.example/acme/api:1
//
// https://github.com/GoogleContainerTools/kaniko#additional-flags
func executorAsk(_ string, args []string) *ask {
	f, _ := splitFlags(args, wordSet("-c -f -d -v --context --dockerfile --destination --verbosity"))
	if !f.has("--context", "-c", "--dockerfile", "-f", "--destination", "-d") {
		return nil
	}
	level := strings.Join(append(f["-v"], f["--verbosity"]...), "")
	quiet := level == "warn" || level == "error" || level == "fatal" || level == "panic"
	return &ask{tool: "kaniko", kind: "image", others: everyKind, loud: true, speaks: true, quiet: quiet}
}

// builderAsk reads programs that have an image built by docker, BuildKit or a
// builder of their own, and show its output.
//
//	depot build -t api .    nixpacks build .    cog build -t api
func builderAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-f -t --file --tag --build-arg --target --platform --progress --project --name -n"))
	repo := strings.HasSuffix(name, "repo2docker")
	if name == "img" && len(plain) > 1 && plain[0] == "pull" {
		return deployed(name, plain[1:])
	}
	if f.has("--help", "-h", "--version") || !repo && (len(plain) == 0 || plain[0] != "build" && plain[0] != "bake" && plain[0] != "push") {
		return nil
	}
	return &ask{tool: name, kind: "image", others: everyKind, loud: true, speaks: true, quiet: f.has("-q", "--quiet") || slices.Contains(f["--progress"], "quiet")}
}

// composeRunValued are the options of docker compose run that take a word.
var composeRunValued = wordSet("-e --env --env-from-file -v --volume -w --workdir -u --user --name --entrypoint --pull -l --label -p --publish --cap-add --cap-drop")

// composeAsk reads docker compose, which prints the names of services and not
// those of their images.
// https://docs.docker.com/reference/cli/docker/compose/
func composeAsk(name string, args []string) *ask {
	_, plain := leadingFlags(args, wordSet("-f -p --file --project-name --project-directory --env-file --profile --ansi --progress --parallel"))
	if len(plain) == 0 {
		return nil
	}
	f, _ := splitFlags(untilProgram(plain, composeRunValued, containerRuns), composeRunValued)
	if f.has("--help", "-h", "--dry-run") {
		return nil
	}
	a := &ask{tool: name, kind: "image", quiet: f.has("-q", "--quiet", "--quiet-pull")}
	switch plain[0] {
	case "up", "pull", "create", "run":
		a.unnamed = true
	case "build":
		a.others, a.loud, a.speaks = everyKind, true, true
	default:
		return nil
	}
	return a
}

// toxAsk reads tox and nox, which hide what pip prints.
// https://tox.wiki/en/latest/cli_interface.html
func toxAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-e -c -s -f -k -p -t --session --sessions --tags --python --extra-python"))
	lists := f.has("--help", "-h", "--version", "-l", "--list", "--list-sessions", "--listenvs", "-a", "--listenvs-all", "--showconfig")
	if lists || len(plain) > 0 && name == "tox" && slices.Contains([]string{"list", "config", "l", "c", "quickstart", "q", "schema"}, plain[0]) {
		return nil
	}
	return &ask{tool: name, kind: "pypi", unnamed: true, quiet: true}
}

// hatchAsk reads hatch, which makes an environment before it runs anything.
// https://hatch.pypa.io/latest/cli/reference/
func hatchAsk(_ string, args []string) *ask {
	f, plain := leadingFlags(args, wordSet("-e -p --env --project"))
	if len(plain) > 0 && plain[0] == "build" {
		return projectBuildAsk("hatch build", plain[1:])
	}
	second := append(plain[:len(plain):len(plain)], "", "")[1]
	if len(plain) == 0 || f.has("--help", "-h", "--version") || !slices.Contains([]string{"run", "test", "shell", "fmt"}, plain[0]) &&
		(plain[0] != "env" || second != "create" && second != "run") && (plain[0] != "dep" || second != "sync") {
		return nil
	}
	return &ask{tool: "hatch", kind: "pypi", unnamed: true, quiet: true}
}

// ryeAsk reads rye, whose output is uv's.
func ryeAsk(_ string, args []string) *ask {
	if len(args) == 0 || !slices.Contains([]string{"sync", "install", "add"}, args[0]) {
		return nil
	}
	f, _ := splitFlags(args[1:], nil)
	return &ask{tool: "uv", kind: "pypi", unnamed: true, quiet: f.has(pipQuiet...)}
}

// pixiAsk reads pixi, which installs from conda's channels and for pip, and
// prints no versions.
// https://pixi.sh/latest/reference/cli/pixi/
func pixiAsk(_ string, args []string) *ask {
	_, plain := leadingFlags(args, nil)
	if len(plain) == 0 || !slices.Contains([]string{"install", "i", "add", "run", "r", "update", "upgrade", "shell", "global", "exec", "x", "reinstall"}, plain[0]) {
		return nil
	}
	return &ask{tool: "pixi", kind: "conda", unnamed: true, others: []string{"pypi"}, quiet: true}
}

// preCommitAsk reads pre-commit. It says "Installing environment for …" when
// it makes one, and nothing of what is in it.
// https://pre-commit.com/#command-line-interface
func preCommitAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-c --config --color --hook-stage --from-ref --to-ref --files"))
	if f.has("--help", "-h", "--version", "-V") || len(plain) > 0 && !slices.Contains([]string{"run", "install", "install-hooks", "try-repo"}, plain[0]) {
		return nil
	}
	return &ask{tool: "pre-commit", kind: "pypi", others: hookKinds, loud: true}
}

// hookKinds are the languages of hooks that install from a registry.
var hookKinds = []string{"pypi", "npm"}

// hookInstalled is how pre-commit begins to make an environment.
const hookInstalled = "[INFO] Installing environment for "

// mutedScript asks for anything: a script or a make whose output nobody sees.
func mutedScript(name string, words []string) *ask {
	script := strings.HasPrefix(words[0], "./") || strings.HasSuffix(words[0], ".sh")
	switch name {
	case "make", "gmake", "just", "task", "invoke", "rake", "gradle", "mvn", "ansible-playbook":
		script = true
	case "sh", "bash", "dash", "zsh", "source", ".":
		script = len(words) > 1
	}
	if !script {
		return nil
	}
	return &ask{tool: name, kind: "pypi", others: []string{"pypi", "npm", "image"}, quiet: true}
}
