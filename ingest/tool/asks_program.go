package tool

import (
	"path"
	"slices"
	"strings"
)

// runsProgram reports whether an interpreter is given a program of the project
// whose name or folder says that it does the work of a script: it installs,
// prepares, or is the project's CI. Others are taken to do a work of their own,
// as "python scripts/report.py" and "python -m acme.selftest".
//
//	python3 scripts/install_deps.py    python ci/prepare.py    node ci.mjs    go run ./ci
//	python -m tools.setup_env          python < ci.py
//	python -c 'import runpy; runpy.run_path("ci.py")'
func runsProgram(lower, name string, args []string, c shellCommand) bool {
	switch {
	case isPython(name) || interpreters[name]:
		f, plain := leadingFlags(args, interpreterValued)
		code := slices.Concat(f["-c"], f["-e"])
		switch {
		case len(code) > 0:
			return runsFile(code[0])
		case f.has("-m") && isPython(name):
			return namesModule(f["-m"][0])
		case f.has("-p"):
			return false
		case len(plain) == 0 || plain[0] == "-":
			return c.from != "" && c.from != "/dev/null" && runsInput(name, args)
		}
		return strings.Contains(path.Base(plain[0]), ".") && (namesTask(plain[0]) || isPython(name) && path.Base(plain[0]) == "build.py")
	case typescriptRunners[lower]:
		_, plain := leadingFlags(args, wordSet("-r --require --tsconfig -P --project --import --loader"))
		return len(plain) > 0 && namesTask(plain[0])
	case (lower == "go" || lower == "bun" || lower == "deno") && len(args) > 1 && args[0] == "run":
		_, plain := splitFlags(args[1:], wordSet("-tags -ldflags -gcflags -modfile -mod -c --config --import-map -L --cwd --preload -r"))
		return len(plain) > 0 && (lower == "go" || strings.Contains(plain[0], ".")) && namesTask(plain[0])
	}
	return false
}

// interpreterValued are the options of interpreters that take a word.
var interpreterValued = wordSet("-m -c -e -W -X -r --require --import --loader")

// typescriptRunners run a file of TypeScript as node runs one of JavaScript.
var typescriptRunners = wordSet("tsx ts-node ts-node-esm esno jiti vite-node babel-node swc-node")

// runsFile reports whether a program that is given as a word runs another that
// stands in a file, or a module of the project's CI.
//
//	exec(open('ci.py').read())    runpy.run_path('ci.py')    import ci; ci.main()
func runsFile(code string) bool {
	if strings.Contains(code, "run_path(") || strings.Contains(code, "exec(open(") || strings.Contains(code, "exec(compile(open(") {
		return true
	}
	words := strings.FieldsFunc(code, func(r rune) bool { return r == ' ' || r == ';' || r == '\n' || r == ',' || r == '\t' })
	for i, w := range words {
		if (w == "import" || w == "from") && i+1 < len(words) && namesModule(words[i+1]) && strings.Contains(code, words[i+1]+".") {
			return true
		}
	}
	return false
}

// namesModule is namesTask for a module: acme.ci, tools.setup_env.
func namesModule(module string) bool {
	if asking[strings.ReplaceAll(module, "_", "-")] != nil || module == "ensurepip" || module == "setuptools" {
		return false
	}
	return namesTask(strings.ReplaceAll(module, ".", "/") + ".py")
}

// namesTask reports whether the file of a program is called after an
// installation or the project's CI, or stands in a folder that is, and what it
// does is not known better.
func namesTask(file string) bool {
	file = strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(file, `\`, "/")), "./")
	base := path.Base(file)
	if base == "setup.py" || base == "get-pip.py" || ofRunner(file) {
		return false
	}
	for _, w := range taskStems {
		if strings.Contains(base, w) {
			return true
		}
	}
	stem, _, _ := strings.Cut(base, ".")
	if taskPrograms[stem] {
		return true
	}
	folder, _, inside := strings.Cut(file, "/")
	return inside && (folder == "ci" || folder == ".ci") || strings.HasPrefix(file, ".terraform/modules/") ||
		slices.ContainsFunc(strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' }), func(w string) bool {
			return taskWords[w]
		})
}

// taskStems are parts of the names of programs that install something, taskWords
// whole words of them.
var (
	taskStems = [...]string{"install", "bootstrap", "setup", "deps", "dependenc", "requirements", "provision"}
	taskWords = wordSet("ci cibuild prepare venv devenv")
)

// mayNameTask is namesTask for every file of a log: quick, by what all of those
// names have in them.
func mayNameTask(file []byte) bool {
	for i := 0; i+2 < len(file); i++ {
		if taskTriples[file[i]&31][file[i+1]&31]>>(file[i+2]&31)&1 == 1 {
			return true
		}
	}
	return false
}

// taskTriples are the first three letters of what namesTask looks for, the
// shorter ones with anything behind them.
var taskTriples = func() (t [32][32]uint32) {
	add := func(w string) {
		third := ^uint32(0)
		switch len(w) {
		case 1:
			w += "." // x.py
		case 2:
		default:
			third = 1 << (w[2] & 31)
		}
		t[w[0]&31][w[1]&31] |= third
	}
	for _, w := range taskStems {
		add(w)
	}
	for _, set := range []map[string]bool{taskWords, taskPrograms} {
		for w := range set {
			add(w)
		}
	}
	return t
}()

// taskPrograms are what projects call a program that does what a Makefile does.
var taskPrograms = wordSet("ci make x tasks prepare runci magefile mage xtask noxfile fabfile dodo")

// buildsTarget reports whether a build is told to make what is called after
// packages that are installed: what a compiler's driver does is its own work else.
//
//	cmake --build build --target deps    ninja -C build install_python_deps    gulp install
func buildsTarget(name string, args []string) bool {
	var targets []string
	switch name {
	case "cmake":
		f, _ := splitFlags(args, wordSet("--build --target -t -j --parallel --config --preset -S -B -G -D"))
		targets = append(f["--target"], f["-t"]...)
	case "ninja", "samu", "gulp", "grunt", "ant", "scons":
		_, targets = splitFlags(args, wordSet("-C -f -j -k -l -t -d -w"))
	}
	return slices.ContainsFunc(targets, installsTarget)
}
