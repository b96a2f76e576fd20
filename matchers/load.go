package matchers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

const (
	maxIncident = 1 << 20 // bytes of an incident file, and of any other that a person wrote
	maxDepth    = 10      // nesting of such a file; no schema needs more than five
	maxReported = 30      // errors that are worth printing at once
)

// LoadFile reads and checks the incident file at path.
func LoadFile(path string) (*Incident, error) {
	data, err := readFile("incident", path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no file %s", ErrUnknownIncident, path)
	}
	if err != nil {
		return nil, err
	}
	return Load(path, data)
}

// readFile reads a file that a person wrote, and one byte more than it may have,
// so that a larger one is told; what names it in errors.
func readFile(what, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIncident+1))
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", what, path, err)
	}
	return data, nil
}

// Load reads and checks an incident file; name is its path and must end in its
// id and ".yaml". Every fault is reported with file and line, and with what is
// allowed there.
func Load(name string, data []byte) (*Incident, error) {
	l := &loader{name: name, schema: schemaName}
	if !strings.HasSuffix(name, ".yaml") {
		l.bad(nil, "an incident file is called <id>.yaml: rename it")
		return nil, l.err()
	}
	root := l.document(data)
	if root == nil {
		return nil, l.err()
	}
	inc := l.incident(root)
	if err := l.err(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	inc.Revision = hex.EncodeToString(sum[:])
	return inc, nil
}

// loader reads one file. It goes on after a fault, so that its author sees all
// of them at once.
type loader struct {
	name       string
	schema     string // what the file begins with
	errs       []error
	references int
	channels   []string
}

func (l *loader) bad(n *yaml.Node, format string, args ...any) {
	line := 1
	if n != nil && n.Line > 0 {
		line = n.Line
	}
	l.errs = append(l.errs, fmt.Errorf("%s:%d: %s", l.name, line, fmt.Sprintf(format, args...)))
}

func (l *loader) err() error {
	if more := len(l.errs) - maxReported; more > 0 {
		l.errs = append(l.errs[:maxReported], fmt.Errorf("%s: and %d more", l.name, more))
	}
	return errors.Join(l.errs...)
}

// yamlLine finds the line in the text of a YAML error.
var yamlLine = regexp.MustCompile(`line (\d+)`)

// document parses the file without giving any value a meaning, nil when that
// fails.
func (l *loader) document(data []byte) *yaml.Node {
	if len(data) > maxIncident {
		l.bad(nil, "larger than 1 MiB")
		return nil
	}
	if !l.printable(data) {
		return nil
	}
	var doc, second yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			l.bad(nil, "the file is empty: want a mapping that begins with schema: %s", l.schema)
			return nil
		}
		l.badYAML(err)
		return nil
	}
	if err := dec.Decode(&second); err == nil {
		l.bad(&second, "a second document: want one a file")
		return nil
	} else if !errors.Is(err, io.EOF) {
		l.badYAML(err)
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		l.bad(&doc, "want a mapping that begins with schema: %s", l.schema)
		return nil
	}
	if !l.plain(doc.Content[0], 1) {
		return nil
	}
	return doc.Content[0]
}

func (l *loader) badYAML(err error) {
	line := "1"
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line = m[1]
	}
	l.errs = append(l.errs, fmt.Errorf("%s:%s: no YAML: %w", l.name, line, err))
}

// printable refuses bytes that are no UTF-8, and characters that a screen
// would not show as they are.
func (l *loader) printable(data []byte) bool {
	line := 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			l.bad(&yaml.Node{Line: line}, "not UTF-8")
			return false
		case r == '\n':
			line++
		case r == '\r' && i+1 < len(data) && data[i+1] == '\n':
		case r < ' ' || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			l.bad(&yaml.Node{Line: line}, "the invisible character U+%04X: only printable characters", r)
			return false
		}
		i += n
	}
	return true
}

// plain refuses the parts of YAML that make a file mean something else than it
// shows, and nesting that the schema never needs.
func (l *loader) plain(n *yaml.Node, depth int) bool {
	switch {
	case depth > maxDepth:
		l.bad(n, "nested deeper than %d levels", maxDepth)
		return false
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		l.bad(n, "anchors and aliases are refused: write the value out")
		return false
	case n.Style&yaml.TaggedStyle != 0:
		l.bad(n, "tags are refused: write the value without %s", n.Tag)
		return false
	}
	ok := true
	for _, child := range n.Content {
		ok = l.plain(child, depth+1) && ok
	}
	return ok
}

// fields are the values of a mapping by key; a missing key is nil.
type fields map[string]*yaml.Node

// mapping reads a mapping with these keys and no other; what names it in
// errors. It returns nil for what is none, and what it could read otherwise.
func (l *loader) mapping(n *yaml.Node, what, required, optional string) fields {
	if n.Kind != yaml.MappingNode {
		l.bad(n, "%s: want a mapping with the keys %s", what, required)
		return nil
	}
	need, may := strings.Fields(required), strings.Fields(optional)
	f := fields{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.ShortTag() == "!!merge" || key.Value == "<<":
			l.bad(key, "%s: merge keys are refused: write the values out", what)
		case f[key.Value] != nil:
			l.bad(key, "%s: key %s twice, first on line %d", what, key.Value, f[key.Value].Line)
		case key.Kind != yaml.ScalarNode || !slices.Contains(need, key.Value) && !slices.Contains(may, key.Value):
			l.bad(key, "%s: unknown key %q: allowed are %s", what, key.Value, strings.Join(append(need, may...), ", "))
		default:
			f[key.Value] = n.Content[i+1]
		}
	}
	for _, key := range need {
		if f[key] == nil {
			l.bad(n, "%s: %s is missing", what, key)
		}
	}
	return f
}

// each calls read for every entry of a list; a key that is missing is an empty
// list.
func (l *loader) each(n *yaml.Node, what string, read func(n *yaml.Node, what string)) {
	if n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		l.bad(n, "%s: want a list, [] for none", what)
		return
	}
	for i, child := range n.Content {
		read(child, fmt.Sprintf("%s[%d]", what, i))
	}
}

// text reads one line of text.
func (l *loader) text(n *yaml.Node, what string) string {
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" && n.ShortTag() != "!!timestamp" {
		l.bad(n, "%s: want text (quote numbers, versions, true, false and null)", what)
		return ""
	}
	if strings.TrimSpace(n.Value) == "" || strings.Contains(n.Value, "\n") {
		l.bad(n, "%s: want one line of text, not an empty one", what)
		return ""
	}
	return n.Value
}

// like reads text of a form; want says which.
func (l *loader) like(n *yaml.Node, what string, form *regexp.Regexp, want string) string {
	s := l.text(n, what)
	if s != "" && !form.MatchString(s) {
		l.bad(n, "%s: %q: want %s", what, s, want)
		return ""
	}
	return s
}

// oneOf reads one of the words.
func (l *loader) oneOf(n *yaml.Node, what string, words ...string) string {
	s := l.text(n, what)
	if s != "" && !slices.Contains(words, s) {
		l.bad(n, "%s: %q: want one of %s", what, s, strings.Join(words, ", "))
		return ""
	}
	return s
}

// texts reads a list of different texts.
func (l *loader) texts(n *yaml.Node, what string, check func(n *yaml.Node, what string) string) []string {
	out := []string{}
	l.each(n, what, func(n *yaml.Node, what string) {
		s := check(n, what)
		if s != "" && slices.Contains(out, s) {
			l.bad(n, "%s: %q stands in the list twice", what, s)
		}
		out = append(out, s)
	})
	return out
}

func (l *loader) flag(n *yaml.Node, what string) bool {
	if n == nil {
		return false
	}
	if n.ShortTag() != "!!bool" || n.Value != "true" && n.Value != "false" {
		l.bad(n, "%s: want true or false", what)
	}
	return n.Value == "true"
}

// idOf is the id that a file of this name must have.
func idOf(name string) string { return strings.TrimSuffix(filepath.Base(name), ".yaml") }
