package document

import (
	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
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
	Claim:  func(h *evidence.Head) bool { return gemRows.claims(h, 1) },
	Read:   gemRows.read,
}

// gemRows has no place for "*** REMOTE GEMS ***": what gem list --remote shows
// is not here.
var gemRows = rowList{none: func(line string) bool { return line == "*** LOCAL GEMS ***" }, row: pkglist.Gem}
