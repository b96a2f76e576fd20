package document

import (
	"bytes"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ComposeFile says what docker compose starts.
// https://docs.docker.com/reference/compose-file/
var ComposeFile = evidence.Format{
	Name:   "compose-file",
	Shape:  evidence.DocumentShape,
	Title:  "docker compose file",
	Proves: "which images its services ask for, and names of the secrets that they are given; where traces are sent",
	Cannot: "that it was started, and what is in the files of variables that it names",
	Doc:    "https://docs.docker.com/reference/compose-file/services/#environment",
	Sample: "written by hand after the documentation",
	Claim:  claimComposeFile,
	Read:   readComposeFile,
}

func claimComposeFile(h *evidence.Head) bool {
	if ext := path.Ext(h.Name); ext != ".yml" && ext != ".yaml" {
		return false
	}
	return topKey(h.Bytes, "services") && !topKey(h.Bytes, "apiVersion") && !topKey(h.Bytes, "jobs") &&
		(strings.Contains(h.Name, "compose") || bytes.Contains(h.Bytes, []byte("image:")) || bytes.Contains(h.Bytes, []byte("build:")))
}

func readComposeFile(d *evidence.Doc, o *evidence.Out) error {
	docs, err := yamlDocuments(d)
	if len(docs) > 0 {
		o.Seen("")
	}
	for _, root := range docs {
		eachField(child(root, "services"), func(_, service *yaml.Node) { composeService(d, o, service) })
		eachField(child(root, "secrets"), func(key, _ *yaml.Node) {
			onNode(d, o, key, "secrets: "+key.Value)
			o.Hold(key.Value)
		})
	}
	return err
}

// composeService reads one service:
//
//	litellm:
//	  image: docker.io/litellm/litellm:main-stable
//	  environment:
//	    DATABASE_URL: postgres://…
//	  env_file: [litellm.env]
func composeService(d *evidence.Doc, o *evidence.Out, service *yaml.Node) {
	if image := child(service, "image"); image != nil && child(service, "build") == nil && !strings.Contains(image.Value, "${") {
		if name := timeline.NormalizeImage(image.Value); name != "" {
			onNode(d, o, image, "image: "+image.Value)
			o.Emit(timeline.Require, nil, timeline.Item{Artifact: name, Ref: image.Value})
		}
	}
	environmentNode(d, o, child(service, "environment"))
}

// environmentNode reads variables as a mapping, or as a list of NAME=value, or
// of NAME alone where the value comes from outside.
func environmentNode(d *evidence.Doc, o *evidence.Out, env *yaml.Node) {
	hold := func(n *yaml.Node, name, val string) {
		onNode(d, o, n, name+"=[redacted]")
		if holdsSecret(name, val) {
			o.Hold(name)
		}
		o.TraceExporter(name, val, timeline.Span{})
	}
	eachField(env, func(key, val *yaml.Node) { hold(key, key.Value, scalarText(val)) })
	for _, item := range items(env) {
		name, val, _ := strings.Cut(scalarText(item), "=")
		hold(item, strings.TrimSpace(name), val)
	}
}
