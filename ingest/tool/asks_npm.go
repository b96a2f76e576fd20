package tool

import (
	"slices"
	"strings"

	"pulltrail/timeline"
)

var npmValued = wordSet("-C -w --prefix --registry --workspace --filter --cwd --cache --tag --loglevel --userconfig --reporter -p --package --network-timeout --mutex")

// npmRuns are the verbs of npm's kin behind which a program and its words stand.
var npmRuns = wordSet("dlx x exec create")

// npmAsk reads npm, pnpm, yarn and bun. They print the versions of some of the
// packages, mostly of those that the command names.
func npmAsk(name string, args []string) *ask {
	if name != "npm" { // which takes its options wherever they stand
		args = untilProgram(yarnWorkspace(args), npmValued, npmRuns)
	}
	f, plain := splitFlags(args, npmValued)
	if f.has("--help", "-h", "--version", "-v") {
		return nil
	}
	a := &ask{tool: name, kind: "npm", none: f.has("--dry-run"), quiet: npmSilent(f)}
	if len(plain) == 0 {
		if name != "yarn" {
			return nil
		}
		plain = []string{"install"} // a bare yarn installs
	}
	if plain[0] == "exec" && name != "npm" {
		return nil // what it runs is there
	}
	switch verb := npmVerb(name, plain[0]); verb {
	case "install", "update":
		a.npm(plain[1:])
		a.unnamed = a.unnamed || len(plain) == 1
	case "ci":
		a.unnamed = true
	case "audit":
		if len(plain) == 1 || plain[1] != "fix" {
			return nil
		}
		a.unnamed = true
	case "pack", "link", "create":
		return a.npmOthers(name, verb, plain[1:])
	case "exec":
		if packages := append(f["-p"], f["--package"]...); packages != nil {
			a.npm(packages)
		} else if len(plain) > 1 {
			a.npm(plain[1:2])
		} else {
			return nil
		}
		if name == "npm" {
			a.tool = "npx" // it is one program
		}
	default:
		return nil
	}
	return a
}

// yarnWorkspace takes off what only says where yarn works.
//
//	yarn global add x    yarn workspace web add x    yarn workspaces focus --production    yarn workspaces foreach -A add x
func yarnWorkspace(words []string) []string {
	switch {
	case len(words) == 0:
	case words[0] == "global", words[0] == "workspaces" && len(words) > 1 && words[1] == "focus":
		return words[1:]
	case words[0] == "workspace" && len(words) > 2, words[0] == "workspaces" && len(words) > 2 && words[1] == "foreach":
		return words[2:]
	}
	return words
}

// npmVerbs are the commands of npm by the words that stand for them.
// https://docs.npmjs.com/cli/commands/npm-install
var npmVerbs = map[string]string{
	"install": "install", "i": "install", "add": "install", "in": "install", "ins": "install", "inst": "install", "insta": "install",
	"instal": "install", "isnt": "install", "isnta": "install", "isntal": "install", "isntall": "install",
	"update": "update", "up": "update", "upgrade": "update", "udpate": "update",
	"ci": "ci", "clean-install": "ci", "ic": "ci", "install-clean": "ci", "isntall-clean": "ci", "install-test": "ci", "it": "ci",
	"install-ci-test": "ci", "cit": "ci", "clean-install-test": "ci", "sit": "ci", "dedupe": "ci", "ddp": "ci",
	"exec": "exec", "dlx": "exec", "x": "exec", "audit": "audit", "pack": "pack", "link": "link", "ln": "link",
	"init": "create", "innit": "create", "create": "create",
}

// npmVerb is the command of npm or one of its kin that a word stands for; the
// others have no short names for what only npm does.
func npmVerb(name, word string) string {
	verb := npmVerbs[word]
	switch {
	case name == "npm":
	case name == "pnpm" && (word == "fetch" || word == "deploy"), name == "yarn" && word == "focus":
		return "ci"
	case verb == "pack", verb == "link", verb == "audit", verb == "create" && word != "create":
		return ""
	}
	return verb
}

// npmOthers reads commands of npm that fetch a package which they name, and do
// nothing of the kind for the project's own:
//
//	npm pack chalk    npm link chalk    npm init vite@latest app    yarn create next-app web
//
// https://docs.npmjs.com/cli/commands/npm-init
func (a *ask) npmOthers(name, verb string, words []string) *ask {
	if verb == "create" && len(words) > 0 {
		words = []string{initializer(words[0])}
	}
	for _, w := range words {
		if !strings.HasPrefix(w, ".") && !strings.HasPrefix(w, "/") && !strings.HasSuffix(w, ".tgz") {
			a.npm([]string{w})
		}
	}
	if len(a.items) == 0 && !a.unnamed {
		return nil
	}
	if a.tool = name; verb != "link" {
		a.tool += " " + verb // what is printed says no version
	}
	return a
}

// initializer is the package that "npm init WORD" runs: create-WORD.
//
//	vite@latest    @acme    @acme/app
func initializer(word string) string {
	scope, rest, scoped := strings.Cut(word, "/")
	switch {
	case !strings.HasPrefix(word, "@") && !scoped:
		return "create-" + word
	case !strings.HasPrefix(word, "@"):
		return word // a repository
	case !scoped:
		name, version, pinned := strings.Cut(word[1:], "@")
		if pinned {
			version = "@" + version
		}
		return "@" + name + "/create" + version
	}
	return scope + "/create-" + rest
}

// npxAsk reads npx: it fetches what is not there.
func npxAsk(name string, args []string) *ask {
	f, plain := leadingFlags(args, npmValued)
	packages := append(f["-p"], f["--package"]...)
	if packages == nil && len(plain) > 0 {
		packages = plain[:1]
	}
	if len(packages) == 0 || f.has("--help", "-h", "--version", "--no-install", "--no") {
		return nil
	}
	a := &ask{tool: name, kind: "npm", quiet: npmSilent(f)}
	a.npm(packages)
	return a
}

// npmSilent reports whether nothing is printed; --quiet still prints what was
// done.
func npmSilent(f flags) bool {
	return f.has("--silent", "-s") || slices.Contains(f["--loglevel"], "silent") || slices.Contains(f["--reporter"], "silent")
}

func (a *ask) npm(names []string) {
	for _, w := range names {
		if _, behind, ok := strings.Cut(w, "@npm:"); ok { // an alias: foo@npm:axios@1.14.1
			w = behind
		}
		local := strings.HasPrefix(w, ".") || strings.HasPrefix(w, "/") || strings.Contains(w, ":") || strings.HasSuffix(w, ".tgz") ||
			strings.Contains(w, "/") && !strings.HasPrefix(w, "@")
		if local || variable(w) || w == "" {
			a.unnamed = true
			continue
		}
		it, ok := atVersion("npm", w)
		if ok && strings.Count(it.Ref, ".") < 2 { // 1.2 is a range here
			it.Artifact, _, _ = strings.Cut(it.Artifact, "@"+it.Ref)
		}
		if !ok {
			it = timeline.Item{Artifact: timeline.PURL("npm", "", w, "")}
		}
		a.items = append(a.items, it)
	}
}
