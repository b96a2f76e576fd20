package document

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// KubernetesEvents is what kubelets report of the pods of a cluster: events as
// JSON, the lines of klog in a journal, and the tables of kubectl.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
var KubernetesEvents = evidence.Format{
	Name:   "k8s-events",
	Shape:  evidence.ToolShape,
	Title:  "Kubernetes events (JSON, klog, kubectl describe, kubectl get events, e2e tests, Jenkins)",
	Proves: "pulls by tag and images that were in place, for which container of which pod, on which node",
	Cannot: "digests; what is older than an hour, unless events are exported; a time, where kubectl prints ages",
	Doc:    "https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/",
	Sample: "written by hand after the documentation and the kubelet's source",
	Claim: func(h *evidence.Head) bool {
		return bytes.Contains(h.Bytes, []byte(`"involvedObject"`)) || bytes.Contains(h.Bytes, []byte(`"regarding"`)) ||
			bytes.Contains(h.Bytes, []byte(`Timestamp"`)) && bytes.Contains(h.Bytes, []byte(`"reason"`))
	},
	Starts: []string{"I0", "I1", "Normal ", "Warning ", "Type ", "LAST SEEN ", "LASTSEEN ", "FirstSeen", "NAMESPACE ", "At 20", "INFO: At 20", "[Normal][", "[Warning]["},
	Fields: [][]string{
		{"involvedObject", "reason", "message"},
		{"regarding", "reason", "note"},
		{"reason", "message", "firstTimestamp"},
		{"reason", "message", "lastTimestamp"},
		{"type", "object"},
		{"verb", "event"},
	},
	Lists: []string{"items", "events"},
	Tool:  func() evidence.Parser { return &kubernetesEvents{} },
}

type kubernetesEvents struct {
	rows eventRows
	ids  recentIDs
}

// kubeEvent is one event, as far as it speaks of an image.
type kubeEvent struct {
	namespace, pod, container string
	node                      string
	message                   string
	span                      timeline.Span
	op                        int64 // 0: stands alone
}

// Line reads a record, or a line of text.
func (k *kubernetesEvents) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if isRecord(l) {
		return kubeRecord(recordOf(l), &k.ids, o)
	}
	text := evidence.TrimIndent(l.Text)
	switch {
	case klogHeader(text):
		return klogEvent(string(text), o)
	case bytes.HasPrefix(text, []byte("At 20")), bytes.HasPrefix(text, []byte("INFO: At 20")):
		return testEvent(string(text), o)
	case text[0] == '[':
		return jenkinsEvent(string(text), o)
	}
	return k.rows.line(string(text), o)
}

// kubeRecord reads an event, also one that a watch or an exporter wraps:
//
//	{"kind":"Event","involvedObject":{"kind":"Pod","namespace":"prod","name":"web-1","fieldPath":"spec.containers{web}"},"reason":"Pulled",
//	"message":"Successfully pulled image \"ghcr.io/acme/web:1.4\" in 1.2s","source":{"component":"kubelet","host":"node-3"},"firstTimestamp":"2026-10-21T12:04:51Z",…}
//	{"type":"ADDED","object":{"kind":"Event",…}}   {"verb":"ADDED","event":{…}}
func kubeRecord(v value, ids *recentIDs, o *evidence.Out) evidence.Result {
	for _, wrapped := range []string{"object", "event"} {
		if inner := v.get(wrapped); inner.kind() == '{' {
			if !inner.has("involvedObject") && !inner.has("regarding") {
				return evidence.Miss
			}
			v = inner
		}
	}
	e := kubeEvent{message: v.get("message").text(), node: v.get("source", "host").text()}
	about := v.get("involvedObject")
	if v.has("regarding") {
		about, e.message = v.get("regarding"), v.get("note").text()
		e.node = v.get("deprecatedSource", "host").text()
	}
	if v.get("reason").text() == "" || e.message == "" {
		return evidence.Miss
	}
	if uid := v.get("metadata", "uid").text(); uid != "" && ids.again(uid+" "+v.get("metadata", "resourceVersion").text()) {
		return evidence.Done // a watch told of it before
	}
	if e.node == "" {
		e.node = v.get("reportingInstance").text()
	}
	e.namespace, e.pod = about.get("namespace").text(), about.get("name").text()
	e.container = fieldContainer(about.get("fieldPath").text())
	e.span = kubeSpan(v, o)
	e.record(o)
	return evidence.Done
}

// kubeSpan says when an event was: between the first and the last time, when
// one record stands for several.
func kubeSpan(v value, o *evidence.Out) timeline.Span {
	var first, last timeline.Span
	for _, name := range []string{"firstTimestamp", "deprecatedFirstTimestamp", "eventTime"} {
		if s := v.get(name).stamp(o); s != (timeline.Span{}) {
			first = s
			break
		}
	}
	for _, name := range []value{v.get("lastTimestamp"), v.get("deprecatedLastTimestamp"), v.get("series", "lastObservedTime")} {
		if s := name.stamp(o); s != (timeline.Span{}) {
			last = s
			break
		}
	}
	switch {
	case first == timeline.Span{} && last == timeline.Span{}:
		return v.get("metadata", "creationTimestamp").stamp(o)
	case first == timeline.Span{}:
		return last
	case last.To <= first.To:
		return first
	}
	first.To, first.Clock = last.To, timeline.Section
	return first
}

// fieldContainer is the name in "spec.containers{web}".
func fieldContainer(path string) string {
	_, name, _ := strings.Cut(path, "{")
	return strings.TrimSuffix(name, "}")
}

// record makes events of what the kubelet says of an image:
//
//	Successfully pulled image "ghcr.io/acme/web:1.4" in 1.2s (1.2s including waiting). Image size: 45465097 bytes.
//	Container image "ghcr.io/acme/web:1.4" already present on machine
//
// Everything else, such as Pulling, Failed, BackOff, Created and Started, says
// nothing of one.
func (e *kubeEvent) record(o *evidence.Out) {
	o.Seen("")
	ref, actions := e.image()
	item, named := imageItem(ref)
	if !named {
		return
	}
	if e.span == (timeline.Span{}) {
		e.span = o.Mark().Span()
	}
	who := e.subject(o)
	for _, a := range actions {
		o.Event(timeline.Event{Action: a, Subject: who, Op: e.op, Items: []timeline.Item{item}, Span: e.span})
	}
}

// image is the image that the kubelet speaks of, and what it did with it; "" for
// none.
func (e *kubeEvent) image() (ref string, actions []timeline.Action) {
	if rest, ok := strings.CutPrefix(e.message, `Successfully pulled image "`); ok {
		ref, _, ok = strings.Cut(rest, `"`)
		if !ok {
			return "", nil
		}
		return ref, []timeline.Action{timeline.Pull}
	}
	_, rest, _ := strings.Cut(e.message, `image "`)
	ref, rest, _ = strings.Cut(rest, `"`)
	if !strings.HasPrefix(rest, " already present on machine") {
		return "", nil
	}
	return ref, []timeline.Action{timeline.Check, timeline.Present}
}

// subject is the container, when the event names one, linked to its node.
func (e *kubeEvent) subject(o *evidence.Out) timeline.Subject {
	host := timeline.Subject{Kind: timeline.Host, ID: e.node}
	if e.node == "" {
		host = o.Subject()
	}
	if e.pod == "" || e.container == "" {
		if e.node == "" {
			return timeline.Subject{}
		}
		return host
	}
	who := timeline.Subject{Kind: timeline.Container, ID: "k8s/" + cmp.Or(e.namespace, "default") + "/" + e.pod + "/" + e.container}
	if host.Kind == timeline.Host {
		o.LinkOver(e.span, timeline.On, who.String(), host.String())
	}
	return who
}

// klogHeader reports whether the line starts as klog writes it.
//
//	I1021 14:03:09.123456    1234 event.go:307]
func klogHeader(text []byte) bool {
	return len(text) > 30 && text[0] == 'I' && text[5] == ' ' && text[8] == ':' && text[11] == ':' && text[14] == '.'
}

// klogEvent reads an event in klog's words, old and new:
//
//	I1021 14:03:09.123456    1234 event.go:294] Event(v1.ObjectReference{Kind:"Pod", Namespace:"prod", Name:"web-1", UID:"…", APIVersion:"v1", ResourceVersion:"1", FieldPath:"spec.containers{web}"}): type: 'Normal' reason: 'Pulled' Successfully pulled image "ghcr.io/acme/web:1.4" in 1.2s
//	I1021 14:03:09.123456    1234 event.go:307] "Event occurred" object="prod/web-1" fieldPath="spec.containers{web}" kind="Pod" apiVersion="v1" type="Normal" reason="Pulled" message="Successfully pulled image \"ghcr.io/acme/web:1.4\" in 1.2s"
func klogEvent(text string, o *evidence.Out) evidence.Result {
	var e kubeEvent
	if _, rest, ok := strings.Cut(text, "] Event(v1.ObjectReference{"); ok {
		object, rest, _ := strings.Cut(rest, "): type: '")
		_, rest, _ = strings.Cut(rest, "' reason: '")
		_, e.message, _ = strings.Cut(rest, "' ")
		e.namespace, e.pod = quotedAfter(object, `Namespace:"`), quotedAfter(object, ` Name:"`)
		e.container = fieldContainer(quotedAfter(object, `FieldPath:"`))
	} else if _, rest, ok := strings.Cut(text, `] "Event occurred" `); ok {
		e.namespace, e.pod, _ = strings.Cut(quotedAfter(rest, `object="`), "/")
		e.container = fieldContainer(quotedAfter(rest, `fieldPath="`))
		_, e.message, _ = strings.Cut(rest, ` message="`)
		e.message = strings.ReplaceAll(e.message, `\"`, `"`)
	} else {
		return evidence.Miss
	}
	if e.span = o.Mark().Span(); e.span.Clock == timeline.Unset {
		e.span = klogSpan(text, o)
	}
	e.record(o)
	return evidence.Done
}

func quotedAfter(text, key string) string {
	_, rest, _ := strings.Cut(text, key)
	quoted, _, _ := strings.Cut(rest, `"`)
	return quoted
}

// testEvent reads an event as Kubernetes' end-to-end tests print it:
//
//	At 2026-10-21 12:04:51 +0000 UTC - event for web-1: {kubelet node-3} Pulled: Successfully pulled image "ghcr.io/acme/web:1.4" in 1.2s
func testEvent(text string, o *evidence.Out) evidence.Result {
	_, text, _ = strings.Cut(text, "At ")
	when, rest, ok := strings.Cut(text, " - event for ")
	pod, rest, named := strings.Cut(rest, ": {")
	source, rest, sourced := strings.Cut(rest, "} ")
	reason, message, told := strings.Cut(rest, ": ")
	if !ok || !named || !sourced || !told {
		return evidence.Miss
	}
	e := kubeEvent{pod: pod, message: message, span: goTime(when)}
	if component, node, _ := strings.Cut(source, " "); component == "kubelet" {
		e.node = node
	}
	if reason == "Pulled" {
		e.record(o)
	} else {
		o.Seen("")
	}
	return evidence.Done
}

// jenkinsEvent reads an event of an agent's pod as Jenkins prints it in the log of
// the build that waits for it:
//
//	[Normal][ci/build-1-abc][Pulled] Successfully pulled image "python:3.12-slim" in 2.5s (2.5s including waiting)
//
// https://plugins.jenkins.io/kubernetes/
func jenkinsEvent(text string, o *evidence.Out) evidence.Result {
	_, rest, _ := strings.Cut(text, "][")
	pod, rest, named := strings.Cut(rest, "][")
	reason, message, told := strings.Cut(rest, "] ")
	if !named || !told || !strings.Contains(pod, "/") || strings.ContainsAny(pod+reason, " \t") {
		return evidence.Miss
	}
	if e := (kubeEvent{message: message}); reason == "Pulled" {
		e.record(o) // of which container of the pod it does not say: it is the build's
	} else {
		o.Seen("")
	}
	return evidence.Done
}

// goTime reads a time as Go prints it; one that was never set is none.
//
//	2026-10-21 12:04:51 +0000 UTC
func goTime(text string) timeline.Span {
	at, err := time.Parse("2006-01-02 15:04:05 -0700 MST", text)
	if err != nil || at.Year() < 2000 {
		return timeline.Span{}
	}
	return timeline.Span{From: at.UnixNano(), To: at.Add(time.Second - 1).UnixNano(), Clock: timeline.Exact, Written: text}
}

// klogSpan reads klog's own time, which has neither year nor zone.
func klogSpan(text string, o *evidence.Out) timeline.Span {
	at, err := time.Parse("0102 15:04:05.000000", text[1:21])
	if err != nil {
		return timeline.Always()
	}
	m := evidence.Moment{Month: int(at.Month()), Day: at.Day(), Hour: at.Hour(), Minute: at.Minute(), Sec: at.Second(), Nano: at.Nanosecond(), Resolution: time.Microsecond}
	return m.Span(text[1:21], &o.Times)
}

// End has nothing to do: each event stands alone.
func (k *kubernetesEvents) End(timeline.OpState, *evidence.Out) {}
