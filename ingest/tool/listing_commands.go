package tool

import (
	"slices"
	"strings"

	"pulltrail/ingest/pkglist"
	"pulltrail/timeline"
)

var (
	freezeList  = &listKind{tool: "pip", topic: timeline.PyPI, action: timeline.Present, row: freezeRow}
	columnList  = &listKind{tool: "pip", topic: timeline.PyPI, action: timeline.Present, row: columnRow}
	showList    = &listKind{tool: "pip", topic: timeline.PyPI, action: timeline.Present, row: showRow, within: anyLine}
	jsonList    = &listKind{tool: "pip", topic: timeline.PyPI, action: timeline.Present, row: jsonRow}
	pinList     = &listKind{tool: "pip", action: timeline.Require, row: freezeRow, within: underRequirement}
	pyTreeList  = &listKind{tool: "pip", topic: timeline.PyPI, action: timeline.Present, row: installedRow}
	uvPipTree   = &listKind{tool: "uv", topic: timeline.PyPI, action: timeline.Present, row: vTreeRow(pypiItems)}
	uvTree      = &listKind{tool: "uv", action: timeline.Require, row: vTreeRow(pypiItems)}
	uvToolList  = &listKind{tool: "uv", topic: timeline.PyPI, action: timeline.Present, row: uvToolRow}
	pipxList    = &listKind{tool: "pipx", topic: timeline.PyPI, action: timeline.Present, row: pipxRow, within: anyLine}
	poetryList  = &listKind{tool: "poetry", action: timeline.Require, row: poetryRow, within: underPoetry}
	pdmList     = &listKind{tool: "pdm", topic: timeline.PyPI, action: timeline.Present, row: boxRow}
	condaList   = &listKind{tool: "conda", topic: "conda", action: timeline.Present, row: condaRow}
	condaExport = &listKind{tool: "conda", topic: "conda", action: timeline.Present, row: environmentRow}
	pnpmList    = &listKind{tool: "pnpm", topic: timeline.NPM, action: timeline.Present, row: pnpmRow, within: anyLine}
	npmJSONList = &listKind{tool: "npm", topic: timeline.NPM, action: timeline.Present, row: npmJSONRow}
	berryList   = &listKind{tool: "yarn", action: timeline.Require, row: berryRow}
	gemList     = &listKind{tool: "gem", topic: "gem", action: timeline.Present, row: gemListRow}
	goList      = &listKind{tool: "go", action: timeline.Require, row: goModuleRow}
	cargoTree   = &listKind{tool: "cargo", action: timeline.Require, row: vTreeRow(cargoItems)}
	dpkgList    = &listKind{tool: "dpkg", topic: "deb", action: timeline.Present, row: dpkgListRow}
	aptList     = &listKind{tool: "apt", topic: "deb", action: timeline.Present, row: aptListRow}
	rpmList     = &listKind{tool: "rpm", topic: "rpm", action: timeline.Present, row: alone(pkglist.RPM)}
	apkList     = &listKind{tool: "apk", topic: "apk", action: timeline.Present, row: alone(pkglist.APK)}
	pacmanList  = &listKind{tool: "pacman", topic: "alpm", action: timeline.Present, row: alone(pkglist.Pacman)}
	brewList    = &listKind{tool: "brew", topic: "brew", action: timeline.Present, row: alone(pkglist.Brew)}
)

func anyLine(string) bool { return true }

func cargoItems(name, version string) []timeline.Item {
	return []timeline.Item{{Artifact: timeline.PURL("cargo", "", name, version)}}
}

var listValued = wordSet("--format --path --exclude --python -r --requirement --cache-dir -f -p -n --name --prefix -o --output-file --depth --filter -F --group --extra")

// listOf says which packages a command lists, nil when it lists none; quiet
// tells that it prints no versions, or prints them elsewhere.
func listOf(name string, args []string) (kind *listKind, quiet bool) {
	f, plain := splitFlags(args, listValued)
	if f.has("--help", "-h") && name != "rpm" {
		return nil, false
	}
	has := func(words ...string) bool { return len(plain) >= len(words) && slices.Equal(plain[:len(words)], words) }
	switch {
	case isPip(name):
		return pipList(f, plain)
	case name == "uv" && len(plain) > 1 && plain[0] == "pip":
		if plain[1] == "tree" {
			return uvPipTree, false
		}
		return pipList(f, plain[1:])
	case name == "uv" && has("tree"):
		return uvTree, false
	case name == "uv" && has("tool", "list"):
		return uvToolList, false
	case name == "uv" && has("export"), name == "poetry" && has("export"), name == "pdm" && has("export"), name == "pipenv" && has("requirements"), name == "pip-compile":
		return pinList, f.has("-o", "--output", "--output-file", "-q", "--quiet") && !f.has("--dry-run")
	case name == "poetry" && has("show"):
		return poetryList, false
	case name == "pipdeptree", name == "pipenv" && has("graph"):
		return pyTreeList, false
	case name == "pipx" && has("list"):
		return pipxList, f.has("--short")
	case name == "pdm" && has("list"):
		return boxOrFreeze(f), false
	case name == "conda", name == "mamba", name == "micromamba", name == "pixi":
		return condaListOf(f, plain)
	}
	return otherList(name, f, plain, has)
}

func boxOrFreeze(f flags) *listKind {
	if f.has("--freeze") {
		return freezeList
	}
	return pdmList
}

// pipList knows pip's commands, and uv's of the same names.
func pipList(f flags, plain []string) (kind *listKind, quiet bool) {
	if len(plain) == 0 {
		return nil, false
	}
	switch plain[0] {
	case "freeze":
		return freezeList, false
	case "list", "ls":
		switch format := f["--format"]; {
		case format != nil && format[0] == "json":
			return jsonList, false
		case format != nil && format[0] != "columns":
			return freezeList, false
		}
		return columnList, false
	case "show":
		return showList, f.has("--files", "-f") && len(plain) == 1
	case "inspect":
		return jsonList, false
	case "compile":
		return pinList, f.has("-q", "--quiet")
	}
	return nil, false
}

func condaListOf(f flags, plain []string) (kind *listKind, quiet bool) {
	switch {
	case len(plain) > 0 && plain[0] == "list":
		if f.has("--json", "--export", "-e", "--explicit") {
			return condaExport, !f.has("--export", "-e")
		}
		return condaList, false
	case len(plain) > 1 && plain[0] == "env" && plain[1] == "export", len(plain) > 0 && plain[0] == "export":
		return condaExport, f.has("-f", "--file", "--json")
	}
	return nil, false
}

// otherList knows what lists packages that are not Python's.
func otherList(name string, f flags, plain []string, has func(...string) bool) (kind *listKind, quiet bool) {
	first := ""
	if len(plain) > 0 {
		first = plain[0]
	}
	switch {
	case name == "pnpm" && slices.Contains(strings.Fields("list ls ll la why"), first):
		if f.has("--json") {
			return npmJSONList, false
		}
		return pnpmList, f.has("--parseable")
	case name == "npm" && slices.Contains(strings.Fields("ls list ll la"), first) && f.has("--json"):
		return npmJSONList, false
	case name == "yarn" && slices.Contains(strings.Fields("why info"), first):
		return berryList, f.has("--json")
	case name == "gem" && has("list"):
		return gemList, f.has("-r", "--remote", "--no-versions")
	case name == "go" && has("list") && f.has("-m"):
		return goList, f.has("-f", "-json", "-versions")
	case name == "cargo" && has("tree"):
		return cargoTree, f.has("-f", "--format")
	case name == "dpkg" && f.has("-l", "--list"), name == "dpkg-query" && f.has("-l", "--list"):
		return dpkgList, false
	case name == "apt" && has("list") && f.has("--installed", "-i"):
		return aptList, false
	case name == "rpm" && f.has("-q") && f.has("-a"):
		return rpmList, f.has("--qf", "--queryformat", "--last")
	case name == "apk" && has("info") && f.has("-v", "--verbose"), name == "apk" && has("list"):
		return apkList, false
	case name == "pacman" && f.has("-Q"):
		return pacmanList, false
	case name == "brew" && (has("list") || has("ls")) && f.has("--versions"):
		return brewList, false
	}
	return nil, false
}
