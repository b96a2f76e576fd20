package document

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PipReport is what 'pip install --report' and 'pip inspect' write.
// https://pip.pypa.io/en/stable/reference/installation-report/
// https://pip.pypa.io/en/stable/reference/inspect-report/
var PipReport = evidence.Format{
	Name:   "pip-report",
	Shape:  evidence.DocumentShape,
	Title:  "pip install --report, pip inspect",
	Proves: "what pip chose, with the hash of each archive; what is in an environment (inspect)",
	Cannot: "that it was installed: a dry run writes the same report; when",
	Doc:    "https://pip.pypa.io/en/stable/reference/installation-report/",
	Sample: "pip 23.2.1 run for this project",
	Claim:  claimPipReport,
	Read:   readPipReport,
}

// claimPipReport wants pip's version and one of the two lists.
//
//	{"version": "1", "pip_version": "23.2.1", "install": [
func claimPipReport(h *evidence.Head) bool {
	v, ok := headRecord(h)
	return ok && v.get("pip_version").text() != "" && (v.get("install").kind() == '[' || v.get("installed").kind() == '[')
}

func readPipReport(d *evidence.Doc, o *evidence.Out) error {
	docs, err := documents(d)
	o.Seen("")
	for _, v := range docs {
		for row := range v.get("install").elements() {
			reportRow(d, o, timeline.Resolve, row, row.get("download_info"))
		}
		for row := range v.get("installed").elements() {
			reportRow(d, o, timeline.Present, row, row.get("direct_url"))
		}
	}
	return err
}

// reportRow records one distribution; where says what it came from.
func reportRow(d *evidence.Doc, o *evidence.Out, action timeline.Action, row, where value) {
	name, version := row.get("metadata", "name"), row.get("metadata", "version")
	at(d, o, version)
	if !evidence.IsDistName(name.text()) || !evidence.IsVersion(version.text()) {
		at(d, o, row)
		o.Skip("a distribution without name or version")
		return
	}
	item := timeline.Item{Artifact: timeline.PURL("pypi", "", name.text(), version.text()), Digests: directDigests(where)}
	o.Emit(action, nil, item)
}
