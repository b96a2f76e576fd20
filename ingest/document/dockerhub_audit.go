package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DockerHubAudit is the audit log of an organisation of Docker Hub.
// https://docs.docker.com/reference/api/hub/latest/operations/AuditLogs_ListAuditLogs/
var DockerHubAudit = evidence.Format{
	Name:   "dockerhub-audit",
	Shape:  evidence.ToolShape,
	Title:  "Docker Hub audit log",
	Proves: "who pushed or deleted which tag of the organisation's images, when, with the digest",
	Cannot: "pulls: Docker Hub does not log them there; from which machine",
	Doc:    "https://docs.docker.com/reference/api/hub/latest/operations/AuditLogs_ListAuditLogs/",
	Sample: "written by hand after the documentation and the source of a client",
	Fields: [][]string{{"account", "action", "actor", "timestamp"}},
	Lists:  []string{"logs"},
	Tool:   func() evidence.Parser { return dockerHubAudit{} },
}

type dockerHubAudit struct{}

// Line reads one entry. Behind the user stands which token it was.
//
//	{"account":"acme","action":"repo.tag.push","name":"acme/api","actor":"ci - access token \"CI\"","data":{"digest":"sha256:c1ae…","tag":"1.4"},"timestamp":"2026-10-21T12:04:51Z","action_description":"pushed the tag …"}
func (dockerHubAudit) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if !isRecord(l) {
		return evidence.Miss
	}
	v := recordOf(l)
	action := timeline.Push
	switch v.get("action").text() {
	case "repo.tag.push":
	case "repo.tag.delete":
		action = timeline.Remove
	default:
		o.Seen("")
		return evidence.Done
	}
	o.Seen("")
	name, tag := v.get("name").text(), v.get("data", "tag").text()
	ref, ok := timeline.ParseImage("docker.io/" + name + ":" + tag)
	if name == "" || tag == "" || !ok {
		o.Skip("which tag it speaks of does not stand in it")
		return evidence.Done
	}
	e := timeline.Event{Action: action, Span: v.get("timestamp").stamp(o), Items: []timeline.Item{{Artifact: ref.String()}}}
	if digest := timeline.SHA256(v.get("data", "digest").text()); digest != "" {
		e.Items[0].Digests = []timeline.Digest{{Value: digest}}
	}
	if who, _, _ := strings.Cut(v.get("actor").text(), " "); who != "" {
		e.Subject = timeline.Subject{Kind: timeline.Client, ID: who}
	}
	o.Event(e)
	return evidence.Done
}

// End has nothing to do: each entry stands alone.
func (dockerHubAudit) End(timeline.OpState, *evidence.Out) {}
