package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Angular is the output of ng add.
// https://angular.dev/cli/add
var Angular = evidence.Format{
	Name:   "angular-cli",
	Shape:  evidence.ToolShape,
	Title:  "ng add",
	Proves: "the package that was added, with its version",
	Cannot: "the versions of what it depends on: the lock file of that commit has them",
	Doc:    "https://angular.dev/cli/add",
	Sample: "written by hand after the source",
	Starts: []string{"✔ ", "Found compatible package version: ", "Packages successfully installed."},
	Tool:   func() evidence.Parser { return &angular{} },
}

type angular struct {
	op   *evidence.Op
	item timeline.Item
}

// Line reads
//
//	✔ Found compatible package version: @angular/material@17.3.10.
//	✔ Packages successfully installed.
func (a *angular) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := strings.TrimPrefix(string(bytes.TrimSpace(l.Text)), "✔ ")
	if found, ok := strings.CutPrefix(text, "Found compatible package version: "); ok {
		it, ok := atVersion("npm", strings.TrimSuffix(strings.TrimSpace(found), "."))
		if !ok || !strings.Contains(it.Artifact[4:], "@"+it.Ref) {
			return evidence.Miss
		}
		it.Ref = ""
		a.op, a.item = o.Invocation("ng"), it
		o.Seen(timeline.NPM)
		o.Emit(timeline.Resolve, a.op, it)
		return evidence.Done
	}
	if text != "Packages successfully installed." || a.op == nil {
		return evidence.Miss
	}
	// What came with it is not shown: the command's ask stays open.
	o.Emit(timeline.Install, a.op, a.item)
	a.End(timeline.OpDone, o)
	return evidence.Done
}

// End forgets what was found and not installed.
func (a *angular) End(how timeline.OpState, o *evidence.Out) {
	o.Close(a.op, how)
	a.op, a.item = nil, timeline.Item{}
}
