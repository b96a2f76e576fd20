package tool

import (
	"encoding/json"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
	"pulltrail/timeline"
)

func pypiItems(name, version string) []timeline.Item {
	if version == "" {
		return nil
	}
	return []timeline.Item{{Artifact: timeline.PURL("pypi", "", name, version)}}
}

// freezeRow reads a row of pip freeze, and of what pip-compile, uv export and
// others write. A file or repository has no version unless its name says it.
// https://pip.pypa.io/en/stable/cli/pip_freeze/
//
//	litellm==1.107.0
//	litellm==1.107.0 \
//	litellm @ file:///srv/ci/job/wheels/litellm-1.107.0-py3-none-any.whl#sha256=2e37b770…
//	-e git+https://git.acme.example/router.git@4f2c#egg=acme_router
func freezeRow(_ *list, row string) ([]timeline.Item, bool) {
	if strings.HasPrefix(row, "-e ") {
		return nil, true
	}
	row, _, _ = strings.Cut(strings.TrimSuffix(row, `\`), ";") // uv export writes markers
	r, rest, ok := evidence.ParseRequirement(strings.TrimSpace(row))
	if !ok || rest != "" || r.URL == "" && r.Version == "" {
		return nil, false
	}
	return pypiItems(r.Name, r.Version), true
}

// underRequirement tells what stands below a row of a requirements file:
//
//	--hash=sha256:0f2d1b
//	# via -r requirements.in
func underRequirement(row string) bool {
	text := strings.TrimLeft(row, " ")
	return len(text) < len(row) && (strings.HasPrefix(text, "--hash=") || strings.HasPrefix(text, "#"))
}

// columnRow reads pip list. Where a filter took its head away, a row has two
// words, and a version more than one number.
func columnRow(l *list, row string) ([]timeline.Item, bool) {
	if pkglist.IsPipHead(row) || l.begun && row != "" && strings.Trim(row, "- ") == "" {
		return nil, true
	}
	if !l.begun && (len(strings.Fields(row)) > 2 || !strings.ContainsRune(row, '.')) {
		return nil, false
	}
	return pkglist.Pip(row)
}

// showRow reads pip show: Name, Version and other fields for each package.
// https://pip.pypa.io/en/stable/cli/pip_show/
//
//	Name: litellm
//	Version: 1.107.0
func showRow(l *list, row string) ([]timeline.Item, bool) {
	if v, is := strings.CutPrefix(row, "Name: "); is && evidence.IsDistName(v) {
		l.name = v
		return nil, true
	}
	if v, is := strings.CutPrefix(row, "Version: "); is && l.name != "" && evidence.IsVersion(v) {
		name := l.name
		l.name = ""
		return pypiItems(name, v), true
	}
	return nil, false
}

// checkRow reads what pip check complains of, when all of it is there: a package,
// and another that it cannot work with.
// https://pip.pypa.io/en/stable/cli/pip_check/
//
//	crewai 0.100.1 has requirement litellm==1.59.8, but you have litellm 1.59.12.
//	crewai 0.100.1 requires chromadb, which is not installed.
func checkRow(_ *list, row string) ([]timeline.Item, bool) {
	who, what, ok := strings.Cut(row, " has requirement ")
	if !ok {
		who, what, ok = strings.Cut(row, " requires ")
	}
	name, version, _ := strings.Cut(who, " ")
	_, have, has := strings.Cut(what, ", but you have ")
	if !ok || !evidence.IsDistName(name) || !evidence.IsVersion(version) || !has && !strings.HasSuffix(what, ", which is not installed.") {
		return nil, false
	}
	items := pypiItems(name, version)
	if w := strings.Fields(strings.TrimSuffix(have, ".")); len(w) > 1 && evidence.IsDistName(w[0]) && evidence.IsVersion(w[1]) {
		items = append(items, pypiItems(w[0], w[1])...)
	}
	return items, true
}

// jsonRow reads pip list --format=json on one line, and pip inspect over many,
// where other keys may stand between a name and its version.
// https://pip.pypa.io/en/stable/cli/pip_inspect/
//
//	[{"name": "litellm", "version": "1.107.0"}]
//	        "name": "litellm",
//	        "version": "1.107.0",
func jsonRow(l *list, row string) ([]timeline.Item, bool) {
	text := strings.TrimSpace(row)
	if strings.HasPrefix(text, `[{"name"`) {
		var all []struct{ Name, Version string }
		if json.Unmarshal([]byte(text), &all) != nil {
			return nil, false
		}
		var items []timeline.Item
		for _, p := range all {
			if evidence.IsDistName(p.Name) && evidence.IsVersion(p.Version) {
				items = append(items, pypiItems(p.Name, p.Version)...)
			}
		}
		return items, true
	}
	if key, value, ok := jsonField(text); ok && key == "name" {
		l.name = value
	} else if ok && key == "version" && evidence.IsDistName(l.name) && evidence.IsVersion(value) {
		name := l.name
		l.name = ""
		return pypiItems(name, value), true
	}
	return nil, isJSONLine(text, l.begun)
}

// jsonField splits `"key": "value",`.
func jsonField(text string) (key, value string, ok bool) {
	rest, ok := strings.CutPrefix(text, `"`)
	key, value, cut := strings.Cut(rest, `": "`)
	value, end := strings.CutSuffix(strings.TrimSuffix(value, ","), `"`)
	return key, value, ok && cut && end && !strings.ContainsAny(key+value, `"\`)
}

// isJSONLine reports whether a line is one of an indented JSON document.
func isJSONLine(text string, begun bool) bool {
	if !begun {
		return text == "{" || text == "["
	}
	return text != "" && strings.ContainsRune(`{}[]"`, rune(text[0]))
}

// pipxRow reads a row of pipx list.
// https://pipx.pypa.io/stable/docs/#pipx-list
//
//	package litellm 1.107.0, installed using Python 3.12.3
//	package litellm 1.107.0 (litellm_proxy), installed using Python 3.12.3
func pipxRow(_ *list, row string) ([]timeline.Item, bool) {
	w := strings.Fields(row)
	if len(w) < 5 || w[0] != "package" || !strings.Contains(row, ", installed using ") {
		return nil, strings.HasPrefix(row, "venvs are in ")
	}
	version := strings.TrimSuffix(w[2], ",")
	if !evidence.IsDistName(w[1]) || !evidence.IsVersion(version) {
		return nil, false
	}
	return pypiItems(w[1], version), true
}

// condaRow reads conda list, and mamba's and pixi's. Where a filter took the head
// away, a build is known by the number behind "_".
func condaRow(l *list, row string) ([]timeline.Item, bool) {
	if pkglist.IsCondaHead(row) {
		return nil, l.begun || strings.Contains(row, "packages in environment") || strings.Contains(row, "Name ")
	}
	items, ok := pkglist.Conda(row)
	return items, ok && (l.begun || strings.Contains(row, "_"))
}

// environmentRow reads a row of conda env export, whose builds can be left out,
// and of conda list --export.
// https://docs.conda.io/projects/conda/en/stable/commands/env/export.html
//
//	dependencies:
//	  - python=3.12.3=h996f2a0_1
//	  - pip:
//	      - litellm==1.107.0
//	python=3.12.3=h996f2a0_1
func environmentRow(l *list, row string) ([]timeline.Item, bool) {
	spec, is := strings.CutPrefix(strings.TrimLeft(row, " "), "- ")
	if !is {
		if items, ok := pkglist.CondaSpec(row); ok {
			return items, true
		}
		return nil, strings.HasPrefix(row, "name: ") || l.begun && (strings.HasSuffix(row, ":") || strings.HasPrefix(row, "prefix: "))
	}
	if name, version, ok := strings.Cut(spec, "=="); ok {
		return pypiItems(name, version), evidence.IsDistName(name) && evidence.IsVersion(version)
	}
	w := strings.Split(spec, "=")
	if len(w) < 2 || !evidence.IsCondaName(w[0]) || !evidence.IsCondaVersion(w[1]) {
		return nil, l.begun
	}
	return []timeline.Item{evidence.CondaItem(w[0], w[1])}, true
}

// poetryRow reads a row of poetry show, which shows the lock file; (!) marks what
// is not installed.
// https://python-poetry.org/docs/cli/#show
//
//	httpx          0.28.1      The next generation HTTP client.
//	litellm        (!) 1.107.0 Library to easily interface with LLM APIs
//	 name         : litellm
//	 version      : 1.107.0
func poetryRow(l *list, row string) ([]timeline.Item, bool) {
	w := strings.Fields(strings.Replace(row, " (!) ", " ", 1))
	if len(w) == 3 && w[1] == ":" {
		if w[0] == "name" {
			l.name = w[2]
			return nil, true
		}
		if w[0] == "version" && evidence.IsDistName(l.name) && evidence.IsVersion(w[2]) {
			return pypiItems(l.name, w[2]), true
		}
	}
	if len(w) < 2 || row[0] == ' ' || !evidence.IsDistName(w[0]) || !evidence.IsVersion(w[1]) || !strings.ContainsRune(w[1], '.') {
		return nil, false
	}
	return pypiItems(w[0], w[1]), true
}

// underPoetry tells what stands below a row of poetry show --tree, and the
// fields of poetry show NAME.
func underPoetry(row string) bool {
	return strings.HasPrefix(row, "├") || strings.HasPrefix(row, "└") || strings.HasPrefix(row, "│") || strings.HasPrefix(row, " ")
}
