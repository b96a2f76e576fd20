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

// under adapts a reader of rows that prove nothing without the head of their
// table.
func under(head func(string) bool, read func(row string) ([]timeline.Item, bool)) func(*list, string) ([]timeline.Item, bool) {
	return func(l *list, row string) ([]timeline.Item, bool) {
		if head(row) {
			return nil, true
		}
		if !l.begun {
			return nil, false
		}
		return read(row)
	}
}

// wingetRow reads winget list, with a rule below the head.
func wingetRow(l *list, row string) ([]timeline.Item, bool) {
	if at := pkglist.WingetColumns(row); at != nil {
		l.scan.columns = at
		return nil, true
	}
	if !l.begun || l.scan.columns == nil {
		return nil, false
	}
	if strings.Trim(row, "-") == "" {
		return nil, row != ""
	}
	return pkglist.Winget(l.scan.columns, row)
}
