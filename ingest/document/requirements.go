package document

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Requirements is a requirements or constraints file.
// https://pip.pypa.io/en/stable/reference/requirements-file-format/
var Requirements = evidence.Format{
	Name:   "requirements",
	Shape:  evidence.DocumentShape,
	Title:  "requirements.txt, constraints.txt",
	Proves: "what was asked for: names, pins, ranges, hashes",
	Cannot: "that it was installed, or when",
	Doc:    "https://pip.pypa.io/en/stable/reference/requirements-file-format/",
	Sample: "written by hand after the documentation",
	Claim:  claimRequirements,
	Read:   func(d *evidence.Doc, o *evidence.Out) error { readRequirementLines(d, o, timeline.Require); return nil },
}

// Freeze is what 'pip freeze' and 'uv pip freeze' print, in a file that is
// named after it: its lines cannot be told from pins.
// https://pip.pypa.io/en/stable/cli/pip_freeze/
var Freeze = evidence.Format{
	Name:   "pip-freeze",
	Shape:  evidence.DocumentShape,
	Title:  "pip freeze",
	Proves: "what is in an environment",
	Cannot: "when it was installed; other environments of the host",
	Doc:    "https://pip.pypa.io/en/stable/cli/pip_freeze/",
	Sample: "pip 24.2 run for this project",
	Claim:  claimFreeze,
	Read:   func(d *evidence.Doc, o *evidence.Out) error { readRequirementLines(d, o, timeline.Present); return nil },
}

// requirementsName are the names that such files have.
//
//	requirements.txt, requirements-dev.in, dev_requirements.txt, constraints.txt
var requirementsName = regexp.MustCompile(`(?i)(?:^|[-_.])(?:requirements?|constraints?|reqs)(?:[-_.].*)?\.(?:txt|in|pip)$`)

// claimRequirements wants the name of such a file, or of its folder, and no
// line that could not stand in one: a pip log may have the word in its name.
func claimRequirements(h *evidence.Head) bool {
	inFolder := h.Dir == "requirements" && (strings.HasSuffix(h.Name, ".txt") || strings.HasSuffix(h.Name, ".in"))
	if !requirementsName.MatchString(h.Name) && !inFolder || isFreezeName(h.Name) {
		return false
	}
	return everyLine(h, func(line string) bool {
		_, _, known := parseRequirementLine(line)
		return known
	})
}

func isFreezeName(name string) bool { return strings.Contains(strings.ToLower(name), "freeze") }

// claimFreeze wants the word in the name and nothing but exact lines.
//
//	litellm==1.107.0
//	acme-agent @ file:///srv/ci/job/wheels/acme_agent-0.3.0-py3-none-any.whl#sha256=2e37…
//	-e git+https://git.acme.example/acme/agent.git@4f2b…#egg=agent
func claimFreeze(h *evidence.Head) bool {
	if !isFreezeName(h.Name) {
		return false
	}
	some := false
	every := everyLine(h, func(line string) bool {
		if isNotice(line) {
			return true
		}
		r, has, known := parseRequirementLine(line)
		some = some || has
		return known && (!has || isFrozen(line, r))
	})
	return every && some
}

// isFrozen reports whether a line has the form of a freeze: one exact version,
// a URL, or an editable install.
func isFrozen(line string, r requirement) bool {
	return strings.HasPrefix(line, "-e ") || strings.Contains(line, " @ ") || r.version != "" && !strings.ContainsAny(r.asked, ",;")
}

// isNotice reports whether pip says something of itself.
func isNotice(line string) bool {
	return strings.HasPrefix(line, "WARNING: ") || strings.HasPrefix(line, "DEPRECATION: ") || strings.HasPrefix(line, "[notice]")
}

// everyLine reports whether f accepts each logical line of a head that is
// whole.
func everyLine(h *evidence.Head, f func(line string) bool) bool {
	d := evidence.Doc{Data: h.Bytes}
	if whole := bytes.LastIndexByte(h.Bytes, '\n'); len(h.Bytes) >= headLimit && whole > 0 {
		d.Data = h.Bytes[:whole]
	}
	for line := range eachLogicalLine(&d) {
		if !f(line.text) {
			return false
		}
	}
	return true
}

// headLimit is the size of a head that may end inside a line.
const headLimit = 60 << 10

// logicalLine is a line with those that go on with a backslash.
type logicalLine struct {
	off  int
	text string
}

func logicalLines(d *evidence.Doc) []logicalLine { return slices.Collect(eachLogicalLine(d)) }

// eachLogicalLine is for those who look at a few lines of many documents.
func eachLogicalLine(d *evidence.Doc) iter.Seq[logicalLine] {
	return func(yield func(logicalLine) bool) {
		var line logicalLine
		open := false
		for off := 0; off < len(d.Data); {
			end := len(d.Data)
			if i := bytes.IndexByte(d.Data[off:], '\n'); i >= 0 {
				end = off + i
			}
			text := strings.TrimRight(strings.ToValidUTF8(string(d.Data[off:end]), ""), "\r \t")
			more := strings.HasSuffix(text, `\`)
			text = strings.TrimSpace(strings.TrimSuffix(text, `\`))
			if open {
				line.text += " " + text
			} else {
				line = logicalLine{off, text}
			}
			if open, off = more, end+1; !open && !yield(line) {
				return
			}
		}
		if open {
			yield(line)
		}
	}
}

// editableNote is what pip says of an editable install that no repository
// holds; the line after it names only its folder.
//
//	# Editable install with no version control (acme-agent==0.3.0)
var editableNote = regexp.MustCompile(`^# Editable .*install .*\(([^()=]+)==([^()]+)\)$`)

func readRequirementLines(d *evidence.Doc, o *evidence.Out, action timeline.Action) {
	o.Seen("") // a file of comments and options is understood
	for _, line := range logicalLines(d) {
		if isNotice(line.text) {
			continue
		}
		if m := editableNote.FindStringSubmatch(line.text); m != nil && action == timeline.Present && evidence.IsVersion(m[2]) {
			onLine(d, o, line.off)
			o.Emit(action, nil, timeline.Item{Artifact: timeline.PURL("pypi", "", m[1], m[2])})
			continue
		}
		r, has, known := parseRequirementLine(line.text)
		if !has && known {
			continue
		}
		onLine(d, o, line.off)
		if !known {
			o.Skip("no requirement")
			continue
		}
		if action == timeline.Present && !strings.Contains(r.asked, ":") {
			r.asked = "" // nobody asks in a freeze
		}
		o.Emit(action, nil, r.item())
	}
}
