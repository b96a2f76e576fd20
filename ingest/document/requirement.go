package document

import (
	"regexp"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// requirement is one PEP 508 requirement, or one line of a requirements file.
// https://packaging.python.org/en/latest/specifications/dependency-specifiers/
type requirement struct {
	name    string
	version string // of an exact pin, or of the archive that a URL names
	asked   string // the specifier with its marker, or the URL; "" for a bare name
	digests []timeline.Digest
}

// parseRequirement reads one requirement; ok is false for what is none.
//
//	litellm[proxy]>=1.80,!=1.107.0 ; python_version < "3.13"
//	litellm @ https://mirror.acme.example/litellm-1.107.0-py3-none-any.whl#sha256=2e37…
func parseRequirement(text string) (r requirement, ok bool) {
	leaf, rest, ok := evidence.ParseRequirement(strings.TrimSpace(text))
	rest = strings.TrimSpace(rest)
	if !ok || rest != "" && rest[0] != ';' {
		return r, false
	}
	r = requirement{name: leaf.Name, version: leaf.Version, asked: leaf.Spec}
	if leaf.URL != "" {
		from, _ := parseSource(leaf.URL)
		r.version, r.asked, r.digests = from.version, from.asked, from.digests
	}
	if rest != "" {
		r.asked += "; " + strings.TrimSpace(rest[1:])
	}
	return r, true
}

// parseSource reads a URL or path of a distribution or repository.
//
//	git+https://git.acme.example/acme/litellm.git@4f2b9c1d0a7e8f6b5c3d2e1f0a9b8c7d6e5f4a3b#egg=litellm
//	./wheels/litellm-1.107.0-py3-none-any.whl
func parseSource(text string) (r requirement, ok bool) {
	r.asked = text
	address, fragment, _ := strings.Cut(text, "#")
	for field := range strings.SplitSeq(fragment, "&") {
		key, val, _ := strings.Cut(field, "=")
		switch key {
		case "egg":
			val, _, _ = strings.Cut(val, "[")
			if evidence.IsDistName(val) {
				r.name, ok = val, true
			}
		case "sha256":
			if digest := timeline.SHA256(val); digest != "" {
				r.digests = append(r.digests, timeline.Digest{Value: digest, Role: timeline.File})
			}
		}
	}
	if d, is := evidence.ParseDist(address); is {
		r.name, r.version, ok = d.Name, d.Version, true
	}
	if i := strings.LastIndexByte(address, '@'); i >= 0 && timeline.IsCommit(address[i+1:]) {
		r.digests = append(r.digests, timeline.Digest{Value: address[i+1:], Role: timeline.Commit})
	}
	return r, ok
}

// item is the requirement as part of an event.
func (r requirement) item() timeline.Item {
	return timeline.Item{Artifact: timeline.PURL("pypi", "", r.name, r.version), Ref: r.asked, Digests: r.digests}
}

// hashOption is a hash behind a requirement.
//
//	--hash=sha256:12267a3df61432da9bd63233b2a33a6cd9f74e2eb15907987b6166014b3762e5
var hashOption = regexp.MustCompile(`\s+--hash[= ]\s*([a-z0-9]+):([0-9a-f]+)`)

// lineOptions are the other options behind a requirement.
var lineOptions = regexp.MustCompile(`\s+--(?:global-option|config-settings?|install-option)[= ]\s*(?:"[^"]*"|'[^']*'|\S+)`)

// parseRequirementLine reads a logical line of a requirements file. known is
// false for what stands in no such file; has tells that it names a project.
// https://pip.pypa.io/en/stable/reference/requirements-file-format/
func parseRequirementLine(text string) (r requirement, has, known bool) {
	text = stripComment(text)
	if text == "" {
		return r, false, true
	}
	if text[0] == '-' {
		return parseOption(text)
	}
	var digests []timeline.Digest
	for _, m := range hashOption.FindAllStringSubmatch(text, -1) {
		if digest := timeline.SHA256(m[2]); m[1] == "sha256" && digest != "" {
			digests = append(digests, timeline.Digest{Value: digest, Role: timeline.File})
		}
	}
	text = lineOptions.ReplaceAllString(hashOption.ReplaceAllString(text, ""), "")
	if r, known = parseRequirement(text); known {
		r.digests = append(r.digests, digests...)
		return r, true, true
	}
	if !strings.Contains(text, " ") && (strings.Contains(text, "://") || strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/")) {
		r, has = parseSource(text)
		return r, has, true
	}
	return r, false, false
}

// stripComment drops a comment: a number sign at the start or behind a blank.
func stripComment(text string) string {
	for i := 0; i < len(text); i++ {
		if text[i] == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t') {
			text = text[:i]
			break
		}
	}
	return strings.TrimSpace(text)
}

// fileOptions are the options that may stand in a requirements file.
var fileOptions = regexp.MustCompile(`^(?:-[rcif]\b|--(?:requirement|constraint|index-url|extra-index-url|no-index|find-links|` +
	`no-binary|only-binary|prefer-binary|require-hashes|pre|trusted-host|use-feature|use-pep517|no-use-pep517)\b)`)

// parseOption reads a line that starts with a hyphen. Only an editable install
// names a project, and only from a repository.
//
//	-e git+https://git.acme.example/acme/agent.git@4f2b…#egg=agent
func parseOption(text string) (r requirement, has, known bool) {
	for _, option := range []string{"-e", "--editable"} {
		rest, is := strings.CutPrefix(text, option)
		if is && rest != "" && (rest[0] == ' ' || rest[0] == '=') {
			r, has = parseSource(strings.TrimSpace(rest[1:]))
			return r, has, true
		}
	}
	return r, false, fileOptions.MatchString(text)
}
