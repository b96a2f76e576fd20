package evidence

import (
	"strings"

	"pulltrail/timeline"
)

// Requirement is what a requirement of a Python package asks for.
type Requirement struct {
	Name    string
	Spec    string // version specifiers as written, blanks dropped: ">=1.100,<2"
	Version string // the version of an exact pin (==), "" for everything else
	URL     string // of "name @ URL"
}

// ParseRequirement reads a requirement (PEP 508) at the start of text and
// returns what stands behind it: an environment marker, a comment, the words
// of a log line. ok is false when text starts with no requirement.
//
//	litellm[proxy]>=1.100,<2 ; python_version >= "3.10"
//	litellm @ https://mirror.acme.example/litellm-1.107.0-py3-none-any.whl
//
// https://packaging.python.org/en/latest/specifications/dependency-specifiers/
func ParseRequirement(text string) (r Requirement, rest string, ok bool) {
	n := 0
	for n < len(text) && isNameByte(text[n]) {
		n++
	}
	for n > 0 && (text[n-1] == '-' || text[n-1] == '.' || text[n-1] == '_') {
		n--
	}
	if n == 0 || !IsDistName(text[:n]) {
		return Requirement{}, text, false
	}
	r.Name, rest = text[:n], text[n:]
	if after := strings.TrimLeft(rest, " "); strings.HasPrefix(after, "[") {
		end := strings.IndexByte(after, ']')
		if end < 0 {
			return Requirement{}, text, false
		}
		rest = after[end+1:]
	}
	after := strings.TrimLeft(rest, " ")
	if url, is := strings.CutPrefix(after, "@"); is {
		url = strings.TrimLeft(url, " ")
		end := strings.IndexAny(url+" ", " \t")
		r.URL, rest = url[:end], url[end:]
		if d, is := ParseDist(r.URL); is {
			r.Version = d.Version
		}
		return r, rest, strings.Contains(r.URL, ":")
	}
	r.Spec, rest = specifiers(rest)
	r.Version = pinned(r.Spec)
	return r, rest, true
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '-' || c == '_' || c == '.'
}

// specifiers reads ">=1.0, <2" or the same in parentheses.
func specifiers(text string) (spec, rest string) {
	rest = text
	after := strings.TrimLeft(rest, " ")
	inner, paren := strings.CutPrefix(after, "(")
	if paren {
		after = inner
	}
	var clauses []string
	for {
		clause, more := clause(strings.TrimLeft(after, " "))
		if clause == "" {
			break
		}
		clauses = append(clauses, clause)
		rest = more
		next, comma := strings.CutPrefix(strings.TrimLeft(more, " "), ",")
		if !comma {
			break
		}
		after = next
	}
	if paren && len(clauses) > 0 {
		rest = strings.TrimPrefix(strings.TrimLeft(rest, " "), ")")
	}
	return strings.Join(clauses, ","), rest
}

// clause reads one comparison with its version.
func clause(text string) (clause, rest string) {
	for _, op := range [...]string{"===", "==", "~=", "!=", "<=", ">=", "<", ">"} {
		after, is := strings.CutPrefix(text, op)
		if !is {
			continue
		}
		after = strings.TrimLeft(after, " ")
		n := 0
		for n < len(after) && (isNameByte(after[n]) || strings.IndexByte("*+!", after[n]) >= 0) {
			n++
		}
		if n == 0 {
			return "", text
		}
		return op + after[:n], after[n:]
	}
	return "", text
}

// pinned returns the version of a specifier that allows exactly one.
func pinned(spec string) string {
	v, is := strings.CutPrefix(strings.TrimPrefix(spec, "="), "==")
	if !is {
		v, is = strings.CutPrefix(spec, "==")
	}
	if !is || !IsVersion(v) {
		return ""
	}
	return v
}

// Item is the requirement as a part of an event: the version only of an exact
// pin, what was asked in Ref.
func (r Requirement) Item() timeline.Item {
	it := timeline.Item{Artifact: timeline.PURL("pypi", "", r.Name, r.Version), Ref: r.Spec}
	if r.URL != "" {
		it.Ref = Redact(r.URL)
	}
	return it
}
