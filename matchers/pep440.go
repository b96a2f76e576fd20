package matchers

import (
	"slices"
	"strings"

	pep "github.com/aquasecurity/go-pep440-version"
)

// pep440 is the scheme of Python packages
// (https://packaging.python.org/en/latest/specifications/version-specifiers/).
// Parsing and order come from the library; the clauses stand here, since its
// own read neither v1.107.* nor 1.107.0.0.*, and know nothing of Poetry.
type pep440 struct{}

type pepVersion struct{ pep.Version }

func (v pepVersion) compare(o parsedVersion) int { return v.Version.Compare(o.(pepVersion).Version) }

func (pep440) parse(text string) parsedVersion {
	v, ok := parsePEP(text)
	if !ok {
		return nil
	}
	return v
}

// parsePEP reads a version. The parts of a local version may be separated by
// any of . - _, and mean the same.
func parsePEP(text string) (pepVersion, bool) {
	if base, local, ok := strings.Cut(text, "+"); ok {
		text = base + "+" + strings.NewReplacer("-", ".", "_", ".").Replace(local)
	}
	v, err := pep.Parse(text)
	return pepVersion{v}, err == nil
}

func (p pep440) equal(a, b string) bool {
	v, okA := parsePEP(a)
	w, okB := parsePEP(b)
	if !okA || !okB {
		return a == b
	}
	return v.compare(w) == 0
}

func (pep440) public(text string) (string, bool) {
	v, ok := parsePEP(text)
	if !ok || v.Local() == "" {
		return text, false
	}
	return v.Public(), true
}

func (pep440) above(version string) string {
	v, ok := parsePEP(version)
	if !ok {
		return version
	}
	return v.BaseVersion() + ".0.0.1"
}

// spec reads PEP 440 specifiers, and Poetry's ^, ~, * and || beside them.
func (p pep440) spec(text string) (func(string) bool, bool) {
	text, _, _ = strings.Cut(text, ";") // an environment marker only narrows
	text = strings.TrimSpace(text)
	if extras := strings.IndexByte(text, ']'); extras > 0 && text[0] == '[' {
		text = strings.TrimSpace(text[extras+1:])
	}
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
		text = text[1 : len(text)-1]
	}
	var alternatives [][]pepClause
	for text := range strings.SplitSeq(text, "||") {
		var all []pepClause
		for _, part := range splitClauses(text) {
			c, ok := parsePEPClause(part)
			if !ok {
				return nil, false
			}
			all = append(all, c)
		}
		alternatives = append(alternatives, all)
	}
	return func(version string) bool {
		v, ok := parsePEP(version)
		return !ok || slices.ContainsFunc(alternatives, func(all []pepClause) bool {
			return !slices.ContainsFunc(all, func(c pepClause) bool { return !c.admits(v) })
		})
	}, true
}

// splitClauses splits at commas and blanks, but not behind an operator.
func splitClauses(text string) []string {
	var out []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if n := len(out) - 1; n >= 0 && slices.Contains(operators, out[n]) {
			out[n] += word
		} else {
			out = append(out, word)
		}
	}
	return out
}

// pepClause is one clause of a specifier.
type pepClause struct {
	op     string
	text   string // of ===
	bound  pepVersion
	prefix bool // ==1.107.*
}

func parsePEPClause(text string) (pepClause, bool) {
	op, version := cutOperator(text)
	c := pepClause{op: op, text: version}
	if version == "*" && (op == "" || op == "==" || op == "=") {
		return pepClause{op: "*"}, true
	}
	switch op {
	case "===":
		return c, version != ""
	case "=": // conda: =1.107 is 1.107.*
		c.op, c.prefix = "==", true
	case "":
		c.op = "=="
	}
	if rest, ok := strings.CutSuffix(version, ".*"); ok {
		if c.op != "==" && c.op != "!=" {
			return c, false
		}
		version, c.prefix = rest, true
	}
	var ok bool
	c.bound, ok = parsePEP(version)
	return c, ok
}

func (c pepClause) admits(v pepVersion) bool {
	if c.op == "*" {
		return true
	}
	if c.op == "===" {
		if strings.EqualFold(v.String(), c.text) || strings.EqualFold(v.Original(), c.text) {
			return true
		}
		w, ok := parsePEP(c.text)
		return ok && v.compare(w) == 0
	}
	public := v
	if v.Local() != "" && c.bound.Local() == "" {
		public, _ = parsePEP(v.Public())
	}
	n := public.compare(c.bound)
	switch c.op {
	case "==":
		return c.equal(public, n)
	case "!=":
		return !c.equal(public, n)
	case "<=":
		return n <= 0
	case ">=":
		return n >= 0
	case "<":
		// <3.1 excludes 3.1rc1 too, unless the bound is a pre-release itself.
		return n < 0 && (c.bound.IsPreRelease() || !v.IsPreRelease() || !sameBase(v, c.bound))
	case ">":
		// >3.1 excludes 3.1.post1, unless the bound is a post-release itself.
		return n > 0 && (c.bound.IsPostRelease() || !v.IsPostRelease() || !sameBase(v, c.bound))
	}
	return n >= 0 && c.compatible(v)
}

func (c pepClause) equal(v pepVersion, n int) bool {
	if c.prefix {
		return hasRelease(v, release(c.bound))
	}
	return n == 0
}

// compatible is the upper end of ~=, ~ and ^.
func (c pepClause) compatible(v pepVersion) bool {
	parts := release(c.bound)
	keep := len(parts) - 1
	switch c.op {
	case "~": // ~1 is 1.*, ~1.2 and ~1.2.3 are 1.2.*
		keep = min(len(parts), 2)
	case "^": // up to the first part that is not zero
		keep = slices.IndexFunc(parts, func(p string) bool { return p != "0" }) + 1
		if keep == 0 {
			keep = len(parts)
		}
	}
	return hasRelease(v, parts[:max(keep, 1)])
}

// release returns the epoch and release of a version, the epoch with its
// first part: ["1!2", "0", "1"]; without one: ["2", "0", "1"].
func release(v pepVersion) []string { return strings.Split(v.BaseVersion(), ".") }

// hasRelease reports whether v's release begins with the parts.
func hasRelease(v pepVersion, parts []string) bool {
	have := release(v)
	for i, p := range parts {
		h := "0"
		if i < len(have) {
			h = have[i]
		}
		if h != p {
			return false
		}
	}
	return true
}

func sameBase(a, b pepVersion) bool {
	x, y := release(a), release(b)
	return hasRelease(a, y) && hasRelease(b, x)
}
