package document

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GitHubWorkflow is a workflow file, or the action.yml of an action.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax
var GitHubWorkflow = evidence.Format{
	Name:   "github-workflow",
	Shape:  evidence.DocumentShape,
	Title:  "GitHub workflow file",
	Proves: "which actions, at which tag, branch or commit, and which images a workflow asks for, and the names of the secrets it reads; where traces are sent",
	Cannot: "that it ran, or what a tag or branch was then; of a pull request, what the merge with its base made of it",
	Doc:    "https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax",
	Sample: "written by hand after the documentation",
	Claim:  claimGitHubWorkflow,
	Read:   readGitHubWorkflow,
}

// claimGitHubWorkflow wants the top-level keys of a workflow, or of an action
// made of steps.
func claimGitHubWorkflow(h *evidence.Head) bool {
	if ext := path.Ext(h.Name); ext != ".yml" && ext != ".yaml" {
		return false
	}
	if topKey(h.Bytes, "jobs") {
		return (topKey(h.Bytes, "on") || topKey(h.Bytes, `"on"`) || topKey(h.Bytes, "'on'")) &&
			(bytes.Contains(h.Bytes, []byte("runs-on:")) || bytes.Contains(h.Bytes, []byte("uses:")))
	}
	return topKey(h.Bytes, "runs") && bytes.Contains(h.Bytes, []byte("using:"))
}

// topKey reports whether a line of text starts with the key.
func topKey(text []byte, key string) bool {
	key += ":"
	return bytes.HasPrefix(text, []byte(key)) || bytes.Contains(text, []byte("\n"+key))
}

// maxYAMLDepth is far below what could exhaust the stack.
const maxYAMLDepth = 64

// workflow reads one file.
type workflow struct {
	o    *evidence.Out
	held map[string]bool
}

func readGitHubWorkflow(d *evidence.Doc, o *evidence.Out) error {
	var root yaml.Node
	if err := yaml.Unmarshal(d.Data, &root); err != nil {
		return yamlFault(err)
	}
	if len(d.Jobs) > 0 {
		o.Seen("")
		holders(d, &root, o)
		return nil
	}
	o.Seen(timeline.GitHubActions)
	w := &workflow{o: o, held: map[string]bool{}}
	w.walk(&root, "", 0)
	return nil
}

// walk looks at a node; key is the key it is the value of.
func (w *workflow) walk(n *yaml.Node, key string, depth int) {
	if depth > maxYAMLDepth {
		w.o.Cut("the file nests deeper than is read")
		return
	}
	switch n.Kind {
	case yaml.ScalarNode:
		w.scalar(n, key)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			if key == "env" {
				w.o.SetLine(int64(n.Content[i].Line), 0, []byte(name+": [redacted]"))
				w.o.TraceExporter(name, scalarText(n.Content[i+1]), timeline.Span{})
			}
			if key == "with" || key == "env" {
				name = "" // whatever an input or variable is called
			}
			w.walk(n.Content[i+1], name, depth+1)
		}
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, c := range n.Content {
			w.walk(c, key, depth+1)
		}
	case yaml.AliasNode, yaml.StreamNode: // what an alias names is read where it stands
	}
}

// scalar reads a value:
//
//	uses: actions/checkout@v4
//	container: ghcr.io/acme/build:3
//	image: docker://alpine:3.20
//	TOKEN: ${{ secrets.PYPI_TOKEN }}
func (w *workflow) scalar(n *yaml.Node, key string) {
	w.o.SetLine(int64(n.Line), 0, []byte(key+": "+firstLine(n.Value)))
	switch key {
	case "uses":
		if image, ok := strings.CutPrefix(n.Value, "docker://"); ok {
			w.image(image)
		} else if a, ok := evidence.ParseCIAction([]byte(n.Value)); ok {
			w.o.Emit(timeline.Require, nil, a.Item(""))
		}
	case "container", "image":
		w.image(strings.TrimPrefix(n.Value, "docker://"))
	}
	for _, m := range secretExpression.FindAllStringSubmatch(n.Value, -1) {
		if name := m[1]; !w.held[name] {
			w.held[name] = true
			w.o.Hold(name)
		}
	}
}

// image requires an image; an expression or a Dockerfile is none.
func (w *workflow) image(text string) {
	if strings.Contains(text, "${{") || strings.HasSuffix(text, "Dockerfile") {
		return
	}
	if name := timeline.NormalizeImage(text); name != "" {
		w.o.Emit(timeline.Require, nil, timeline.Item{Artifact: name})
	}
}

// secretExpression is a secret in an expression: ${{ secrets.PYPI_TOKEN }}.
var secretExpression = regexp.MustCompile(`\bsecrets(?:\.|\[')([A-Za-z_][A-Za-z0-9_]{0,200})`)

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
