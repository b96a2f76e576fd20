package evidence

import "bytes"

// Repr walks over the fields of one Python object as repr prints it, without
// allocating: "ServerArgs(model_path='x', tp_size=8)" and "{'id': 'x', 'n': 1}".
//
//	for f := evidence.PythonFields(text); f.Next(); { f.Key … f.Value }
//
// https://docs.python.org/3/library/functions.html#repr
type Repr struct {
	Key   []byte // without quotes
	Value []byte // as written: a string has its quotes

	rest  []byte
	sep   byte // between key and value
	end   byte
	whole bool
}

// PythonFields starts at the call or the dictionary that text begins with.
func PythonFields(text []byte) Repr {
	if len(text) > 0 && text[0] == '{' {
		return Repr{rest: text[1:], sep: ':', end: '}'}
	}
	open := bytes.IndexByte(text, '(')
	if open < 0 || !isName(text[:open]) {
		return Repr{}
	}
	return Repr{rest: text[open+1:], sep: '=', end: ')'}
}

// Whole reports whether the object was read to its closing bracket.
func (f *Repr) Whole() bool { return f.whole }

// Next goes to the next field; false at the end, and where the text is cut.
func (f *Repr) Next() bool {
	f.rest = bytes.TrimLeft(f.rest, ", ")
	if len(f.rest) == 0 {
		return false
	}
	if f.rest[0] == f.end {
		f.whole = true
		return false
	}
	key := pythonLen(f.rest, f.sep, f.end)
	if key == len(f.rest) || f.rest[key] != f.sep {
		f.rest = nil
		return false
	}
	f.Key = Unrepr(bytes.TrimSpace(f.rest[:key]))
	f.rest = bytes.TrimLeft(f.rest[key+1:], " ")
	n := pythonLen(f.rest, ',', f.end)
	if n == len(f.rest) {
		f.rest = nil
		return false // cut off: what is left may be half a value
	}
	f.Value, f.rest = bytes.TrimRight(f.rest[:n], " "), f.rest[n:]
	return true
}

// pythonLen is how far text reaches to one of the bytes outside strings and
// brackets, its length when none comes.
func pythonLen(text []byte, stop, end byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case depth == 0 && (c == stop || c == end):
			return i
		case c == '\'' || c == '"':
			n := bytesInQuotes(text[i:])
			if n == 0 {
				return len(text)
			}
			i += n - 1
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		}
	}
	return len(text)
}

// bytesInQuotes is the length of the string that text begins with, 0 when it
// does not end.
func bytesInQuotes(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return 0
}

// Unrepr takes the quotes off a string, anything else is returned as it is;
// None is empty. Escapes are left in.
func Unrepr(value []byte) []byte {
	if n := len(value); n > 1 && (value[0] == '\'' || value[0] == '"') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	if string(value) == "None" {
		return nil
	}
	return value
}

func isName(b []byte) bool {
	for _, c := range b {
		if c != '_' && c != '.' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !isDigit(c) {
			return false
		}
	}
	return len(b) > 0
}
