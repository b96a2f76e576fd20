package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
)

// respelled writes a document that is no JSON as the JSON that says the same,
// each text on the line on which it stands in the original: what reads the
// JSON form then finds the right lines.
type respelled struct {
	out  bytes.Buffer
	line int // of what is written next, 1-based
}

// on goes on to a line of the original; there is no way back.
func (r *respelled) on(line int) {
	for ; r.line < line; r.line++ {
		r.out.WriteByte('\n')
	}
}

func (r *respelled) text(s string) {
	b, _ := json.Marshal(strings.ToValidUTF8(s, "\uFFFD")) // a string always can be written
	r.out.Write(b)
}

// doc is the JSON, with the original beside it.
func (r *respelled) doc(d *evidence.Doc) *evidence.Doc {
	return &evidence.Doc{Head: d.Head, Data: r.out.Bytes(), SHA256: d.SHA256, Written: d}
}

// setWritten puts events on a line of the original.
func setWritten(d *evidence.Doc, o *evidence.Out, no int64) {
	start := d.Written.LineStart(int(no))
	_, _, end := d.Written.LineBounds(start)
	o.SetLine(no, int64(start), d.Written.Data[start:end])
}

// jsonOfYAML respells YAML documents. Aliases are refused: with them a small
// text would be a large value.
func jsonOfYAML(d *evidence.Doc) (*evidence.Doc, error) {
	dec := yaml.NewDecoder(bytes.NewReader(d.Data))
	r := &respelled{line: 1}
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return r.doc(d), nil
		}
		if err != nil {
			return r.doc(d), fmt.Errorf("broken YAML: %w", err)
		}
		for _, root := range doc.Content {
			if err := r.yaml(root, 0); err != nil {
				return nil, err
			}
			r.out.WriteByte(' ')
		}
	}
}

func (r *respelled) yaml(n *yaml.Node, depth int) error {
	if depth > maxNesting {
		return errors.New("YAML that is nested too deep")
	}
	r.on(n.Line)
	switch n.Kind {
	case yaml.MappingNode:
		r.out.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				r.out.WriteByte(',')
			}
			r.on(n.Content[i].Line)
			r.text(n.Content[i].Value)
			r.out.WriteByte(':')
			if err := r.yaml(n.Content[i+1], depth+1); err != nil {
				return err
			}
		}
		r.out.WriteByte('}')
	case yaml.SequenceNode:
		r.out.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				r.out.WriteByte(',')
			}
			if err := r.yaml(c, depth+1); err != nil {
				return err
			}
		}
		r.out.WriteByte(']')
	case yaml.ScalarNode:
		r.scalar(n)
	default:
		return errors.New("YAML with an alias")
	}
	return nil
}

func (r *respelled) scalar(n *yaml.Node) {
	_, err := strconv.ParseInt(n.Value, 10, 64)
	switch {
	case n.Tag == "!!null":
		r.out.WriteString("null")
	case n.Tag == "!!bool" && (n.Value == "true" || n.Value == "false"), n.Tag == "!!int" && err == nil && n.Value == strings.TrimLeft(n.Value, "+0") || n.Value == "0":
		r.out.WriteString(n.Value)
	default:
		r.text(n.Value)
	}
}
