package document

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
	"pulltrail/timeline"
)

// HelmList is what helm list and helm history print of releases.
// https://helm.sh/docs/helm/helm_list/
// https://helm.sh/docs/helm/helm_history/
var HelmList = evidence.Format{
	Name:   "helm-list",
	Shape:  evidence.DocumentShape,
	Title:  "helm list (table, JSON, YAML), helm history (JSON, YAML)",
	Proves: "charts that are or were installed in a cluster, with versions, and when",
	Cannot: "which images a chart brought: the app version is a word of its author; of which cluster: say it with --subject",
	Doc:    "https://helm.sh/docs/helm/helm_list/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		if v, ok := headRecord(h); ok {
			return isRelease(v)
		}
		return bytes.HasPrefix(h.Bytes, []byte("- app_version: ")) && bytes.Contains(h.Bytes, []byte("\n  chart: ")) || helmRows.claims(h, 1)
	},
	Read: readHelmList,
}

var helmRows = rowList{
	none:  pkglist.IsHelmHead,
	event: func(line string, _ *evidence.Times) (timeline.Event, bool) { return pkglist.Helm(line) },
}

func isRelease(v value) bool {
	return v.has("chart") && v.has("app_version") && v.has("revision") && v.has("updated") && v.has("status")
}

// readHelmList reads releases.
//
//	[{"name":"litellm","namespace":"ai","revision":"3","updated":"2026-10-21 12:04:51.123456789 +0000 UTC","status":"deployed","chart":"litellm-0.1.772","app_version":"v1.107.0"}]
//	[{"revision":2,"updated":"2026-10-21T12:04:51.123456789Z","status":"superseded","chart":"litellm-0.1.772","app_version":"v1.107.0","description":"Upgrade complete"}]
func readHelmList(d *evidence.Doc, o *evidence.Out) error {
	text := bytes.TrimLeft(d.Data, " \t\r\n")
	if bytes.HasPrefix(text, []byte("NAME")) {
		return helmRows.read(d, o)
	}
	if len(text) > 0 && text[0] != '[' && text[0] != '{' {
		respelled, err := jsonOfYAML(d)
		if err != nil {
			return err
		}
		d = respelled
	}
	all, err := records(d)
	o.Seen("")
	for _, v := range all {
		e, ok := pkglist.HelmRelease(v.get("chart").text(), v.get("status").text(), v.get("updated").text())
		if at(d, o, v); !ok {
			o.Skip("a release without a chart and its version")
			continue
		}
		if len(e.Items) > 0 {
			at(d, o, v.get("chart"))
			o.Event(e)
		}
	}
	return err
}
