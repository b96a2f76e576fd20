package evidence

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxExcerpt bounds the text kept of a line.
const maxExcerpt = 400

// Excerpt is the part of a line that is kept as proof: short, without control
// characters, and redacted.
func Excerpt(text []byte) string {
	if len(text) <= maxExcerpt {
		s := string(text)
		if harmless(s) {
			return s
		}
		return Redact(Clean(s))
	}
	// A secret must not escape because it was cut in two: redact first, and keep
	// nothing of a word that is cut.
	cut := text
	if len(text) > 4*maxExcerpt {
		cut = text[:4*maxExcerpt]
		cut = cut[:max(bytes.LastIndexAny(cut, " \t"), maxExcerpt)]
	}
	short := Redact(Clean(string(cut)))
	if len(short) > maxExcerpt || len(cut) < len(text) {
		short = short[:min(len(short), maxExcerpt)] + "…"
	}
	return strings.ToValidUTF8(short, "")
}

// Clean drops what a terminal or a page could act on: escape sequences,
// control, bidirectional and zero-width characters, and bytes that are no UTF-8.
func Clean(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = string(StripEscapes([]byte(s)))
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// maxViews bounds how often a text may be quoted inside another: a form's value
// in a query in a package URL is three times, and then its plus signs are blanks.
const maxViews = 4

// Redact hides secret values in text. It stands where strings leave a parser,
// so nothing that is stored, printed or logged holds one; only names of
// secrets are kept. A secret that shows only once URL or JSON escapes are
// undone is hidden too: the text is then kept without those escapes.
func Redact(s string) string {
	if harmless(s) {
		return s
	}
	return redactAll(s, suspect)
}

func redactAll(s string, of func(string) suspicion) string {
	// A value may be coloured in the middle.
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = string(StripEscapes([]byte(s)))
	}
	if strings.IndexByte(s, '\\') >= 0 {
		s = quotedColour.ReplaceAllString(s, "")
	}
	found := of(s)
	s = redact(s, found)
	view := s
	for n := range maxViews {
		plain := unescape(withoutColours(view))
		if plain == view && n < maxViews-1 {
			plain = strings.ReplaceAll(view, "+", " ") // of a form or a query
		}
		if plain == view {
			break
		}
		view = plain
		if hid := redact(view, of(view)); hid != view {
			s, view = hid, hid
		}
	}
	if hid := redactDrawn(view, found&suspectDrawn != 0); hid != view {
		return hid
	}
	return redactDrawn(s, found&suspectDrawn != 0)
}

// quotedColour is an escape sequence inside a string of JSON or of a shell.
var quotedColour = regexp.MustCompile(`\\+(?:u001[bB]|x1[bB]|033|e)\[[0-9;]*[A-Za-z]`)

// unescape undoes one layer of URL and JSON escapes; what is none stays.
func unescape(s string) string {
	first := 0
	for n := 0; n == 0 && first < len(s); {
		if _, n = escaped(s[first:]); n == 0 {
			first++
		}
	}
	if first == len(s) {
		if strings.IndexByte(s, '%') < 0 && strings.IndexByte(s, '\\') < 0 {
			return s
		}
		return Clean(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:first])
	for i := first; i < len(s); {
		r, n := escaped(s[i:])
		if n == 0 {
			b.WriteByte(s[i])
			i++
			continue
		}
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
		} else {
			b.WriteRune(r)
		}
		i += n
	}
	return Clean(b.String())
}

// escaped reads the escape that s starts with: the character and how many
// bytes it takes, 0 for none.
func escaped(s string) (rune, int) {
	if len(s) < 2 || s[0] != '%' && s[0] != '\\' {
		return 0, 0
	}
	from, size := 2, 4
	switch {
	case s[0] == '%':
		from, size = 1, 2
	case s[1] == 'n', s[1] == 'r', s[1] == 't':
		return ' ', 2
	case s[1] == 'x': // nginx writes a quote as \x22
		size = 2
	case s[1] != 'u':
		if strings.IndexByte(`"'/\&=`, s[1]) >= 0 {
			return rune(s[1]), 2
		}
		return 0, 0
	}
	if len(s) < from+size {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[from:from+size], 16, 32)
	if err != nil || size == 2 && n >= utf8.RuneSelf {
		return 0, 0
	}
	return rune(n), from + size
}
