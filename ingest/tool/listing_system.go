package tool

import (
	"strings"

	"pulltrail/ingest/pkglist"
	"pulltrail/timeline"
)

// alone adapts a reader of rows that need nothing of the rows before them.
func alone(read func(row string) ([]timeline.Item, bool)) func(*list, string) ([]timeline.Item, bool) {
	return func(_ *list, row string) ([]timeline.Item, bool) { return read(row) }
}

// dpkgListRow reads dpkg -l. Its head begins with Desired=: other tools draw
// lines too.
func dpkgListRow(l *list, row string) ([]timeline.Item, bool) {
	if pkglist.IsDpkgHead(row) {
		return nil, l.begun || strings.HasPrefix(row, "Desired=")
	}
	return pkglist.Dpkg(row)
}

// aptListRow reads apt list --installed.
func aptListRow(_ *list, row string) ([]timeline.Item, bool) {
	if row == "Listing..." || row == "Listing... Done" {
		return nil, true
	}
	return pkglist.Apt(row)
}
