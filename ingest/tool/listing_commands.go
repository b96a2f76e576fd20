package tool

import (
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
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
	outdated    = &listKind{tool: "npm", topic: timeline.NPM, action: timeline.Present, row: outdatedRow}
	conflicts   = &listKind{tool: "pip", topic: timeline.PyPI, action: timeline.Present, row: checkRow}
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
	chocoList   = &listKind{tool: "choco", action: timeline.Present, row: under(pkglist.IsChocolateyHead, pkglist.Chocolatey)}
	snapList    = &listKind{tool: "snap", action: timeline.Present, row: under(pkglist.IsSnapHead, pkglist.Snap)}
	wingetList  = &listKind{tool: "winget", action: timeline.Present, row: wingetRow}
	helmList    = &listKind{tool: "helm", fact: helmFact}
	brewList    = &listKind{tool: "brew", topic: "brew", action: timeline.Present, row: alone(pkglist.Brew)}
)

// helmFact reads helm list: a row says when the chart was installed.
func helmFact(l *list, row string, _ *evidence.Out) (timeline.Event, bool) {
	if pkglist.IsHelmHead(row) {
		return timeline.Event{}, true
	}
	if !l.begun {
		return timeline.Event{}, false
	}
	return pkglist.Helm(row)
}

func anyLine(string) bool { return true }

// extensionList is what an editor lists with --show-versions; without it there
// are names alone.
var extensionList = &listKind{tool: extensionTool, topic: timeline.Extensions, action: timeline.Present, row: extensionRow}

// extensionRow reads a row, and the line that a server puts before them:
//
//	nrwl.angular-console@18.95.0
//	Extensions installed on SSH: web1:
func extensionRow(_ *list, row string) ([]timeline.Item, bool) {
	if items, ok := pkglist.Extension(row); ok {
		return items, true
	}
	return nil, strings.HasPrefix(row, "Extensions installed on ")
}

func cargoItems(name, version string) []timeline.Item {
	return []timeline.Item{{Artifact: timeline.PURL("cargo", "", name, version)}}
}

var listValued = wordSet("--format --path --exclude --python -r --requirement --cache-dir -f -p -n --name --prefix -o --output-file --depth --filter -F --group --extra")

// listOf says which packages a command lists, nil when it lists none; quiet
// tells that it prints no versions, or prints them elsewhere.
func listOf(name string, args []string) (kind *listKind, quiet bool) {
	var c listCommand
	c.args = args
	c.f, c.plain = splitFlags(args, listValued)
	switch lists := listers[name]; {
	case c.f.has("--help", "-h") && name != "rpm":
		return nil, false
	case isPip(name):
		return c.pip()
	case isEditor(name):
		return c.one(c.f.has("--list-extensions") && c.f.has("--show-versions"), extensionList)
	case lists != nil:
		if kind, quiet = lists(c); kind != nil {
			return kind, quiet
		}
	}
	return versionOf(name, args, c), false
}

// listCommand is the command of a program: its flags, and what stands between
// them.
type listCommand struct {
	args  []string
	f     flags
	plain []string
}

// is reports whether the command begins with words.
func (c listCommand) is(words ...string) bool {
	return len(c.plain) >= len(words) && slices.Equal(c.plain[:len(words)], words)
}

// one is the list of a program that has but one.
func (c listCommand) one(is bool, kind *listKind, quiet ...string) (*listKind, bool) {
	if !is {
		return nil, false
	}
	return kind, len(quiet) > 0 && c.f.has(quiet...)
}

// pins is a lock file that is printed, unless it is written to a file.
func (c listCommand) pins(is bool) (*listKind, bool) {
	kind, quiet := c.one(is, pinList, "-o", "--output", "--output-file", "-q", "--quiet")
	return kind, quiet && !c.f.has("--dry-run")
}

// listers are the programs that list packages, by name.
var listers = map[string]func(listCommand) (kind *listKind, quiet bool){
	"uv": func(c listCommand) (*listKind, bool) {
		switch {
		case c.is("pip", "tree"):
			return uvPipTree, false
		case c.is("pip"):
			return listCommand{c.args, c.f, c.plain[1:]}.pip()
		case c.is("tree"):
			return uvTree, false
		case c.is("tool", "list"):
			return uvToolList, false
		}
		return c.pins(c.is("export"))
	},
	"poetry": func(c listCommand) (*listKind, bool) {
		if c.is("show") {
			return poetryList, false
		}
		return c.pins(c.is("export"))
	},
	"pdm": func(c listCommand) (*listKind, bool) {
		switch {
		case c.is("list") && c.f.has("--freeze"):
			return freezeList, false
		case c.is("list"):
			return pdmList, false
		}
		return c.pins(c.is("export"))
	},
	"pipenv": func(c listCommand) (*listKind, bool) {
		if c.is("graph") {
			return pyTreeList, false
		}
		return c.pins(c.is("requirements"))
	},
	"pip-compile": func(c listCommand) (*listKind, bool) { return c.pins(true) },
	"pipdeptree":  func(c listCommand) (*listKind, bool) { return c.one(true, pyTreeList) },
	"pipx":        func(c listCommand) (*listKind, bool) { return c.one(c.is("list"), pipxList, "--short") },

	"conda": listCommand.conda, "mamba": listCommand.conda, "micromamba": listCommand.conda, "pixi": listCommand.conda,

	"pnpm": func(c listCommand) (*listKind, bool) {
		switch is := c.is("list") || c.is("ls") || c.is("ll") || c.is("la") || c.is("why"); {
		case is && c.f.has("--json"):
			return npmJSONList, false
		default:
			return c.one(is, pnpmList, "--parseable")
		}
	},
	"npm": func(c listCommand) (*listKind, bool) {
		if c.is("outdated") {
			return outdated, c.f.has("--json", "--parseable")
		}
		return c.one((c.is("ls") || c.is("list") || c.is("ll") || c.is("la")) && c.f.has("--json"), npmJSONList)
	},
	"yarn": func(c listCommand) (*listKind, bool) {
		if c.is("outdated") {
			return outdated, c.f.has("--json")
		}
		return c.one(c.is("why") || c.is("info"), berryList, "--json")
	},
	"gem": func(c listCommand) (*listKind, bool) {
		return c.one(c.is("list"), gemList, "-r", "--remote", "--no-versions")
	},
	"go": func(c listCommand) (*listKind, bool) {
		return c.one(c.is("list") && c.f.has("-m"), goList, "-f", "-json", "-versions")
	},
	"cargo": func(c listCommand) (*listKind, bool) {
		if c.is("audit") {
			return cargoAudits, c.f.has("--json", "-q")
		}
		return c.one(c.is("tree"), cargoTree, "-f", "--format")
	},
	"bundle": func(c listCommand) (*listKind, bool) {
		return c.one(c.is("audit"), bundleAudits, "--format", "-F", "-q")
	},
	"bundle-audit":  func(c listCommand) (*listKind, bool) { return c.one(true, bundleAudits, "--format", "-F", "-q") },
	"bundler-audit": func(c listCommand) (*listKind, bool) { return c.one(true, bundleAudits, "--format", "-F", "-q") },
	"govulncheck":   func(c listCommand) (*listKind, bool) { return c.one(true, goVulns) },
	"docker":        listCommand.scout,

	"trivy": listCommand.trivy, "grype": listCommand.anchore, "syft": listCommand.anchore,
	"pip-audit": listCommand.pipAudit, "osv-scanner": listCommand.osvScanner, "snyk": listCommand.snyk,

	"helm": func(c listCommand) (*listKind, bool) {
		return c.one(c.is("list") || c.is("ls"), helmList, "-o", "--output", "-q", "--short")
	},

	"dpkg":       func(c listCommand) (*listKind, bool) { return c.one(c.f.has("-l", "--list"), dpkgList) },
	"dpkg-query": func(c listCommand) (*listKind, bool) { return c.one(c.f.has("-l", "--list"), dpkgList) },
	"apt": func(c listCommand) (*listKind, bool) {
		return c.one(c.is("list") && c.f.has("--installed", "-i"), aptList)
	},
	"rpm": func(c listCommand) (*listKind, bool) {
		return c.one(c.f.has("-q") && c.f.has("-a"), rpmList, "--qf", "--queryformat", "--last")
	},
	"apk": func(c listCommand) (*listKind, bool) {
		return c.one(c.is("info") && c.f.has("-v", "--verbose") || c.is("list"), apkList)
	},
	"pacman": func(c listCommand) (*listKind, bool) { return c.one(c.f.has("-Q"), pacmanList) },
	"choco": func(c listCommand) (*listKind, bool) {
		return c.one(c.is("list") || c.is("ls"), chocoList, "-r", "--limit-output", "--source", "-s")
	},
	"winget": func(c listCommand) (*listKind, bool) { return c.one(c.is("list") || c.is("ls"), wingetList) },
	"snap":   func(c listCommand) (*listKind, bool) { return c.one(c.is("list"), snapList) },
	"brew": func(c listCommand) (*listKind, bool) {
		return c.one((c.is("list") || c.is("ls")) && c.f.has("--versions"), brewList)
	},
}

// pip knows pip's commands, and uv's of the same names.
func (c listCommand) pip() (kind *listKind, quiet bool) {
	if len(c.plain) == 0 {
		return nil, false
	}
	switch c.plain[0] {
	case "freeze":
		return freezeList, false
	case "list", "ls":
		switch format := c.f["--format"]; {
		case format != nil && format[0] == "json":
			return jsonList, false
		case format != nil && format[0] != "columns":
			return freezeList, false
		}
		return columnList, false
	case "check":
		return conflicts, false
	case "show":
		return showList, c.f.has("--files", "-f") && len(c.plain) == 1
	case "inspect":
		return jsonList, false
	case "compile":
		return c.one(true, pinList, "-q", "--quiet")
	}
	return nil, false
}

// conda knows the lists of conda, mamba, micromamba and pixi.
func (c listCommand) conda() (kind *listKind, quiet bool) {
	switch {
	case c.is("list") && c.f.has("--json", "--export", "-e", "--explicit"):
		return condaExport, !c.f.has("--export", "-e")
	case c.is("list"):
		return condaList, false
	}
	return c.one(c.is("env", "export") || c.is("export"), condaExport, "-f", "--file", "--json")
}
