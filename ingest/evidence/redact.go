package evidence

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxExcerpt bounds the text kept of a line.
const maxExcerpt = 400

// Excerpt is the part of a line that is kept as proof: short, without control
// characters, and redacted.
func Excerpt(text []byte) string {
	if len(text) > maxExcerpt {
		// A secret must not escape because it was cut in two: redact first.
		text = []byte(Redact(Clean(string(text[:min(len(text), 4*maxExcerpt)]))))
		if len(text) > maxExcerpt {
			text = append(text[:maxExcerpt:maxExcerpt], "…"...)
		}
		return strings.ToValidUTF8(string(text), "")
	}
	return Redact(Clean(string(text)))
}

// Clean drops what a terminal or a page could act on: control, bidirectional
// and zero-width characters, and bytes that are no UTF-8.
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

const hidden = "[redacted]"

// secretShapes are values that are secrets whatever stands around them.
var secretShapes = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}` +
	`|xox[abprs]-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|pypi-[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{20,}` +
	`|hf_[A-Za-z0-9]{20,}|dckr_pat_[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)`)

// secretFields are a name that says secret, and its value.
var secretFields = regexp.MustCompile(`(?i)([A-Za-z0-9_.-]*(?:passw(?:or)?d|passwd|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|credential|authorization|auth[_-]?(?:key|token))[A-Za-z0-9_.-]*["']?\s*[=:]\s*["']?)` +
	`((?:bearer |basic )?[^\s"',;&)\]}]+)`)

// authHeader is an HTTP credential.
var authHeader = regexp.MustCompile(`(?i)\b(bearer|basic) [A-Za-z0-9+/=._~-]{8,}`)

// userInfo is the password part of a URL.
var userInfo = regexp.MustCompile(`([a-z][a-z0-9+.-]*://[^/\s:@]*:)[^@/\s]+@`)

// tokenUser is a URL with a token in place of the user.
var tokenUser = regexp.MustCompile(`([a-z][a-z0-9+.-]*://)[^/\s:@]{16,}@`)

// pemBlock is a key in PEM.
var pemBlock = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----.*`)

// suspicion says which patterns a text could match.
type suspicion uint8

const (
	suspectField suspicion = 1 << iota
	suspectHeader
	suspectShape
	suspectKey
	suspectAll = suspectField | suspectHeader | suspectShape | suspectKey
)

// mention is a word, in lower case, without which a pattern does not match.
type mention struct {
	word string
	of   suspicion
}

// mentions are the words by their first byte: most texts hold none and cost no
// regular expression.
var mentions = func() (table [128][]mention) {
	for of, words := range map[suspicion][]string{
		suspectField:  {"passw", "secret", "token", "key", "credential", "auth"},
		suspectHeader: {"bearer ", "basic "},
		suspectShape:  {"sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "akia", "asia", "aiza", "pypi-", "npm_", "hf_", "dckr_pat_", "eyj"},
		suspectKey:    {"-----begin "},
	} {
		for _, w := range words {
			table[w[0]] = append(table[w[0]], mention{w, of})
		}
	}
	return table
}()

// suspect looks for the mentions in a text. A text that is not ASCII may spell
// them in other letters, and is suspected of everything.
func suspect(s string) (found suspicion) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x80 {
			return suspectAll
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		for _, m := range mentions[c] {
			if rest := s[i:]; found&m.of == 0 && len(rest) >= len(m.word) && rest[1]|0x20 == m.word[1]|0x20 && strings.EqualFold(rest[:len(m.word)], m.word) {
				found |= m.of
			}
		}
	}
	return found
}

// Redact hides secret values in text. It stands where strings leave a parser,
// so nothing that is stored, printed or logged holds one; only names of
// secrets are kept.
func Redact(s string) string { return redact(s, suspect(s)) }

func redact(s string, of suspicion) string {
	if strings.Contains(s, "://") && strings.Contains(s, "@") {
		s = userInfo.ReplaceAllString(s, "${1}"+hidden+"@")
		s = tokenUser.ReplaceAllString(s, "${1}"+hidden+"@")
	}
	if of&suspectHeader != 0 {
		s = authHeader.ReplaceAllString(s, "$1 "+hidden)
	}
	if of&suspectShape != 0 {
		s = secretShapes.ReplaceAllString(s, hidden)
	}
	if of&suspectKey != 0 {
		s = pemBlock.ReplaceAllString(s, hidden)
	}
	if of&suspectField != 0 {
		s = secretFields.ReplaceAllStringFunc(s, redactField)
	}
	return s
}

// redactField hides the value of a field unless it cannot be one: a masked
// value, a reference to a variable, a version.
func redactField(field string) string {
	m := secretFields.FindStringSubmatch(field)
	v := m[2]
	if strings.HasPrefix(v, "***") || strings.HasPrefix(v, "$") || strings.HasPrefix(v, hidden) || strings.HasPrefix(v, "[") ||
		strings.EqualFold(v, "bearer [redacted") || strings.EqualFold(v, "basic [redacted") || v == "true" || v == "false" || v == "null" || strings.HasPrefix(v, "=") {
		return field
	}
	return m[1] + hidden
}
