package document

import (
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DockerEvents is what 'docker events' prints, and the daemon's API streams.
// https://docs.docker.com/reference/cli/docker/system/events/
var DockerEvents = evidence.Format{
	Name:   "docker-events",
	Shape:  evidence.ToolShape,
	Title:  "docker events (text, JSON)",
	Proves: "pulls, pushes and removals of images by name, and starts of containers with their image, to the nanosecond",
	Cannot: "digests of what was pulled; the host, unless --subject host:… names it; events older than the last 256 of the daemon",
	Doc:    "https://docs.docker.com/reference/cli/docker/system/events/",
	Sample: "written by hand after the documentation",
	Starts: []string{"20", "container ", "image ", "network ", "volume "},
	Fields: [][]string{{"Type", "Action", "Actor"}, {"status", "id", "timeNano"}, {"status", "id", "time"}},
	Tool:   func() evidence.Parser { return &dockerEvents{} },
}

type dockerEvents struct{ engineEvents }

// legacyActions are the events of daemons that wrote no type, with the kind of
// thing that each is of.
var legacyActions = map[string]string{
	"attach": "container", "commit": "container", "copy": "container", "create": "container", "destroy": "container", "die": "container",
	"exec_create": "container", "exec_start": "container", "export": "container", "kill": "container", "oom": "container", "pause": "container",
	"rename": "container", "resize": "container", "restart": "container", "start": "container", "stop": "container", "top": "container",
	"unpause": "container", "update": "container",
	"delete": "image", "import": "image", "load": "image", "pull": "image", "push": "image", "save": "image", "tag": "image", "untag": "image",
}

// Line reads one event:
//
//	{"status":"pull","id":"redis:7.4","Type":"image","Action":"pull","Actor":{"ID":"redis:7.4","Attributes":{"name":"redis"}},"scope":"local","time":1792584243,"timeNano":1792584243118203913}
//	{"status":"start","id":"ede54ee1afda366a…","from":"alpine","time":1461943101}
func (d *dockerEvents) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	var e containerEvent
	if isRecord(l) {
		if !e.docker(recordOf(l)) {
			return evidence.Miss
		}
	} else if !e.parseText(l.Text, 'T', o) && !e.parseEvent(l.Text) { // a frame may have taken the time off
		return evidence.Miss
	}
	d.record(&e, o)
	return evidence.Done
}

func (e *containerEvent) docker(v value) bool {
	e.kind, e.action = v.get("Type").text(), v.get("Action").text()
	actor := v.get("Actor")
	e.id = actor.get("ID").text()
	e.name, e.image = actor.get("Attributes", "name").text(), actor.get("Attributes", "image").text()
	if e.kind == "" {
		e.action, e.id, e.image = v.get("status").text(), v.get("id").text(), v.get("from").text()
		e.kind = legacyActions[cutColon(e.action)]
	}
	if !engineKinds[e.kind] || e.action == "" {
		return false
	}
	clock := v.get("timeNano")
	if n, ok := clock.integer(); ok && n > 0 {
		e.span = evidence.Epoch(n, time.Nanosecond, string(clock.raw()))
		return true
	}
	clock = v.get("time")
	n, ok := clock.integer()
	e.span = evidence.Epoch(n, time.Second, string(clock.raw()))
	return ok
}

// cutColon returns what stands before the argument of an action: exec_start of
// "exec_start: /bin/sh".
func cutColon(action string) string {
	for i := range len(action) {
		if action[i] == ':' {
			return action[:i]
		}
	}
	return action
}

// End has nothing to do: each event stands alone.
func (d *dockerEvents) End(timeline.OpState, *evidence.Out) {}
