package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
)

// makers make an environment for packages of Python, or install into one of
// their own.
var makers = wordSet("venv virtualenv uv poetry pipenv pdm rye hatch tox nox pixi mkvirtualenv pew conda mamba micromamba")

// environment notes that a command makes an environment of Python or installs
// into node_modules, or that it runs what is installed in one that stands among
// the files of the project.
//
//	python3 -m venv .venv
//	source .venv/bin/activate
//	venv/bin/pytest -q
func environment(words []string, name string, args []string, o *evidence.Out) {
	word, prefixed := firstPath(words)
	if where := environmentOf(word); where != "" && !makers[name] {
		o.UsesInstalled("pypi", where)
		return
	}
	if nodeModules(word, name, args) || packageScript(name, args) && o.HasBrought() {
		o.UsesInstalled("npm", "node_modules")
		return
	}
	switch {
	case scriptVerbs[name] != nil && askOf(name, args) != nil:
		o.Makes("npm")
	case prefixed:
	case makers[name], isPython(name) && len(args) > 1 && args[0] == "-m" && makers[args[1]]:
		o.Makes("pypi")
	}
}

// nodeModules reports whether a command runs what is installed in the project's
// node_modules.
//
//	node_modules/.bin/eslint .    npx --no-install eslint .
func nodeModules(word, name string, args []string) bool {
	if name == "npx" {
		f, _ := leadingFlags(args, npmValued)
		return f.has("--no-install", "--no")
	}
	return strings.HasPrefix(strings.TrimPrefix(word, "./"), "node_modules/.bin/")
}

// packageScript reports whether a command runs a script of package.json, whose
// programs stand in node_modules.
func packageScript(name string, args []string) bool {
	return scriptVerbs[name] != nil && packageScriptAsk(name, args) != nil
}

// firstPath returns the program of a command, or the file that a shell reads
// where it is told to.
func firstPath(words []string) (word string, sourced bool) {
	for i, w := range words {
		switch {
		case w == "source" || w == ".":
			if i+1 < len(words) {
				return words[i+1], true
			}
			return "", true
		case strings.IndexByte(w, '=') > 0 && isIdentifier(w[:strings.IndexByte(w, '=')]):
		default:
			if _, wraps := wrappers[programName(w)]; !wraps {
				return w, false
			}
		}
	}
	return "", false
}

// environmentOf is the environment that a path points into when it stands among
// the files of a project; "" for those that an image or a machine brings along.
//
//	.venv/bin/pytest    ./venv/Scripts/python.exe    $CI_PROJECT_DIR/venv/bin/activate
func environmentOf(word string) string {
	if len(word) < 8 || strings.IndexByte(word, '/') < 0 && strings.IndexByte(word, '\\') < 0 {
		return ""
	}
	path := strings.ReplaceAll(word, `\`, "/")
	dir, _, ok := strings.Cut(path, "/bin/")
	if !ok {
		if dir, _, ok = strings.Cut(path, "/Scripts/"); !ok {
			return ""
		}
	}
	at := strings.LastIndexByte(dir, '/')
	switch base := strings.ToLower(dir[at+1:]); {
	case base != "env" && base != ".env" && !strings.Contains(base, "venv") && !strings.Contains(base, "virtualenv"):
		return ""
	case at < 0:
		return dir
	}
	for _, place := range projectPlaces {
		if strings.HasPrefix(dir, place) {
			return dir
		}
	}
	if dir[0] == '/' || dir[0] == '~' || dir[0] == '$' || len(dir) > 1 && dir[1] == ':' {
		return ""
	}
	return dir
}

// projectPlaces are where CI systems put the files of a project.
var projectPlaces = []string{
	"./", "$CI_PROJECT_DIR/", "${CI_PROJECT_DIR}/", "$GITHUB_WORKSPACE/", "${GITHUB_WORKSPACE}/", "$WORKSPACE/", "${WORKSPACE}/",
	"$BITBUCKET_CLONE_DIR/", "$TRAVIS_BUILD_DIR/", "$PWD/", "/builds/", "/home/runner/work/", "/home/circleci/project/", "/root/project/", "~/project/",
	"/var/lib/jenkins/workspace/", "/opt/atlassian/pipelines/agent/build/", "/drone/src/", "/woodpecker/src/", "/var/lib/buildkite-agent/builds/",
}
