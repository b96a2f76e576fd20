package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// value is a JSON value: a range of a document's bytes. Nothing is decoded
// before it is asked for, so a value costs no memory, knows the line it stands
// on, and a field of an unexpected type is simply not there. It also reads the
// head of a document, which ends anywhere.
type value struct {
	doc      []byte
	off, end int
}

// documents returns the values that stand one after the other in d: one, as a
// rule. What is broken ends them with an error; of a document that is cut off
// its readable part is the last value.
func documents(d *evidence.Doc) ([]value, error) {
	var all []value
	var raw json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(d.Data))
	done := 0
	for {
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				all = append(all, value{d.Data, done, len(d.Data)})
			}
			return all, fmt.Errorf("broken JSON after line %d: %w", d.LineAt(int64(done)), err)
		}
		done = int(dec.InputOffset())
		all = append(all, value{d.Data, done - len(raw), done})
	}
}

// records returns the records of d: the elements of arrays, else the values
// themselves.
func records(d *evidence.Doc) ([]value, error) {
	docs, err := documents(d)
	var all []value
	for _, v := range docs {
		if v.kind() != '[' {
			all = append(all, v)
			continue
		}
		for e := range v.elements() {
			all = append(all, e)
		}
	}
	return all, err
}

// headRecord returns the first record of a document of which only the head is
// known; ok is false for what is no JSON object.
func headRecord(h *evidence.Head) (v value, ok bool) {
	v = value{h.Bytes, 0, len(h.Bytes)}
	if v.kind() == '[' {
		for e := range v.elements() {
			return e, e.kind() == '{'
		}
	}
	return v, v.kind() == '{'
}

// kind is the first byte of the value: one of { [ " t f n - 0…9, and 0 when
// there is none.
func (v value) kind() byte {
	if i := blanks(v.doc[:v.end], v.off); i < v.end {
		return v.doc[i]
	}
	return 0
}

// get returns the field that the names lead to, the zero value when there is
// none.
func (v value) get(names ...string) value {
	for _, name := range names {
		found := value{}
		for key, field := range v.fields() {
			if key == name {
				found = field // the last one counts, as for encoding/json
			}
		}
		v = found
	}
	return v
}

// has reports whether the object has a field of the name, whatever its value.
func (v value) has(name string) bool { return v.get(name).kind() != 0 }

// fields yields the fields of an object in order; none of anything else.
func (v value) fields() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if v.kind() != '{' {
			return
		}
		b := v.doc[:v.end]
		i := blanks(b, v.off) + 1
		for {
			i = blanks(b, i)
			if i >= len(b) || b[i] != '"' {
				return
			}
			end := skip(b, i)
			key := value{v.doc, i, end}.text()
			i = blanks(b, end)
			if i >= len(b) || b[i] != ':' {
				return
			}
			i = blanks(b, i+1)
			end = skip(b, i)
			if end == i || !yield(key, value{v.doc, i, end}) {
				return
			}
			i = comma(b, end)
		}
	}
}

// elements yields the elements of an array in order; none of anything else.
func (v value) elements() iter.Seq[value] {
	return func(yield func(value) bool) {
		if v.kind() != '[' {
			return
		}
		b := v.doc[:v.end]
		i := blanks(b, v.off) + 1
		for {
			i = blanks(b, i)
			end := skip(b, i)
			if end == i || !yield(value{v.doc, i, end}) {
				return
			}
			i = comma(b, end)
		}
	}
}

// text returns a string's text, "" for anything else.
func (v value) text() string {
	if v.kind() != '"' {
		return ""
	}
	raw := bytes.TrimSpace(v.doc[v.off:v.end])
	if len(raw) < 2 || raw[len(raw)-1] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return strings.ToValidUTF8(string(raw[1:len(raw)-1]), "\uFFFD")
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// isTrue reports whether the value is true.
func (v value) isTrue() bool { return bytes.Equal(bytes.TrimSpace(v.doc[v.off:v.end]), []byte("true")) }

// texts returns the strings of an array.
func (v value) texts() []string {
	var all []string
	for e := range v.elements() {
		if s := e.text(); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// skip returns where the value at b[i] ends; i itself when there is none.
func skip(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(b) && bytes.IndexByte([]byte(",:{}[]\" \t\r\n"), b[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

func skipString(b []byte, i int) int {
	start := i
	for i++; ; {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return len(b)
		}
		i += j + 1
		slashes := 0
		for k := i - 2; k > start && b[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

func blanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

func comma(b []byte, i int) int {
	if i = blanks(b, i); i < len(b) && b[i] == ',' {
		i++
	}
	return i
}

// at makes v's line the one that the next events stand on. The excerpt is the
// line where nothing but v and its name stands on it, else v alone: a record on
// one line holds values of secrets too.
func at(d *evidence.Doc, o *evidence.Out, v value) {
	no, start, end := d.LineBounds(v.off)
	if d.Written != nil {
		setWritten(d, o, no)
		return
	}
	o.SetLine(no, int64(start), excerpt(d.Data, v, start, end))
}

func excerpt(data []byte, v value, start, end int) []byte {
	switch v.kind() {
	case '{':
		return []byte("{…}")
	case '[':
		return []byte("[…]")
	}
	before, after := bytes.TrimSpace(data[start:v.off]), []byte(nil)
	if v.end <= end {
		after = bytes.TrimSpace(data[v.end:end])
	}
	named := len(before) == 0 || before[0] == '"' && bytes.Equal(bytes.TrimSpace(before[skipString(before, 0):]), []byte(":"))
	if named && (len(after) == 0 || string(after) == ",") {
		return data[start:end]
	}
	return data[v.off:v.end]
}

// about runs f for a subject that the document names; a zero one changes
// nothing.
func about(o *evidence.Out, who timeline.Subject, f func()) {
	s := o.Stream()
	before := s.Subject
	if !who.IsZero() {
		s.Subject = who
	}
	f()
	s.Subject = before
}
