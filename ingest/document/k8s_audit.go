package document

import (
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
	Proves: "which images the containers of new pods ask for, and the names of secrets that they are given",
	Cannot: "anything at the level Metadata; that an image came, or which digest",
	Doc:    "https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"auditID", "stage", "verb"}, {"category", "properties", "operationName"}},
	Lists:  []string{"items"},
	Claim: func(h *evidence.Head) bool {
		return strings.Contains(string(h.Bytes), `"auditID"`)
	},
	Tool: func() evidence.Parser { return &kubernetesAudit{} },
}

type kubernetesAudit struct{ ids recentIDs }

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
	if v.get("stage").text() != "ResponseComplete" || v.get("verb").text() != "create" || ref.get("resource").text() != "pods" || ref.has("subresource") ||
		code < 200 || code > 299 || k.ids.again(v.get("auditID").text()) {
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

// End has nothing to do: each event stands alone.
func (*kubernetesAudit) End(timeline.OpState, *evidence.Out) {}
