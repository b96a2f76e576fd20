package tool

import (
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// manager is a package manager that is known by its commands. What nothing reads
// of its output is never answered: a job that ran one is not clear.
type manager struct {
	kind   string                                // purl type
	fetch  map[string]bool                       // words that fetch; nil: any, and none at all
	valued map[string]bool                       // options that take a word
	dry    map[string]bool                       // options with which nothing comes over
	names  func(a *ask, f flags, words []string) // adds what is named behind such a word
}

// What Maven and its kin do fetches whatever is not there yet.
var (
	// https://getcomposer.org/doc/03-cli.md
	composer = &manager{
		kind: "composer", fetch: wordSet("install i update u upgrade require r req create-project reinstall"), names: composerNames,
		valued: wordSet("-d --working-dir --ignore-platform-req --repository --repository-url --stability -s --audit-format"), dry: wordSet("--no-install"),
	}
	// https://learn.microsoft.com/en-us/dotnet/core/tools/dotnet-restore
	dotnet = &manager{
		kind: "nuget", fetch: wordSet("restore build publish run test pack add package install tool workload update"), names: nugetNames, dry: wordSet("--no-restore"),
		valued: wordSet("-c -f -r -o -v -s -p --configuration --framework --runtime --output --verbosity --source --version -Version -Source -OutputDirectory --tool-path --project"),
	}
	// https://maven.apache.org/ref/current/maven-embedder/cli.html
	mavenBuild = &manager{kind: "maven", valued: wordSet("-f -P -pl -D -T -s -gs -t -l --file --settings"), dry: wordSet("-o --offline -v --version")}
	// https://docs.gradle.org/current/userguide/command_line_interface.html
	gradle = &manager{kind: "maven", valued: wordSet("-p -b -I -g -c -x -P -D --project-dir --build-file --init-script"), dry: wordSet("--offline --version --stop --status")}
	// https://hexdocs.pm/mix/Mix.Tasks.Deps.Get.html
	mix = &manager{kind: "hex", fetch: wordSet("deps.get deps.update deps.compile archive.install escript.install local.hex get-deps compile upgrade release")}
	// https://dart.dev/tools/pub/cmd
	dart = &manager{kind: "pub", fetch: wordSet("pub build run test create upgrade"), dry: wordSet("--no-pub --offline --dry-run")}
	// https://guides.cocoapods.org/terminal/commands.html
	pod = &manager{kind: "cocoapods", fetch: wordSet("install update")}
	// https://docs.swift.org/swiftpm/documentation/packagemanagerdocs/
	swift = &manager{kind: "swift", fetch: wordSet("build run test package")}
	xcode = &manager{kind: "swift", dry: wordSet("-version -list -showsdks")}
	// https://metacpan.org/dist/App-cpanminus/view/bin/cpanm
	cpan = &manager{kind: "cpan", valued: wordSet("-l -L --local-lib --mirror --cpanfile")}
	// https://github.com/luarocks/luarocks/blob/main/docs/luarocks_install.md
	luarocks = &manager{kind: "luarocks", fetch: wordSet("install build make download")}
	// https://docs.conan.io/2/reference/commands/install.html
	conan = &manager{kind: "conan", fetch: wordSet("install create build download")}
	// https://docs.brew.sh/Manpage
	brew = &manager{kind: "brew", fetch: wordSet("install upgrade reinstall bundle fetch"), names: plainNames, dry: wordSet("-n --dry-run")}
	// https://docs.chocolatey.org/en-us/choco/commands/install/
	choco = &manager{kind: "chocolatey", fetch: wordSet("install upgrade download"), names: plainNames, valued: wordSet("-s --source --version --params"), dry: wordSet("--noop --what-if")}
	// https://learn.microsoft.com/en-us/windows/package-manager/winget/install
	winget = &manager{kind: "winget", fetch: wordSet("install add upgrade update download import configure"), names: wingetNames, valued: wordSet("-v -s -m --id --name --version --source --scope")}
	scoop  = &manager{kind: "scoop", fetch: wordSet("install update download"), names: plainNames}
	// https://helm.sh/docs/helm/helm_pull/
	helmCharts = &manager{kind: "helm", fetch: wordSet("install upgrade pull fetch dependency dep template"), valued: wordSet("-n -f --namespace --values --set --set-string --version --repo --timeout --kube-context")}
	// https://developer.hashicorp.com/terraform/cli/commands/init
	terraform = &manager{kind: "terraform", fetch: wordSet("init get"), valued: wordSet("-chdir")}
	// https://huggingface.co/docs/huggingface_hub/guides/cli
	huggingface = &manager{kind: "huggingface", fetch: wordSet("download")}
	// https://get-coursier.io/docs/cli-overview
	coursier = &manager{kind: "maven", fetch: wordSet("fetch launch install bootstrap setup")}
	// https://gleam.run/reference/
	gleam = &manager{kind: "hex", fetch: wordSet("add build deps run test update")}
	// https://man.archlinux.org/man/pacman.8
	archLinux = &manager{kind: "alpm", dry: wordSet("-Q -Qi -Ql -Qu -Qq -Qqe -R -Rs -Rns -Ss -Si -T -p --print")}
	// https://opam.ocaml.org/doc/man/opam-install.html
	opam = &manager{kind: "opam", fetch: wordSet("install upgrade update init switch")}
	// https://cabal.readthedocs.io/en/stable/cabal-commands.html
	cabal = &manager{kind: "hackage", fetch: wordSet("build install update test run fetch get v2-build v2-install setup exec")}
)

// otherManagers are they by the name of their program.
var otherManagers = map[string]*manager{
	"composer": composer, "composer.phar": composer, "dotnet": dotnet, "nuget": dotnet, "nuget.exe": dotnet, "paket": dotnet,
	"mvn": mavenBuild, "mvnw": mavenBuild, "mvnd": mavenBuild, "gradle": gradle, "gradlew": gradle, "sbt": gradle, "lein": gradle, "mill": gradle,
	"mix": mix, "rebar3": mix, "dart": dart, "flutter": dart, "pod": pod, "swift": swift, "xcodebuild": xcode,
	"cpanm": cpan, "cpan": cpan, "carton": cpan, "luarocks": luarocks, "conan": conan, "brew": brew,
	"cs": coursier, "coursier": coursier, "gleam": gleam, "pacman": archLinux, "yay": archLinux, "paru": archLinux,
	"choco": choco, "winget": winget, "scoop": scoop, "helm": helmCharts, "terraform": terraform, "tofu": terraform,
	"huggingface-cli": huggingface, "hf": huggingface, "opam": opam, "cabal": cabal, "stack": cabal,
}

// ask reads the words behind the program's name.
func (m *manager) ask(tool string, args []string) *ask {
	f, words := splitFlags(args, m.valued)
	if f.has("--help") || f.has("--version") && !m.valued["--version"] || slices.ContainsFunc(args, func(w string) bool { return m.dry[w] }) {
		return nil
	}
	if len(words) > 1 && words[0] == "global" {
		words = words[1:]
	}
	if m.fetch != nil && (len(words) == 0 || !m.fetch[words[0]]) {
		return nil
	}
	a := &ask{tool: tool, kind: m.kind, unnamed: true, quiet: f.has("-q", "--quiet", "--silent")}
	if m.names != nil {
		m.names(a, f, words)
	}
	return a
}

// otherAsk reads a command of a package manager that has no reader of its own;
// nil where the program is none.
func otherAsk(name string, args []string) *ask {
	name = strings.ToLower(name)
	if name == "php" && len(args) > 0 && programName(args[0]) == "composer.phar" { // php composer.phar install
		name, args = "composer", args[1:]
	}
	if m := otherManagers[name]; m != nil {
		if name == "composer.phar" {
			name = "composer"
		}
		return m.ask(name, args)
	}
	return nil
}

// composerNames reads packages of Packagist with what is asked of them.
//
//	composer require laravel-lang/lang    laravel-lang/lang:^15.0    laravel-lang/lang=15.29.5
func composerNames(a *ask, _ flags, words []string) {
	names := words[1:]
	switch words[0] {
	case "require", "r", "req":
	case "create-project":
		names = names[:min(1, len(names))]
	default:
		return
	}
	for _, w := range names {
		i := strings.IndexAny(w+":", ":= ")
		name, spec := w[:i], strings.TrimLeft(w[i:], ":= ")
		if it, ok := evidence.Composer(name, ""); ok && !variable(w) {
			if it.Ref = spec; exactVersion(spec) {
				it, _ = evidence.Composer(name, spec)
			}
			a.items = append(a.items, it)
		}
	}
}

// nugetNames reads the package of dotnet add, dotnet tool and nuget install.
//
//	dotnet add src/App package Serilog --version 4.0.0    dotnet tool install -g dotnet-ef
func nugetNames(a *ask, f flags, words []string) {
	i := slices.Index(words, "package") + 1
	if i == 0 {
		i = slices.Index(words, "install") + 1
	}
	if i > 0 && i < len(words) && words[0] != "workload" {
		a.versioned(words[i], f)
	}
}

// plainNames reads names behind the first word.
//
//	brew install xz jq    choco install trivy --version 0.69.4
func plainNames(a *ask, f flags, words []string) {
	if words[0] == "bundle" {
		return
	}
	for _, w := range words[1:] {
		a.versioned(w, f)
	}
}

// wingetNames reads the package, which may stand behind an option.
//
//	winget install --id AquaSecurity.Trivy -e
func wingetNames(a *ask, f flags, words []string) {
	for _, w := range slices.Concat(f["--id"], f["--name"], words[1:]) {
		a.versioned(w, f)
	}
}

// versioned adds a package whose version an option may say.
func (a *ask) versioned(name string, f flags) {
	if variable(name) || !evidence.IsDistName(strings.ReplaceAll(strings.ReplaceAll(name, "/", "-"), "@", "-")) {
		return
	}
	it := timeline.Item{Artifact: timeline.PURL(a.kind, "", name, "")}
	for _, v := range slices.Concat(f["--version"], f["-v"], f["-Version"]) {
		if it.Ref = v; exactVersion(v) {
			it.Artifact = timeline.PURL(a.kind, "", name, v)
		}
	}
	a.items = append(a.items, it)
}
