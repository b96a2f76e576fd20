package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
	"pulltrail/timeline"
)

// PipShow is what 'pip show' prints. It answers with one of several folders of
// a project where there are more.
// https://pip.pypa.io/en/stable/cli/pip_show/
var PipShow = evidence.Format{
	Name:   "pip-show",
	Shape:  evidence.DocumentShape,
	Title:  "pip show",
	Proves: "a distribution is in an environment",
	Cannot: "when it was installed; a second folder of the same project",
	Doc:    "https://pip.pypa.io/en/stable/cli/pip_show/",
	Sample: "pip 24.2 run for this project",
	Claim:  claimPipShow,
	Read:   readPipShow,
}

// PipList is what 'pip list' prints, as columns or JSON.
// https://pip.pypa.io/en/stable/cli/pip_list/
var PipList = evidence.Format{
	Name:   "pip-list",
	Shape:  evidence.DocumentShape,
	Title:  "pip list",
	Proves: "what is in an environment",
	Cannot: "when it was installed; other environments of the host",
	Doc:    "https://pip.pypa.io/en/stable/cli/pip_list/",
	Sample: "pip 24.2 run for this project",
	Claim:  claimPipList,
	Read:   readPipList,
}

// claimPipShow wants name and version on the first two lines.
//
//	Name: litellm
//	Version: 1.107.0
//	Summary: Harmless stand-in named litellm
func claimPipShow(h *evidence.Head) bool {
	first, second := firstLines(h)
	return strings.HasPrefix(first, "Name: ") && strings.HasPrefix(second, "Version: ")
}

// firstLines returns the first two of afterNotices.
func firstLines(h *evidence.Head) (first, second string) {
	for line := range eachLogicalLine(&evidence.Doc{Data: h.Bytes}) {
		switch {
		case first != "":
			return first, line.text
		case !isNotice(line.text):
			first = line.text
		}
	}
	return first, ""
}

// afterNotices returns the lines behind what pip says of itself.
func afterNotices(d *evidence.Doc) []logicalLine {
	lines := logicalLines(d)
	for len(lines) > 0 && (lines[0].text == "" || isNotice(lines[0].text)) {
		lines = lines[1:]
	}
	return lines
}

func readPipShow(d *evidence.Doc, o *evidence.Out) error {
	start := true
	lines := afterNotices(d)
	for i, line := range lines {
		if name, ok := strings.CutPrefix(line.text, "Name: "); ok && start && i+1 < len(lines) {
			version, ok := strings.CutPrefix(lines[i+1].text, "Version: ")
			if ok && evidence.IsDistName(name) && evidence.IsVersion(version) {
				onLine(d, o, lines[i+1].off)
				o.Emit(timeline.Present, nil, timeline.Item{Artifact: timeline.PURL("pypi", "", name, version)})
			} else {
				onLine(d, o, line.off)
				o.Skip("a name without a version")
			}
		}
		start = line.text == "---"
	}
	return nil
}

// claimPipList wants the header and its rule, or a list of name and version
// alone: other tools list more.
//
//	Package      Version
//	------------ -----------
//	[{"name": "acme-httpkit", "version": "2.5.0"}, …
func claimPipList(h *evidence.Head) bool {
	if v, ok := headRecord(h); ok {
		return bytes.HasPrefix(bytes.TrimSpace(h.Bytes), []byte("[")) && isPipListRow(v)
	}
	first, second := firstLines(h)
	return pkglist.IsPipHead(first) && strings.HasPrefix(second, "---") && strings.Trim(second, "- ") == ""
}

// pipListKeys are the fields that a row of the JSON can have.
var pipListKeys = map[string]bool{
	"name": true, "version": true, "editable_project_location": true, "location": true, "installer": true,
	"latest_version": true, "latest_filetype": true,
}

func isPipListRow(v value) bool {
	for key := range v.fields() {
		if !pipListKeys[key] {
			return false
		}
	}
	return evidence.IsDistName(v.get("name").text()) && evidence.IsVersion(v.get("version").text())
}

func readPipList(d *evidence.Doc, o *evidence.Out) error {
	if bytes.HasPrefix(bytes.TrimSpace(d.Data), []byte("[")) {
		return readPipListJSON(d, o)
	}
	lines := afterNotices(d)
	for _, line := range lines[min(2, len(lines)):] {
		if line.text == "" || isNotice(line.text) {
			continue
		}
		onLine(d, o, line.off)
		items, ok := pkglist.Pip(line.text)
		if !ok {
			o.Skip("no row of name and version")
			continue
		}
		o.Emit(timeline.Present, nil, items...)
	}
	return nil
}

func readPipListJSON(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	for _, v := range all {
		at(d, o, v)
		if !isPipListRow(v) {
			o.Skip("no row of name and version")
			continue
		}
		o.Emit(timeline.Present, nil, timeline.Item{Artifact: timeline.PURL("pypi", "", v.get("name").text(), v.get("version").text())})
	}
	return err
}
