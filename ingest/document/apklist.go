package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// APKList is what apk list --installed and apk info -v print.
// https://wiki.alpinelinux.org/wiki/Alpine_Package_Keeper
var APKList = evidence.Format{
	Name:   "apk-list",
	Shape:  evidence.DocumentShape,
	Title:  "apk list --installed, apk info -v",
	Proves: "which Alpine packages are installed",
	Cannot: "when they were installed",
	Doc:    "https://wiki.alpinelinux.org/wiki/Alpine_Package_Keeper",
	Sample: "written by hand after the documentation",
	Claim:  func(h *evidence.Head) bool { return apkRows.claims(h, 1) },
	Read:   apkRows.read,
}

var apkRows = rowList{none: func(line string) bool { return strings.HasPrefix(line, "WARNING: ") }, row: apkRow}

// apkRow reads one row:
//
//	busybox-1.36.1-r29 x86_64 {busybox} (GPL-2.0-only) [installed]
//	musl-1.2.5-r0
//	musl-1.2.5-r0 - the musl c library (libc) implementation
func apkRow(line string, _ *evidence.Times) (e timeline.Event, ok bool) {
	first, rest, more := strings.Cut(line, " ")
	name, release, cut := strings.Cut(first, "-r")
	for cut && strings.Trim(release, "0123456789") != "" { // "-r" of a name
		var next string
		next, release, cut = strings.Cut(release, "-r")
		name += "-r" + next
	}
	i := strings.LastIndexByte(name, '-')
	if !cut || release == "" || i <= 0 || i+1 == len(name) || name[i+1] < '0' || name[i+1] > '9' || strings.ContainsAny(name, "/:=|") {
		return e, false
	}
	arch := ""
	if more && !strings.HasPrefix(rest, "- ") {
		w := strings.Fields(rest)
		if len(w) < 3 || !strings.HasPrefix(w[1], "{") {
			return e, false
		}
		if !strings.Contains(rest, "[installed") {
			return e, true // it could be had
		}
		arch = w[0]
	}
	return inPlace(withArch(timeline.PURL("apk", "", name[:i], name[i+1:]+"-r"+release), arch)), true
}
