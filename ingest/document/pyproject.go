package document

import (
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PyProject is a pyproject.toml: dependencies of PEP 621 and PEP 735, of
// Poetry and of uv.
// https://packaging.python.org/en/latest/specifications/pyproject-toml/
var PyProject = evidence.Format{
	Name:   "pyproject",
	Shape:  evidence.DocumentShape,
	Title:  "pyproject.toml",
	Proves: "what a project asks for: names, ranges, exclusions",
	Cannot: "which versions were installed, or when",
	Doc:    "https://packaging.python.org/en/latest/specifications/pyproject-toml/",
	Sample: "written by hand after the documentation",
	Claim:  func(h *evidence.Head) bool { return h.Name == "pyproject.toml" },
	Read:   readPyProject,
}

// readPyProject records each requirement on its own line.
//
//	dependencies = [
//	  "litellm[proxy]>=1.80,!=1.107.0",
//	]
//	[tool.poetry.dependencies]
//	litellm = {version = "^1.80", extras = ["proxy"]}
func readPyProject(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("") // a project without dependencies is understood
	return eachTOML(d, func(e tomlEntry) {
		path := e.path()
		if name, spec, off, ok := poetryDependency(path, e); ok {
			onLine(d, o, off)
			o.Emit(timeline.Require, nil, poetryRequirement(name, spec).item())
			return
		}
		if !isDependencyList(path) {
			return
		}
		for _, n := range tomlElements(e.value) {
			text := tomlText(n)
			if text == "" {
				continue // {include-group = "test"}
			}
			onLine(d, o, int(n.Raw.Offset))
			if r, ok := parseRequirement(text); ok {
				o.Emit(timeline.Require, nil, r.item())
			} else {
				o.Skip("no requirement")
			}
		}
	})
}

// isDependencyList reports whether a key holds a list of requirements.
func isDependencyList(path []string) bool {
	switch strings.Join(path[:min(2, len(path))], ".") {
	case "project.dependencies", "build-system.requires":
		return len(path) == 2
	case "project.optional-dependencies":
		return len(path) == 3
	case "tool.uv":
		return len(path) == 3 && (path[2] == "dev-dependencies" || path[2] == "constraint-dependencies" ||
			path[2] == "override-dependencies" || path[2] == "build-constraint-dependencies")
	}
	return len(path) == 2 && path[0] == "dependency-groups" || len(path) == 4 && path[0] == "tool" && path[1] == "pdm" && path[2] == "dev-dependencies"
}

// poetryDependency finds one of Poetry's dependencies, written as a string, a
// table in a line or a table of its own.
func poetryDependency(path []string, e tomlEntry) (name, spec string, off int, ok bool) {
	if len(path) < 4 || path[0] != "tool" || path[1] != "poetry" {
		return "", "", 0, false
	}
	rest := path[2:]
	switch {
	case rest[0] == "dependencies" || rest[0] == "dev-dependencies":
		rest = rest[1:]
	case rest[0] == "group" && len(rest) > 3 && rest[2] == "dependencies":
		rest = rest[3:]
	default:
		return "", "", 0, false
	}
	if rest[0] == "python" || !evidence.IsDistName(rest[0]) {
		return "", "", 0, false
	}
	switch {
	case len(rest) == 1 && e.value.Kind == unstable.String:
		return rest[0], e.text(), e.off, true
	case len(rest) == 1 && e.value.Kind == unstable.InlineTable:
		return rest[0], poetrySpec(e.value), e.off, true
	case len(rest) == 1 && e.value.Kind == unstable.Array: // one for each platform
		var specs []string
		for _, n := range tomlElements(e.value) {
			specs = append(specs, poetrySpec(n))
		}
		return rest[0], strings.Join(specs, " || "), e.off, true
	case len(rest) == 2 && (rest[1] == "version" || rest[1] == "git"):
		return rest[0], e.text(), e.off, true
	}
	return "", "", 0, false
}

func poetrySpec(n *unstable.Node) string {
	for _, key := range []string{"version", "git", "url", "path"} {
		if text := tomlText(tomlField(n, key)); text != "" {
			return text
		}
	}
	return ""
}

// poetryRequirement reads Poetry's own form of a version: "1.2.3" alone is
// exact, "^1.2" and "*" are ranges.
// https://python-poetry.org/docs/dependency-specification/
func poetryRequirement(name, spec string) requirement {
	r := requirement{name: name, asked: spec}
	if exact := strings.TrimSpace(strings.TrimLeft(spec, "=")); evidence.IsVersion(exact) {
		r.version = exact
	}
	return r
}
