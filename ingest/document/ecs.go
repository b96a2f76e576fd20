package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ECSTasks is the tasks of Amazon ECS: what 'aws ecs describe-tasks' answers, and
// the events of their changes.
// https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Task.html
// https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_task_events.html
var ECSTasks = evidence.Format{
	Name:   "ecs-tasks",
	Shape:  evidence.ToolShape,
	Title:  "Tasks of Amazon ECS (describe-tasks, events of their changes)",
	Proves: "which image digest each container of a task ran, since when; on Fargate, when it was pulled",
	Cannot: "that an instance pulled an image, which may have been in its store; tasks that are gone, of which nothing is answered after an hour",
	Doc:    "https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Task.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return strings.Contains(string(h.Bytes), `"taskArn"`) || strings.Contains(string(h.Bytes), `"ECS Task State Change"`)
	},
	Fields: [][]string{{"taskArn", "containers", "clusterArn"}, {"detail-type", "source", "detail"}},
	Lists:  []string{"tasks"},
	Tool:   func() evidence.Parser { return &ecsTasks{} },
}

type ecsTasks struct{ seen recentIDs }

// Line reads one task:
//
//	{"taskArn":"arn:aws:ecs:us-east-1:111122223333:task/prod/0123…","clusterArn":"arn:aws:ecs:us-east-1:111122223333:cluster/prod","launchType":"FARGATE","createdAt":"2026-10-21T12:03:05.123Z",
//	"pullStartedAt":"2026-10-21T12:03:25.123Z","pullStoppedAt":"2026-10-21T12:03:45.123Z","startedAt":"2026-10-21T12:04:05.123Z","lastStatus":"RUNNING",
//	"containers":[{"name":"web","image":"111122223333.dkr.ecr.us-east-1.amazonaws.com/web:1.4","imageDigest":"sha256:1f7c…","lastStatus":"RUNNING",…}]}
func (e *ecsTasks) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	if detail := v.get("detail"); detail.kind() == '{' {
		if v.get("source").text() != "aws.ecs" {
			return evidence.Miss
		}
		v = detail
	}
	o.Seen("")
	id := lastPart(v.get("taskArn").text())
	if id == "" {
		return evidence.Done // of an instance, a service or a deployment
	}
	started, pulled := v.get("startedAt").stamp(o), v.get("pullStartedAt").stamp(o)
	if end := v.get("pullStoppedAt").stamp(o); end.To > pulled.From && pulled != (timeline.Span{}) {
		pulled.To, pulled.Clock = end.To, timeline.Section
	} else {
		pulled = timeline.Span{}
	}
	for c := range v.get("containers").elements() {
		name := c.get("name").text()
		item, ok := imageItem(c.get("image").text())
		if d := timeline.SHA256(c.get("imageDigest").text()); d != "" && !hasDigest(item.Digests, d) {
			item.Digests = append(item.Digests, timeline.Digest{Value: d})
		}
		if !ok || name == "" {
			continue
		}
		who := timeline.Subject{Kind: timeline.Container, ID: "ecs/" + lastPart(v.get("clusterArn").text()) + "/" + id + "/" + name}
		ev := timeline.Event{Subject: who, Items: []timeline.Item{item}}
		o.SetLine(l.No, l.Off, c.get("image").raw()) // overrides in the record have values of the environment
		if len(item.Digests) > 0 && v.get("launchType").text() == "FARGATE" && pulled != (timeline.Span{}) && !e.seen.again("pull "+who.ID) {
			ev.Action, ev.Span = timeline.Pull, pulled
			o.Event(ev)
		}
		switch {
		case started != (timeline.Span{}):
			ev.Action, ev.Span = timeline.Run, started
		case len(item.Digests) > 0:
			ev.Action, ev.Span = timeline.Present, v.get("createdAt").stamp(o)
		default:
			ev.Action, ev.Span = timeline.Require, v.get("createdAt").stamp(o)
		}
		if !e.seen.again(string(ev.Action) + " " + who.ID) {
			o.Event(ev)
		}
	}
	return evidence.Done
}

func lastPart(arn string) string { return arn[strings.LastIndexByte(arn, '/')+1:] }

// End has nothing to do: each task stands alone.
func (*ecsTasks) End(timeline.OpState, *evidence.Out) {}
