package document

import (
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PodmanEvents is what 'podman events' prints, and what Podman writes to the
// journal of the same events.
// https://docs.podman.io/en/latest/markdown/podman-events.1.html
var PodmanEvents = evidence.Format{
	Name:   "podman-events",
	Shape:  evidence.ToolShape,
	Title:  "podman events (text, JSON, journal)",
	Proves: "pulls, builds, pushes and removals of images with their image ID, and starts of containers with their image, to the nanosecond",
	Cannot: "manifest digests; the host, unless the journal or --subject host:… names it",
	Doc:    "https://docs.podman.io/en/latest/markdown/podman-events.1.html",
	Sample: "written by hand after the documentation",
	Starts: []string{"20"},
	Fields: [][]string{{"Status", "Type", "Time"}, {"Status", "Type", "time"}, {"Status", "Type", "timeNano"}},
	Tool:   func() evidence.Parser { return &podmanEvents{} },
}

type podmanEvents struct{ engineEvents }

// Line reads one event; releases since 5 write time and timeNano:
//
//	{"ID":"683b0909d556a9c0…","Image":"localhost/myshdemo:latest","Name":"agitated_diffie","Status":"start","Time":"2026-10-21T22:47:00.849932843-04:00","Type":"container"}
//	{"ID":"9c6f07244728…","Name":"docker.io/library/alpine:latest","Status":"pull","Type":"image","time":1792584243,"timeNano":1792584243118203913}
func (p *podmanEvents) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	var e containerEvent
	if isRecord(l) {
		if !e.podman(recordOf(l), o) {
			return evidence.Miss
		}
	} else if !e.parseText(l.Text, ' ', o) {
		return evidence.Miss
	}
	e.role = timeline.Config
	p.record(&e, o)
	return evidence.Done
}

func (e *containerEvent) podman(v value, o *evidence.Out) bool {
	e.kind, e.action = v.get("Type").text(), v.get("Status").text()
	e.id, e.name, e.image = v.get("ID").text(), v.get("Name").text(), v.get("Image").text()
	if !engineKinds[e.kind] {
		return false
	}
	if n, ok := v.get("timeNano").integer(); ok && n > 0 {
		e.span = evidence.Epoch(n, time.Nanosecond, string(v.get("timeNano").raw()))
	} else if e.span = v.get("Time").stamp(o); e.span == (timeline.Span{}) {
		n, ok := v.get("time").integer()
		e.span = evidence.Epoch(n, time.Second, string(v.get("time").raw()))
		return ok
	}
	return true
}

// End has nothing to do: each event stands alone.
func (p *podmanEvents) End(timeline.OpState, *evidence.Out) {}
