package evidence

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Fields walks over the fields of one JSON object without allocating: logs
// hold one object per line, and most of them are of no interest.
//
//	for f := evidence.JSONFields(line); f.Next(); { f.Key … f.Value }
type Fields struct {
	Key   []byte // between the quotes, escapes left in
	Value []byte // as written: a string has its quotes, an object its braces

	rest  []byte
	begun bool
	whole bool
}

// JSONFields starts at the object that text begins with.
func JSONFields(text []byte) Fields { return Fields{rest: skipBlank(text)} }

// Whole reports whether the object was read to its closing brace; what follows
// the brace is not looked at.
func (f *Fields) Whole() bool { return f.whole }

// Next goes to the next field. It returns false at the end of the object, and
// where the text is no JSON; Key and Value then hold the last field, of which
// Value may be cut off.
func (f *Fields) Next() bool {
	open := byte(',')
	if !f.begun {
		open, f.begun = '{', true
	}
	if len(f.rest) == 0 || f.rest[0] != open {
		f.whole = f.whole || len(f.rest) > 0 && f.rest[0] == '}' && open == ','
		return false
	}
	f.rest = skipBlank(f.rest[1:])
	if len(f.rest) > 0 && f.rest[0] == '}' && open == '{' {
		f.whole = true
		return false
	}
	n := stringLen(f.rest)
	if n == 0 {
		return false
	}
	f.Key = f.rest[1 : n-1]
	f.rest = skipBlank(f.rest[n:])
	if len(f.rest) == 0 || f.rest[0] != ':' {
		return false
	}
	f.rest = skipBlank(f.rest[1:])
	n = valueLen(f.rest)
	if n == 0 {
		f.Value = f.rest
		return false
	}
	f.Value = f.rest[:n]
	f.rest = skipBlank(f.rest[n:])
	return true
}

func skipBlank(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// stringLen returns the length of the string that b starts with, quotes
// included; 0 when there is none or it does not end.
func stringLen(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; ; {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return 0
		}
		i += j + 1
		slashes := 0
		for b[i-2-slashes] == '\\' { // ends at the opening quote
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// valueLen returns the length of the JSON value that b starts with, 0 when it
// does not end. Inside an object or array only strings and brackets count.
func valueLen(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"':
		return stringLen(b)
	case '{', '[':
		depth := 0
		for i := 0; i < len(b); i++ {
			switch b[i] {
			case '"':
				n := stringLen(b[i:])
				if n == 0 {
					return 0
				}
				i += n - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return 0
	}
	for i, c := range b {
		if c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t' {
			return i
		}
	}
	return 0
}

// UnquoteJSON returns the text of a JSON string. Without escapes it is a part
// of raw, else it is written to buf, which is returned for the next time. ok
// is false when raw is no string.
func UnquoteJSON(raw, buf []byte) (text, _ []byte, ok bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return nil, buf, false
	}
	raw = raw[1 : len(raw)-1]
	plain := true
	for _, c := range raw {
		if c == '\\' {
			plain = false
			break
		}
	}
	if plain {
		return raw, buf, true
	}
	buf = buf[:0]
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			buf = append(buf, raw[i])
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'n':
			buf = append(buf, '\n')
		case 't':
			buf = append(buf, '\t')
		case 'r':
			buf = append(buf, '\r')
		case 'b':
			buf = append(buf, '\b')
		case 'f':
			buf = append(buf, '\f')
		case 'u':
			r, n := escapedRune(raw[i+1:])
			buf = utf8.AppendRune(buf, r)
			i += n
		default: // \" \\ \/
			buf = append(buf, c)
		}
	}
	return buf, buf, true
}

// escapedRune reads the digits behind \u, and the second half of a surrogate
// pair; n is how many bytes it took.
func escapedRune(b []byte) (r rune, n int) {
	r, ok := hex4(b)
	if !ok {
		return utf8.RuneError, 0
	}
	if utf16.IsSurrogate(r) && len(b) >= 10 && b[4] == '\\' && b[5] == 'u' {
		if low, ok := hex4(b[6:]); ok {
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				return full, 10
			}
		}
	}
	return r, 4
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		r <<= 4
		switch {
		case c >= '0' && c <= '9':
			r |= rune(c - '0')
		case c >= 'a' && c <= 'f':
			r |= rune(c-'a') + 10
		case c >= 'A' && c <= 'F':
			r |= rune(c-'A') + 10
		default:
			return 0, false
		}
	}
	return r, true
}
