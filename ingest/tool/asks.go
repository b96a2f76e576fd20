package tool

import (
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ask is what one command asks of a registry.
type ask struct {
	tool    string // whose output answers it
	kind    string // purl type, or "image"
	items   []timeline.Item
	unnamed bool     // it fetches what it does not name
	builds  bool     // it fetches what builds need
	others  []string // further kinds of what it fetches and does not name
	also    *ask     // what it has another program fetch, whose output is another
	quiet   bool     // it prints no versions
	none    bool     // it fetches nothing, but its output is read
	loud    bool     // its output always says what came: only without it is it opaque
	speaks  bool     // it prints something in any case: see evidence.Op.Speaks

	traces   bool // it is a script whose commands are printed (bash -x)
	unproved bool // that the line is a command shows in its words alone
	certain  bool // it runs whenever its step does, and does not fail
}

// some lists the ecosystems of what the command fetches and does not name.
func (a *ask) some() []timeline.Item {
	var out []timeline.Item
	kinds := a.others
	if a.unnamed {
		kinds = append([]string{a.kind}, kinds...)
	}
	for _, kind := range kinds {
		artifact := timeline.Ecosystem(kind)
		if kind == "image" {
			artifact = timeline.SomeImage
		}
		out = append(out, timeline.Item{Artifact: artifact})
	}
	if a.builds {
		out = append(out, buildRequirements)
	}
	return out
}

// buildRequirements is what a build fetches into an environment of its own.
var buildRequirements = timeline.Item{Artifact: timeline.Ecosystem("pypi"), Ref: timeline.BuildRequirements}

// name adds a package, or says that the word names none.
func (a *ask) name(it timeline.Item, ok bool) {
	if !ok {
		a.unnamed = true
		return
	}
	a.items = append(a.items, it)
}

// variable reports whether the value of a word is not known: a variable, a
// substitution, a template.
func variable(w string) bool { return strings.ContainsAny(w, "$`{%*") }

// asking says what programs ask for, by name. A command that asks for nothing
// returns nil.
var asking = map[string]func(name string, args []string) *ask{
	"uv": uvAsk, "uvx": uvxAsk, "pipx": pipxAsk, "poetry": poetryAsk, "pipenv": poetryAsk, "pdm": poetryAsk,
	"pip-sync": pipSyncAsk, "piptools": pipToolsAsk, "pip-run": pipRunAsk,
	"easy_install": easyInstallAsk, "setup.py": setupAsk,
	"conda": condaAsk, "mamba": condaAsk, "micromamba": condaAsk,
	"npm": npmAsk, "pnpm": npmAsk, "yarn": npmAsk, "bun": npmAsk, "npx": npxAsk, "pnpx": npxAsk, "bunx": npxAsk,
	"apt-get": aptAsk, "apt": aptAsk, "apk": apkAsk, "yum": rpmAsk, "dnf": rpmAsk, "microdnf": rpmAsk, "zypper": rpmAsk,
	"gem": gemAsk, "bundle": bundleAsk, "go": goAsk, "cargo": cargoAsk,
	"docker": dockerAsk, "podman": dockerAsk, "nerdctl": dockerAsk, "buildah": dockerAsk, "crictl": dockerAsk, "podman-remote": dockerAsk,
	"docker-compose": composeAsk, "podman-compose": composeAsk,
	"executor": executorAsk, "depot": builderAsk, "img": builderAsk, "nixpacks": builderAsk, "railpack": builderAsk, "cog": builderAsk, "repo2docker": builderAsk, "jupyter-repo2docker": builderAsk,
	"crane": craneAsk, "gcrane": craneAsk, "kubectl": kubectlAsk, "oc": kubectlAsk, "skaffold": skaffoldAsk, "ng": ngAsk, "deno": denoAsk,
	"skopeo": fetcherAsk, "oras": fetcherAsk, "regctl": fetcherAsk, "ctr": fetcherAsk, "singularity": fetcherAsk, "apptainer": fetcherAsk, "trivy": fetcherAsk,
	"dockle": fetcherAsk, "cosign": fetcherAsk, "ch-image": fetcherAsk, "enroot": fetcherAsk, "imgpkg": syncAsk, "regsync": syncAsk, "grype": fetcherAsk, "syft": fetcherAsk, "dive": fetcherAsk, "kind": fetcherAsk, "minikube": fetcherAsk, "k3d": fetcherAsk, "snyk": fetcherAsk, "toolbox": boxAsk, "distrobox": boxAsk,
	"sam": packagerAsk, "chalice": packagerAsk, "zappa": packagerAsk, "serverless": packagerAsk, "sls": packagerAsk, "cibuildwheel": packagerAsk,
	"venv": venvAsk, "virtualenv": venvAsk, "tox": toxAsk, "nox": toxAsk, "hatch": hatchAsk, "rye": ryeAsk, "pixi": pixiAsk, "pre-commit": preCommitAsk,
	"ovsx": ovsxAsk, "jenkins-plugin-cli": pluginManagerAsk, "install-plugins.sh": oldPluginsAsk, "java": javaAsk,
	"pyproject-build": projectBuildAsk, "pip-audit": pipAuditAsk, "pex": pexAsk, "shiv": pexAsk, "gcloud": remoteBuildAsk, "az": remoteBuildAsk,
	"prek": preCommitAsk, "mise": miseAsk, "rtx": miseAsk, "flit": shownByPip, "pulumi": shownByPip,
	"rush": hiddenNodeAsk, "ember": hiddenNodeAsk, "vue": hiddenNodeAsk, "nest": hiddenNodeAsk, "gatsby": hiddenNodeAsk, "expo": hiddenNodeAsk, "sf": hiddenNodeAsk, "sfdx": hiddenNodeAsk, "volta": hiddenNodeAsk, "eas": hiddenNodeAsk, "meteor": hiddenNodeAsk, "heroku": herokuAsk,
	"asv": hiddenAsk, "snapcraft": hiddenAsk, "charmcraft": hiddenAsk, "rockcraft": hiddenAsk, "flatpak-builder": hiddenAsk, "buildozer": hiddenAsk, "p4a": hiddenAsk, "pynsist": hiddenAsk, "conda-lock": hiddenAsk,
	"bentoml": hiddenAsk, "truss": hiddenAsk, "sky": hiddenAsk, "astro": hiddenAsk, "sst": hiddenAsk, "ampx": hiddenAsk, "amplify": hiddenAsk, "dagster-cloud": hiddenAsk,
	"spacy": shownTool, "mypy": shownTool, "fpm": shownTool, "jupyter-book": notebookAsk, "jb": notebookAsk, "quarto": notebookAsk, "voila": notebookAsk,
	"cf": placeAsk, "copilot": placeAsk, "func": placeAsk, "netlify": placeAsk,
	"meltano": hiddenAsk, "maturin": hiddenAsk, "mlflow": hiddenAsk, "snakemake": hiddenAsk, "ansible-builder": hiddenAsk, "briefcase": hiddenAsk,
	"jupyter": notebookAsk, "jupyter-nbconvert": notebookAsk, "papermill": notebookAsk, "ipython": notebookAsk, "runipy": notebookAsk, "pytest": notebookAsk, "py.test": notebookAsk,
	"nix": everyPlaceAsk, "nix-build": everyPlaceAsk, "nix-shell": everyPlaceAsk, "nix-env": everyPlaceAsk, "home-manager": everyPlaceAsk, "nixos-rebuild": everyPlaceAsk,
	"devbox": everyPlaceAsk, "flox": everyPlaceAsk, "guix": everyPlaceAsk, "asdf": everyPlaceAsk, "spack": everyPlaceAsk,
	"fly": placeAsk, "flyctl": placeAsk, "railway": placeAsk, "werf": placeAsk, "vercel": placeAsk, "vc": placeAsk, "eb": placeAsk, "firebase": placeAsk,
	"modal": placeAsk, "git": gitAsk,
}

// pipSyncAsk reads pip-sync, whose output is pip's.
func pipSyncAsk(_ string, args []string) *ask {
	f, _ := splitFlags(args, pipValued)
	if f.has("--help", "-h", "--version", "-n", "--dry-run") {
		return nil
	}
	return &ask{tool: "pip", kind: "pypi", unnamed: true, quiet: f.has(pipQuiet...)}
}

// pipToolsAsk reads "python -m piptools sync".
func pipToolsAsk(name string, args []string) *ask {
	if len(args) == 0 || args[0] != "sync" {
		return nil
	}
	return pipSyncAsk(name, args[1:])
}

// easyInstallAsk reads the installer that came before pip.
// https://setuptools.pypa.io/en/latest/deprecated/easy_install.html
func easyInstallAsk(_ string, args []string) *ask {
	a := &ask{tool: "easy_install", kind: "pypi"}
	_, plain := leadingFlags(args, nil)
	for _, w := range plain {
		r, rest, ok := evidence.ParseRequirement(w)
		a.name(r.Item(), ok && rest == "" && !variable(w))
	}
	a.unnamed = true // what it depends on
	return a
}

// setupAsk reads a project's own script, which fetches what the project needs.
func setupAsk(_ string, args []string) *ask {
	_, plain := leadingFlags(args, nil)
	if len(plain) == 0 || plain[0] != "install" && plain[0] != "develop" && plain[0] != "test" {
		return nil
	}
	return &ask{tool: "easy_install", kind: "pypi", unnamed: true}
}

// venvAsk reads the makers of environments, which fetch only when they are told
// to: a new pip.
// https://docs.python.org/3/library/venv.html
func venvAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-p --python --prompt --pip --setuptools"))
	if len(plain) == 0 || !f.has("--upgrade-deps", "--download") {
		return nil
	}
	return &ask{tool: name, kind: "pypi", items: []timeline.Item{{Artifact: timeline.PURL("pypi", "", "pip", "")}}, quiet: true}
}

// askOf returns what a program with these words asks for, nil for nothing.
func askOf(name string, args []string) *ask {
	name = called(name)
	if lower := strings.ToLower(name); isPip(lower) { // Windows knows no case
		name = lower
	}
	if isPip(name) {
		return pipAsk("pip", args)
	}
	if f := asking[name]; f != nil {
		return f(name, args)
	}
	if isEditor(name) {
		return editorAsk(args)
	}
	return otherAsk(name, args)
}

// called takes a program's name out of a variable that is called like it:
// $PIP, ${PYTHON3}, $(UV) of make.
func called(name string) string {
	if strings.HasPrefix(name, "$") {
		return strings.ToLower(strings.Trim(name, "${}()"))
	}
	return name
}

// isPip knows pip, pip3, pip3.12.
func isPip(name string) bool {
	v, ok := strings.CutPrefix(name, "pip")
	return ok && strings.Trim(v, "0123456789.") == ""
}

// isPython knows python, python3, python3.12, py.
func isPython(name string) bool {
	v, ok := strings.CutPrefix(called(name), "python")
	return ok && strings.Trim(v, "0123456789.") == "" || name == "py" || name == "pypy3"
}

// pipValued are the options of pip and uv that take a word.
var pipValued = wordSet("-r -c -e -i -t -f -d -w -b -C -p -P -o --requirement --requirements --constraint --constraints --editable --index-url --extra-index-url " +
	"--find-links --target --platform --python-version --implementation --abi --root --prefix --src --upgrade-strategy " +
	"--config-settings --config-setting --global-option --install-option --build-option --no-binary --only-binary --progress-bar --root-user-action " +
	"--report --cache-dir --log --proxy --retries --timeout --exists-action --trusted-host --cert --client-cert --python " +
	"--use-feature --use-deprecated --keyring-provider --dest --wheel-dir --group --index --default-index --index-strategy " +
	"--with --with-requirements --with-editable --from --extra --only-group --no-group --package --directory --project " +
	"--override --overrides --resolution --prerelease --exclude-newer --link-mode --upgrade-package --reinstall-package " +
	"--torch-backend --config-file --color --build-constraints --build-constraint --no-build-package --no-binary-package " +
	"--output-file --no-install-package --script --tag --branch --rev --bounds --marker --env-file --refresh-package --spec")

var pipQuiet = []string{"-q", "--quiet", "--silent"}

// pipAsk reads the words behind "pip" and "uv pip".
func pipAsk(tool string, args []string) *ask {
	f, plain := splitFlags(args, pipValued)
	if len(plain) == 0 || f.has("--help", "-h", "--version", "-V") {
		return nil
	}
	a := &ask{tool: tool, kind: "pypi", quiet: f.has(pipQuiet...)}
	switch plain[0] {
	case "install", "download", "wheel":
	case "sync":
		a.unnamed = true
		return a
	case "uninstall", "compile":
		a.none = true
		return a
	default:
		return nil
	}
	a.python(plain[1:])
	a.unnamed = a.unnamed || f.has("-r", "--requirement", "--requirements", "--group")
	for _, e := range append(f["-e"], f["--editable"]...) {
		a.name(pythonWord(e))
	}
	if len(a.items) == 0 && !a.unnamed {
		return nil
	}
	return a
}

func (a *ask) python(names []string) {
	for _, w := range names {
		a.name(pythonWord(w))
	}
}

// pythonWord reads one thing to install: a requirement, a file, an address.
func pythonWord(w string) (timeline.Item, bool) {
	if variable(w) {
		return timeline.Item{}, false
	}
	if d, ok := evidence.ParseDist(w); ok {
		return distItem(d), true
	}
	if r, rest, ok := evidence.ParseRequirement(w); ok {
		if rest = strings.TrimLeft(rest, " "); (rest == "" || rest[0] == ';') && !strings.HasSuffix(r.Name, ".txt") {
			return r.Item(), true
		}
	}
	if _, egg, ok := strings.Cut(w, "#egg="); ok {
		egg, _, _ = strings.Cut(egg, "&")
		if r, rest, ok := evidence.ParseRequirement(egg); ok && rest == "" {
			it := r.Item()
			it.Ref = evidence.Redact(w)
			return it, true
		}
	}
	return timeline.Item{}, false
}

// atVersion reads "ruff@0.5.0" and "ruff@latest", as uv and npm write it.
func atVersion(kind, w string) (timeline.Item, bool) {
	i := strings.LastIndexByte(w, '@')
	if i <= 0 {
		return timeline.Item{}, false
	}
	name, version := w[:i], w[i+1:]
	it := timeline.Item{Artifact: timeline.PURL(kind, "", name, ""), Ref: version}
	if exactVersion(version) {
		it.Artifact = timeline.PURL(kind, "", name, version)
	}
	return it, version != ""
}

// exactVersion reports whether text names one version: three numbers at least,
// or a version of Python's with two.
func exactVersion(text string) bool {
	return strings.Count(text, ".") >= 1 && text[0] >= '0' && text[0] <= '9' && !strings.ContainsAny(text, "xX*^~<>| ")
}

// uvAsk reads uv's commands. https://docs.astral.sh/uv/reference/cli/
func uvAsk(_ string, args []string) *ask {
	global, rest := leadingFlags(args, pipValued)
	if len(rest) == 0 || global.has("--help", "-h", "--version", "-V") {
		return nil
	}
	sub, rest := rest[0], rest[1:]
	switch sub {
	case "pip":
		a := pipAsk("uv", rest)
		if a != nil {
			a.quiet = a.quiet || global.has(pipQuiet...)
		}
		return a
	case "tool":
		switch {
		case len(rest) == 0:
			return nil
		case rest[0] == "run":
			return uvxAsk("uvx", rest[1:])
		case rest[0] == "upgrade" && slices.Contains(rest, "--all"):
			sub = "sync"
		case rest[0] == "install" || rest[0] == "upgrade":
			sub = "add"
		default:
			return nil
		}
		rest = rest[1:]
	case "run":
		return uvRun(rest)
	}
	f, plain := splitFlags(rest, pipValued)
	if f.has("--help", "-h") {
		return nil
	}
	a := &ask{tool: "uv", kind: "pypi", quiet: f.has(pipQuiet...) || global.has(pipQuiet...)}
	switch sub {
	case "add":
		for _, w := range plain {
			a.uvWord(w)
		}
		a.python(f["--with"])
		a.unnamed = a.unnamed || f.has("-r", "--requirements")
	case "sync":
		a.unnamed = true
	case "lock", "remove", "export":
		a.none = true
	case "build":
		return projectBuildAsk("uv build", rest)
	default:
		return nil
	}
	return a
}

func (a *ask) uvWord(w string) {
	if it, ok := atVersion("pypi", w); ok && !strings.ContainsAny(w, ":/ $") {
		a.items = append(a.items, it)
		return
	}
	a.name(pythonWord(w))
}

// uvRun reads "uv run --with x command". uv says so when it installs anything
// for the project, so silence is an answer there.
func uvRun(args []string) *ask {
	f, _ := leadingFlags(args, pipValued)
	a := &ask{tool: "uv", kind: "pypi", quiet: f.has(pipQuiet...)}
	for _, with := range f["--with"] {
		a.python(strings.Split(with, ","))
	}
	a.unnamed = a.unnamed || f.has("--with-requirements", "--with-editable")
	if len(a.items) == 0 && !a.unnamed {
		a.unnamed, a.loud = true, true
	}
	return a
}

// uvxAsk reads "uvx [--from x] [--with y] tool[@version]".
func uvxAsk(_ string, args []string) *ask {
	f, plain := leadingFlags(args, pipValued)
	if len(plain) == 0 || f.has("--help", "-h", "--version") {
		return nil
	}
	a := &ask{tool: "uv", kind: "pypi", quiet: f.has(pipQuiet...)}
	if from := f["--from"]; from != nil {
		a.uvWord(from[0])
	} else {
		a.uvWord(plain[0])
	}
	for _, with := range f["--with"] {
		a.python(strings.Split(with, ","))
	}
	return a
}

// runVerb is the verb of pipx behind which a program and its words stand.
var runVerb = wordSet("run")

// pipxAsk reads pipx. https://pipx.pypa.io/stable/docs/
func pipxAsk(_ string, args []string) *ask {
	f, plain := splitFlags(untilProgram(args, pipValued, runVerb), pipValued)
	if len(plain) == 0 || f.has("--help", "-h", "--version") {
		return nil
	}
	a := &ask{tool: "pipx", kind: "pypi", quiet: f.has(pipQuiet...)}
	if plain[0] == "upgrade-all" || plain[0] == "reinstall-all" {
		a.unnamed = true
		return a
	}
	if len(plain) < 2 {
		return nil
	}
	switch plain[0] {
	case "install", "upgrade":
		a.python(plain[1:])
	case "run":
		plain = plain[1:2]
		if spec := f["--spec"]; spec != nil {
			plain = spec[:1]
		}
		a.python(plain)
	case "inject":
		a.python(plain[2:])
	case "runpip": // pipx runpip litellm install -q boto3
		return pipAsk("pip", args[slices.Index(args, plain[1])+1:])
	default:
		return nil
	}
	return a
}

// poetryAsk reads poetry, pipenv and pdm, which agree on these words.
func poetryAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-G -E -C -P --group --extras --source --with --without --only --directory --project --python --python-version -i --index --categories"))
	if len(plain) == 0 || f.has("--help", "-h", "--version", "-V") {
		return nil
	}
	a := &ask{tool: name, kind: "pypi", quiet: f.has(pipQuiet...), none: f.has("--dry-run")}
	if plain[0] == "self" {
		plain = plain[1:]
	}
	switch {
	case len(plain) == 0:
		return nil
	case plain[0] == "add", plain[0] == "install" && name == "pipenv" && len(plain) > 1:
		for _, w := range plain[1:] {
			a.uvWord(w)
		}
	case plain[0] == "install", plain[0] == "update", plain[0] == "sync":
		a.unnamed = true
	case plain[0] == "lock", plain[0] == "remove":
		a.none = true
	default:
		return nil
	}
	return a
}
