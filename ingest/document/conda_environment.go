package document

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CondaEnvironment is what an environment of conda is made from, or what
// 'conda env export' wrote of one.
// https://docs.conda.io/projects/conda/en/stable/user-guide/tasks/manage-environments.html#create-env-file-manually
var CondaEnvironment = evidence.Format{
	Name:   "conda-environment",
	Shape:  evidence.DocumentShape,
	Title:  "conda environment.yml",
	Proves: "which packages are asked for, of conda and of pip, with versions where they are pinned",
	Cannot: "that the environment was made, and when; an export and a wish look the same",
	Doc:    "https://docs.conda.io/projects/conda/en/stable/user-guide/tasks/manage-environments.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		ext := path.Ext(h.Name)
		return (ext == ".yml" || ext == ".yaml") && topKey(h.Bytes, "dependencies") && (topKey(h.Bytes, "channels") || topKey(h.Bytes, "name")) &&
			!topKey(h.Bytes, "apiVersion") && !topKey(h.Bytes, "version")
	},
	Read: readCondaEnvironment,
}

// readCondaEnvironment reads one package for each row:
//
//	dependencies:
//	  - python=3.12
//	  - conda-forge::numpy=1.26.4=py311h64a7726_0
//	  - pip:
//	    - litellm==1.107.0
func readCondaEnvironment(d *evidence.Doc, o *evidence.Out) error {
	docs, err := yamlDocuments(d)
	if len(docs) > 0 {
		o.Seen("")
	}
	for _, root := range docs {
		for _, row := range items(child(root, "dependencies")) {
			for _, wheel := range items(child(row, "pip")) {
				requiredWheel(d, o, wheel)
			}
			if row.Kind == yaml.ScalarNode {
				requiredConda(d, o, row)
			}
		}
	}
	return err
}

// requiredWheel reads a row that pip gets.
func requiredWheel(d *evidence.Doc, o *evidence.Out, n *yaml.Node) {
	onNode(d, o, n, n.Value)
	if strings.HasPrefix(n.Value, "-") { // -r requirements.txt
		return
	}
	r, _, ok := evidence.ParseRequirement(n.Value)
	if !ok {
		o.Skip("no requirement")
		return
	}
	o.Emit(timeline.Require, nil, r.Item())
}

// requiredConda reads a row of conda's own: [channel::]name[=version[=build]], or
// with an operator.
func requiredConda(d *evidence.Doc, o *evidence.Out, n *yaml.Node) {
	onNode(d, o, n, n.Value)
	text := n.Value
	if _, spec, ok := strings.Cut(text, "::"); ok {
		text = spec
	}
	text = strings.ReplaceAll(text, " ", "")
	end := strings.IndexAny(text, "=<>!~[")
	if end < 0 {
		end = len(text)
	}
	name, spec := text[:end], text[end:]
	if !evidence.IsDistName(strings.TrimLeft(name, "_")) {
		o.Skip("no name of a package")
		return
	}
	version := ""
	if v, pinned := strings.CutPrefix(spec, "="); pinned {
		v, _, _ = strings.Cut(strings.TrimPrefix(v, "="), "=")
		if v != "" && !strings.ContainsAny(v, "*<>|,!~") {
			version = v
		}
	}
	o.Emit(timeline.Require, nil, timeline.Item{Artifact: timeline.PURL("conda", "", name, version), Ref: spec})
}
