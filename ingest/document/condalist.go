package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
	"pulltrail/timeline"
)

// CondaList is what conda, mamba and micromamba list of an environment, as a
// table, as JSON and for --export and --explicit.
// https://docs.conda.io/projects/conda/en/stable/commands/list.html
var CondaList = evidence.Format{
	Name:   "conda-list",
	Shape:  evidence.DocumentShape,
	Title:  "conda list (table, --json, --export, --explicit)",
	Proves: "which packages are in an environment, those that pip put there too",
	Cannot: "when they were installed; --export and --explicit are asked for by environments made later",
	Doc:    "https://docs.conda.io/projects/conda/en/stable/commands/list.html",
	Sample: "written by hand after the documentation",
	Claim:  claimCondaList,
	Read:   readCondaList,
}

func claimCondaList(h *evidence.Head) bool {
	if v, ok := headRecord(h); ok {
		return v.has("dist_name") && v.has("build_string") && v.has("channel")
	}
	for _, w := range []string{"# packages in environment at ", "# This file may be used to create an environment using:", "List of packages in environment: "} {
		if bytes.HasPrefix(bytes.TrimLeft(h.Bytes, "\r\n "), []byte(w)) {
			return true
		}
	}
	return false
}

// readCondaList reads one package for each row.
//
//	litellm                   1.107.0                  pypi_0    pypi
//	numpy=1.26.4=py311h64a7726_0
//	https://conda.acme.example/conda-forge/linux-64/numpy-1.26.4-py311h64a7726_0.conda#e80c…
//	{"channel": "conda-forge", "dist_name": "numpy-1.26.4-py311h64a7726_0", "name": "numpy", "version": "1.26.4", …
func readCondaList(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	if h := bytes.TrimLeft(d.Data, " \r\n\t"); len(h) > 0 && h[0] == '[' {
		all, err := records(d)
		for _, v := range all {
			version := v.get("version")
			at(d, o, version)
			items, ok := pkglist.CondaPackage(v.get("name").text(), version.text(), v.get("channel").text())
			condaPresent(o, items, ok)
		}
		return err
	}
	for _, line := range logicalLines(d) {
		if line.text == "" || line.text == "@EXPLICIT" || pkglist.IsCondaHead(line.text) {
			continue
		}
		onLine(d, o, line.off)
		items, ok := condaRow(line.text)
		condaPresent(o, items, ok)
	}
	return nil
}

// condaRow reads a row of any of the three.
func condaRow(text string) (items []timeline.Item, ok bool) {
	switch {
	case len(strings.Fields(text)) > 1:
		return pkglist.Conda(text)
	case strings.Contains(text, "://"):
		name, version, ok := condaArchive(text)
		return []timeline.Item{evidence.CondaItem(name, version)}, ok
	}
	return pkglist.CondaSpec(text)
}

// condaPresent records a package.
func condaPresent(o *evidence.Out, items []timeline.Item, ok bool) {
	if !ok {
		o.Skip("no name and version of a conda package")
		return
	}
	o.Emit(timeline.Present, nil, items...)
}

// condaArchive reads the name of a file: numpy-1.26.4-py311h64a7726_0.conda, with
// folders before it and a checksum behind it.
func condaArchive(path string) (name, version string, ok bool) {
	path, _, _ = strings.Cut(path, "#")
	file := path[strings.LastIndexByte(path, '/')+1:]
	stem, conda := strings.CutSuffix(file, ".conda")
	if !conda {
		if stem, conda = strings.CutSuffix(file, ".tar.bz2"); !conda {
			return "", "", false
		}
	}
	name, version, ok = evidence.SplitCondaBuild(stem)
	return name, version, ok && strings.Contains(stem[len(name)+len(version)+1:], "_")
}
