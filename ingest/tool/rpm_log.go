package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// RPMLog is what yum.log and dnf.rpm.log say of packages that were changed.
// https://dnf.readthedocs.io/en/latest/conf_ref.html
var RPMLog = evidence.Format{
	Name:   "rpm-log",
	Shape:  evidence.ToolShape,
	Title:  "/var/log/yum.log, dnf.rpm.log",
	Proves: "packages installed, replaced and removed, with versions and time",
	Cannot: "the distribution; the version of what yum erased",
	Doc:    "https://dnf.readthedocs.io/en/latest/conf_ref.html",
	Sample: "written by hand after public logs",
	Starts: []string{"Installed: ", "Updated: ", "Erased: ", "Dep-Installed: ", "SUBDEBUG ", "INFO Installed: ", "INFO Upgraded: ", "INFO Upgrade: ", "INFO Erased: ", "INFO Erase: "},
	Tool:   func() evidence.Parser { return rpmLog{} },
}

// rpmWords are what the words of both say. dnf has one word for what came, and
// another for what went; yum has only what came.
var rpmWords = map[string]timeline.Action{
	"Installed": timeline.Install, "Dep-Installed": timeline.Install, "Updated": timeline.Install, "Upgrade": timeline.Install, "Install": timeline.Install,
	"Downgrade": timeline.Install, "Reinstall": timeline.Install, "Reinstalled": timeline.Install,
	"Upgraded": timeline.Remove, "Downgraded": timeline.Remove, "Erase": timeline.Remove, "Erased": timeline.Remove, "Removed": timeline.Remove, "Obsoleted": timeline.Remove,
}

type rpmLog struct{}

// Line reads one line.
//
//	Installed: xz-libs-5.2.2-1.el7.x86_64
//	SUBDEBUG Upgrade: curl-8.2.1-3.fc39.x86_64
//	SUBDEBUG Upgraded: curl-8.2.1-2.fc39.x86_64
func (rpmLog) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := strings.TrimSpace(string(l.Text))
	logged := false
	for _, level := range [...]string{"SUBDEBUG ", "INFO "} {
		if rest, ok := strings.CutPrefix(text, level); ok {
			text, logged = rest, true
		}
	}
	word, id, ok := strings.Cut(text, ": ")
	action, known := rpmWords[word]
	if !ok || !known {
		if logged && strings.HasPrefix(string(l.Text), "SUBDEBUG ") {
			return evidence.Done
		}
		return evidence.Miss
	}
	id, _, _ = strings.Cut(id, " ")
	item, ok := evidence.NEVRA(id)
	if !ok {
		if word == "Erased" { // yum's log has its name alone
			return evidence.Done
		}
		return evidence.Miss
	}
	o.Seen("rpm")
	o.Emit(action, nil, item)
	return evidence.Done
}

// End has nothing to do: each line stands alone.
func (rpmLog) End(timeline.OpState, *evidence.Out) {}
