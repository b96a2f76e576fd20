package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// JSON encodes a value as one line of JSON with its line end. Characters that
// a terminal could act on are written as \u escapes, so that the value stays
// the same and the line can be shown.
func JSON(v any) ([]byte, error) { return encode(v, "", "") }

// WriteJSON writes a document that people look at too: JSON over many lines,
// byte for byte what encoding/json makes of it apart from the escapes of JSON.
// It is written piece by piece: an answer for a hundred thousand subjects is
// some hundred MB, of which encoding/json holds three copies.
func WriteJSON(w io.Writer, v any) error {
	e := &encoder{w: w}
	if err := e.value(reflect.ValueOf(v), 0); err != nil {
		return err
	}
	e.b = append(e.b, '\n')
	_, err := w.Write(e.b)
	return err
}

func encode(v any, prefix, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, indent)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	shown := func(r rune) bool { return safe(r) || r == '\n' } // line ends stand between values only
	if !bytes.ContainsFunc(b.Bytes(), func(r rune) bool { return !shown(r) }) {
		return b.Bytes(), nil
	}
	out := make([]byte, 0, b.Len()+64)
	for _, r := range b.String() {
		switch {
		case shown(r):
			out = utf8.AppendRune(out, r)
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return out, nil
}

// encoder writes what documents are made of: structs, lists, maps of strings,
// strings and numbers. Everything else it leaves to encoding/json.
type encoder struct {
	w io.Writer // nil: all is gathered
	b []byte
}

// encode writes what a pointer is to.
func (e *encoder) encode(v any, depth int) error { return e.value(reflect.ValueOf(v), depth) }

// flush writes what was gathered, once it is much.
func (e *encoder) flush() error {
	if e.w == nil || len(e.b) < flushAt {
		return nil
	}
	_, err := e.w.Write(e.b)
	e.b = e.b[:0]
	return err
}

// flushAt is how many bytes are gathered before they are written.
const flushAt = 64 << 10

func (e *encoder) value(v reflect.Value, depth int) error {
	if err := e.flush(); err != nil {
		return err
	}
	if !v.IsValid() {
		e.b = append(e.b, "null"...)
		return nil
	}
	if v.Type().Implements(marshaler) {
		return e.other(v, depth)
	}
	switch v.Kind() { //nolint:exhaustive // the others are left to encoding/json
	case reflect.String:
		return e.text(v.String())
	case reflect.Bool:
		e.b = strconv.AppendBool(e.b, v.Bool())
	case reflect.Int, reflect.Int64:
		e.b = strconv.AppendInt(e.b, v.Int(), 10)
	case reflect.Pointer, reflect.Interface:
		return e.value(v.Elem(), depth)
	case reflect.Slice:
		return e.list(v, depth)
	case reflect.Struct:
		return e.object(v, depth)
	case reflect.Func:
		if write, ok := v.Interface().(pieces); ok {
			return write(e, depth)
		}
		return e.other(v, depth)
	case reflect.Map:
		if m, ok := v.Interface().(map[string]string); ok {
			return e.texts(m, depth)
		}
		return e.other(v, depth)
	default:
		return e.other(v, depth)
	}
	return nil
}

var marshaler = reflect.TypeFor[json.Marshaler]()

func (e *encoder) other(v reflect.Value, depth int) error {
	b, err := encode(v.Interface(), strings.Repeat(" ", depth), " ")
	e.b = append(e.b, bytes.TrimSuffix(b, []byte("\n"))...)
	return err
}

// text writes a string; most need no escape.
func (e *encoder) text(s string) error {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			b, err := encode(s, "", "")
			e.b = append(e.b, bytes.TrimSuffix(b, []byte("\n"))...)
			return err
		}
	}
	e.b = append(e.b, '"')
	e.b = append(e.b, s...)
	e.b = append(e.b, '"')
	return nil
}

const blanks = "                                                                "

// line begins a line of an object or list; its first element comes after the
// opening bracket, others after a comma.
func (e *encoder) line(first bool, open byte, depth int) {
	if first {
		e.b = append(e.b, open, '\n')
	} else {
		e.b = append(e.b, ',', '\n')
	}
	e.b = append(e.b, blanks[:min(depth+1, len(blanks))]...)
}

func (e *encoder) end(empty bool, open, shut byte, depth int) {
	if empty {
		e.b = append(e.b, open, shut)
		return
	}
	e.b = append(e.b, '\n')
	e.b = append(e.b, blanks[:min(depth, len(blanks))]...)
	e.b = append(e.b, shut)
}

func (e *encoder) list(v reflect.Value, depth int) error {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return e.other(v, depth)
	}
	if v.IsNil() {
		e.b = append(e.b, "null"...)
		return nil
	}
	n := v.Len()
	for i := range n {
		e.line(i == 0, '[', depth)
		if err := e.value(v.Index(i), depth+1); err != nil {
			return err
		}
	}
	e.end(n == 0, '[', ']', depth)
	return nil
}

func (e *encoder) texts(m map[string]string, depth int) error {
	if m == nil {
		e.b = append(e.b, "null"...)
		return nil
	}
	keys := make([]string, 0, 8)
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for i, k := range keys {
		e.line(i == 0, '{', depth)
		if err := e.text(k); err != nil {
			return err
		}
		e.b = append(e.b, ':', ' ')
		if err := e.text(m[k]); err != nil {
			return err
		}
	}
	e.end(len(keys) == 0, '{', '}', depth)
	return nil
}

func (e *encoder) object(v reflect.Value, depth int) error {
	l := layoutOf(v.Type())
	if !l.plain {
		return e.other(v, depth)
	}
	empty := true
	for i := range l.fields {
		f := &l.fields[i]
		field := v.Field(f.index)
		if f.omitEmpty && isEmpty(field) {
			continue
		}
		e.line(empty, '{', depth)
		empty = false
		e.b = append(e.b, f.key...)
		if err := e.value(field, depth+1); err != nil {
			return err
		}
	}
	e.end(empty, '{', '}', depth)
	return nil
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // the others are never empty, as encoding/json has it
	case reflect.String, reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Pointer, reflect.Interface:
		return v.IsZero()
	}
	return false
}

// layout is how a struct is written; plain tells that nothing is embedded in
// it and no option but omitempty is used.
type layout struct {
	fields []fieldLayout
	plain  bool
}

type fieldLayout struct {
	index     int
	key       string // with quotes and colon
	omitEmpty bool
}

var layouts sync.Map // reflect.Type → layout

func layoutOf(t reflect.Type) layout {
	if l, ok := layouts.Load(t); ok {
		return l.(layout) //nolint:forcetypeassert // nothing else is stored
	}
	l := layout{plain: true}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous || options != "" && options != "omitempty" {
			l.plain = false
		}
		if !f.IsExported() || tagged && tag == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		l.fields = append(l.fields, fieldLayout{i, strconv.Quote(name) + ": ", options == "omitempty"})
	}
	layouts.Store(t, l)
	return l
}
