package document

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DistributionNotification is what CNCF distribution sends to the endpoints
// that its configuration names: envelopes of events, one POST body each.
// https://distribution.github.io/distribution/about/notifications/
var DistributionNotification = evidence.Format{
	Name:   "distribution-notification",
	Shape:  evidence.ToolShape,
	Title:  "Registry webhook notifications (CNCF distribution)",
	Proves: "which client pulled, checked, pushed or deleted which image, with digest and tag; a pull is a manifest and a blob of the same client",
	Cannot: "reads answered with 304, which send no event; who stands behind an address (inventory)",
	Doc:    "https://distribution.github.io/distribution/about/notifications/",
	Sample: "made by docker-registry 2.8.2 with podman, skopeo and curl",
	Fields: [][]string{{"action", "target", "request"}, {"action", "target", "actor"}},
	Lists:  []string{"events"},
	Tool:   func() evidence.Parser { return &distributionNotification{} },
}

type distributionNotification struct{ registryEvents }

// Line reads one event:
//
//	{"id":"01b7dd…","timestamp":"2026-10-21T12:25:01.618989938Z","action":"pull","target":{"mediaType":"application/vnd.oci.image.index.v1+json",
//	"digest":"sha256:dc725eb5…","repository":"acme/tiny","url":"http://registry.acme.example:5000/v2/acme/tiny/manifests/sha256:dc725eb5…","tag":"1.0"},
//	"request":{"addr":"10.20.0.44:40406","host":"registry.acme.example:5000","method":"GET","useragent":"containers/5.23.1"},"actor":{},"source":{…}}
func (d *distributionNotification) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	var e registryEvent
	if !isRecord(l) || !e.parse(recordOf(l), o) {
		return evidence.Miss
	}
	d.record(&e, o)
	return evidence.Done
}

// End makes the events of manifests whose blobs were waited for.
func (d *distributionNotification) End(_ timeline.OpState, o *evidence.Out) { d.reads.settle(o) }
