package tool

import (
	"slices"
	"strings"
)

// projectBuildAsk reads what builds a project's archives. The tools that the
// project's build needs are installed into an environment of its own, and what
// is printed of them has no versions:
//
//	$ python -m build
//	* Installing packages in isolated environment:
//	  - hatchling
//
// https://build.pypa.io/en/stable/
func projectBuildAsk(name string, args []string) *ask {
	f, _ := splitFlags(args, wordSet("-o --outdir -C --config-setting --installer --directory --package --python -p -t --target"))
	if f.has("--help", "-h", "--version", "-V", "--no-isolation", "-n", "--no-build-isolation") {
		return nil
	}
	return &ask{tool: name, kind: "pypi", builds: true, quiet: true}
}

// pipAuditAsk reads pip-audit, which has pip resolve what a list of
// requirements or a project asks for, and shows nothing of that.
// https://github.com/pypa/pip-audit#readme
func pipAuditAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-r --requirement -f --format -s --vulnerability-service -d --desc --cache-dir --progress-spinner --timeout --path -o --output --ignore-vuln --index-url --extra-index-url --osv-url"))
	if f.has("--help", "-h", "--version", "-V", "--disable-pip", "--no-deps") || len(plain) == 0 && !f.has("-r", "--requirement") {
		return nil
	}
	return &ask{tool: name, kind: "pypi", unnamed: true, quiet: true}
}

// pexAsk reads pex and shiv, which install into one file. shiv shows what pip
// prints.
// https://docs.pex-tool.org/  https://shiv.readthedocs.io/
func pexAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("-r --requirement -o --output-file -e --entry-point -m -c --script -p --python --platform --console-script --constraints -D --sources-directory -P --package --lock -f --find-links -i --index"))
	if f.has("--help", "-h", "--version", "-V") {
		return nil
	}
	a := &ask{tool: "pip", kind: "pypi", quiet: name == "pex"}
	for _, w := range plain {
		if w == "--" {
			break
		}
		a.name(pythonWord(w))
	}
	a.unnamed = a.unnamed || len(a.items) > 0 || f.has("-r", "--requirement", "--lock", "-D", "-P") // what they depend on
	if !a.unnamed {
		return nil
	}
	return a
}

// remoteBuildAsk reads the commands that have an image built elsewhere. They
// print the log of that build, unless they do not wait for it.
//
//	gcloud builds submit --tag europe-docker.pkg.dev/acme/web/api .
//	az acr build -r acme -t api:1 .
//
// https://cloud.google.com/sdk/gcloud/reference/builds/submit
// https://learn.microsoft.com/cli/azure/acr#az-acr-build
func remoteBuildAsk(name string, args []string) *ask {
	f, plain := splitFlags(args, wordSet("--tag -t --config --project --region --substitutions --machine-type --timeout --gcs-source-staging-dir -r --registry -g --resource-group --image --file --build-arg --platform --verbosity --format -o --output --subscription --source"))
	words := []string{"builds", "submit"}
	if name == "az" {
		words = []string{"acr", "build"}
	}
	deploys := name == "gcloud" && f.has("--source") && slices.Contains(plain, "deploy") // gcloud run deploy --source .
	if !deploys && (len(plain) < 2 || !slices.Equal(plain[:2], words)) || f.has("--help", "-h") {
		return nil
	}
	unseen := deploys || f.has("--async", "--no-logs", "--no-wait", "--suppress-logs") || slices.Contains(f["--verbosity"], "none")
	return &ask{tool: strings.Join(plain[:min(2, len(plain))], " "), kind: "image", others: everyKind, loud: true, quiet: unseen}
}
