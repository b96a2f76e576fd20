package document

import (
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// RPMList is what rpm -qa, rpm -qa --last and dnf list --installed print.
// https://rpm.org/docs/latest/man/rpm.8
var RPMList = evidence.Format{
	Name:   "rpm-list",
	Shape:  evidence.DocumentShape,
	Title:  "rpm -qa, rpm -qa --last, dnf list --installed",
	Proves: "which RPM packages are installed; with --last, when",
	Cannot: "the zone of --last, where it is not UTC and not stated with --zone; packages that were removed",
	Doc:    "https://rpm.org/docs/latest/man/rpm.8",
	Sample: "rpm 4.18 run for this project; dnf written by hand after its documentation",
	Claim:  func(h *evidence.Head) bool { return rpmRows.claims(h, 1) },
	Read:   rpmRows.read,
}

var rpmRows = rowList{none: rpmNote, row: rpmRow}

// rpmNote knows what dnf says of itself.
func rpmNote(line string) bool {
	return line == "Installed Packages" || line == "Installed packages" || strings.HasPrefix(line, "Last metadata expiration check: ") || strings.HasPrefix(line, "Updating Subscription Management")
}

// rpmRow reads one row; keys that sign packages are listed too:
//
//	acme-lib-0.9-3.el9.x86_64
//	acme-lib-0.9-3.el9.x86_64                     Wed 21 Oct 2026 12:04:51 PM UTC
//	acme-lib.x86_64                 0.9-3.el9                 @baseos
//	gpg-pubkey-8483c65d-5ccc5b19
func rpmRow(line string, t *evidence.Times) (e timeline.Event, ok bool) {
	w := strings.Fields(line)
	if strings.HasPrefix(w[0], "gpg-pubkey-") {
		return e, strings.Count(w[0], "-") == 3
	}
	if len(w) == 3 && strings.Count(w[1], "-") == 1 && !strings.Contains(w[0], "/") {
		name, arch, cut := cutLastDot(w[0])
		it, named := evidence.RPMItem(name, w[1], arch)
		return timeline.Event{Action: timeline.Present, Items: []timeline.Item{it}}, cut && named && isRPMArch(arch)
	}
	it, named := evidence.NEVRA(w[0])
	_, arch, _ := cutLastDot(w[0])
	if !named || !isRPMArch(arch) {
		return e, false
	}
	e = timeline.Event{Action: timeline.Present, Items: []timeline.Item{it}}
	if len(w) == 1 {
		return e, true
	}
	e.Action = timeline.Install
	e.Span, ok = rpmTime(w[1:], t)
	return e, ok
}

func cutLastDot(text string) (before, after string, ok bool) {
	i := strings.LastIndexByte(text, '.')
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// isRPMArch knows the architectures that packages are built for.
func isRPMArch(text string) bool {
	switch text {
	case "x86_64", "x86_64_v2", "noarch", "aarch64", "i386", "i486", "i586", "i686", "ppc64le", "ppc64", "s390x", "armv7hl", "riscv64", "loongarch64", "(none)":
		return true
	}
	return false
}

// rpmTime reads the time of --last in English, in any order of its words; one
// in another language is a time that is not known.
//
//	Wed Oct 21 12:04:51 2026
//	Wed 21 Oct 2026 12:04:51 PM UTC
//	Wed 21 Oct 2026 02:04:51 PM CEST
func rpmTime(w []string, t *evidence.Times) (timeline.Span, bool) {
	m := evidence.Moment{Resolution: time.Second}
	written := strings.Join(w, " ")
	clock := false
	for _, x := range w {
		n, err := strconv.Atoi(x)
		switch {
		case err == nil && n > 1900:
			m.Year = n
		case err == nil && n > 0 && n < 32:
			m.Day = n
		case evidence.Month([]byte(x)) > 0 && len(x) == 3:
			m.Month = evidence.Month([]byte(x))
		case strings.Count(x, ":") == 2:
			at, err := time.Parse(time.TimeOnly, x)
			if err != nil {
				return timeline.Span{}, false
			}
			m.Hour, m.Minute, m.Sec, clock = at.Hour(), at.Minute(), at.Second(), true
		case x == "PM" && m.Hour < 12:
			m.Hour += 12
		case x == "AM" && m.Hour == 12:
			m.Hour = 0
		case x == "UTC", x == "GMT":
			m.HasOffset = true
		}
	}
	if !clock || m.Year == 0 {
		return timeline.Span{}, false
	}
	if m.Month == 0 || m.Day == 0 {
		s := timeline.Always()
		s.Clock, s.Written = timeline.NoYear, written
		return s, true
	}
	return m.Span(written, t), true
}
