package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
	"pulltrail/timeline"
)

// branch takes the drawing off a row of a tree; drawn tells that there was one.
func branch(row string) (text string, drawn bool) {
	text = strings.TrimLeft(row, "│├└┬─|+-` \u00a0")
	return text, len(text) < len(row) && strings.ContainsAny(row[:len(row)-len(text)], "├└|+`")
}

// vTreeRow reads a row of uv tree, uv pip tree and cargo tree.
// https://docs.astral.sh/uv/reference/cli/#uv-tree
//
//	app v0.1.0
//	├── litellm[proxy] v1.107.0 (*)
//	│   └── httpx v0.28.1
func vTreeRow(item func(name, version string) []timeline.Item) func(*list, string) ([]timeline.Item, bool) {
	return func(_ *list, row string) ([]timeline.Item, bool) {
		text, _ := branch(row)
		w := strings.Fields(text)
		if len(w) < 2 || len(w[1]) < 2 || w[1][0] != 'v' || !isDecimal(w[1][1]) || text != row && strings.HasPrefix(row, "+ ") {
			return nil, false
		}
		name, _, _ := strings.Cut(w[0], "[")
		if !evidence.IsDistName(name) || !evidence.IsVersion(w[1][1:]) {
			return nil, false
		}
		return item(name, w[1][1:]), true
	}
}

// installedRow reads a row of pipdeptree and pipenv graph.
// https://github.com/tox-dev/pipdeptree#usage-and-examples
//
//	acme-app==0.1.0
//	├── litellm [required: Any, installed: 1.107.0]
//	  - httpx [required: >=0.23.0, installed: 0.28.1]
func installedRow(l *list, row string) ([]timeline.Item, bool) {
	text, _ := branch(row)
	name, rest, is := strings.Cut(text, " [required: ")
	if !is {
		return freezeRow(l, row)
	}
	_, version, is := strings.Cut(strings.TrimSuffix(rest, "]"), "installed: ")
	if !is || !evidence.IsDistName(name) {
		return nil, false
	}
	if !evidence.IsVersion(version) { // "?": it is not there
		return nil, true
	}
	return pypiItems(name, version), true
}

// uvToolRow reads a row of uv tool list.
// https://docs.astral.sh/uv/reference/cli/#uv-tool-list
//
//	litellm v1.107.0
//	- litellm-proxy
func uvToolRow(l *list, row string) ([]timeline.Item, bool) {
	if strings.HasPrefix(row, "- ") {
		return nil, l.begun
	}
	return vTreeRow(pypiItems)(l, row)
}

// boxRow reads a row of pdm list.
// https://pdm-project.org/latest/reference/cli/#list
//
//	│ name    │ version │ location │
//	│ litellm │ 1.107.0 │          │
func boxRow(_ *list, row string) ([]timeline.Item, bool) {
	text := strings.TrimSpace(row)
	switch {
	case strings.HasPrefix(text, "╭"), strings.HasPrefix(text, "├"), strings.HasPrefix(text, "╰"):
		return nil, true
	case !strings.HasPrefix(text, "│"):
		return nil, false
	}
	cells := strings.Split(text, "│")
	if len(cells) < 4 {
		return nil, false
	}
	name, version := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
	if !evidence.IsDistName(name) || !evidence.IsVersion(version) {
		return nil, true
	}
	return pypiItems(name, version), true
}

func npmItems(name, version string) []timeline.Item {
	return []timeline.Item{evidence.NPMItem(name, version)}
}

// pnpmRow reads a row of pnpm list and pnpm why.
// https://pnpm.io/cli/list
//
//	dependencies:
//	chalk 5.6.1
//	├── chalk 5.6.1
//	└─┬ ora 5.0.0
//	chalk@5.6.1
func pnpmRow(_ *list, row string) ([]timeline.Item, bool) {
	if row == "dependencies:" || row == "devDependencies:" || row == "optionalDependencies:" || strings.HasPrefix(row, "Legend: ") {
		return nil, true
	}
	text, _ := branch(row)
	w := strings.Fields(text)
	if len(w) > 0 && strings.LastIndexByte(w[0], '@') > 0 {
		name, version, ok := npmPackage(w[0])
		if !ok || len(w) > 1 && strings.HasPrefix(w[1], "/") { // the project itself
			return nil, ok
		}
		return npmItems(name, version), true
	}
	if len(w) < 2 || !evidence.IsNPMName(w[0]) || strings.Count(w[1], ".") < 2 || !exactVersion(w[1]) {
		return nil, false
	}
	return npmItems(w[0], w[1]), true
}

// outdatedRow reads npm outdated and yarn outdated: what is there, and what could
// be. What is not installed has a word for its version.
// https://docs.npmjs.com/cli/commands/npm-outdated
//
//	Package   Current  Wanted  Latest  Location             Depended by
//	chalk       5.6.0   5.6.1   5.6.2  node_modules/chalk   web
//	ora       MISSING   5.0.0   8.1.0  -                    web
func outdatedRow(l *list, row string) ([]timeline.Item, bool) {
	w := strings.Fields(row)
	if len(w) < 4 {
		return nil, false
	}
	if !l.begun {
		return nil, w[0] == "Package" && w[1] == "Current" && w[2] == "Wanted" && w[3] == "Latest"
	}
	if !evidence.IsNPMName(w[0]) || !exactVersion(w[2]) && !exactVersion(w[3]) {
		return nil, false
	}
	if !exactVersion(w[1]) || strings.Count(w[1], ".") < 2 {
		return nil, true
	}
	return npmItems(w[0], w[1]), true
}

// npmJSONRow reads npm ls --json, in which a package is the key of an object
// that holds its version.
// https://docs.npmjs.com/cli/commands/npm-ls
//
//	"chalk": {
//	  "version": "5.6.1",
func npmJSONRow(l *list, row string) ([]timeline.Item, bool) {
	text := strings.TrimSpace(row)
	if key, is := strings.CutSuffix(text, `": {`); is && strings.HasPrefix(key, `"`) {
		l.name = key[1:]
		return nil, l.begun || l.name == "dependencies" // a line of one brace is not always seen
	}
	if key, value, ok := jsonField(text); ok && key == "version" && l.begun && evidence.IsNPMName(l.name) && exactVersion(value) {
		name := l.name
		l.name = ""
		return npmItems(name, value), true
	}
	return nil, isJSONLine(text, l.begun)
}

// berryRow reads a row of yarn why and yarn info, which show the lock file.
// https://yarnpkg.com/cli/why
//
//	└─ ora@npm:5.0.0
//	   └─ chalk@npm:5.6.1 (via npm:^5.0.0)
func berryRow(_ *list, row string) ([]timeline.Item, bool) {
	text, drawn := branch(row)
	word, _, _ := strings.Cut(text, " ")
	name, version, is := strings.Cut(word, "@npm:")
	if !is {
		return nil, drawn && strings.Contains(word, "@workspace:")
	}
	if name, alias, is := strings.Cut(version, "@npm:"); is { // cache@npm:left-pad@npm:1.3.0
		return npmItems(name, alias), exactVersion(alias)
	}
	if !evidence.IsNPMName(name) || !exactVersion(version) {
		return nil, false
	}
	return npmItems(name, version), true
}

// gemListRow reads gem list. Before its head, a number alone in parentheses is
// no version.
func gemListRow(l *list, row string) ([]timeline.Item, bool) {
	if row == "*** LOCAL GEMS ***" {
		return nil, true
	}
	items, ok := pkglist.Gem(row)
	return items, ok && (l.begun || strings.Contains(row, "."))
}

// goModuleRow reads a row of go list -m all.
// https://go.dev/ref/mod#go-list-m
//
//	github.com/spf13/cobra v1.8.0
//	example.com/a v1.0.0 => example.com/fork v1.0.1
func goModuleRow(_ *list, row string) ([]timeline.Item, bool) {
	w := strings.Fields(row)
	if len(w) == 5 && w[2] == "=>" {
		w = w[3:]
	}
	if len(w) == 1 && strings.Contains(w[0], "/") {
		return nil, true // the module itself
	}
	if len(w) != 2 || !strings.Contains(w[0], ".") || len(w[1]) < 2 || w[1][0] != 'v' || !isDecimal(w[1][1]) {
		return nil, false
	}
	i := strings.LastIndexByte(w[0], '/')
	return []timeline.Item{{Artifact: timeline.PURL("golang", w[0][:max(i, 0)], w[0][i+1:], w[1])}}, true
}
