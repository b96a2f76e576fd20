package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
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

var apkRows = rowList{none: func(line string) bool { return strings.HasPrefix(line, "WARNING: ") }, row: pkglist.APK}
