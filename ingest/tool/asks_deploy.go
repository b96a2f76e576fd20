package tool

import (
	"slices"
	"strings"

	"pulltrail/timeline"
)

// named adds an image that a word names.
func (a *ask) image(word string) {
	image := timeline.NormalizeImage(word)
	if image == "" || variable(word) {
		a.unnamed = true
		return
	}
	a.items = append(a.items, timeline.Item{Artifact: image})
}

// craneAsk reads crane, which prints nothing of what it fetches.
// https://github.com/google/go-containerregistry/blob/main/cmd/crane/doc/crane.md
func craneAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("--platform --format -f -t --tag --image-refs -j --jobs --cache_path -c"))
	if len(plain) < 2 || f.has("--help", "-h") {
		return nil
	}
	a := &ask{tool: "crane", kind: "image"}
	switch plain[0] {
	case "pull", "export":
		a.quiet = true
		a.image(plain[1])
	case "copy", "cp", "mutate", "rebase", "flatten":
		a.image(plain[1])
		a.loud = true
	case "digest", "manifest", "config", "validate":
		a.image(plain[1])
		a.loud = true
	case "push":
		a.none = true
	default:
		return nil
	}
	return a
}

// kubectlAsk reads the commands that name an image for a pod to come: who pulls
// it is a node.
//
//	kubectl run tmp --image=ghcr.io/acme/tool:1.2 -- sh
//	kubectl create deployment web --image nginx:1.27
//	kubectl set image deployment/api api=ghcr.io/acme/api:1.5
//
// https://kubernetes.io/docs/reference/kubectl/generated/kubectl_run/
func kubectlAsk(_ string, args []string) *ask {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	if len(args) > 1 && args[0] == "start-build" {
		return placeAsk("oc", args)
	}
	f, plain := splitFlags(args, wordSet("-n --namespace --image --from --context --kubeconfig -l --selector -o --output --port --replicas --env --labels --restart --overrides --command -f --filename --schedule -c --container"))
	dry := slices.ContainsFunc(f["--dry-run"], func(v string) bool { return v != "none" })
	if len(plain) == 0 || dry || f.has("--help", "-h") {
		return nil
	}
	a := &ask{tool: "kubectl", kind: "image", loud: true}
	switch {
	case plain[0] == "run" || plain[0] == "create" || plain[0] == "debug":
		for _, image := range f["--image"] {
			a.image(image)
		}
	case plain[0] == "import-image": // of OpenShift's oc
		for _, image := range f["--from"] {
			a.image(image)
		}
	case plain[0] == "new-app" && len(plain) > 1 && strings.Contains(plain[1], "/") && !strings.Contains(plain[1], "://"):
		a.image(plain[1])
	case plain[0] == "set" && len(plain) > 3 && plain[1] == "image":
		for _, w := range plain[2:] {
			if _, image, ok := strings.Cut(w, "="); ok {
				a.image(image)
			}
		}
	}
	if len(a.items) == 0 {
		return nil
	}
	return a
}

// boxAsk reads toolbox and distrobox: a container made of an image.
//
//	distrobox create -n dev -i registry.acme.example/toolbox:42
//
// https://distrobox.it/usage/distrobox-create/
func boxAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-i --image -n --name -c --container -d --distro -r --release -H --home --clone"))
	if len(plain) == 0 || plain[0] != "create" && plain[0] != "enter" && plain[0] != "ephemeral" || f.has("--help", "-h", "--dry-run") {
		return nil
	}
	return deployed(name, append(f["-i"], f["--image"]...))
}

// skaffoldAsk reads skaffold, which builds with docker and shows it.
// https://skaffold.dev/docs/references/cli/
func skaffoldAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-f --filename -p --profile -d --default-repo -t --tag -n --namespace -b --build-image -v --verbosity -m --module --cache-file --file-output"))
	if len(plain) == 0 || f.has("--help", "-h", "--dry-run") || !slices.Contains([]string{"build", "run", "dev", "debug"}, plain[0]) {
		return nil
	}
	return &ask{tool: "skaffold", kind: "image", others: everyKind, loud: true, speaks: true, quiet: f.has("-q", "--quiet")}
}

// ngAsk reads ng add and ng update, which install with npm.
// https://angular.dev/cli/add
func ngAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("--registry --from --to"))
	if f.has("--help", "--skip-install", "--dry-run") {
		return nil
	}
	if len(plain) > 0 && (plain[0] == "new" || plain[0] == "n") { // a project with all that it needs
		return &ask{tool: "ng", kind: "npm", unnamed: true}
	}
	if len(plain) < 2 || plain[0] != "add" && plain[0] != "update" {
		return nil
	}
	a := &ask{tool: "ng", kind: "npm", others: []string{"npm"}}
	a.npm(plain[1:])
	return a
}

// denoAsk reads deno, which fetches what a program imports when it runs it.
// https://docs.deno.com/runtime/reference/cli/
func denoAsk(_ string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-c --config --import-map --lock -L --log-level -n --name --root -e --ext --cert --location --seed -p"))
	if len(plain) == 0 || f.has("--help", "-h", "--version", "-V", "--cached-only") {
		return nil
	}
	a := &ask{tool: "deno", kind: "npm", quiet: f.has("-q", "--quiet")}
	switch plain[0] {
	case "install", "i", "add", "cache", "run", "test", "x", "compile", "serve", "update":
	default:
		return nil
	}
	for _, w := range plain[1:] {
		if name, ok := strings.CutPrefix(w, "npm:"); ok {
			name, _, _ = strings.Cut(strings.TrimPrefix(name, "/"), "/dist/")
			a.npm([]string{name})
		}
	}
	// Silence is an answer: each file that it fetches it names.
	a.loud = true
	a.unnamed = a.unnamed || len(a.items) == 0
	return a
}

// fetcherAsk reads tools that fetch an image to copy, convert or look into it.
// They print no digest, or that of something else.
//
//	skopeo copy docker://litellm/litellm:latest dir:out
//	ctr -n k8s.io images pull docker.io/litellm/litellm:latest
//	apptainer exec docker://litellm/litellm:latest litellm --version
//	trivy image litellm/litellm:latest
//
// https://github.com/containers/skopeo/blob/main/docs/skopeo-copy.1.md
// https://trivy.dev/latest/docs/target/container_image/
func fetcherAsk(name string, args []string) *ask {
	f, plain := splitFlags(untilProgram(args, fetcherValued, containerRuns), fetcherValued)
	if len(plain) == 0 || f.has("--help", "-h", "--version") {
		return nil
	}
	a := &ask{tool: name, kind: "image", loud: true}
	if name == "skopeo" {
		a.tool = "podman" // of one library, and one output
	}
	verbs := fetcherVerbs[name]
	for i, w := range plain {
		if i == 0 && len(verbs) > 0 && !verbs[w] {
			return nil
		}
		_, named, scheme := strings.Cut(w, "docker://")
		if !scheme {
			named, scheme = strings.CutPrefix(w, "registry:")
		}
		image := len(verbs) == 0 || i > 0
		if scheme || image && strings.ContainsAny(w, "/:") && !strings.Contains(w, "://") && !strings.HasPrefix(w, ".") && !strings.HasPrefix(w, "/") && !localScheme(w) && !strings.HasSuffix(w, ".tar") {
			a.image(named)
			break // what follows is where it goes, or runs inside
		}
	}
	if len(a.items) == 0 && (name == "skopeo" && plain[0] == "sync" || (name == "apptainer" || name == "singularity") && plain[0] == "build") {
		return syncAsk(name, args) // a file names them
	}
	if len(a.items) == 0 {
		return nil
	}
	return a
}

// syncAsk reads commands that fetch the images that a file lists.
//
//	skopeo sync --src yaml --dest dir images.yml out    regsync once -c regsync.yml    apptainer build x.sif x.def
func syncAsk(name string, args []string) *ask {
	if len(args) == 0 || slices.Contains(args, "--help") || slices.Contains(args, "--dry-run") {
		return nil
	}
	return &ask{tool: name, kind: "image", unnamed: true, quiet: true}
}

// deployed asks for images that are to run at a place: who pulls them is not
// this job.
func deployed(name string, images []string) *ask {
	a := &ask{tool: name, kind: "image", loud: true}
	for _, image := range images {
		a.image(image)
	}
	if len(a.items) == 0 {
		return nil
	}
	return a
}

// localScheme reports whether a scanner is told to look at something that lies
// here, and is no image of a registry.
// https://github.com/anchore/syft/wiki/supported-sources
func localScheme(w string) bool {
	scheme, _, ok := strings.Cut(w, ":")
	return ok && slices.Contains([]string{"dir", "file", "sbom", "purl", "cpe", "docker-archive", "oci-archive", "oci-dir", "oci-layout", "singularity"}, scheme)
}

// fetcherValued are the options of those tools that take a word.
var fetcherValued = wordSet("-n --namespace --address -a --platform --format -f -o --output -s --severity --scanners --username --password --authfile --creds --src-creds --dest-creds " +
	"--config --timeout --ignorefile --cache-dir -B --bind -u --name -e --env --env-file --pwd --cwd -H --home -S --scratch -W --workdir --overlay --mount")

// containerRuns are the verbs behind which an image or service stands, and what
// runs in it.
var containerRuns = wordSet("run exec shell")

// fetcherVerbs are the words of those tools that name an image; nil: none.
var fetcherVerbs = map[string]map[string]bool{
	"skopeo": wordSet("copy sync inspect"), "oras": wordSet("pull copy cp"), "regctl": wordSet("image"),
	"ctr": wordSet("images image i run"), "singularity": wordSet("pull exec run build shell"), "apptainer": wordSet("pull exec run build shell"),
	"trivy": wordSet("image i"), "snyk": wordSet("container"), "dockle": nil, "cosign": wordSet("verify copy"), "ch-image": wordSet("pull"), "enroot": wordSet("import"), "grype": nil, "syft": nil, "dive": nil,
	"kind": wordSet("load"), "minikube": wordSet("image"), "k3d": wordSet("image"),
}

// packagerAsk reads tools that install what a project needs, to pack it for a
// cloud, and say nothing of it.
// https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-cli-command-reference-sam-build.html
// https://cibuildwheel.pypa.io/en/stable/
func packagerAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, nil)
	if f.has("--help", "-h", "--version") {
		return nil
	}
	verb := ""
	if len(plain) > 0 {
		verb = plain[0]
	}
	switch name {
	case "sam", "chalice", "zappa", "serverless", "sls":
		if !slices.Contains([]string{"build", "package", "deploy", "update", "sync"}, verb) {
			return nil
		}
	}
	return &ask{tool: name, kind: "pypi", unnamed: true, others: []string{"npm"}, quiet: true}
}

// herokuAsk reads the commands of Heroku that have an image built here, or a
// project there, and those that install a plugin with npm.
//
//	heroku container:push web    heroku builds:create    heroku plugins:install heroku-builds
//
// https://devcenter.heroku.com/articles/container-registry-and-runtime
func herokuAsk(name string, args []string) *ask {
	if len(args) == 0 || slices.Contains(args, "--help") {
		return nil
	}
	switch args[0] {
	case "container:push":
		return &ask{tool: name, kind: "image", others: everyKind, loud: true, speaks: true}
	case "builds:create":
		return &ask{tool: name, kind: "image", others: everyKind, quiet: true}
	}
	return hiddenNodeAsk(name, args)
}
