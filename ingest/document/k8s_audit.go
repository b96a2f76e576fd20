package document

import (
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// KubernetesAudit is the audit log of a Kubernetes API server, also as Azure
// wraps it.
// https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/
var KubernetesAudit = evidence.Format{
	Name:   "k8s-audit",
	Shape:  evidence.ToolShape,
	Title:  "Kubernetes audit log",
	Proves: "which images the containers of new pods ask for, and the names of secrets that they are given; where the status of pods is recorded, which image digest each container ran, since when and on which node; commands that were run in containers",
	Cannot: "which images at the level Metadata; when an image came; what a command printed",
	Doc:    "https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"auditID", "stage", "verb"}, {"category", "properties", "operationName"}},
	Lists:  []string{"items"},
	Claim: func(h *evidence.Head) bool {
		return strings.Contains(string(h.Bytes), `"auditID"`)
	},
	Tool: func() evidence.Parser { return &kubernetesAudit{} },
}

type kubernetesAudit struct {
	ids  recentIDs
	runs recentIDs // containers by their IDs, whose start is known
}

// Line reads one event. Only the one of the finished request counts:
//
//	{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"f47c68f2","stage":"ResponseComplete","verb":"create",
//	"objectRef":{"resource":"pods","namespace":"prod","name":"web-1"},"responseStatus":{"code":201},"requestObject":{"spec":{"containers":[{"name":"web","image":"ghcr.io/acme/web:1.4"}]}},…}
func (k *kubernetesAudit) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	if wrapped := v.get("properties", "log"); wrapped.kind() == '{' {
		v = wrapped
	} else if text := wrapped.text(); text != "" {
		v = value{[]byte(text), 0, len(text)}
	}
	if v.get("auditID").text() == "" || v.get("verb").text() == "" {
		return evidence.Miss
	}
	o.Seen("")
	ref := v.get("objectRef")
	code, _ := v.get("responseStatus", "code").integer()
	if ref.get("subresource").text() == "exec" {
		k.exec(code, ref, v, l, o)
		return evidence.Done
	}
	if v.get("stage").text() != "ResponseComplete" || ref.get("resource").text() != "pods" || code < 200 || code > 299 || k.ids.again(v.get("auditID").text()) {
		return evidence.Done
	}
	if ref.get("subresource").text() == "status" {
		k.status(ref, v, l, o)
	}
	if v.get("verb").text() != "create" || ref.has("subresource") {
		return evidence.Done
	}
	for _, name := range []string{"responseObject", "requestObject"} {
		if pod := v.get(name); pod.get("spec", "containers").kind() == '[' {
			auditedPod(pod, ref, v, l, o)
			break
		}
	}
	return evidence.Done
}

// auditedPod records what the containers of a new pod ask for.
func auditedPod(pod, ref, v value, l *evidence.Line, o *evidence.Out) {
	name := pod.get("metadata", "name").text()
	if name == "" {
		name = ref.get("name").text()
	}
	if name == "" {
		return
	}
	span := v.get("requestReceivedTimestamp").stamp(o)
	for _, kind := range []string{"initContainers", "containers"} {
		for c := range pod.get("spec", kind).elements() {
			image, ok := imageItem(c.get("image").text())
			if !ok || c.get("name").text() == "" {
				continue
			}
			image.Ref = c.get("image").text()
			who := timeline.Subject{Kind: timeline.Container, ID: "k8s/" + ref.get("namespace").text() + "/" + name + "/" + c.get("name").text()}
			// The record also holds values of the environment.
			o.SetLine(l.No, l.Off, []byte(image.Ref))
			o.Event(timeline.Event{Action: timeline.Require, Subject: who, Span: span, Items: []timeline.Item{image}})
			for env := range c.get("env").elements() {
				if secret := env.get("name").text(); secret != "" && env.get("valueFrom", "secretKeyRef").kind() == '{' {
					o.Event(timeline.Event{Action: timeline.Hold, Subject: who, Span: span, Items: []timeline.Item{{Artifact: "secret:" + secret}}})
				}
			}
		}
	}
}

// exec reads a command that was run in a container. Its record has the command in
// the address, at any level; 101 says that the connection was made, at its start
// or at its end.
//
//	{…,"stage":"ResponseStarted","requestURI":"/api/v1/namespaces/prod/pods/web-1/exec?command=pip&command=install&command=litellm&container=web",
//	"verb":"create","objectRef":{"resource":"pods","namespace":"prod","name":"web-1","subresource":"exec"},"responseStatus":{"code":101},…}
func (k *kubernetesAudit) exec(code int64, ref, v value, l *evidence.Line, o *evidence.Out) {
	address, err := url.Parse(v.get("requestURI").text())
	if err != nil || code != 101 && (code < 200 || code > 299) || k.ids.again(v.get("auditID").text()) {
		return
	}
	query := address.Query()
	command, container := query["command"], query.Get("container")
	if len(command) == 0 || container == "" || ref.get("name").text() == "" {
		return
	}
	for i, word := range command {
		if strings.ContainsAny(word, " \t\n'\"$&;|<>()") {
			command[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	line := strings.Join(command, " ")
	span := v.get("requestReceivedTimestamp").stamp(o)
	who := timeline.Subject{Kind: timeline.Container, ID: "k8s/" + ref.get("namespace").text() + "/" + ref.get("name").text() + "/" + container}
	o.SetLine(l.No, l.Off, []byte(line))
	o.Ran(who, evidence.Stamp{Read: func([]byte, *evidence.Times) timeline.Span { return span }}, []byte(line))
}

// status reads what a node's kubelet tells of the containers of a pod, which at
// the levels Request and RequestResponse stands in the record:
//
//	{…,"verb":"patch","user":{"username":"system:node:node-1"},"objectRef":{"resource":"pods","namespace":"prod","name":"web-1","subresource":"status"},
//	"requestObject":{"status":{"containerStatuses":[{"name":"web","image":"ghcr.io/acme/web:1.4","imageID":"ghcr.io/acme/web@sha256:8f45…","containerID":"containerd://9656…","state":{"running":{"startedAt":"2026-10-21T12:04:51Z"}}}]}}}
func (k *kubernetesAudit) status(ref, v value, l *evidence.Line, o *evidence.Out) {
	node, reported := strings.CutPrefix(v.get("user", "username").text(), "system:node:")
	if !reported || node == "" || ref.get("name").text() == "" {
		return
	}
	state := v.get("responseObject", "status")
	if state.kind() != '{' {
		state = v.get("requestObject", "status")
	}
	for _, kind := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		for c := range state.get(kind).elements() {
			started := c.get("state", "running", "startedAt")
			if started.text() == "" {
				started = c.get("state", "terminated", "startedAt")
			}
			span := started.stamp(o)
			item, ok := runningImage(c.get("imageID").text(), c.get("image").text())
			if !ok || span == (timeline.Span{}) || c.get("name").text() == "" || k.runs.again(c.get("containerID").text()+started.text()) {
				continue
			}
			who := timeline.Subject{Kind: timeline.Container, ID: "k8s/" + ref.get("namespace").text() + "/" + ref.get("name").text() + "/" + c.get("name").text()}
			o.SetLine(l.No, l.Off, c.get("imageID").raw())
			o.LinkOver(span, timeline.On, who.String(), "host:"+node)
			if _, id, ok := strings.Cut(c.get("containerID").text(), "://"); ok && timeline.SHA256(id) != "" {
				o.LinkOver(span, timeline.Is, who.String(), "container:"+node+"/"+id[:12])
			}
			o.Event(timeline.Event{Action: timeline.Run, Subject: who, Span: span, Items: []timeline.Item{item}})
		}
	}
}

// End has nothing to do: each event stands alone.
func (*kubernetesAudit) End(timeline.OpState, *evidence.Out) {}
