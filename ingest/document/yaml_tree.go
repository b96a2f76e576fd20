package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
)

// maxTree bounds a document that is read as a tree: a node is many times the
// size of its text.
const maxTree = 16 << 20

// yamlDocuments returns the documents of a stream of YAML, or of JSON. Of what
// is broken the documents before it are returned, with the error.
func yamlDocuments(d *evidence.Doc) ([]*yaml.Node, error) {
	if len(d.Data) > maxTree {
		return nil, fmt.Errorf("YAML of more than %d MiB is not read", maxTree>>20)
	}
	var all []*yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(d.Data))
	for {
		var n yaml.Node
		err := in.Decode(&n)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, yamlFault(err)
		}
		if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
			all = append(all, n.Content[0])
		}
	}
}

// yamlLine is where a fault of YAML is.
var yamlLine = regexp.MustCompile(`line (\d+)`)

// yamlFault says where a document is no YAML. What the library says of it may
// quote the document: of "PASSWORD: *hunter2" the password.
func yamlFault(err error) error {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("not YAML: line %s cannot be read", m[1])
	}
	return errors.New("not YAML")
}

// target is the node that an alias stands for.
func target(n *yaml.Node) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.AliasNode && i < maxViewed; i++ {
		n = n.Alias
	}
	return n
}

// maxViewed bounds how many aliases are followed one after the other.
const maxViewed = 8

// child returns what the names lead to, nil when there is nothing.
func child(n *yaml.Node, names ...string) *yaml.Node {
	for _, name := range names {
		if n = target(n); n == nil {
			return nil
		}
		n = yamlField(n, name)
	}
	return target(n)
}

// scalarText is the text of a node, "" when it is no scalar.
func scalarText(n *yaml.Node) string {
	if n = target(n); n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// items are the elements of a sequence; none of anything else.
func items(n *yaml.Node) []*yaml.Node {
	if n = target(n); n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// maxFields bounds what a mapping comes to with all that it merges.
const maxFields = 100_000

// eachField yields the fields of a mapping, those that it merges too.
func eachField(n *yaml.Node, yield func(key, val *yaml.Node)) {
	left := maxFields
	fieldsWithin(n, yield, 0, &left)
}

func fieldsWithin(n *yaml.Node, yield func(key, val *yaml.Node), depth int, left *int) {
	if n = target(n); n == nil || n.Kind != yaml.MappingNode || depth > maxViewed {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if *left--; *left < 0 {
			return
		}
		key, val := n.Content[i], n.Content[i+1]
		if key.Value != "<<" {
			yield(key, val)
			continue
		}
		merged := []*yaml.Node{val}
		if t := target(val); t != nil && t.Kind == yaml.SequenceNode {
			merged = t.Content
		}
		for _, m := range merged {
			fieldsWithin(m, yield, depth+1, left)
		}
	}
}

// onNode makes a node's line the one that the next events stand on. What is
// shown of it is the text that is given: a line may hold a value.
func onNode(d *evidence.Doc, o *evidence.Out, n *yaml.Node, shown string) {
	o.SetLine(int64(n.Line), int64(d.LineStart(n.Line)), []byte(shown))
}
