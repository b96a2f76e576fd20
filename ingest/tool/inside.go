package tool

import (
	"slices"
	"strings"
)

// inside returns the command that a shell or interpreter is only told to run:
// one word is a script, more are words of a command.
func inside(name string, args []string) (words []string, ok bool) {
	switch lower := strings.ToLower(name); {
	case isPython(name), strings.HasPrefix(name, "$") && slices.Contains(args, "-m"):
		return pythonRuns(args)
	case isPowerShell(lower), lower == "cmd":
		return windowsShellRuns(args)
	}
	if runs := insides[name]; runs != nil {
		return runs(args)
	}
	return nil, false
}

// insides are the programs that run what they are told, by name.
var insides = map[string]func(args []string) (words []string, ok bool){
	"sh": shellRuns, "bash": shellRuns, "dash": shellRuns, "ash": shellRuns, "zsh": shellRuns, "su": shellRuns, "script": shellRuns,
	"node": nodeRuns, "nodejs": nodeRuns, "ruby": nodeRuns, "php": nodeRuns,
	// find . -name 'requirements*.txt' -exec pip install -q -r {} \;
	"find": func(args []string) ([]string, bool) {
		i := slices.IndexFunc(args, func(a string) bool { return a == "-exec" || a == "-execdir" })
		if i < 0 || i+2 >= len(args) {
			return nil, false
		}
		return args[i+1:], true
	},
	// function p { pip install -q "$@"; }
	"function": func(args []string) ([]string, bool) {
		i := slices.Index(args, "{")
		if i <= 0 || i+1 >= len(args) {
			return nil, false
		}
		return append([]string{"command"}, args[i+1:]...), true
	},
	// trap 'pip uninstall -y litellm' EXIT
	"trap": func(args []string) ([]string, bool) { return args[:min(len(args), 1)], len(args) > 1 },
	// eval "pip install $PACKAGES"
	"eval": func(args []string) ([]string, bool) { return []string{strings.Join(args, " ")}, len(args) > 0 },
	// ssh -p 22 deploy@web1 'pip install -q litellm'
	"ssh": func(args []string) ([]string, bool) {
		_, plain := leadingFlags(args, sshValued)
		if len(plain) < 2 {
			return nil, false
		}
		return []string{strings.Join(plain[1:], " ")}, true
	},
}

// shellRuns reads the script of sh -c.
//
//	bash -exc 'pip install -q litellm'
func shellRuns(args []string) ([]string, bool) {
	for i, a := range args {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") && i+1 < len(args) {
			return args[i+1 : i+2], true
		}
	}
	return nil, false
}

// windowsShellRuns reads the command of PowerShell and cmd.exe, which is all that
// follows.
//
//	powershell -NoProfile -Command pip install -q litellm
//	cmd /c pip install -q litellm
func windowsShellRuns(args []string) ([]string, bool) {
	for i, a := range args {
		if flag := strings.ToLower(a); i+1 < len(args) && (flag == "-c" || flag == "/c" || flag == "/k" || strings.HasPrefix(flag, "-com")) {
			return []string{strings.Join(args[i+1:], " ")}, true
		}
	}
	return nil, false
}

// nodeRuns reads the script that node, ruby and php are given.
func nodeRuns(args []string) ([]string, bool) {
	_, rest := leadingFlags(args, wordSet("-e -r --require -d -c"))
	return interpreted(rest, true)
}

// pythonRuns reads the module or script that Python is given. Everything behind
// -m belongs to the module.
//
//	python3 -Im pip install -q litellm
func pythonRuns(args []string) ([]string, bool) {
	f, rest := leadingFlags(args, wordSet("-m -c -W -X"))
	if f["-m"] == nil {
		return interpreted(rest, f["-c"] == nil)
	}
	for i, a := range args {
		if i+1 < len(args) && strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "m") {
			return moduleWords(args[i+1:])
		}
		if strings.HasPrefix(a, "-m") && len(a) > 2 {
			return append([]string{a[2:]}, args[i+1:]...), len(rest) > 0
		}
	}
	return interpreted(rest, f["-c"] == nil)
}

// moduleWords are the words of a module that Python runs, as those of a program.
// Only those that install do something when nothing else is said.
func moduleWords(words []string) ([]string, bool) {
	name := strings.ReplaceAll(words[0], "_", "-")
	switch {
	case name == "build":
		words, name = append(words[:1:1], append(words[1:], ".")...), "pyproject-build" // without a word too
	case asking[name] == nil:
		name = words[0]
	}
	return append([]string{name}, words[1:]...), len(words) > 1 || name == "tox" || name == "nox" || name == "cibuildwheel"
}

// interpreted returns the program that an interpreter was given as a script:
// that is how the kernel shows a program that is one.
//
//	/usr/bin/python3 /usr/bin/pip install -q litellm
//	node /usr/lib/node_modules/npm/bin/npm-cli.js ci
func interpreted(words []string, script bool) ([]string, bool) {
	if !script || len(words) < 2 {
		return nil, false
	}
	name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(programName(words[0]), ".js"), "-cli"), ".phar")
	if !isPip(name) && asking[name] == nil {
		return nil, false
	}
	return append([]string{name}, words[1:]...), true
}
