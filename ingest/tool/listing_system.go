package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// dpkgListRow reads a row of dpkg -l; only "ii" and "hi" are installed.
// https://manpages.debian.org/bookworm/dpkg/dpkg-query.1.en.html
//
//	ii  xz-utils       5.6.1-1      amd64        XZ-format compression utilities
//	ii  liblzma5:amd64 5.6.1-1      amd64        XZ-format compression library
func dpkgListRow(l *list, row string) ([]timeline.Item, bool) {
	w := strings.Fields(row)
	if len(w) < 4 || len(w[0]) != 2 || len(row) < 4 || row[2] != ' ' {
		return nil, strings.HasPrefix(row, "Desired=") || l.begun && (strings.HasPrefix(row, "|") || strings.HasPrefix(row, "+++-"))
	}
	name, _, _ := strings.Cut(w[1], ":")
	if !isDebName(name) || !evidence.IsDebVersion(w[2]) {
		return nil, false
	}
	if w[0] != "ii" && w[0] != "hi" {
		return nil, strings.Trim(w[0][:1], "uirph") == ""
	}
	return []timeline.Item{debItem("", name, w[3], w[2])}, true
}

// aptListRow reads a row of apt list --installed.
// https://manpages.debian.org/bookworm/apt/apt.8.en.html
//
//	xz-utils/stable,now 5.6.1-1 amd64 [installed,automatic]
func aptListRow(_ *list, row string) ([]timeline.Item, bool) {
	w := strings.Fields(row)
	if len(w) != 4 || !strings.HasPrefix(w[3], "[") {
		return nil, row == "Listing..." || row == "Listing... Done"
	}
	name, _, _ := strings.Cut(w[0], "/")
	if !isDebName(name) || !evidence.IsDebVersion(w[1]) {
		return nil, false
	}
	if !strings.HasPrefix(w[3], "[installed") {
		return nil, true
	}
	return []timeline.Item{debItem("", name, w[2], w[1])}, true
}

// rpmListRow reads a row of rpm -qa.
// https://rpm-software-management.github.io/rpm/man/rpm.8
//
//	xz-libs-5.6.1-1.fc40.x86_64
func rpmListRow(_ *list, row string) ([]timeline.Item, bool) {
	if strings.ContainsAny(row, " \t") {
		return nil, false
	}
	it, ok := evidence.NEVRA(row)
	return []timeline.Item{it}, ok
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i <= 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// apkListRow reads a row of apk info -v and of apk list --installed.
// https://wiki.alpinelinux.org/wiki/Alpine_Package_Keeper
//
//	xz-libs-5.6.1-r0
//	xz-libs-5.6.1-r0 x86_64 {xz} (GPL-2.0-or-later) [installed]
func apkListRow(_ *list, row string) ([]timeline.Item, bool) {
	w := strings.Fields(row)
	if len(w) == 0 || len(w) > 1 && !strings.HasSuffix(row, "[installed]") {
		return nil, false
	}
	id, release, ok := cutLast(w[0], "-r")
	name, version, ok2 := cutLast(id, "-")
	if !ok || !ok2 || strings.Trim(release, "0123456789") != "" || !isDecimal(version[0]) {
		return nil, false
	}
	arch := ""
	if len(w) > 1 {
		arch = w[1]
	}
	return []timeline.Item{systemItem("apk", "alpine", name, arch, version+"-r"+release)}, true
}

// pairRow reads a row of pacman -Q ("alpm") and brew list --versions ("brew").
// https://man.archlinux.org/man/pacman.8, https://docs.brew.sh/Manpage
//
//	xz 5.6.1-1
//	xz 5.6.1 5.4.6
func pairRow(kind, distro string) func(*list, string) ([]timeline.Item, bool) {
	return func(_ *list, row string) ([]timeline.Item, bool) {
		w := strings.Fields(row)
		if len(w) < 2 || kind == "alpm" && len(w) > 2 {
			return nil, false
		}
		var items []timeline.Item
		for _, version := range w[1:] {
			if !isDebName(strings.ReplaceAll(w[0], "@", "")) || !evidence.IsDebVersion(version) {
				return nil, false
			}
			items = append(items, systemItem(kind, distro, w[0], "", version))
		}
		return items, true
	}
}
