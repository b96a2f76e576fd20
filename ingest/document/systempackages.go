package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DpkgStatus is the database of Debian's package manager; images without one
// keep a file for each package in status.d.
// https://man7.org/linux/man-pages/man1/dpkg.1.html
var DpkgStatus = evidence.Format{
	Name:   "dpkg-status",
	Shape:  evidence.DocumentShape,
	Title:  "dpkg status database",
	Proves: "which Debian packages are installed",
	Cannot: "when they were installed",
	Doc:    "https://man7.org/linux/man-pages/man1/dpkg.1.html",
	Sample: "dpkg 1.21 run for this project",
	Claim:  claimDpkgStatus,
	Read:   readDpkgStatus,
	Place:  placeDpkgStatus,
	Topic:  "deb",
}

// placeDpkgStatus knows var/lib/dpkg/status and var/lib/dpkg/status.d/libc6.
func placeDpkgStatus(path string) bool {
	if strings.HasSuffix(path, "dpkg/status") {
		return true
	}
	_, file, ok := strings.Cut(path, "dpkg/status.d/")
	return ok && strings.IndexByte(file, '/') < 0 && !strings.HasSuffix(file, ".md5sums")
}

// claimDpkgStatus wants a first paragraph about an installed package; in
// status.d it has no status.
//
//	Package: libc6
//	Status: install ok installed
func claimDpkgStatus(h *evidence.Head) bool {
	if !bytes.HasPrefix(h.Bytes, []byte("Package: ")) {
		return false
	}
	first, _, _ := bytes.Cut(h.Bytes, []byte("\n\n"))
	return bytes.Contains(first, []byte("\nVersion: ")) && (bytes.Contains(first, []byte("\nStatus: ")) || placeDpkgStatus(h.Path))
}

// systemPackage is what one paragraph says.
type systemPackage struct {
	name, version, arch string
	gone                bool // only its configuration is left
	off                 int  // of the version
}

func readDpkgStatus(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	paragraphs(d, o, "deb", func(p *systemPackage, line []byte, off int) {
		key, val, ok := bytes.Cut(line, []byte(": "))
		if !ok || line[0] == ' ' {
			return
		}
		switch text := string(bytes.TrimSpace(val)); string(key) {
		case "Package":
			p.name = text
		case "Version":
			p.version, p.off = text, off
		case "Architecture":
			p.arch = text
		case "Status":
			p.gone = strings.HasSuffix(text, " config-files") || strings.HasSuffix(text, " not-installed")
		}
	})
	return nil
}

// APKInstalled is the database of Alpine's package manager.
// https://wiki.alpinelinux.org/wiki/Apk_spec
var APKInstalled = evidence.Format{
	Name:   "apk-installed",
	Shape:  evidence.DocumentShape,
	Title:  "apk database of installed packages",
	Proves: "which Alpine packages are installed",
	Cannot: "when they were installed",
	Doc:    "https://wiki.alpinelinux.org/wiki/Apk_spec",
	Sample: "written by hand after the documentation",
	Claim:  claimAPKInstalled,
	Read:   readAPKInstalled,
	Place:  func(path string) bool { return strings.HasSuffix(path, "lib/apk/db/installed") },
	Topic:  "apk",
}

// claimAPKInstalled wants the checksum that a package begins with, and a name.
//
//	C:Q1Yd8P0SJvmn4SqOxQ2ya7wSvTAzg=
//	P:alpine-baselayout
func claimAPKInstalled(h *evidence.Head) bool {
	first, _, _ := bytes.Cut(h.Bytes, []byte("\n\n"))
	return bytes.HasPrefix(first, []byte("C:Q")) && bytes.Contains(first, []byte("\nP:")) && bytes.Contains(first, []byte("\nV:"))
}

func readAPKInstalled(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	paragraphs(d, o, "apk", func(p *systemPackage, line []byte, off int) {
		if len(line) < 2 || line[1] != ':' {
			return
		}
		switch text := string(bytes.TrimSpace(line[2:])); line[0] {
		case 'P':
			p.name = text
		case 'V':
			p.version, p.off = text, off
		case 'A':
			p.arch = text
		}
	})
	return nil
}

// paragraphs reads a database whose packages are parted by empty lines.
func paragraphs(d *evidence.Doc, o *evidence.Out, kind string, field func(p *systemPackage, line []byte, off int)) {
	var p systemPackage
	flush := func() {
		if p.name != "" && p.version != "" && !p.gone {
			onLine(d, o, p.off)
			o.Emit(timeline.Present, nil, evidence.SystemItem(kind, "", p.name, p.arch, p.version))
		}
		p = systemPackage{}
	}
	for off := 0; off < len(d.Data); {
		end := off + bytes.IndexByte(d.Data[off:], '\n')
		if end < off {
			end = len(d.Data)
		}
		if line := bytes.TrimRight(d.Data[off:end], "\r"); len(line) == 0 {
			flush()
		} else {
			field(&p, line, off)
		}
		off = end + 1
	}
	flush()
}
