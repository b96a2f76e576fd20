package document

import (
	"strings"

	"pulltrail/ingest/evidence"
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
//
//	Desired=Unknown/Install/Remove/Purge/Hold
//	||/ Name                 Version              Architecture Description
//	Listing...
func dpkgNote(line string) bool {
	return strings.HasPrefix(line, "Desired=") || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "+++-") || strings.HasPrefix(line, "Listing...") ||
		strings.HasPrefix(line, "WARNING: apt does not have a stable CLI interface")
}

// dpkgRow reads one row:
//
//	ii  libc6:amd64    2.36-9+deb12u9 amd64        GNU C Library: Shared libraries
//	adduser/stable,now 3.134 all [installed,automatic]
//	libc6:amd64	2.36-9+deb12u9
func dpkgRow(line string, _ *evidence.Times) (e timeline.Event, ok bool) {
	name, version, arch := "", "", ""
	w := strings.Fields(line)
	switch {
	case len(w) >= 4 && (len(w[0]) == 2 || len(w[0]) == 3) && strings.Trim(w[0][:1], "uihrp") == "" && strings.Trim(w[0][1:2], "ncHUFWti") == "":
		name, version, arch = w[1], w[2], w[3]
		if c := w[0][1]; c == 'n' || c == 'c' {
			return e, true // removed
		}
	case len(w) >= 4 && strings.Contains(w[0], "/") && strings.Contains(line, "[installed"):
		name, _, _ = strings.Cut(w[0], "/")
		version, arch = w[1], w[2]
	case (len(w) == 3 || len(w) > 3 && strings.HasPrefix(w[3], "[")) && strings.Contains(w[0], "/"):
		return e, true // it could be had
	case len(w) == 2 && strings.Count(line, "\t") == 1:
		name, version = w[0], w[1]
	default:
		return e, false
	}
	name, nameArch, _ := strings.Cut(name, ":")
	if nameArch != "" {
		arch = nameArch
	}
	if !evidence.IsDistName(strings.TrimRight(name, "+")) || strings.ToLower(name) != name || !evidence.IsDebVersion(version) {
		return e, false
	}
	return inPlace(withArch(timeline.PURL("deb", "", name, version), arch)), true
}
