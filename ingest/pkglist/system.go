package pkglist

import (
	"regexp"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// IsDpkgHead reports whether a line belongs to the head of dpkg -l.
//
//	Desired=Unknown/Install/Remove/Purge/Hold
//	||/ Name                 Version              Architecture Description
//	+++-====================-====================-============-===========
func IsDpkgHead(line string) bool {
	return strings.HasPrefix(line, "Desired=") || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "+++-")
}

// Dpkg reads a row of dpkg -l. The first letter is what is wanted, the second
// what is: of a package in state n or c nothing but its configuration is left;
// in every other its files are, also where it is only unpacked (U).
// https://manpages.debian.org/bookworm/dpkg/dpkg-query.1.en.html
//
//	ii  xz-utils       5.6.1-1         amd64        XZ-format compression utilities
//	ii  libc6:amd64    2.36-9+deb12u9  amd64        GNU C Library: Shared libraries
//	iU  libstdc++6:amd64 12.2.0-14     amd64        GNU Standard C++ Library v3
func Dpkg(row string) (items []timeline.Item, ok bool) {
	w := strings.Fields(row)
	if len(w) < 4 || len(w[0]) < 2 || len(w[0]) > 3 || row[0] != w[0][0] ||
		strings.IndexByte("uihrp", w[0][0]) < 0 || strings.IndexByte("ncHUFWti", w[0][1]) < 0 {
		return nil, false
	}
	if c := w[0][1]; c == 'n' || c == 'c' {
		return nil, true
	}
	it, ok := debian(w[1], w[2], w[3])
	return []timeline.Item{it}, ok
}

// DpkgQuery reads a row of dpkg-query -W, whose default is name, tab, version.
// https://manpages.debian.org/bookworm/dpkg/dpkg-query.1.en.html
//
//	libc6:amd64	2.36-9+deb12u9
func DpkgQuery(row string) (items []timeline.Item, ok bool) {
	name, version, ok := strings.Cut(row, "\t")
	if !ok {
		return nil, false
	}
	it, ok := debian(name, version, "")
	return []timeline.Item{it}, ok
}

// Apt reads a row of apt list; without a note in brackets, or with one that does
// not begin with "installed", it is a package that could be had.
// https://manpages.debian.org/bookworm/apt/apt.8.en.html
//
//	libc6/stable,now 2.36-9+deb12u9 amd64 [installed,automatic]
//	curl/stable-security,now 7.88.1-10 amd64 [installed,upgradable to: 7.88.1-12]
//	acme-new/stable 2.0-1 amd64
func Apt(row string) (items []timeline.Item, ok bool) {
	w := strings.Fields(row)
	if len(w) < 3 || len(w) > 3 && w[3][0] != '[' {
		return nil, false
	}
	name, _, ok := strings.Cut(w[0], "/")
	if !ok {
		return nil, false
	}
	it, ok := debian(name, w[1], w[2])
	if len(w) == 3 || !strings.HasPrefix(w[3], "[installed") {
		return nil, ok
	}
	return []timeline.Item{it}, ok
}

// debian makes a package of name[:arch], its version and the architecture of
// another column.
func debian(name, version, arch string) (timeline.Item, bool) {
	name, own, qualified := strings.Cut(name, ":")
	if qualified {
		arch = own
	}
	return evidence.SystemItem("deb", "", name, arch, version), evidence.IsDebName(name) && evidence.IsDebVersion(version)
}

// RPM reads a row of rpm -qa; the keys that sign packages are listed too.
// https://rpm-software-management.github.io/rpm/man/rpm.8
//
//	xz-libs-5.6.1-1.fc40.x86_64
//	gpg-pubkey-8483c65d-5ccc5b19
func RPM(row string) (items []timeline.Item, ok bool) {
	if strings.HasPrefix(row, "gpg-pubkey-") {
		return nil, strings.Count(row, "-") == 3
	}
	it, ok := evidence.NEVRA(row)
	if !ok || !IsRPMArch(row[strings.LastIndexByte(row, '.')+1:]) {
		return nil, false
	}
	return []timeline.Item{it}, true
}

// IsRPMArch knows the architectures that packages are built for.
func IsRPMArch(text string) bool {
	switch text {
	case "x86_64", "x86_64_v2", "noarch", "aarch64", "i386", "i486", "i586", "i686", "ppc64le", "ppc64", "s390x", "armv7hl", "riscv64", "loongarch64", "(none)":
		return true
	}
	return false
}

// APK reads a row of apk list and apk info -v. It does not say which
// distribution it is: Alpine and others use apk.
// https://wiki.alpinelinux.org/wiki/Alpine_Package_Keeper
//
//	busybox-1.36.1-r29 x86_64 {busybox} (GPL-2.0-only) [installed]
//	musl-1.2.5-r0
//	musl-1.2.5-r0 - the musl c library (libc) implementation
func APK(row string) (items []timeline.Item, ok bool) {
	id, rest, more := strings.Cut(row, " ")
	release := strings.LastIndex(id, "-r")
	if release < 0 || release+2 == len(id) || strings.Trim(id[release+2:], "0123456789") != "" {
		return nil, false
	}
	i := strings.LastIndexByte(id[:release], '-')
	if i <= 0 || i+1 == release || id[i+1] < '0' || id[i+1] > '9' || strings.ContainsAny(id, "/:=|") {
		return nil, false
	}
	arch := ""
	if more && !strings.HasPrefix(rest, "- ") {
		w := strings.Fields(rest)
		if len(w) < 3 || w[1][0] != '{' {
			return nil, false
		}
		if !strings.Contains(rest, "[installed") {
			return nil, true // it could be had
		}
		arch = w[0]
	}
	return []timeline.Item{evidence.SystemItem("apk", "", id[:i], arch, id[i+1:])}, true
}

// pacmanVersion has the release of the package behind a hyphen: 1:8.7.1-1.
var pacmanVersion = regexp.MustCompile(`^(?:\d+:)?[0-9A-Za-z.+_~]*\d[0-9A-Za-z.+_~]*-\d+(?:\.\d+)?$`)

// Pacman reads a row of pacman -Q.
// https://man.archlinux.org/man/pacman.8
//
//	curl 8.7.1-1
func Pacman(row string) (items []timeline.Item, ok bool) {
	name, version, ok := strings.Cut(row, " ")
	if !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789@._+-") != "" || !pacmanVersion.MatchString(version) {
		return nil, false
	}
	return []timeline.Item{evidence.SystemItem("alpm", "", name, "", version)}, true
}

// Brew reads a row of brew list --versions, with all versions of a formula.
// https://docs.brew.sh/Manpage
//
//	xz 5.6.1 5.4.6
//	litellm 1.105.4_1
func Brew(row string) (items []timeline.Item, ok bool) {
	w := strings.Fields(row)
	if len(w) < 2 || !evidence.IsDebName(strings.ReplaceAll(w[0], "@", "")) {
		return nil, false
	}
	for _, version := range w[1:] {
		if plain, revision, _ := strings.Cut(version, "_"); !evidence.IsDebVersion(plain) || strings.Trim(revision, "0123456789") != "" {
			return nil, false
		}
		items = append(items, evidence.SystemItem("brew", "", w[0], "", version))
	}
	return items, true
}
