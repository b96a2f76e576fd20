package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
)

// KubernetesEventsYAML is what 'kubectl get events -o yaml' prints: a list of
// events, or single ones.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
var KubernetesEventsYAML = evidence.Format{
	Name:   "k8s-events-yaml",
	Shape:  evidence.DocumentShape,
	Title:  "Kubernetes events (YAML)",
	Proves: "pulls by tag and images that were in place, for which container of which pod, on which node",
	Cannot: "digests; what is older than an hour, unless events are exported",
	Doc:    "https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/",
	Sample: "written by hand after the documentation",
	Claim:  claimEventsYAML,
	Read:   readEventsYAML,
}

// claimEventsYAML wants the kind, and the object that events speak of.
func claimEventsYAML(h *evidence.Head) bool {
	text := bytes.TrimLeft(h.Bytes, " \t\r\n")
	return len(text) > 0 && text[0] != '{' && bytes.Contains(h.Bytes, []byte("kind: Event\n")) &&
		(bytes.Contains(h.Bytes, []byte("involvedObject:\n")) || bytes.Contains(h.Bytes, []byte("regarding:\n")))
}

func readEventsYAML(d *evidence.Doc, o *evidence.Out) error {
	dec := yaml.NewDecoder(bytes.NewReader(d.Data))
	var ids recentIDs
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return yamlFault(err)
		}
		for _, root := range doc.Content {
			items := yamlField(root, "items")
			if items == nil {
				eventYAML(d, o, root, &ids)
				continue
			}
			for _, item := range items.Content {
				eventYAML(d, o, item, &ids)
			}
		}
	}
}

// eventYAML reads one event as the record that it is in JSON.
func eventYAML(d *evidence.Doc, o *evidence.Out, n *yaml.Node, ids *recentIDs) {
	plain, err := plainYAML(n, 0)
	text, marshalErr := json.Marshal(plain)
	quoted := n
	for _, name := range []string{"message", "note"} {
		if m := yamlField(n, name); m != nil {
			quoted = m
		}
	}
	o.SetLine(int64(quoted.Line), int64(d.LineStart(quoted.Line)), []byte(quoted.Value))
	if err != nil || marshalErr != nil || kubeRecord(value{text, 0, len(text)}, ids, o) == evidence.Miss {
		o.Skip("no event")
	}
}

func yamlField(n *yaml.Node, name string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// plainYAML is the node as values that JSON can write; scalars are texts.
// kubectl writes no aliases, and with them a small text would be a large value.
func plainYAML(n *yaml.Node, depth int) (any, error) {
	if depth > maxNesting {
		return nil, errors.New("nested too deep")
	}
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := plainYAML(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			m[n.Content[i].Value] = v
		}
		return m, nil
	case yaml.SequenceNode:
		var all []any
		for _, c := range n.Content {
			v, err := plainYAML(c, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		return all, nil
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return nil, nil
		}
		return n.Value, nil
	default:
		return nil, errors.New("an alias")
	}
}
