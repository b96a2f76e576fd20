package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ACREventGrid is what Azure Event Grid sends of a container registry, in its
// own schema and as CloudEvents.
// https://learn.microsoft.com/azure/event-grid/event-schema-container-registry
var ACREventGrid = evidence.Format{
	Name:   "acr-eventgrid",
	Shape:  evidence.ToolShape,
	Title:  "Azure Container Registry events (Event Grid)",
	Proves: "pushes and deletions of images, with digest, tag and registry",
	Cannot: "pulls, which Event Grid does not report; who did it",
	Doc:    "https://learn.microsoft.com/azure/event-grid/event-schema-container-registry",
	Sample: "written by hand after the documentation",
	Claim:  func(h *evidence.Head) bool { return bytes.Contains(h.Bytes, []byte(acrPrefix)) },
	Fields: [][]string{{"data", "eventType", "topic"}, {"data", "type", "specversion"}, {"data", "type", "source"}},
	Tool:   func() evidence.Parser { return &acrEventGrid{} },
}

// acrPrefix starts the types of the registry's events.
const acrPrefix = "Microsoft.ContainerRegistry."

type acrEventGrid struct{ registryEvents }

// Line reads one event; charts are no images:
//
//	{"subject":"gateway:1.4","type":"Microsoft.ContainerRegistry.ImagePushed","time":"2026-10-21T12:39:47.6549614Z","data":{"timestamp":"2026-10-21T12:39:47.276585742Z",
//	"action":"push","target":{"mediaType":"application/vnd.docker.distribution.manifest.v2+json","digest":"sha256:213b…","repository":"gateway","tag":"1.4"},"request":{"host":"acme.azurecr.io",…}}}
func (a *acrEventGrid) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	kind, ok := strings.CutPrefix(v.get("type").text()+v.get("eventType").text(), acrPrefix)
	if !ok {
		return evidence.Miss
	}
	var e registryEvent
	if e.parse(v.get("data"), o) && strings.HasPrefix(kind, "Image") {
		a.record(&e, o)
	}
	return evidence.Done
}

// End has nothing to do: pulls are not reported.
func (a *acrEventGrid) End(timeline.OpState, *evidence.Out) {}
