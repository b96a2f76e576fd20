package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GemList is what gem list prints.
// https://guides.rubygems.org/command-reference/#gem-list
var GemList = evidence.Format{
	Name:   "gem-list",
	Shape:  evidence.DocumentShape,
	Title:  "gem list",
	Proves: "which gems are installed, all versions of each",
	Cannot: "when they were installed; that gem list --remote was not asked",
	Doc:    "https://guides.rubygems.org/command-reference/#gem-list",
	Sample: "rubygems 3.3 run for this project",
	Claim: func(h *evidence.Head) bool {
		return !strings.Contains(string(h.Bytes[:min(len(h.Bytes), 200)]), "*** REMOTE GEMS ***") && claimGemList(h)
	},
	Read: readGemList,
}

func claimGemList(h *evidence.Head) bool {
	n := 0
	return everyLine(h, func(line string) bool {
		if line == "" || line == "*** LOCAL GEMS ***" {
			return true
		}
		n++
		_, versions := gemRow(line)
		return versions != nil
	}) && n > 0
}

// gemRow reads "rake (13.0.6, 12.3.3)", "json (default: 2.6.1)" and "nokogiri
// (1.16.5 x86_64-linux)".
func gemRow(line string) (name string, versions []string) {
	name, rest, ok := strings.Cut(line, " (")
	rest, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed || !evidence.IsDistName(name) {
		return "", nil
	}
	for v := range strings.SplitSeq(rest, ", ") {
		v, _, _ = strings.Cut(strings.TrimPrefix(v, "default: "), " ")
		if v == "" || v[0] < '0' || v[0] > '9' || strings.Trim(v, "0123456789.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return "", nil
		}
		versions = append(versions, v)
	}
	return name, versions
}

func readGemList(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	for _, line := range logicalLines(d) {
		if line.text == "" || line.text == "*** LOCAL GEMS ***" {
			continue
		}
		onLine(d, o, line.off)
		name, versions := gemRow(line.text)
		if versions == nil {
			o.Skip("no row of a gem and its versions")
		}
		for _, v := range versions {
			o.Emit(timeline.Present, nil, timeline.Item{Artifact: timeline.PURL("gem", "", name, v)})
		}
	}
	return nil
}
