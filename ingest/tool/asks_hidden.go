package tool

import (
	"bytes"
	"slices"
	"strings"
)

// miseAsk reads mise, whose tools may be packages of Python or Node, and come
// with what those need. Which tools a project wants stands in a file of it.
//
//	mise install    mise use -g pipx:aider-chat npm:prettier@3    mise x pipx:ruff@latest -- ruff check
//
// https://mise.jdx.dev/dev-tools/backends/
func miseAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-C --cd -E --env -j --jobs -p --path -c --command"))
	if len(plain) == 0 || f.has("--help", "--version", "-n", "--dry-run") {
		return nil
	}
	a := &ask{tool: "mise", kind: "pypi", quiet: true}
	words := plain[1:]
	switch plain[0] {
	case "exec", "x": // the command stands behind "--"
		if i := slices.Index(args, "--"); i >= 0 {
			words = words[:max(0, len(words)-len(args)+i+1)]
		}
		if len(words) == 0 {
			return nil
		}
	case "install", "i", "use", "u", "up", "upgrade":
	default:
		return nil
	}
	if len(words) == 0 { // all that the file lists
		a.unnamed, a.others = true, []string{"npm"}
		return a
	}
	for _, w := range words {
		backend, name, ok := strings.Cut(w, ":")
		switch {
		case ok && (backend == "pipx" || backend == "uvx"):
			a.uvWord(name)
			a.unnamed = true
		case ok && backend == "npm":
			a.npm([]string{name})
			a.others = []string{"npm"}
		}
	}
	if len(a.items) == 0 && !a.unnamed {
		return nil
	}
	return a
}

// miseVerbs are the words of mise's own; another names a task of the project.
// https://mise.jdx.dev/cli/
var miseVerbs = wordSet("activate alias backends bin-paths cache completion completions config cfg deactivate direnv doctor dr en env e exec x fmt generate gen implode edit install i " +
	"install-into latest link ln lint ls list ls-remote lock mcp outdated plugins plugin p prune registry reshim search self-update set settings shell sh shell-alias sync tasks t " +
	"test-tool tool tool-stub trust uninstall unset unuse remove rm untrust upgrade up use u version v where which current global local")

// placeVerbs are the commands of programs that make an environment of packages
// of all kinds, as a file of the project lists them, and show of that at most
// where in their store they put it. What such a file has run when its
// environment is entered is not shown either.
//
//	nix develop -c pytest    nix-shell --run ci/test    devbox install    flox activate -- make    guix shell -m manifest.scm
//	asdf install             (its plugins for tools of Python and Node have pip and npm install them)
//
// https://nix.dev/manual/nix/latest/command-ref/new-cli/nix3-develop
// https://www.jetify.com/docs/devbox/cli_reference/devbox/
var placeVerbs = map[string]map[string]bool{
	"nix": wordSet("build develop run shell profile flake"), "nix-build": nil, "nix-shell": nil, "nix-env": nil, "home-manager": wordSet("switch build"), "nixos-rebuild": wordSet("switch build boot test"),
	"devbox": wordSet("install add update run shell services global"), "flox": wordSet("activate install build"), "guix": wordSet("shell environment install build package pack time-machine"),
	"asdf": wordSet("install"), "spack": wordSet("install concretize"),
}

// everyPlaceAsk reads those programs.
func everyPlaceAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-f --file -I --option --extra-experimental-features --experimental-features --argstr --arg -A --attr -p --packages -j --max-jobs --cores --run --command -c -m --manifest -d --dir -r --remote -C --directory"))
	verbs := placeVerbs[name]
	switch {
	case f.has("--help", "--version", "--dry-run"), verbs != nil && (len(plain) == 0 || !verbs[plain[0]]):
		return nil
	case name == "nix" && plain[0] == "flake" && (len(plain) < 2 || plain[1] != "check"), name == "nix" && plain[0] == "profile" && (len(plain) < 2 || plain[1] != "install" && plain[1] != "add"),
		name == "nix-env" && !f.has("-i", "-u", "--install", "--upgrade"), name == "asdf" && len(plain) > 1 && runtimes[plain[1]]:
		return nil
	}
	return &ask{tool: name, kind: "pypi", unnamed: true, others: []string{"npm"}, quiet: true}
}

// runtimes are tools of asdf that are compilers and interpreters alone.
var runtimes = wordSet("golang go rust java erlang elixir zig terraform kubectl helm ruby")

// entered returns the command that such a program runs in its environment.
//
//	nix develop .#ci --command make test    nix-shell --run 'pip install -q litellm'    devbox run -- pytest
func entered(name string, args []string) []string {
	if placeVerbs[name] == nil && name != "nix-shell" && name != "mise" && name != "rtx" {
		return nil
	}
	for i, w := range args {
		switch {
		case i+1 == len(args):
		case w == "--run" || w == "--command" && name == "nix-shell":
			return append([]string{"eval"}, args[i+1])
		case w == "--", (w == "-c" || w == "--command") && name != "nix-shell":
			return args[i+1:]
		}
	}
	return nil
}

// hiddenVerbs are the commands of programs that install packages of Python into
// environments of their own, and show nothing of that, or only that it was done.
//
//	meltano install          Installed extractor 'tap-github'
//	mlflow run .             (pip install --quiet)
//	maturin develop          🛠 Installed api-0.1.0
//	ansible-builder build    Complete! The build context can be found at: context
//
// https://docs.meltano.com/reference/command-line-interface/#install
// https://mlflow.org/docs/latest/ml/projects/
// https://www.maturin.rs/develop.html
// https://ansible.readthedocs.io/projects/builder/en/latest/usage/
var hiddenVerbs = map[string]map[string]bool{
	"meltano": wordSet("install add upgrade"), "maturin": wordSet("develop dev"), "ansible-builder": wordSet("build"),
	"mlflow": wordSet("run models"), "snakemake": nil, "briefcase": wordSet("create update dev build package run"),
	"asv": wordSet("run continuous setup"), "snapcraft": nil, "charmcraft": wordSet("pack build"), "rockcraft": wordSet("pack"), "flatpak-builder": nil, "buildozer": nil,
	"p4a": wordSet("apk aab aar create"), "pynsist": nil, "conda-lock": wordSet("install"), "bentoml": wordSet("build containerize deploy"), "truss": wordSet("push"),
	"sky": wordSet("launch exec jobs"), "astro": wordSet("deploy dev"), "sst": wordSet("deploy dev"), "ampx": wordSet("pipeline-deploy sandbox"), "amplify": wordSet("push publish"),
	"dagster-cloud": wordSet("serverless workspace"),
}

// hiddenAsk reads those programs.
func hiddenAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("--env-manager -e -P -m --env"))
	verbs := hiddenVerbs[name]
	switch {
	case f.has("--help", "-h", "--version", "--skip-install"), slices.Contains(f["--env-manager"], "local"):
		return nil
	case name == "snakemake" && !f.has("--use-conda", "--sdm", "--software-deployment-method"):
		return nil // https://snakemake.readthedocs.io/en/stable/snakefiles/deployment.html
	case verbs != nil && (len(plain) == 0 || !verbs[plain[0]]):
		return nil
	case name == "mlflow" && plain[0] == "models" && !slices.ContainsFunc(plain[1:], func(w string) bool { return w != "update-pip-requirements" }):
		return nil
	}
	a := &ask{tool: name, kind: "pypi", unnamed: true, quiet: true}
	if alsoNode[name] {
		a.others = []string{"npm"}
	}
	return a
}

// alsoNode are those of them that install packages of Node too.
var alsoNode = wordSet("snapcraft charmcraft rockcraft flatpak-builder sst ampx amplify")

// shownTool reads commands that have pip install what they need, and show what
// it prints.
//
//	python -m spacy download en_core_web_sm    mypy --install-types --non-interactive src
//
// https://spacy.io/api/cli#download
func shownTool(name string, args []string) *ask {
	f, plain := splitFlags(args, nil)
	a := &ask{tool: "pip", kind: "pypi", unnamed: true}
	switch {
	case f.has("--help", "-h"):
		return nil
	case name == "spacy" && len(plain) > 0 && plain[0] == "download":
	case name == "mypy" && f.has("--install-types"):
		a.loud = true // where nothing lacks it is silent
	case name == "fpm" && (slices.Contains(args, "python") || slices.Contains(args, "virtualenv") || slices.Contains(args, "npm")):
		a.quiet, a.others = true, []string{"npm"}
	default:
		return nil
	}
	return a
}

// hiddenNodeAsk reads those that install packages of Node so.
//
//	rush install    ember install ember-cli-sass
//
// or make a project with them:
//
//	vue create web    nest new api    sf plugins install x    volta install yarn
//
// https://rushjs.io/pages/commands/rush_install/
func hiddenNodeAsk(name string, args []string) *ask {
	if len(args) == 0 || slices.Contains(args, "--help") || !slices.Contains(nodeVerbs[name], args[0]) {
		return nil
	}
	return &ask{tool: name, kind: "npm", unnamed: true, quiet: true}
}

// nodeVerbs are the commands of those programs.
var nodeVerbs = map[string][]string{
	"rush": {"install", "update", "add"}, "ember": {"install", "update", "add", "new", "init"}, "vue": {"create", "add"}, "nest": {"new", "n", "add"}, "gatsby": {"new"}, "expo": {"install", "prebuild"},
	"sf": {"plugins", "plugins:install"}, "sfdx": {"plugins", "plugins:install"}, "heroku": {"plugins:install", "plugins:update"}, "volta": {"install"}, "eas": {"build"}, "meteor": {"create", "build", "deploy", "update"},
}

// shownByPip reads commands that have pip install, and show what it prints.
//
//	flit install --deps develop    pulumi install    pipx runpip black install click
//
// https://flit.pypa.io/en/stable/cmdline.html#flit-install
func shownByPip(name string, args []string) *ask {
	_, plain := leadingFlags(args, nil)
	if len(plain) == 0 || plain[0] != "install" || slices.Contains(args, "--help") {
		return nil
	}
	return &ask{tool: "pip", kind: "pypi", unnamed: true, quiet: name == "flit" && slices.Contains(args, "-q")}
}

// notebookAsk reads commands that run the cells of a notebook. Cells may install
// ("%pip install x"), and what they print goes into the notebook.
//
//	jupyter nbconvert --to notebook --execute analysis.ipynb
//	papermill in.ipynb out.ipynb
//
// https://nbconvert.readthedocs.io/en/latest/execute_api.html
// https://papermill.readthedocs.io/en/latest/usage-cli.html
func notebookAsk(name string, args []string) *ask {
	runs := name == "papermill" || name == "voila"
	switch name {
	case "jupyter":
		runs = len(args) > 1 && (args[0] == "execute" || args[0] == "run" || args[0] == "nbconvert" && slices.Contains(args, "--execute"))
	case "jupyter-book", "jb":
		runs = len(args) > 0 && args[0] == "build"
	case "quarto":
		runs = len(args) > 0 && (args[0] == "render" || args[0] == "publish") && !slices.Contains(args, "--no-execute")
	case "jupyter-nbconvert":
		runs = slices.Contains(args, "--execute")
	case "ipython", "runipy":
		runs = slices.ContainsFunc(args, func(w string) bool { return strings.HasSuffix(w, ".ipynb") })
	case "pytest", "py.test":
		runs = slices.ContainsFunc(args, func(w string) bool { return w == "--nbmake" || w == "--nbval" || w == "--nbval-lax" })
	}
	if !runs || len(args) == 0 || slices.Contains(args, "--help") {
		return nil
	}
	return &ask{tool: "script", others: anything, quiet: true}
}

// gitAsk reads git, which is in every job: a push to a remote that builds what it
// gets.
func gitAsk(name string, args []string) *ask {
	if !slices.Contains(args, "push") {
		return nil
	}
	return placeAsk(name, args)
}

// placeAsk reads commands that have a project built and installed by the place
// that it is to run at. Some print the log of that build: where nothing of it
// is seen, nobody knows what came.
//
//	fly deploy    railway up --detach    vercel deploy --prod    eb deploy    firebase deploy --only functions
//	modal deploy app.py    git push heroku main
//
// https://fly.io/docs/flyctl/deploy/  https://docs.railway.com/reference/cli-api
// https://vercel.com/docs/cli/deploy  https://firebase.google.com/docs/cli
func placeAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-a --app -c --config -i --image --only --except -P --project -t --token --scope -S -s --service -e --environment --label -l"))
	verb := ""
	if len(plain) > 0 {
		verb = plain[0]
	}
	if f.has("--help", "-h", "--version") {
		return nil
	}
	a := &ask{tool: name, kind: "image", others: everyKind, loud: true}
	switch name {
	case "fly", "flyctl":
		if image := append(f["-i"], f["--image"]...); image != nil {
			return deployed(name, image)
		}
		if verb != "deploy" && verb != "launch" {
			return nil
		}
		a.speaks = true
	case "werf": // it draws boxes around what docker prints
		if verb != "build" && verb != "converge" {
			return nil
		}
		a.speaks = true
	case "modal":
		if verb != "deploy" && verb != "run" && verb != "serve" {
			return nil
		}
		a.speaks = true
	case "git":
		if verb != "push" || len(plain) < 2 || !slices.Contains([]string{"heroku", "dokku", "scalingo", "clever", "piku"}, plain[1]) {
			return nil
		}
		a.speaks = true
	case "cf":
		if verb != "push" || f.has("-o", "--docker-image") {
			return nil
		}
		a.quiet = true
	case "oc": // it prints the log of the build where it follows
		a.speaks, a.quiet = true, !f.has("--follow", "-F")
	case "copilot":
		if verb != "deploy" && verb != "svc" && verb != "job" {
			return nil
		}
		a.speaks = true
	case "func":
		if verb != "azure" || !slices.Contains(plain, "publish") || slices.Contains(f["--build"], "local") || f.has("--no-build") {
			return nil
		}
		a.quiet = true
	case "netlify":
		if verb != "build" && !f.has("--build") {
			return nil
		}
		a.quiet = true
	case "railway":
		if verb != "up" {
			return nil
		}
		a.speaks, a.quiet = true, f.has("-d", "--detach")
	case "vercel", "vc":
		if verb != "" && verb != "deploy" && verb != "build" && verb != "." || f.has("--prebuilt") {
			return nil
		}
		a.quiet = !f.has("--logs")
	case "eb":
		if verb != "deploy" && verb != "create" {
			return nil
		}
		a.quiet = true
	case "firebase":
		only := strings.Join(f["--only"], ",")
		if verb != "deploy" || only != "" && !strings.Contains(only, "functions") {
			return nil
		}
		a.quiet = true
	}
	return a
}

// whichProgram names the program that a command looks for, to be called as the
// word that another begins with:
//
//	$(which pip) install -q litellm
//	`command -v pip3` install -q litellm
func whichProgram(c shellCommand) string {
	if len(c.words) < 2 || c.words[0] != "$" && c.words[0] != "`" {
		return ""
	}
	words := strings.Fields(strings.Trim(c.yields, "()"))
	switch {
	case len(words) == 2 && words[0] == "which", len(words) == 3 && (words[0] == "command" || words[0] == "type" || words[0] == "pyenv" || words[0] == "which"):
		return words[len(words)-1]
	}
	return ""
}

// localExec reads how terraform shows a command before it runs it on this
// machine; what it prints stands behind the same prefix.
//
//	null_resource.deps (local-exec): Executing: ["/bin/sh" "-c" "pip install -q -r requirements.txt"]
//
// https://developer.hashicorp.com/terraform/language/provisioners
func localExec(text []byte) (command string, ok bool) {
	_, inside, ok := bytes.Cut(text, []byte(" (local-exec): Executing: ["))
	rest, closed := strings.CutSuffix(string(inside), `"]`)
	if !ok || !closed || len(rest) > maxCommand {
		return "", false
	}
	_, command, ok = strings.Cut(rest, `" "-c" "`)
	if !ok {
		if _, command, ok = strings.Cut(rest, `" "-Command" "`); !ok { // words of a program: ["python3" "package.py" "build"]
			command = strings.ReplaceAll(strings.TrimPrefix(rest, `"`), `" "`, " ")
		}
	}
	return strings.NewReplacer(`\"`, `"`, `\n`, "\n", `\t`, " ").Replace(command), true
}

// remoteBuildAsk reads the commands that have an image built by a cloud. They
// print the log of that build, unless they do not wait for it, or may not read
// it: then only a summary comes.
//
//	gcloud builds submit --tag europe-docker.pkg.dev/acme/web/api .
//	az acr build -r acme -t api:1 .
//
// Those that deploy have the place build what it runs, and show nothing of that:
//
//	gcloud functions deploy hello    gcloud app deploy    az webapp up
//
// https://cloud.google.com/sdk/gcloud/reference/builds/submit
// https://learn.microsoft.com/cli/azure/acr#az-acr-build
// https://learn.microsoft.com/cli/azure/webapp#az-webapp-up
func remoteBuildAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("--tag -t --config --project --region --substitutions --machine-type --timeout --gcs-source-staging-dir -r --registry -g --resource-group --image --file --build-arg --platform --verbosity --format -o --output --subscription --source --build-remote --container-image -i -n --name --runtime --sku -s --plan -p --location -l"))
	if len(plain) > 0 && (plain[0] == "beta" || plain[0] == "alpha") {
		plain = plain[1:]
	}
	if len(plain) < 2 || f.has("--help", "-h") {
		return nil
	}
	verb := strings.Join(plain[:2], " ")
	builds, deploys := verb == "builds submit", verb == "functions deploy" || verb == "app deploy" || f.has("--source") && slices.Contains(plain, "deploy")
	if name == "az" {
		builds = verb == "acr build"
		deploys = verb == "webapp up" || verb == "containerapp up" && f.has("--source") || slices.Contains(f["--build-remote"], "true")
	}
	if !builds && !deploys && f.has("--image", "--container-image", "-i") && slices.ContainsFunc(plain, func(w string) bool { return deployVerbs[w] }) {
		return deployed(name, slices.Concat(f["--image"], f["--container-image"], f["-i"])) // gcloud run deploy api --image acme/api:1
	}
	if !builds && !deploys {
		return nil
	}
	unseen := deploys || f.has("--async", "--no-logs", "--no-wait", "--suppress-logs") || slices.Contains(f["--verbosity"], "none")
	return &ask{tool: verb, kind: "image", others: everyKind, loud: true, speaks: true, quiet: unseen}
}

// deployVerbs are the words of gcloud and az behind which --image names what is to
// run.
var deployVerbs = wordSet("deploy update create up create-with-container")

// remoteBuild is how the log of a build of Google Cloud Build begins, for whoever
// waits for one.
const remoteBuild = "starting build \""
