package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
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
			condaPresent(o, v.get("name").text(), version.text(), v.get("channel").text())
		}
		return err
	}
	for _, line := range logicalLines(d) {
		text := line.text
		if text == "" || text[0] == '#' || text == "@EXPLICIT" || strings.HasPrefix(text, "List of packages in environment: ") || strings.HasPrefix(text, "Name ") || strings.Trim(text, "─- ") == "" {
			continue
		}
		onLine(d, o, line.off)
		w := strings.Fields(text)
		switch {
		case strings.Contains(text, "://") && len(w) == 1:
			name, version, ok := condaArchive(text)
			if !ok {
				o.Skip("no file of a conda package")
				continue
			}
			condaPresent(o, name, version, "")
		case len(w) == 1:
			p := strings.Split(text, "=")
			if len(p) != 3 {
				o.Skip("no row of name, version and build")
				continue
			}
			condaPresent(o, p[0], p[1], pypiBuild(p[2]))
		case len(w) >= 3:
			condaPresent(o, w[0], w[1], w[len(w)-1])
		default:
			o.Skip("no row of name, version and build")
		}
	}
	return nil
}

// condaPresent records a package; those of the channel "pypi" came by pip.
func condaPresent(o *evidence.Out, name, version, channel string) {
	if !evidence.IsDistName(strings.TrimLeft(name, "_")) || version == "" || strings.ContainsAny(version, "<>*|, ") {
		o.Skip("no name and version of a conda package")
		return
	}
	kind := "conda"
	if channel == "pypi" {
		kind = "pypi"
	}
	o.Emit(timeline.Present, nil, timeline.Item{Artifact: timeline.PURL(kind, "", name, version)})
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
	w := strings.Split(stem, "-")
	if len(w) < 3 {
		return "", "", false
	}
	n := len(w)
	name, version = strings.Join(w[:n-2], "-"), w[n-2]
	return name, version, name != "" && version != "" && version[0] >= '0' && version[0] <= '9' && strings.Contains(w[n-1], "_")
}

// pypiBuild is the channel that the build "pypi_0" stands for.
func pypiBuild(build string) string {
	if strings.HasPrefix(build, "pypi_") {
		return "pypi"
	}
	return ""
}
