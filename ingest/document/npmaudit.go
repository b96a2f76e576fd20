package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NPMAudit is what npm audit --json prints, and pnpm and yarn alike.
// https://docs.npmjs.com/cli/commands/npm-audit
// https://classic.yarnpkg.com/lang/en/docs/cli/audit/
var NPMAudit = evidence.Format{
	Name:   "npm-audit",
	Shape:  evidence.DocumentShape,
	Title:  "npm audit --json, pnpm audit --json, yarn audit --json",
	Proves: "packages in the tree of a project that the registry knows as vulnerable: their versions, or, from npm 7 on, the range that they are in",
	Cannot: "packages that no advisory was known for; that they are installed: the lock file may be all that was looked at",
	Doc:    "https://github.com/npm/cli/blob/latest/docs/lib/content/commands/npm-audit.md",
	Sample: "written by hand after the documentation and public reports",
	Claim: func(h *evidence.Head) bool {
		v := value{h.Bytes, 0, len(h.Bytes)}
		return v.has("auditReportVersion") || v.has("advisories") && v.has("metadata") ||
			bytes.HasPrefix(h.Bytes, []byte(`{"type":"auditAdvisory"`)) || bytes.HasPrefix(h.Bytes, []byte(`{"type":"auditSummary"`))
	},
	Read: readNPMAudit,
}

// readNPMAudit reads the report of npm 7 and newer, and that of npm 6, of which
// yarn prints each advisory on a line of its own:
//
//	{"auditReportVersion":2,"vulnerabilities":{"axios":{"name":"axios","via":[{"source":1,"range":"=1.14.1",…}],"range":"1.14.1","nodes":["node_modules/axios"],…
//	{"actions":[…],"advisories":{"1065":{"module_name":"lodash","findings":[{"version":"4.17.11","paths":["convict>lodash"]}],"vulnerable_versions":"<4.17.12",…
//	{"type":"auditAdvisory","data":{"resolution":{…},"advisory":{"module_name":"lodash","findings":[{"version":"4.17.11",…
func readNPMAudit(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		for name, entry := range v.get("vulnerabilities").fields() {
			affected(d, o, name, entry)
		}
		for _, advisory := range v.get("advisories").fields() {
			found(d, o, advisory)
		}
		found(d, o, v.get("data", "advisory"))
	}
	return err
}

// affected records a package that an advisory is about; one that only depends
// on such has names in "via".
func affected(d *evidence.Doc, o *evidence.Out, name string, entry value) {
	itself := false
	for via := range entry.get("via").elements() {
		itself = itself || via.kind() == '{'
	}
	spread := entry.get("range")
	if !itself || !evidence.IsNPMName(name) {
		return
	}
	it := timeline.Item{Artifact: timeline.PURL("npm", "", name, ""), Ref: evidence.Redact(spread.text())}
	if exact := strings.TrimLeft(spread.text(), "=v"); evidence.IsSemver(exact) {
		it = evidence.NPMItem(name, exact)
	}
	at(d, o, entry)
	o.Emit(timeline.Require, nil, it)
}

// found records the versions that an advisory found in the tree.
func found(d *evidence.Doc, o *evidence.Out, advisory value) {
	name := advisory.get("module_name").text()
	for finding := range advisory.get("findings").elements() {
		version := finding.get("version")
		if evidence.IsNPMName(name) && evidence.IsSemver(version.text()) {
			at(d, o, version)
			o.Emit(timeline.Require, nil, evidence.NPMItem(name, version.text()))
		}
	}
}
