package evidence

import (
	"strings"
	"unicode/utf8"
)

// seconds holds for each first byte of a mention the second bytes that are
// possible, by their last five bits: few bytes of a text pass.
var seconds = func() (table [256]uint32) {
	for c, all := range mentions {
		for _, m := range all {
			table[c] |= 1 << (m.word[1] & 31)
		}
		if c >= 'a' && c <= 'z' {
			table[c-'a'+'A'] = table[c]
		}
	}
	return table
}()

// odd are the bytes at which harmless looks twice.
var odd = func() (table [256]bool) {
	for c := range table {
		table[c] = c < ' ' || c >= 0x7f
	}
	for _, c := range []byte(`@[+%\:`) {
		table[c] = true
	}
	return table
}()

// harmless reports whether a text is kept as it is: it has nothing that Clean
// drops, no mention, no escape and no user of a URL. It is quick, and mostly
// right: what it does not know goes through all of Redact.
func harmless(s string) bool {
	at := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if odd[c] {
			if !plainAt(s, i) {
				return false
			}
			at = at || c == '@'
		} else if i+1 < len(s) && seconds[c]>>(s[i+1]&31)&1 != 0 && mentioned(s, i, 0) != 0 {
			return false
		}
	}
	if at && (strings.Contains(s, "://") || hasDSN(s)) {
		return false
	}
	return !keyLine(s) && !hasLongRun(s)
}

// plainAt reports whether the odd byte s[i] stands for itself.
func plainAt(s string, i int) bool {
	switch s[i] {
	case '@':
		return true
	case '[':
		return colourLen(s[i:]) == 0
	case '+': // a blank in a query; before a zone it stands behind a blank anyway
		return i > 0 && s[i-1] == ' ' && i+1 < len(s) && isDigit(s[i+1])
	case '%':
		_, n := escaped(s[i:])
		return n == 0
	case '\\': // nginx writes a quote as \x22, a colour begins with \x1b
		return i+3 < len(s) && s[i+1] == 'x' && s[i+2] == '2' && s[i+3] == '2'
	case ':': // a password without a user
		return !strings.HasPrefix(s[i:], "://:")
	}
	return false
}

// mentioned says which patterns the mentions that begin at s[i] raise, apart
// from those that are known.
func mentioned(s string, i int, known suspicion) (found suspicion) {
	c := s[i]
	if c >= 'A' && c <= 'Z' {
		c |= 0x20
	}
	if i+1 == len(s) || seconds[c]>>(s[i+1]&31)&1 == 0 {
		return 0
	}
	for _, m := range mentions[c] {
		if rest := s[i:]; m.word[1]|0x20 == rest[1]|0x20 && (known|found)&m.of == 0 && len(rest) >= len(m.word) && strings.EqualFold(rest[:len(m.word)], m.word) && m.likely(s, i) {
			found |= m.of
		}
	}
	return found
}

// suspect looks for the mentions in a text. A text that spells them with one of
// the two letters outside of ASCII that fold to one inside is suspected of
// everything. Package names are full
// of "key" and "token", and words end in "sk-": where what stands around a
// mention shows that no pattern matches, none is tried.
func suspect(s string) (found suspicion) {
	found = suspectAlways
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] < utf8.RuneSelf:
		case strings.HasPrefix(s[i:], "\u017f"), strings.HasPrefix(s[i:], "\u212a"): // ſ and the sign of Kelvin
			return suspectAll
		default:
			continue
		}
		found |= mentioned(s, i, found)
	}
	return found
}

// likely reports whether the patterns of a mention can match around the one at
// s[i].
func (m *mention) likely(s string, i int) bool {
	switch m.of {
	case suspectField:
		return fieldAt(s, i, i+len(m.word))
	case suspectShape: // each pattern begins at the border of a word
		if strings.HasPrefix(m.word, "k_") {
			i-- // [srp]k_live_
		}
		if m.word == "sdk-" && !uuidBegins(s[i+len(m.word):]) {
			return false // sentry-sdk-1.10.1
		}
		return i == 0 || i > 0 && (!wordByte(s[i-1]) || s[i-1] == '_')
	case suspectOperand:
		return operandAt(s, m.word, i+len(m.word))
	case suspectArgs: // a flag follows, or the word "password"
		if m.word[0] == '-' || m.word[0] == '<' {
			return true
		}
		for i++; i+1 < len(s); i++ {
			if c := s[i+1]; blank(s[i]) && (c == '-' || c|0x20 == 'p' && startsFold(s[i+1:], "password")) {
				return true
			}
		}
		return false
	}
	return true
}

// fieldAt reports whether the name that holds s[from:to] has a value: it stands
// before "=" or ":", or it is a flag and ends at a blank.
func fieldAt(s string, from, to int) bool {
	for to < len(s) && (wordByte(s[to]) || s[to] == '.' || s[to] == '-' || s[to] >= utf8.RuneSelf) {
		to++
	}
	if strings.HasPrefix(s[to:], `\x22`) { // a quote, as nginx writes it
		return true
	}
	if to == len(s) {
		return false
	}
	if blank(s[to]) {
		for from > 0 && (wordByte(s[from-1]) || s[from-1] == '-') {
			from--
		}
		if s[from] == '-' && (from == 0 || blank(s[from-1]) || strings.IndexByte(`"'=([,/!`, s[from-1]) >= 0) {
			return true
		}
	} else if s[to] == '"' || s[to] == '\'' {
		to++
		if s = strings.TrimLeft(s[to:], " \t"); strings.HasPrefix(s, ",") {
			return true // ["--password", "…"]
		}
		to = 0
	}
	for to < len(s) && blank(s[to]) {
		to++
	}
	// What stands behind two is compared, and no value: tokenizers==0.21
	return to < len(s) && (s[to] == ':' || s[to] == '=' && (to+1 == len(s) || s[to+1] != '='))
}

// uuidBegins knows the first group of a UUID, as LaunchDarkly's keys have it.
func uuidBegins(s string) bool {
	const group = 8
	if len(s) <= group || s[group] != '-' {
		return false
	}
	return strings.Trim(s[:group], "0123456789abcdefABCDEF") == ""
}

func startsFold(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[:len(word)], word)
}

// operandAt reports whether a command, which ends at end, could be followed by a
// secret: one that sets many things needs the name of one, and one that prints a
// pipe. Names of packages begin like commands.
func operandAt(s, word string, end int) bool {
	if last := word[len(word)-1]; alnum(last) && word != "curl" {
		if word == "config" && startsFold(s[end:], "ure") {
			end += len("ure")
		}
		if end == len(s) || !blank(s[end]) {
			return false
		}
	}
	switch word {
	case "config", "env ", "setx ", "set -":
		lower := strings.ToLower(s)
		for _, name := range []string{"pass", "secret", "token", "key", "credential", "auth", "kennwort", "contrase", "art-api"} {
			if strings.Contains(lower, name) {
				return true
			}
		}
		return false
	case "echo ", "printf ":
		return strings.IndexByte(s, '|') >= 0
	case "curl":
		return strings.Contains(s, " -b") || strings.Contains(s, " --cookie") || strings.Contains(s, " -B") || strings.Contains(strings.ToLower(s), "cookie")
	}
	return true
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// blank is what \s of a pattern matches.
func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' }
