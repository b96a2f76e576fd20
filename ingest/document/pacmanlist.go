package document

import (
	"regexp"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
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

var pacmanRows = rowList{none: func(line string) bool { return strings.HasPrefix(line, "warning: ") }, row: pacmanRow}

// pacmanVersion has the release of the package behind a hyphen: 1:8.7.1-1.
var pacmanVersion = regexp.MustCompile(`^(?:\d+:)?[0-9A-Za-z.+_~]*\d[0-9A-Za-z.+_~]*-\d+(?:\.\d+)?$`)

// pacmanRow reads "curl 8.7.1-1".
func pacmanRow(line string, _ *evidence.Times) (e timeline.Event, ok bool) {
	name, version, ok := strings.Cut(line, " ")
	if !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789@._+-") != "" || !pacmanVersion.MatchString(version) {
		return e, false
	}
	return inPlace(timeline.PURL("alpm", "", name, version)), true
}
