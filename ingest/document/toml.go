package document

import (
	"errors"
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"

	"pulltrail/ingest/evidence"
)

// tomlEntry is a key with its value in a TOML document. It is valid until the
// next one is asked for.
type tomlEntry struct {
	table []string // header of the table it stands in
	nth   int      // number of that header in the document
	key   []string // of the entry, dotted keys apart
	value *unstable.Node
	off   int // where the key starts
	parse *unstable.Parser
}

// eachTOML gives every entry of a document to f, in order. Lock files have
// thousands: no tree is built, and every entry knows its line.
// https://toml.io/en/v1.0.0
func eachTOML(d *evidence.Doc, f func(e tomlEntry)) error {
	var p unstable.Parser
	p.Reset(d.Data)
	e := tomlEntry{parse: &p}
	for p.NextExpression() {
		x := p.Expression()
		switch x.Kind {
		case unstable.Table, unstable.ArrayTable:
			e.table, _ = tomlKey(x.Key())
			e.nth++
		case unstable.KeyValue:
			e.key, e.off = tomlKey(x.Key())
			e.value = x.Value()
			f(e)
		}
	}
	if err := p.Error(); err != nil {
		line := d.LineAt(int64(e.off))
		var at *unstable.ParserError
		if errors.As(err, &at) && len(at.Highlight) > 0 && len(at.Highlight) <= len(d.Data) {
			line = d.LineAt(int64(p.Range(at.Highlight).Offset))
		}
		return fmt.Errorf("broken TOML at line %d: %w", line, err)
	}
	return nil
}

func tomlKey(it unstable.Iterator) (key []string, off int) {
	for it.Next() {
		n := it.Node()
		if len(key) == 0 {
			off = int(n.Raw.Offset)
		}
		key = append(key, string(n.Data))
	}
	return key, off
}

// path is the entry's key with that of its table before it.
func (e tomlEntry) path() []string { return append(append([]string(nil), e.table...), e.key...) }

// text returns the value when it is a string.
func (e tomlEntry) text() string { return tomlText(e.value) }

func tomlText(n *unstable.Node) string {
	if n == nil || n.Kind != unstable.String {
		return ""
	}
	return string(n.Data)
}

// elements returns the elements of an array.
func tomlElements(n *unstable.Node) []*unstable.Node {
	if n == nil || n.Kind != unstable.Array {
		return nil
	}
	var all []*unstable.Node
	for it := n.Children(); it.Next(); {
		all = append(all, it.Node())
	}
	return all
}

// field returns the value of a key in an inline table.
func tomlField(n *unstable.Node, name string) *unstable.Node {
	if n == nil || n.Kind != unstable.InlineTable {
		return nil
	}
	for it := n.Children(); it.Next(); {
		if key, _ := tomlKey(it.Node().Key()); len(key) == 1 && key[0] == name {
			return it.Node().Value()
		}
	}
	return nil
}
