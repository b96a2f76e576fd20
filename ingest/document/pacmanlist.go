package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
)

// PacmanList is what pacman -Q prints.
// https://man.archlinux.org/man/pacman.8
var PacmanList = evidence.Format{
	Name:   "pacman-list",
	Shape:  evidence.DocumentShape,
	Title:  "pacman -Q",
	Proves: "which packages of Arch Linux are installed",
	Cannot: "when they were installed",
	Doc:    "https://man.archlinux.org/man/pacman.8",
	Sample: "written by hand after the documentation",
	Claim:  func(h *evidence.Head) bool { return pacmanRows.claims(h, 3) },
	Read:   pacmanRows.read,
}

var pacmanRows = rowList{none: func(line string) bool { return strings.HasPrefix(line, "warning: ") }, row: pkglist.Pacman}
