package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ACRTable is the table of repository events that Azure Container Registry
// sends to Azure Monitor: rows of a query, and the records of a storage
// account or event hub.
// https://learn.microsoft.com/azure/azure-monitor/reference/tables/containerregistryrepositoryevents
var ACRTable = evidence.Format{
	Name:   "acr-table",
	Shape:  evidence.ToolShape,
	Title:  "Azure Container Registry repository events (Azure Monitor)",
	Proves: "which address or identity read the manifest of, pushed or deleted which image, when; a pull is a manifest and a blob of the same caller",
	Cannot: "that layers came over, where rows name no blobs; anything while diagnostic settings are off, which is the default",
	Doc:    "https://learn.microsoft.com/azure/azure-monitor/reference/tables/containerregistryrepositoryevents",
	Sample: "written by hand after the documentation",
	Fields: [][]string{
		{"OperationName", "Repository", "TimeGenerated"},
		{"OperationName", "Repository", "TimeGenerated [UTC]"},
		{"category", "operationName", "properties", "time"},
	},
	Lists: []string{"records"},
	Claim: func(h *evidence.Head) bool {
		return strings.Contains(string(h.Bytes), "ContainerRegistryRepositoryEvents") || strings.Contains(string(h.Bytes), "OperationName")
	},
	Tool: func() evidence.Parser { return &acrTable{} },
}

type acrTable struct{ reads registryReads }

// Line reads one row, or one record:
//
//	{"TimeGenerated":"2026-10-21T12:04:51.118Z","OperationName":"Pull","Repository":"acme/api","Tag":"1.4","Digest":"sha256:c371…","MediaType":"application/vnd.docker.distribution.manifest.v2+json",
//	"LoginServer":"acme.azurecr.io","CallerIpAddress":"10.0.4.7","Identity":"ci","UserAgent":"docker/27.1","ResultType":"HttpStatusCode","ResultDescription":"200","Type":"ContainerRegistryRepositoryEvents"}
//	{"time":"2026-10-21T12:04:51.118Z","category":"ContainerRegistryRepositoryEvents","operationName":"Pull","callerIpAddress":"10.0.4.7","properties":{"repository":"acme/api","tag":"1.4",…}}
func (a *acrTable) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	if category := v.get("category").text(); category != "" && category != "ContainerRegistryRepositoryEvents" {
		return evidence.Miss
	}
	field := func(names ...string) string {
		for _, of := range []value{v, v.get("properties")} {
			for _, n := range names {
				if text := of.get(n).text(); text != "" {
					return text
				}
			}
		}
		return ""
	}
	e := registryEvent{
		action: strings.ToLower(field("OperationName", "operationName")), repository: field("Repository", "repository"),
		tag: field("Tag", "tag"), digest: field("Digest", "digest"), mediaType: field("MediaType", "mediaType"), host: field("LoginServer", "loginServer"),
		client: field("CallerIpAddress", "callerIpAddress", "Identity", "identity"), agent: field("UserAgent", "userAgent"),
	}
	if e.repository == "" || strings.ContainsAny(e.repository, " @") {
		return evidence.Miss
	}
	o.Seen("")
	for _, name := range []string{"TimeGenerated", "TimeGenerated [UTC]", "time"} {
		if text := v.get(name).text(); text != "" {
			m, n := evidence.ParseISO([]byte(text))
			m.HasOffset = m.HasOffset || n > 0 // the table is in UTC, some exports leave the Z out
			e.span = m.Span(text, &o.Times)
		}
	}
	if e.span == (timeline.Span{}) {
		e.span = o.Mark().Span()
	}
	result := field("ResultDescription", "resultDescription")
	if kind := field("ResultType", "resultType"); len(kind) == 3 {
		result = kind
	}
	if len(result) == 3 && result[0] != '2' && result[0] != '3' {
		return evidence.Done // denied, or not there
	}
	a.record(&e, o)
	return evidence.Done
}

// record makes an event of what happened to a manifest; of a row without a
// media type it is taken that a manifest is meant.
func (a *acrTable) record(e *registryEvent, o *evidence.Out) {
	role := mediaRole(e.mediaType)
	manifest := role == timeline.Index || role == timeline.Manifest || e.mediaType == ""
	digest := timeline.SHA256(e.digest)
	made := timeline.Event{Subject: e.subject(), Span: e.span, Items: []timeline.Item{registryImage(e.host, e.repository, e.tag, e.digest, role)}}
	named := e.tag != "" || digest != ""
	reader := e.client + " " + e.agent
	switch {
	case e.action == "pull" && manifest && named:
		a.reads.manifest(reader, e.repository, made, o)
	case e.action == "pull" && !manifest:
		a.reads.blob(reader, e.repository, e.span.From)
	case e.action == "push" && manifest && named:
		made.Action = timeline.Push
		o.Event(made)
	case (e.action == "delete" || e.action == "purge" || e.action == "untag") && named:
		made.Action = timeline.Remove
		o.Event(made)
	}
}

// End settles what waited for a later row.
func (a *acrTable) End(_ timeline.OpState, o *evidence.Out) { a.reads.settle(o) }
