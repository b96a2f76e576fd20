package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
	"pulltrail/timeline"
)

// DpkgList is what dpkg -l, dpkg-query -W and apt list --installed print.
// https://man7.org/linux/man-pages/man1/dpkg-query.1.html
var DpkgList = evidence.Format{
	Name:   "dpkg-list",
	Shape:  evidence.DocumentShape,
	Title:  "dpkg -l, dpkg-query -W, apt list --installed",
	Proves: "which Debian packages are installed",
	Cannot: "when they were installed; versions that dpkg -l cuts at the width of a terminal",
	Doc:    "https://man7.org/linux/man-pages/man1/dpkg-query.1.html",
	Sample: "dpkg 1.21 and apt 2.6 run for this project",
	Claim:  claimDpkgList,
	Read:   dpkgRows.read,
}

var dpkgRows = rowList{none: dpkgNote, row: dpkgRow}

func claimDpkgList(h *evidence.Head) bool {
	return strings.HasPrefix(string(h.Bytes[:min(len(h.Bytes), 8)]), "Desired=") || dpkgRows.claims(h, 1)
}

// dpkgNote knows the head of dpkg -l and what apt says of itself.
func dpkgNote(line string) bool {
	return pkglist.IsDpkgHead(line) || strings.HasPrefix(line, "Listing...") || strings.HasPrefix(line, "WARNING: apt does not have a stable CLI interface")
}

// dpkgRow reads a row of any of the three.
func dpkgRow(line string) (items []timeline.Item, ok bool) {
	for _, read := range []func(string) ([]timeline.Item, bool){pkglist.Dpkg, pkglist.Apt, pkglist.DpkgQuery} {
		if items, ok = read(line); ok {
			return items, true
		}
	}
	return nil, false
}
