package document

import (
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
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

var rpmRows = rowList{none: rpmNote, event: rpmRow}

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
	e.Action = timeline.Present
	if len(w) == 3 && strings.Count(w[1], "-") == 1 && !strings.Contains(w[0], "/") {
		name, arch, cut := cutLastDot(w[0])
		it, named := evidence.RPMItem(name, w[1], arch)
		e.Items = []timeline.Item{it}
		return e, cut && named && pkglist.IsRPMArch(arch)
	}
	if e.Items, ok = pkglist.RPM(w[0]); len(w) == 1 || len(e.Items) == 0 {
		return e, ok
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

// rpmTime reads the time of --last in English, in any order of its words; one
// in another language is a time that is not known.
//
//	Wed Oct 21 12:04:51 2026
//	Wed 21 Oct 2026 12:04:51 PM UTC
//	Wed 21 Oct 2026 02:04:51 PM CEST
func rpmTime(w []string, t *evidence.Times) (timeline.Span, bool) {
	m := evidence.Moment{Resolution: time.Second}
	written := strings.Join(w, " ")
	clock, zone := false, ""
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
		case evidence.IsZoneName(x):
			zone = x
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
	return m.SpanNamed(zone, written, t), true
}
