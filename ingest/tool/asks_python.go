package tool

import "slices"

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

// pipRunAsk reads pip-run, which has pip install what stands before "--" for a
// while, and show nothing.
//
//	pip-run litellm -- script.py
//
// https://github.com/jaraco/pip-run#readme
func pipRunAsk(name string, args []string) *ask {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	f, plain := splitFlags(args, pipValued)
	if f.has("--help", "-h") {
		return nil
	}
	a := &ask{tool: name, kind: "pypi", unnamed: true, quiet: true}
	a.python(plain)
	return a
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
