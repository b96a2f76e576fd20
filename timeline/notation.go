package timeline

import (
	"fmt"
	"strconv"
	"strings"
)

// Notation prints an event as one line per item, the same everywhere (command
// line, goldens, incident samples):
//
//	2026-10-21T12:04:51Z install job:github:acme/api/… pkg:pypi/litellm@1.107.0 run.zip!0_build.txt:412
//
// Spans are from/to, an unknown end is "..". Blanks, percent signs and control
// characters are percent-encoded. The path is left out where there is none;
// digest=, role= and ref= follow when there are any, digest and role once for
// each digest.
func Notation(e Event) []string {
	items := e.Items
	if len(items) == 0 {
		items = []Item{{}}
	}
	lines := make([]string, 0, len(items))
	for _, it := range items {
		var b strings.Builder
		b.WriteString(e.Span.String())
		for _, word := range []string{e.Action.String(), escape(e.Subject.String()), orDash(escape(it.Artifact))} {
			b.WriteByte(' ')
			b.WriteString(word)
		}
		if e.Path != "" {
			b.WriteByte(' ')
			b.WriteString(place(e.Path, e.Line))
		}
		for _, d := range it.Digests {
			b.WriteString(" digest=" + escape(d.Value))
			if d.Role != NoRole {
				b.WriteString(" role=" + string(d.Role))
			}
		}
		if it.Ref != "" {
			b.WriteString(" ref=" + escape(it.Ref))
		}
		lines = append(lines, b.String())
	}
	return lines
}

// place is path:line. A path without a line that looks like one with a line
// gets line 0, one that looks like a field gets "./" before it.
func place(path string, line int64) string {
	if key, _, ok := strings.Cut(path, "="); ok && (key == "digest" || key == "ref") {
		path = "./" + path
	}
	if _, _, looks := cutLine(path); line > 0 || looks {
		return escape(path) + ":" + strconv.FormatInt(line, 10)
	}
	return escape(path)
}

// cutLine splits path:line.
func cutLine(text string) (path string, line int64, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i <= 0 || i+1 == len(text) || strings.Trim(text[i+1:], "0123456789") != "" {
		return text, 0, false
	}
	n, err := strconv.ParseInt(text[i+1:], 10, 64)
	if err != nil {
		return text, 0, false
	}
	return text[:i], n, true
}

// ParseNotation reads one line that Notation printed. Clock, operation, offset
// and text are not part of the notation.
func ParseNotation(line string) (Event, error) {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' })
	if len(words) < 4 {
		return Event{}, fmt.Errorf("%q: want TIME ACTION SUBJECT ARTIFACT [PATH:LINE] [digest=] [role=] [ref=]", line)
	}
	var e Event
	var err error
	if e.Span, err = ParseSpan(words[0]); err != nil {
		return Event{}, err
	}
	if e.Action, err = ParseAction(words[1]); err != nil {
		return Event{}, err
	}
	if e.Subject, err = ParseSubject(unescape(words[2])); err != nil {
		return Event{}, err
	}
	var it Item
	if words[3] != "-" {
		it.Artifact = unescape(words[3])
	}
	for i, word := range words[4:] {
		if err := parseField(&e, &it, word, i == 0); err != nil {
			return Event{}, fmt.Errorf("%q: %w", line, err)
		}
	}
	e.Items = []Item{it}
	return e, nil
}

func parseField(e *Event, it *Item, word string, first bool) error {
	key, raw, _ := strings.Cut(word, "=")
	value := unescape(raw)
	switch {
	case key == "digest" && raw != "":
		it.Digests = append(it.Digests, Digest{Value: value})
	case key == "role" && len(it.Digests) > 0:
		it.Digests[len(it.Digests)-1].Role = Role(value)
	case key == "ref" && raw != "":
		it.Ref = value
	case first:
		e.Path, e.Line, _ = cutLine(unescape(word))
	default:
		return fmt.Errorf("cannot read %q", word)
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func needsEscape(c byte) bool { return c <= ' ' || c == 0x7f }

// escape encodes blanks and control characters, and a percent sign only where
// it could be read as an escape of them: purls stay readable ("%40scope").
func escape(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '%' }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; needsEscape(c) || c == '%' && ambiguous(s[i:]) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// ambiguous reports whether s starts with an escape that unescape would undo.
func ambiguous(s string) bool {
	n, ok := decodeEscape(s)
	return ok && (needsEscape(n) || n == '%')
}

func decodeEscape(s string) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[1:3], 16, 8)
	return byte(n), err == nil
}

// unescape is the inverse of escape.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if ambiguous(s[i:]) {
			n, _ := decodeEscape(s[i:])
			b.WriteByte(n)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
