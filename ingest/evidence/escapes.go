package evidence

import (
	"bytes"
	"strings"
)

// StripEscapes removes ANSI sequences in place and returns what is left: CSI (colours, cursor), OSC
// (titles, links) with either terminator, and two-byte escapes.
// https://ecma-international.org/publications-and-standards/standards/ecma-48/
func StripEscapes(b []byte) []byte {
	out, _ := stripEscapes(b)
	return out
}

// stripEscapes returns the sequence that b ends inside of, too: nil when it
// ends behind one. It is valid as long as b is.
func stripEscapes(b []byte) (out, open []byte) {
	out = b[:0]
	for i := 0; i < len(b); {
		if b[i] != 0x1b {
			out = append(out, b[i])
			i++
			continue
		}
		n := escapeLen(b[i:])
		if i+n == len(b) && unfinished(b[i:]) {
			return out, b[i:]
		}
		switch {
		case n > 2 && b[i+1] == '_':
			out = append(out, b[i:i+n]...) // an application's own mark: a frame may read it
		case n > 2 && b[i+n-1] == 'G' && b[i+1] == '[' && len(out) > 0 && (n == 3 || n == 4 && b[i+2] <= '1'):
			out = append(out, '\r') // back to the first column, as npm's spinner goes
		}
		i += n
	}
	return out, nil
}

// unfinished reports whether b is the beginning of a sequence.
func unfinished(b []byte) bool {
	if len(b) < 2 {
		return true
	}
	last := b[len(b)-1]
	return b[1] == '[' && (len(b) == 2 || last < 0x40 || last > 0x7e)
}

// Strip makes text, without its escape sequences, the text of the line. The
// sequence that it ends inside of is kept: a frame that joins the pieces of a
// line needs it.
func (l *Line) Strip(text []byte) {
	l.Open = nil
	if bytes.IndexByte(text, 0x1b) >= 0 {
		text, l.Open = stripEscapes(text)
		l.Flat = l.Flat && bytes.IndexByte(text, '\r') < 0
	}
	l.Text = text
}

// LostEscapes reports whether a source was made of printed text: what is left of
// the end of a colour stands in its head, without the byte that begins it.
//
//	2026-10-21T12:05:01.0000000Z [36;1mpip install -q litellm[0m
//	^[[0K^[[32;1m$ pip install -q litellm^[[0;m
func LostEscapes(head []byte) bool {
	if bytes.IndexByte(head, 0x1b) >= 0 {
		for line := range bytes.Lines(head) { // pieces of lines that were cut inside a sequence
			line = bytes.TrimRight(line, "\r\n")
			if i := bytes.LastIndexByte(line, 0x1b); i >= 0 && unfinished(line[i:]) {
				return false
			}
		}
		head = StripEscapes(bytes.Clone(head))
	}
	for _, reset := range []string{"[0m", "[0;m", "[0K", "[39m"} {
		for rest := head; ; {
			i := bytes.Index(rest, []byte(reset))
			if i < 0 {
				break
			}
			if !bytes.HasPrefix(rest[i+len(reset):], []byte("]")) && !jsonEscape(rest[:i]) {
				return true
			}
			rest = rest[i+len(reset):]
		}
	}
	return false
}

// jsonEscape reports whether a text ends with an escape byte as JSON spells it: the
// frame that reads the string makes the byte of it.
func jsonEscape(text []byte) bool {
	return bytes.EqualFold(text[max(0, len(text)-len(`\u001b`)):], []byte(`\u001b`))
}

// StripColours removes what is left of colours from a line of such a source, in
// place.
func StripColours(b []byte) []byte {
	if bytes.IndexByte(b, '[') < 0 {
		return b
	}
	return append(b[:0], withoutColours(string(b))...)
}

// withoutColours removes what is left of colours whose escape byte was lost on
// the way here, as a file that was made of printed text has it: "[1;31m".
func withoutColours(s string) string {
	if strings.IndexByte(s, '[') < 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '[' {
			continue
		}
		n := colourLen(s[i:])
		if n == 0 {
			continue
		}
		from := i
		for _, mark := range escapeMarks {
			if strings.HasSuffix(s[done:i], mark) {
				from -= len(mark)
				break
			}
		}
		b.WriteString(s[done:from])
		done, i = i+n, i+n-1
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// colourLen returns the length of "[1;31m" at the start of s, 0 for none.
func colourLen(s string) int {
	n := 1
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == ';') {
		n++
	}
	if n == len(s) || s[n] != 'm' && s[n] != 'K' {
		return 0
	}
	return n + 1
}

// escapeMarks are ways to write the escape byte in print: a terminal's, a shell's,
// that of syslog daemons, and what stands for a byte that could not be read.
var escapeMarks = []string{"^[", `\e`, `\E`, `\033`, `\x1b`, `\x1B`, `\u001b`, `\u001B`, "#033", "\u241b", "\ufffd", "?"}

// escapeLen returns the length of the escape sequence that b starts with.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 1
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
			if b[i] < 0x20 {
				return i
			}
		}
		return len(b)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1
			}
			if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
		}
		return 2
	case '(', ')', '#', '%':
		return min(3, len(b))
	}
	return 2
}
