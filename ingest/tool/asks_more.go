package tool

import (
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// condaAsk reads conda, mamba and micromamba.
// https://docs.conda.io/projects/conda/en/stable/commands/install.html
func condaAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-n -p -c -f --name --prefix --channel --file --solver --repodata-fn --override-channels-file"))
	if len(plain) == 0 || f.has("--help", "-h", "--dry-run", "-d") {
		return nil
	}
	a := &ask{tool: "conda", kind: "conda"} // with -q the plan is printed all the same
	if plain[0] == "env" && len(plain) > 1 && (plain[1] == "create" || plain[1] == "update") {
		a.unnamed, a.quiet = true, f.has("-q", "--quiet")
		if a.quiet { // what its file lists for pip shows only in the output
			a.others = []string{"pypi"}
		} else {
			a.also = pipOfConda
		}
		return a
	}
	if plain[0] != "install" && plain[0] != "create" && plain[0] != "update" && plain[0] != "upgrade" {
		return nil
	}
	for _, w := range plain[1:] {
		a.name(condaWord(w))
	}
	a.unnamed = a.unnamed || f.has("--file", "-f", "--all")
	if f.has("--file", "-f") && slices.ContainsFunc(args, func(w string) bool { return strings.HasSuffix(w, ".yml") || strings.HasSuffix(w, ".yaml") }) {
		a.also = pipOfConda
	}
	if len(a.items) == 0 && !a.unnamed {
		return nil
	}
	return a
}

// pipOfConda is pip as conda runs it for what a file of an environment lists: a
// line tells of it, so that a transaction without one shows that there was none.
var pipOfConda = &ask{tool: "pip of conda", kind: "pypi", unnamed: true}

// condaWord reads "conda-forge::numpy=1.26.4" or "python>=3.11".
func condaWord(w string) (timeline.Item, bool) {
	if _, name, ok := strings.Cut(w, "::"); ok {
		w = name
	}
	n := strings.IndexAny(w+"=", "=<>!~ ")
	name, spec := w[:n], w[n:]
	if variable(w) || !evidence.IsDistName(strings.TrimLeft(name, "_")) {
		return timeline.Item{}, false
	}
	it := timeline.Item{Artifact: timeline.PURL("conda", "", name, ""), Ref: spec}
	if v := strings.TrimLeft(spec, "="); spec != v && len(spec)-len(v) == 2 && exactVersion(v) {
		it.Artifact = timeline.PURL("conda", "", name, v)
	}
	return it, true
}

// aptAsk reads apt and apt-get. With -qq dpkg still says what it does.
func aptAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-o -t -c -a --option --target-release --config-file"))
	if len(plain) == 0 || f.has("--help", "-h", "-s", "--simulate", "--dry-run") {
		return nil
	}
	a := &ask{tool: "apt", kind: "deb"}
	switch plain[0] {
	case "install":
		a.packages(plain[1:], "=")
	case "upgrade", "dist-upgrade", "full-upgrade", "build-dep":
		a.unnamed = true
	default:
		return nil
	}
	return a
}

// apkAsk reads apk add.
func apkAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-t -X -p --virtual --repository --root --arch --keys-dir --repositories-file"))
	if len(plain) == 0 || f.has("--help", "-h", "--simulate", "-s") {
		return nil
	}
	a := &ask{tool: "apk", kind: "apk", quiet: f.has("-q", "--quiet")}
	switch plain[0] {
	case "add":
		a.packages(plain[1:], "=<>~")
	case "upgrade":
		a.unnamed = true
	default:
		return nil
	}
	return a
}

// rpmAsk reads yum, dnf and zypper.
func rpmAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-c -x --enablerepo --disablerepo --repo --setopt --installroot --releasever"))
	if len(plain) == 0 || f.has("--help", "-h") {
		return nil
	}
	a := &ask{tool: name, kind: "rpm", quiet: f.has("-q", "--quiet")}
	switch plain[0] {
	case "install", "in", "reinstall":
		a.packages(plain[1:], "=")
	case "update", "upgrade", "groupinstall", "builddep":
		a.unnamed = true
	default:
		return nil
	}
	return a
}

// packages reads names of a system's packages with what may follow them.
func (a *ask) packages(names []string, operators string) {
	for _, w := range names {
		n := strings.IndexAny(w+operators[:1], operators)
		name, spec := w[:n], w[n:]
		name, _, _ = strings.Cut(name, ":")
		if variable(w) || strings.Contains(name, "/") || !evidence.IsDistName(strings.Trim(name, "+")) {
			a.unnamed = true
			continue
		}
		it := timeline.Item{Artifact: timeline.PURL(a.kind, "", name, ""), Ref: spec}
		if v, ok := strings.CutPrefix(spec, "="); ok && v != "" {
			it.Artifact = timeline.PURL(a.kind, "", name, v)
		}
		a.items = append(a.items, it)
	}
}

// gemAsk reads gem install.
func gemAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-v -i -n -s -p --version --install-dir --bindir --source"))
	if len(plain) < 2 || plain[0] != "install" && plain[0] != "update" || f.has("--help", "-h") {
		return nil
	}
	a := &ask{tool: "gem", kind: "gem", quiet: f.has("-q", "--quiet", "--silent")}
	version := append(f["-v"], f["--version"]...)
	for _, w := range plain[1:] {
		if variable(w) || strings.ContainsAny(w, "/") {
			a.unnamed = true
			continue
		}
		it := timeline.Item{Artifact: timeline.PURL("gem", "", w, "")}
		if len(version) > 0 {
			it.Ref = version[0]
			if exactVersion(version[0]) {
				it.Artifact = timeline.PURL("gem", "", w, version[0])
			}
		}
		a.items = append(a.items, it)
	}
	return a
}

// bundleAsk reads bundle install, which prints versions only for some gems.
func bundleAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("--path --jobs --retry --without --with --gemfile -j"))
	if f.has("--help", "-h") || len(plain) > 0 && plain[0] != "install" && plain[0] != "update" {
		return nil
	}
	return &ask{tool: "bundle", kind: "gem", unnamed: true, quiet: f.has("-q", "--quiet")}
}

// goAsk reads go install, go get and go mod download.
func goAsk(_ string, args []string) *ask {
	if len(args) == 0 {
		return nil
	}
	f, plain := splitFlags(args, wordSet("-o -ldflags -tags -mod -modfile -C"))
	if f.has("--help", "-h") || len(plain) == 0 {
		return nil
	}
	a := &ask{tool: "go", kind: "golang", quiet: true}
	switch {
	case plain[0] == "install" || plain[0] == "get":
		for _, w := range plain[1:] {
			module, version, ok := strings.Cut(w, "@")
			if !ok && plain[0] == "install" || variable(w) || !strings.Contains(module, ".") || strings.HasPrefix(module, ".") {
				continue // a package of this module
			}
			it := timeline.Item{Artifact: "pkg:golang/" + module, Ref: version}
			if strings.HasPrefix(version, "v") && strings.Count(version, ".") >= 2 {
				it.Artifact += "@" + version
			}
			a.items = append(a.items, it)
		}
		if len(a.items) == 0 {
			return nil
		}
	case plain[0] == "mod" && len(plain) > 1 && (plain[1] == "download" || plain[1] == "tidy"):
		a.unnamed = true
	default:
		return nil
	}
	return a
}

// cargoAsk reads cargo install, and what fetches the crates that are not there
// yet: it names them unless it is told not to.
func cargoAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("--version --vers --git --branch --tag --rev --path --root --features -F --profile --target --registry --index -j -p --package --manifest-path --bin --example --test"))
	if len(plain) > 0 && strings.HasPrefix(plain[0], "+") { // a toolchain
		plain = plain[1:]
	}
	if len(plain) > 0 && cargoFetches[plain[0]] && f.has("-q", "--quiet") && !f.has("--offline", "--frozen", "--help", "-h") {
		return &ask{tool: "cargo", kind: "cargo", unnamed: true, quiet: true}
	}
	if len(plain) == 0 || plain[0] != "install" && plain[0] != "fetch" || f.has("--help", "-h", "--path") {
		return nil
	}
	a := &ask{tool: "cargo", kind: "cargo", quiet: f.has("-q", "--quiet")}
	for _, w := range plain[1:] {
		it, ok := atVersion("cargo", w)
		if !ok {
			it = timeline.Item{Artifact: timeline.PURL("cargo", "", w, "")}
		}
		a.name(it, !variable(w))
	}
	a.unnamed = a.unnamed || len(a.items) == 0
	return a
}

// cargoFetches are the commands of cargo that fetch what the project needs.
var cargoFetches = wordSet("build b check c test t run r bench doc d clippy update add package publish vendor generate-lockfile")

// runValued are the options of docker run and create that take a word.
var runValued = wordSet("-a -c -e -h -l -m -p -u -v -w --add-host --annotation --attach --blkio-weight --cap-add --cap-drop --cgroup-parent " +
	"--cgroupns --cidfile --cpu-period --cpu-quota --cpu-shares --cpus --cpuset-cpus --cpuset-mems --detach-keys --device --dns --dns-option " +
	"--dns-search --domainname --entrypoint --env --env-file --expose --gpus --group-add --health-cmd --health-interval --health-retries " +
	"--health-start-period --health-timeout --hostname --ip --ip6 --ipc --isolation --label --label-file --link --log-driver --log-opt " +
	"--mac-address --memory --memory-reservation --memory-swap --mount --name --net --net-alias --network --network-alias --oom-score-adj --pid " +
	"--pids-limit --platform --publish --pull --restart --runtime --security-opt --shm-size --stop-signal --stop-timeout --storage-opt --sysctl " +
	"--tmpfs --ulimit --user --userns --uts --volume --volume-driver --volumes-from --workdir --pod --authfile --creds --arch --os --variant --secret")

// runBare are those that take none; an option of neither list may take a word,
// and then the image cannot be told.
var runBare = wordSet("-d -i -t -P -q --detach --interactive --tty --rm --init --privileged --read-only --publish-all --quiet --no-healthcheck " +
	"--oom-kill-disable --sig-proxy --replace --tls-verify --disable-content-trust --use-api-socket --help -a --all-tags --all")

// dockerAsk reads pull and run of docker and its kin: the image with its tag.
func dockerAsk(name string, args []string) *ask {
	global, rest := leadingFlags(args, wordSet("-H -l -c -n --namespace -a --address --data-root --host --log-level --config --context --tlscacert --tlscert --tlskey --root --runroot -r --runtime-endpoint"))
	if len(rest) > 0 && (rest[0] == "image" || rest[0] == "container") {
		rest = rest[1:]
	}
	if len(rest) == 0 || global.has("--help") {
		return nil
	}
	name = strings.TrimSuffix(name, "-remote")
	sub := rest[0]
	if a := buildAsk(name, rest); a != nil {
		return a
	}
	if sub == "compose" {
		return composeAsk(name, rest[1:])
	}
	switch {
	case sub == "pull":
	case sub == "service" && len(rest) > 1 && rest[1] == "update": // docker service update --image acme/api:2 api
		f, _ := splitFlags(rest[2:], wordSet("--image"))
		return deployed(name, f["--image"])
	case sub == "stack" && len(rest) > 1 && rest[1] == "deploy", (sub == "play" || sub == "kube") && len(rest) > 1 && (rest[1] == "kube" || rest[1] == "play"):
		return &ask{tool: name, kind: "image", unnamed: true, quiet: true} // as a file says
	case name == "buildah" && (sub == "copy" || sub == "add"): // buildah copy --from acme/api:2 web /a /b
		f, _ := splitFlags(rest[1:], wordSet("--from"))
		return deployed(name, f["--from"])
	case sub == "sbom", sub == "plugin" && len(rest) > 2 && rest[1] == "install":
		_, plain := splitFlags(rest, wordSet("--platform --output -o --format --alias -n --network"))
		return deployed(name, plain[len(plain)-1:])
	case sub == "manifest" && len(rest) > 2 && rest[1] == "inspect", sub == "scout" && len(rest) > 2:
		rest = rest[1:]
	case sub == "save", sub == "service" && len(rest) > 1 && rest[1] == "create":
		if sub == "service" {
			rest = rest[1:]
		}
	case name == "buildah" && sub == "from":
	case sub == "run" && name != "buildah", sub == "create" && name != "buildah" && name != "crictl":
	default:
		return nil
	}
	f, plain := leadingFlags(rest[1:], runValued)
	if f.has("--help") {
		return nil
	}
	// What docker pulls it says, with the name: silence is an answer.
	unnamed := &ask{tool: name, kind: "image", unnamed: true, loud: true, quiet: f.has("-q", "--quiet")}
	for opt := range f {
		if !runValued[opt] && !runBare[opt] {
			return unnamed
		}
	}
	if len(plain) == 0 {
		return nil
	}
	image := timeline.NormalizeImage(plain[0])
	if image == "" || variable(plain[0]) {
		return unnamed
	}
	return &ask{tool: name, kind: "image", items: []timeline.Item{{Artifact: image}}, quiet: f.has("-q", "--quiet")}
}
