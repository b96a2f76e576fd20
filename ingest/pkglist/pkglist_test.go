package pkglist

import (
	"strings"
	"testing"

	"pulltrail/timeline"
)

// readers are all readers of rows, each with rows of its lists and what stands
// near them.
var readers = []struct {
	name string
	read func(string) ([]timeline.Item, bool)
	rows []string // a row, " → " and its packages, "" for none; without an arrow it is no row
}{
	{"Dpkg", Dpkg, []string{
		"ii  xz-utils       5.6.1-1         amd64        XZ-format compression utilities → pkg:deb/xz-utils@5.6.1-1?arch=amd64",
		"ii  libc6:amd64    2.36-9+deb12u9  amd64        GNU C Library: Shared libraries → pkg:deb/libc6@2.36-9+deb12u9?arch=amd64",
		"ii  libstdc++6:amd64 12.2.0-14     amd64        GNU Standard C++ Library v3 → pkg:deb/libstdc++6@12.2.0-14?arch=amd64",
		"iU  acme-half      2.0-1           amd64        unpacked → pkg:deb/acme-half@2.0-1?arch=amd64",
		"iHR acme-broken    2.0-1           amd64        to be reinstalled → pkg:deb/acme-broken@2.0-1?arch=amd64",
		"rc  acme-old       1.0-1           amd64        its configuration is left → ",
		"un  acme-never     <none>          <none>       (no description available) → ",
		"is this a row of dpkg?",
		"  ii xz-utils 5.6.1-1 amd64",
	}},
	{"DpkgQuery", DpkgQuery, []string{
		"libc6:amd64\t2.36-9+deb12u9 → pkg:deb/libc6@2.36-9+deb12u9?arch=amd64",
		"g++\t4:12.2.0-3 → pkg:deb/g++@4:12.2.0-3",
		"name\tversion",
		"libc6 2.36-9",
	}},
	{"Apt", Apt, []string{
		"xz-utils/stable,now 5.6.1-1 amd64 [installed,automatic] → pkg:deb/xz-utils@5.6.1-1?arch=amd64",
		"curl/stable-security,now 7.88.1-10 amd64 [installed,upgradable to: 7.88.1-12] → pkg:deb/curl@7.88.1-10?arch=amd64",
		"curl/stable-security 7.88.1-12 amd64 [upgradable from: 7.88.1-10] → ",
		"acme-new/stable 2.0-1 amd64 → ",
		"Listing... Done",
	}},
	{"RPM", RPM, []string{
		"xz-libs-5.6.1-1.fc40.x86_64 → pkg:rpm/xz-libs@5.6.1-1.fc40?arch=x86_64",
		"gpg-pubkey-8483c65d-5ccc5b19 → ",
		"report-2026-10-21.txt",
		"all is well.",
	}},
	{"APK", APK, []string{
		"musl-1.2.5-r0 → pkg:apk/musl@1.2.5-r0",
		"acme-rest-1.0-r12 - a client → pkg:apk/acme-rest@1.0-r12",
		"busybox-1.36.1-r29 x86_64 {busybox} (GPL-2.0-only) [installed] → pkg:apk/busybox@1.36.1-r29?arch=x86_64",
		"curl-8.9.1-r1 x86_64 {curl} (curl) → ",
		"my-run",
		"a-r1",
	}},
	{"Pacman", Pacman, []string{
		"libgit2 1:1.8.1-1 → pkg:alpm/libgit2@1:1.8.1-1",
		"Python 3.12.1",
		"chapter 1-2 of",
	}},
	{"Brew", Brew, []string{
		"xz 5.6.1 5.4.6 → pkg:brew/xz@5.6.1 pkg:brew/xz@5.4.6",
		"openssl@3 3.3.1 → pkg:brew/openssl%403@3.3.1",
		"all is well",
	}},
	{"Pip", Pip, []string{
		"litellm      1.107.0 → pkg:pypi/litellm@1.107.0",
		"acme-agent   0.3.0   /srv/agent → pkg:pypi/acme-agent@0.3.0",
		"litellm (1.107.0) → pkg:pypi/litellm@1.107.0",
		"------------ -----------",
		"all tests passed",
	}},
	{"Conda", Conda, []string{
		"litellm                   1.107.0                  pypi_0    pypi → pkg:pypi/litellm@1.107.0",
		"numpy                     1.26.4          py311h64a7726_0  conda-forge → pkg:conda/numpy@1.26.4",
		"_libgcc_mutex             0.1                        main → pkg:conda/_libgcc_mutex@0.1",
		"all tests passed",
	}},
	{"CondaSpec", CondaSpec, []string{
		"numpy=1.26.4=py311h64a7726_0 → pkg:conda/numpy@1.26.4",
		"litellm=1.107.0=pypi_0 → pkg:pypi/litellm@1.107.0",
		"litellm==1.107.0",
	}},
	{"Gem", Gem, []string{
		"rest-client (2.1.0, 1.6.13) → pkg:gem/rest-client@2.1.0 pkg:gem/rest-client@1.6.13",
		"bundler (default: 2.4.19) → pkg:gem/bundler@2.4.19",
		"nokogiri (1.16.5 x86_64-linux, 1.15.0 ruby) → pkg:gem/nokogiri@1.16.5?platform=x86_64-linux pkg:gem/nokogiri@1.15.0",
		"nokogiri (1.16.5 ruby x86_64-linux) → pkg:gem/nokogiri@1.16.5",
		"acme (5) → pkg:gem/acme@5",
		"acme (see below)",
	}},
}

func TestRows(t *testing.T) {
	for _, r := range readers {
		for _, c := range r.rows {
			row, want, isRow := strings.Cut(c, " → ")
			items, ok := r.read(row)
			var got []string
			for _, it := range items {
				got = append(got, it.Artifact)
			}
			if ok != isRow || ok && strings.Join(got, " ") != want {
				t.Errorf("%s(%q) is %q, %v; want %q, %v", r.name, row, got, ok, want, isRow)
			}
		}
	}
}

// FuzzRows looks that no reader makes a package without a name or version.
func FuzzRows(f *testing.F) {
	for _, r := range readers {
		for _, c := range r.rows {
			row, _, _ := strings.Cut(c, " → ")
			f.Add(row)
		}
	}
	f.Fuzz(func(t *testing.T, row string) {
		for _, r := range readers {
			items, ok := r.read(row)
			for _, it := range items {
				if p := timeline.Split(it.Artifact); ok && (p.Name == "" || p.Version == "") {
					t.Errorf("%s(%q) is %q", r.name, row, it.Artifact)
				}
			}
		}
	})
}
