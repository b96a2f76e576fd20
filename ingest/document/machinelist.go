package document

import (
	"bytes"
	"encoding/csv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
	"pulltrail/timeline"
)

// MachineList are the lists of software that managers of whole machines print.
// https://learn.microsoft.com/en-us/windows/package-manager/winget/list
// https://docs.chocolatey.org/en-us/choco/commands/list/
// https://snapcraft.io/docs/managing-updates
// https://learn.microsoft.com/en-us/powershell/module/packagemanagement/get-package
var MachineList = evidence.Format{
	Name:   "machine-list",
	Shape:  evidence.DocumentShape,
	Title:  "winget list, choco list, snap list, Get-Package",
	Proves: "which packages are installed on a machine, with versions",
	Cannot: "when they were installed; software that no source of these knows; choco list of releases before 2, which lists a repository",
	Doc:    "https://learn.microsoft.com/en-us/windows/package-manager/winget/list",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		for line := range eachLogicalLine(&evidence.Doc{Data: h.Bytes}) {
			if rows := machineRows(line.text); rows != nil {
				return true
			}
			if strings.Trim(line.text, `-\|/ `) != "" { // winget turns a wheel while it waits
				return false
			}
		}
		return false
	},
	Read: readMachineList,
}

// machineRows reads the rows below a head; nil when the line is none.
func machineRows(head string) func(row string) ([]timeline.Item, bool) {
	if at := pkglist.WingetColumns(head); at != nil {
		return func(row string) ([]timeline.Item, bool) { return pkglist.Winget(at, row) }
	}
	if at := pkglist.PackageColumns(head); at != nil {
		return func(row string) ([]timeline.Item, bool) { return pkglist.GetPackage(at, row) }
	}
	switch {
	case pkglist.IsChocolateyHead(head):
		return pkglist.Chocolatey
	case pkglist.IsSnapHead(head):
		return pkglist.Snap
	}
	return nil
}

func readMachineList(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	var rows func(row string) ([]timeline.Item, bool)
	for _, line := range logicalLines(d) {
		if head := machineRows(line.text); head != nil {
			rows = head
			continue
		}
		if strings.Trim(line.text, `-\|/ `) == "" || rows == nil || pkglist.ChocolateyFoot.MatchString(line.text) {
			continue
		}
		onLine(d, o, line.off)
		items, ok := rows(line.text)
		if !ok {
			o.Skip("no row of such a list")
			continue
		}
		if len(items) > 0 {
			o.Emit(timeline.Present, nil, items...)
		}
	}
	return nil
}

// IntuneApps is what Intune exports of the software that it found on devices.
// https://learn.microsoft.com/en-us/mem/intune/apps/app-discovered-apps
var IntuneApps = evidence.Format{
	Name:   "intune-apps",
	Shape:  evidence.DocumentShape,
	Title:  "Intune: discovered apps, with devices (CSV)",
	Proves: "which software is on which device, by the name that it gives itself, with versions",
	Cannot: "when it was installed; packages of languages",
	Doc:    "https://learn.microsoft.com/en-us/mem/intune/apps/app-discovered-apps",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		line, _, _ := bytes.Cut(h.Bytes, []byte("\n"))
		return intuneColumns(line) != nil
	},
	Read: readIntuneApps,
}

// intuneColumns finds application, version and device.
//
//	ApplicationKey,ApplicationName,ApplicationPublisher,ApplicationShortVersion,ApplicationVersion,DeviceId,DeviceName,OSDescription,OSVersion,Platform,UserId,EmailAddress,UserName
func intuneColumns(line []byte) []int {
	names, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))).Read()
	if err != nil {
		return nil
	}
	at := []int{-1, -1, -1}
	for i, name := range names {
		switch strings.ReplaceAll(strings.TrimSpace(name), " ", "") {
		case "ApplicationName":
			at[0] = i
		case "ApplicationVersion":
			at[1] = i
		case "DeviceName":
			at[2] = i
		}
	}
	if at[0] < 0 || at[1] < 0 || at[2] < 0 {
		return nil
	}
	return at
}

func readIntuneApps(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(d.Data, []byte("\xef\xbb\xbf"))))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	var at []int
	for {
		row, err := r.Read()
		if err != nil {
			return nil // its end: with lazy quotes nothing else is wrong
		}
		line, _ := r.FieldPos(0)
		if at == nil {
			if at = intuneColumns([]byte(strings.Join(row, ","))); at == nil {
				return nil
			}
			continue
		}
		onLine(d, o, d.LineStart(line))
		if max(at[0], at[1], at[2]) >= len(row) {
			o.Skip("a row that lacks columns")
			continue
		}
		name, version, device := strings.TrimSpace(row[at[0]]), strings.TrimSpace(row[at[1]]), strings.TrimSpace(row[at[2]])
		if name == "" || version == "" || device == "" || strings.ContainsAny(device, " /") {
			continue
		}
		about(o, timeline.Subject{Kind: timeline.Host, ID: device}, func() {
			o.Emit(timeline.Present, nil, timeline.Item{Artifact: timeline.PURL("generic", "", name, version)})
		})
	}
}
