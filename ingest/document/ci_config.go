package document

import (
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CIConfig is the pipeline of a project on GitLab, CircleCI or Buildkite, and
// what Azure Pipelines and Bitbucket run.
// https://docs.gitlab.com/ci/yaml/
var CIConfig = evidence.Format{
	Name:   "ci-config",
	Shape:  evidence.DocumentShape,
	Title:  "pipeline files of GitLab, CircleCI, Buildkite, Azure and Bitbucket",
	Proves: "which images a pipeline asks for, names of the secrets that its commands and settings read, and of the contexts that its jobs use; where traces are sent",
	Cannot: "that it ran; which secrets a context holds",
	Doc:    "https://docs.gitlab.com/ci/yaml/",
	Sample: "written by hand after the documentation",
	Claim:  claimCIConfig,
	Read:   readCIConfig,
}

// ciFiles are the names by which the services find the file.
var ciFiles = map[string]string{
	".gitlab-ci.yml": "", ".gitlab-ci.yaml": "", "azure-pipelines.yml": "", "azure-pipelines.yaml": "", "bitbucket-pipelines.yml": "",
	"config.yml": ".circleci", "config.yaml": ".circleci", "pipeline.yml": ".buildkite", "pipeline.yaml": ".buildkite",
}

func claimCIConfig(h *evidence.Head) bool {
	dir, known := ciFiles[h.Name]
	if known && (dir == "" || dir == h.Dir) {
		return true
	}
	ext := path.Ext(h.Name)
	return (ext == ".yml" || ext == ".yaml") && topKey(h.Bytes, "stages") && strings.Contains(string(h.Bytes), "script:") && !topKey(h.Bytes, "jobs")
}

// ciConfig reads one file.
type ciConfig struct {
	d    *evidence.Doc
	o    *evidence.Out
	held map[string]bool
	left int
}

func readCIConfig(d *evidence.Doc, o *evidence.Out) error {
	docs, err := yamlDocuments(d)
	if len(docs) > 0 {
		o.Seen("")
	}
	c := &ciConfig{d: d, o: o, held: map[string]bool{}, left: maxFields}
	for _, root := range docs {
		c.walk(root, "", 0)
	}
	return err
}

// walk looks at a node; key is the key it is the value of. What an alias names
// is read where it stands.
func (c *ciConfig) walk(n *yaml.Node, key string, depth int) {
	if depth > maxYAMLDepth || c.left <= 0 {
		return
	}
	c.left--
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			c.field(n.Content[i], n.Content[i+1], key)
			c.walk(n.Content[i+1], n.Content[i].Value, depth+1)
		}
	case yaml.SequenceNode:
		for _, e := range n.Content {
			c.walk(e, key, depth+1)
		}
	case yaml.ScalarNode:
		c.scalar(n, key)
	default:
	}
}

// field reads what a key says:
//
//	secrets: {DATABASE_PASSWORD: {vault: production/db/password@ops}}
//	variables: {SENTRY_DSN: "https://…"}
//	image: {name: registry.acme.example/build:3, entrypoint: [""]}
func (c *ciConfig) field(key, val *yaml.Node, parent string) {
	if (parent == "variables" || parent == "environment" || parent == "env") && val.Kind == yaml.ScalarNode {
		onNode(c.d, c.o, key, "$"+key.Value)
		c.o.TraceExporter(key.Value, val.Value, timeline.Span{})
	}
	switch {
	case parent == "secrets" && val.Kind == yaml.MappingNode:
		c.hold(key, key.Value)
	case (parent == "variables" || parent == "environment" || parent == "env") && val.Kind == yaml.ScalarNode && val.Value != "" &&
		!strings.HasPrefix(val.Value, "$") && holdsSecret(key.Value, val.Value):
		c.hold(key, key.Value)
	case parent == "image" && key.Value == "name" && val.Kind == yaml.ScalarNode:
		c.image(val)
	}
}

// scalar reads a value:
//
//	image: python:3.13
//	context: publish
//	- twine upload -u __token__ -p "$PYPI_TOKEN" dist/*
func (c *ciConfig) scalar(n *yaml.Node, key string) {
	switch key {
	case "image":
		c.image(n)
	case "context":
		c.hold(n, n.Value)
	}
	for _, m := range variableReference.FindAllStringSubmatch(n.Value, -1) {
		if name := m[1] + m[2]; holdsSecret(name, "") {
			c.hold(n, name)
		}
	}
}

// variableReference is a variable that a command or a setting reads: $NAME,
// ${NAME}, and $(NAME) of Azure.
var variableReference = regexp.MustCompile(`\$(?:([A-Za-z_][A-Za-z0-9_]{0,200})|[{(]([A-Za-z_][A-Za-z0-9_]{0,200})(?:[:}?)-]))`)

func (c *ciConfig) image(n *yaml.Node) {
	if name := timeline.NormalizeImage(n.Value); name != "" && !strings.Contains(n.Value, "$") {
		onNode(c.d, c.o, n, "image: "+n.Value)
		c.o.Emit(timeline.Require, nil, timeline.Item{Artifact: name, Ref: n.Value})
	}
}

func (c *ciConfig) hold(n *yaml.Node, name string) {
	if name == "" || c.held[name] {
		return
	}
	c.held[name] = true
	onNode(c.d, c.o, n, "$"+name)
	c.o.Hold(name)
}
