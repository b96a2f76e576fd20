package frame

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
)

// restoring is what a step that restores a cache says of it.
type restoring struct {
	step  bool // the step at work is one
	goes  bool // the next lines of its header are paths too
	kinds []string
	told  bool
}

// begins notes which action runs now.
func (r *restoring) begins(a evidence.CIAction) {
	name := strings.ToLower(a.Name)
	kept, setsUp := keeping[name]
	*r = restoring{step: strings.Contains(name, "cache") || setsUp}
	for kind := range strings.FieldsSeq(kept) {
		r.add(kind)
	}
}

// keeping are actions that set up a language and can keep its packages; those
// with an ecosystem do unless they are told otherwise.
// https://github.com/actions/setup-go#caching-dependency-files-and-build-outputs
var keeping = map[string]string{
	"restore-virtualenv": "pypi", // syphar's, which keeps where Python installs
	"setup-pixi":         "conda pypi",
	"mise-action":        "pypi npm",
	"setup-micromamba":   "",
	"setup-python":       "", "setup-ruby": "", "setup-java": "", "setup-dotnet": "", "setup-go": "golang", "setup-gradle": "maven", "gradle-build-action": "maven",
}

// setting reads a line of with: what is kept, and so whether it holds packages
// that are installed. Files that a package manager fetched and kept are none:
// what it takes from there it prints.
//
//	path: .venv
//	path: ~/.cache/pip
//	cache: poetry
//	bundler-cache: true
func (r *restoring) setting(text []byte) {
	name, value, ok := bytes.Cut(bytes.TrimSpace(text), []byte(": "))
	if r.goes && !ok { // a path that the workflow indents
		r.path(text)
		return
	}
	r.goes = false
	if !r.step || !ok {
		return
	}
	switch string(name) {
	case "path", "paths", "directory", "folder":
		r.goes = true
		r.path(value)
	case "cache":
		switch string(value) {
		case "poetry", "pipenv":
			r.add("pypi")
		case "maven", "gradle", "sbt":
			r.add("maven")
		case "false":
			r.kinds = nil
		}
	case "cache-environment", "cache-env":
		if string(value) == "true" {
			r.add("conda")
			r.add("pypi")
		}
	case "bundler-cache":
		if string(value) == "true" {
			r.add("gem")
		}
	}
}

// path reads one of the paths that are kept.
func (r *restoring) path(value []byte) {
	for _, kind := range evidence.InstalledAt(string(value)) {
		r.add(kind)
	}
}

func (r *restoring) add(kind string) {
	for _, k := range r.kinds {
		if k == kind {
			return
		}
	}
	r.kinds = append(r.kinds, kind)
}

// restored tells, once for each step, that installed packages came out of a
// cache, and nothing says which.
func (j *githubJob) restored(key string, o *evidence.Out) {
	r := &j.restoring
	if r.told || len(r.kinds) == 0 {
		return
	}
	r.told = true
	o.Restored(key, r.kinds)
}
