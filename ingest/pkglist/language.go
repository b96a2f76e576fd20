package pkglist

import (
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// IsPipHead reports whether a line is the header of pip list.
//
//	Package      Version
//	Package      Version  Editable project location
func IsPipHead(line string) bool {
	w := strings.Fields(line)
	return len(w) > 1 && w[0] == "Package" && w[1] == "Version"
}

// Pip reads a row of pip list; further columns are places. pip 9 and older put
// the version in parentheses.
// https://pip.pypa.io/en/stable/cli/pip_list/
//
//	litellm      1.107.0
//	acme-agent   0.3.0   /srv/agent
//	litellm (1.107.0)
func Pip(row string) (items []timeline.Item, ok bool) {
	w := strings.Fields(row)
	if len(w) < 2 {
		return nil, false
	}
	version := w[1]
	if inner, old := strings.CutPrefix(version, "("); old && len(w) == 2 {
		version = strings.TrimSuffix(inner, ")")
	}
	return []timeline.Item{{Artifact: timeline.PURL("pypi", "", w[0], version)}}, evidence.IsDistName(w[0]) && evidence.IsVersion(version)
}

// IsCondaHead reports whether a line belongs to the head of conda list, or of
// mamba's and micromamba's.
//
//	# packages in environment at /opt/conda:
//	# Name                    Version                   Build  Channel
//	  Name           Version  Build                Channel
//	──────────────────────────────────────────────────────────
func IsCondaHead(line string) bool {
	w := strings.Fields(line)
	return strings.HasPrefix(line, "#") || strings.HasPrefix(line, "List of packages in environment: ") ||
		len(w) > 2 && w[0] == "Name" && w[1] == "Version" && w[2] == "Build" ||
		line != "" && strings.Trim(line, " ─-") == ""
}

// Conda reads a row of conda list, of mamba's, micromamba's and pixi's: name,
// version and build, and the channel unless it is the default. What pip put
// there says so in a later column.
// https://docs.conda.io/projects/conda/en/stable/commands/list.html
//
//	litellm                   1.107.0                  pypi_0    pypi
//	numpy                     1.26.4          py311h64a7726_0  conda-forge
//	acme-agent                0.3.0                     <pip>
func Conda(row string) (items []timeline.Item, ok bool) {
	w := strings.Fields(row)
	if len(w) < 3 {
		return nil, false
	}
	channel := ""
	if slices.Contains(w[2:], "pypi") || slices.Contains(w[2:], "<pip>") {
		channel = "pypi"
	}
	return CondaPackage(w[0], w[1], channel)
}

// CondaSpec reads a row of conda list --export: name=version=build.
// https://docs.conda.io/projects/conda/en/stable/commands/list.html
//
//	numpy=1.26.4=py311h64a7726_0
//	litellm=1.107.0=pypi_0
func CondaSpec(row string) (items []timeline.Item, ok bool) {
	w := strings.Split(row, "=")
	if len(w) != 3 {
		return nil, false
	}
	channel := ""
	if strings.HasPrefix(w[2], "pypi_") {
		channel = "pypi"
	}
	return CondaPackage(w[0], w[1], channel)
}

// CondaPackage makes a row of its fields; what pip put into an environment is of
// the channel pypi.
func CondaPackage(name, version, channel string) (items []timeline.Item, ok bool) {
	if channel == "pypi" {
		return []timeline.Item{{Artifact: timeline.PURL("pypi", "", name, version)}}, evidence.IsDistName(name) && evidence.IsVersion(version)
	}
	return []timeline.Item{evidence.CondaItem(name, version)}, evidence.IsCondaName(name) && evidence.IsCondaVersion(version)
}

// Gem reads a row of gem list, with all versions of a gem; behind one that was
// built for one platform stands which.
// https://guides.rubygems.org/command-reference/#gem-list
//
//	rake (13.0.6, 12.3.3)
//	json (default: 2.6.1)
//	nokogiri (1.16.5 x86_64-linux, 1.15.0 ruby)
func Gem(row string) (items []timeline.Item, ok bool) {
	name, rest, ok := strings.Cut(row, " (")
	rest, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return nil, false
	}
	for v := range strings.SplitSeq(rest, ", ") {
		version, platform, _ := strings.Cut(strings.TrimPrefix(v, "default: "), " ")
		it, ok := evidence.GemItem(name, version, platform)
		if !ok {
			return nil, false
		}
		items = append(items, it)
	}
	return items, true
}
