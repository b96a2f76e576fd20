// Package reports turns what was found into what people read. Everything that
// comes from evidence, file names included, leaves the program through the
// output gate in gate.go.
package reports

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// safe reports whether a character may be shown as it is: it has a shape of its
// own and moves nothing around it. Control, escape, bidirectional, zero-width
// and unassigned characters and blanks other than ' ' are not.
func safe(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r < 0x7f
	}
	return unicode.IsPrint(r) && !unicode.Is(unicode.Variation_Selector, r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// Text makes a string fit for a terminal: one line, in which everything that a
// terminal could act on, or a reader could not see, is written as an escape
// such as \n, \x1b or \u202e.
func Text(s string) string {
	bad := unsafeAt(s)
	if bad < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:bad])
	for i := bad; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case safe(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// unsafeAt returns the offset of the first character that Text has to escape,
// -1 when there is none.
func unsafeAt(s string) int {
	for i, r := range s {
		if !safe(r) || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}

// Markdown makes a string fit for running text and table cells of CommonMark
// with GitHub's extensions: it is shown letter by letter, and makes no markup,
// HTML, link or new line.
// https://spec.commonmark.org/0.31.2/#backslash-escapes
func Markdown(s string) string {
	s = Text(s)
	if s == "" {
		return s
	}
	var b strings.Builder
	digits := true // so far: "12." begins a list
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '\\', '`', '*', '_', '[', ']', '|', '~', '$':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '#', '-', '+', '=', '!', ' ':
			b.WriteString(atStart(i, c))
		case ':':
			escapeIf(&b, c, strings.HasPrefix(s[i:], "://")) // GitHub makes links of bare addresses
		case '.', ')':
			escapeIf(&b, c, i > 0 && digits || i >= 3 && strings.EqualFold(s[i-3:i], "www"))
		default:
			b.WriteByte(c)
		}
		digits = digits && c >= '0' && c <= '9'
	}
	return b.String()
}

// atStart escapes what begins a heading, a list, a rule or a code block at the
// start of a text.
func atStart(i int, c byte) string {
	switch {
	case i > 0:
		return string(c)
	case c == ' ':
		return "&#32;"
	}
	return `\` + string(c)
}

func escapeIf(b *strings.Builder, c byte, special bool) {
	if special {
		b.WriteByte('\\')
	}
	b.WriteByte(c)
}

// formulaStarts are what a spreadsheet takes for the start of a formula.
const formulaStarts = "=+-@\uFF1D\uFF0B\uFF0D\uFF20"

// CSVCell makes a string fit for a cell, or the header of a column, of a CSV
// file that somebody opens in a spreadsheet: an apostrophe stands before what
// would begin a formula, also behind a semicolon, which some spreadsheets take
// for the end of the cell. Quoting is left to the CSV writer.
// https://owasp.org/www-community/attacks/CSV_Injection
func CSVCell(s string) string {
	s = Text(s)
	if !strings.ContainsAny(s, formulaStarts) {
		return s
	}
	var b strings.Builder
	start := true
	for _, r := range s {
		if start && strings.ContainsRune(formulaStarts, r) {
			b.WriteByte('\'')
		}
		start = r == ';' || start && (r == ' ' || r == '"' || r == '\'')
		b.WriteRune(r)
	}
	return b.String()
}
