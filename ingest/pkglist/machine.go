package pkglist

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Columns are where the columns of a table begin, in letters of its head: their
// cells may hold blanks.
type Columns []int

// FindColumns looks for names in the head of a table, in their order; nil when
// one is not there.
func FindColumns(head string, names ...string) Columns {
	var at Columns
	from := 0
	for _, name := range names {
		i := strings.Index(head[from:], name)
		if i < 0 || from+i > 0 && head[from+i-1] != ' ' {
			return nil
		}
		from += i
		at = append(at, utf8.RuneCountInString(head[:from]))
		from += len(name)
	}
	return at
}

// Cells takes a row apart; ok is false where a cell does not begin at its column.
func (c Columns) Cells(row string) (cells []string, ok bool) {
	text := []rune(row)
	for i, from := range c {
		to := len(text)
		if i+1 < len(c) {
			to = min(c[i+1], to)
		}
		if from >= len(text) {
			cells = append(cells, "")
			continue
		}
		if from > 0 && text[from-1] != ' ' {
			return nil, false
		}
		cells = append(cells, strings.TrimSpace(string(text[from:to])))
	}
	return cells, true
}

// WingetColumns are those of winget list, nil when a line is no head of it. The
// column of newer versions is only there when one is known.
func WingetColumns(line string) Columns {
	if at := FindColumns(line, "Name ", "Id ", "Version ", "Available ", "Source"); at != nil {
		return at
	}
	return FindColumns(line, "Name ", "Id ", "Version ", "Source")
}

// wingetID is what the source of winget calls a package.
var wingetID = regexp.MustCompile(`^[A-Za-z0-9+_-]+(?:\.[A-Za-z0-9+_-]+)+$`)

// Winget reads a row of winget list. What came from elsewhere has no source, and
// what is cut has an ellipsis.
// https://learn.microsoft.com/en-us/windows/package-manager/winget/list
//
//	Name               Id          Version  Available  Source
//	7-Zip 23.01 (x64)  7zip.7zip   23.01    24.08      winget
func Winget(at Columns, row string) (items []timeline.Item, ok bool) {
	cells, ok := at.Cells(row)
	if !ok || cells[1] == "" {
		return nil, false
	}
	version := cells[2]
	if cells[len(cells)-1] != "winget" || !wingetID.MatchString(cells[1]) || version == "" || strings.ContainsAny(version, "…<> ") {
		return nil, true
	}
	return []timeline.Item{{Artifact: timeline.PURL("winget", "", cells[1], version)}}, true
}

// Chocolatey reads a row of choco list.
// https://docs.chocolatey.org/en-us/choco/commands/list/
//
//	git 2.45.1
func Chocolatey(row string) (items []timeline.Item, ok bool) {
	name, version, ok := strings.Cut(row, " ")
	it, is := evidence.NuGet(name, version)
	if !ok || !is || version == "" {
		return nil, false
	}
	it.Artifact = timeline.PURL("chocolatey", "", strings.ToLower(name), version)
	return []timeline.Item{it}, true
}

// IsChocolateyHead reports whether choco is of a release that lists what is
// installed, and no repository.
//
//	Chocolatey v2.2.2
func IsChocolateyHead(line string) bool {
	return strings.HasPrefix(line, "Chocolatey v") && !strings.HasPrefix(line, "Chocolatey v0.") && !strings.HasPrefix(line, "Chocolatey v1.")
}

// ChocolateyFoot is the end of choco list: how many there are.
var ChocolateyFoot = regexp.MustCompile(`^\d+ packages installed\.$`)

// IsSnapHead reports whether a line is the head of snap list.
func IsSnapHead(line string) bool {
	return strings.Join(strings.Fields(line), " ") == "Name Version Rev Tracking Publisher Notes"
}

// Snap reads a row of snap list. An older revision that is kept is disabled.
// https://snapcraft.io/docs/managing-updates
//
//	core20  20240416  2318  latest/stable  canonical✓  base
func Snap(row string) (items []timeline.Item, ok bool) {
	w := strings.Fields(row)
	if len(w) < 5 || strings.Trim(w[0], "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || strings.Trim(strings.TrimPrefix(w[2], "x"), "0123456789") != "" {
		return nil, false
	}
	return []timeline.Item{{Artifact: timeline.PURL("snap", "", w[0], w[1])}}, true
}

// PackageColumns are those of PowerShell's Get-Package and Get-InstalledModule.
func PackageColumns(line string) Columns {
	if at := FindColumns(line, "Name ", "Version ", "Source ", "ProviderName"); at != nil {
		return at
	}
	return nil
}

// GetPackage reads a row of Get-Package. What was installed without a package
// manager has no name that anybody else knows.
// https://learn.microsoft.com/en-us/powershell/module/packagemanagement/get-package
//
//	Name    Version  Source                           ProviderName
//	Pester  5.5.0    https://mirror.acme.example/ps   PowerShellGet
func GetPackage(at Columns, row string) (items []timeline.Item, ok bool) {
	cells, ok := at.Cells(row)
	if !ok || cells[0] == "" {
		return nil, false
	}
	it, is := evidence.NuGet(cells[0], cells[1])
	switch provider := strings.ToLower(cells[3]); {
	case !is || cells[1] == "":
		return nil, true
	case provider == "powershellget" || provider == "nuget":
		return []timeline.Item{it}, true
	case strings.HasPrefix(provider, "chocolatey"):
		return []timeline.Item{{Artifact: timeline.PURL("chocolatey", "", strings.ToLower(cells[0]), cells[1])}}, true
	}
	return nil, true
}
