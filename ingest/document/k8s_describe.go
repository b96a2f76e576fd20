package document

import (
	"bytes"
	"path"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// K8sDescribe is what 'kubectl describe pods' prints.
// https://kubernetes.io/docs/reference/kubectl/generated/kubectl_describe/
var K8sDescribe = evidence.Format{
	Name:   "k8s-describe",
	Shape:  evidence.DocumentShape,
	Title:  "kubectl describe pods",
	Proves: "the image digest that each container runs, since when and on which node; images pulled for it or found in place, of late; names of secrets in its environment",
	Cannot: "just when an image was pulled: events have ages here, 'kubectl get events -o json' has times",
	Doc:    "https://kubernetes.io/docs/reference/kubectl/generated/kubectl_describe/",
	Sample: "written by hand after the documentation",
	Claim:  claimDescribe,
	Read:   readDescribe,
}

// claimDescribe wants the fields of a pod. Above them may stand what else kubectl
// was asked for: commands, tables of pods, rows of events.
//
//	$ kubectl get pods -n ai
//	NAME   READY   STATUS    RESTARTS   AGE
//	gw-1   1/1     Running   0          5m
//	$ kubectl describe pod gw-1 -n ai
func claimDescribe(h *evidence.Head) bool {
	text, table := h.Bytes, false
	for bytes.IndexByte(text, '\n') >= 0 && !bytes.HasPrefix(text, []byte("Name:")) {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		if table = aboveDescribed(line, table); !table && len(bytes.TrimSpace(line)) > 0 && !asksKubernetes(line) && !isEventRow(line) {
			return false
		}
		text = rest
	}
	return bytes.HasPrefix(text, []byte("Name: ")) && bytes.Contains(text, []byte("\nNamespace: ")) &&
		bytes.Contains(text, []byte("\nContainers:\n")) && bytes.Contains(text, []byte("    Image:"))
}

// aboveDescribed reports whether a line is of a table of pods, which ends with a
// blank line or a command.
func aboveDescribed(line []byte, table bool) bool {
	words := bytes.Fields(line)
	if len(words) == 0 || asksKubernetes(line) {
		return false
	}
	return table || (string(words[0]) == "NAME" || string(words[0]) == "NAMESPACE") && bytes.HasPrefix(words[len(words)-1], []byte("AGE"))
}

// asksKubernetes reports whether a line is a command that asks for objects.
func asksKubernetes(line []byte) bool {
	return bytes.Contains(line, []byte(" describe po")) || bytes.Contains(line, []byte("kubectl get ")) || bytes.Contains(line, []byte("oc get "))
}

// isEventRow reports whether a line is of the events below a pod that was
// described before.
func isEventRow(line []byte) bool {
	words := bytes.Fields(line)
	return len(words) > 2 && line[0] == ' ' && (string(words[0]) == "Normal" || string(words[0]) == "Warning" || string(words[0]) == "Type" || bytes.HasPrefix(words[0], []byte("----")))
}

// describedPod is where the reading stands.
type describedPod struct {
	d       *evidence.Doc
	o       *evidence.Out
	name    string // namespace/name
	pod     string
	node    string
	part    string // Containers, Init Containers, Events …
	group   string // of a container: State, Last State, Environment …
	who     timeline.Subject
	created timeline.Span
	image   string
	asked   int // offset of the line with the image
	imageID string
	started timeline.Span
	off     int // of the line that tells most
	ran     bool
	before  bool // it was started before
	events  eventRows
	had     []describedContainer // of the pod
}

// describedContainer is a container whose image events may speak of.
type describedContainer struct {
	who   timeline.Subject
	image string
	op    int64
}

// readDescribe reads the fields of pods, and of the containers below them:
//
//	Name:             gw-1
//	Namespace:        ai
//	Node:             node-1/10.0.0.5
//	Containers:
//	  litellm:
//	    Container ID:  containerd://9f2c11aa03bd…
//	    Image:         ghcr.io/berriai/litellm:main-stable
//	    Image ID:      ghcr.io/berriai/litellm@sha256:65e4…
//	    State:          Running
//	      Started:      Wed, 21 Oct 2026 12:00:05 +0000
//	    Environment:
//	      OPENAI_API_KEY:  <set to the key 'openai' in secret 'providers'>  Optional: false
func readDescribe(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	p := describedPod{d: d, o: o}
	off := 0
	for raw := range bytes.Lines(d.Data) {
		text := strings.TrimRight(strings.ToValidUTF8(string(raw), ""), "\r\n \t")
		p.line(text, off)
		off += len(raw)
	}
	p.container()
	return nil
}

func (p *describedPod) line(text string, off int) {
	row := strings.TrimLeft(text, " ")
	if (p.part == "Events" || p.part == "" && isEventRow([]byte(text))) && len(row) < len(text) {
		p.event(row, off)
		return
	}
	key, val, is := strings.Cut(row, ":")
	if !is {
		return
	}
	val = strings.TrimSpace(val)
	switch indent := len(text) - len(row); {
	case indent == 0:
		p.container()
		p.top(key, val)
	case !strings.HasSuffix(p.part, "ontainers"):
	case indent == 2 && val == "":
		p.container()
		p.who = timeline.Subject{Kind: timeline.Container, ID: "k8s/" + p.name + "/" + key}
		p.off = off
	case indent == 4:
		p.group = key
		p.field(key, val, off)
	case indent >= 6 && key == "Started" && (p.group == "State" || p.group == "Last State" && !p.ran):
		p.started, p.ran, p.off = describedTime(val), true, off
	case indent >= 6 && p.group == "Environment" && p.who.ID != "":
		p.variable(key, val, off)
	}
}

func (p *describedPod) top(key, val string) {
	switch p.part = key; key {
	case "Name":
		p.pod, p.name, p.node, p.created, p.had = val, "default/"+val, "", timeline.Span{}, nil
		p.events = eventRows{}
	case "Namespace":
		p.name = val + "/" + p.pod
	case "Node":
		p.node, _, _ = strings.Cut(val, "/")
	case "Start Time":
		p.created = describedTime(val)
	}
}

func (p *describedPod) field(key, val string, off int) {
	switch key {
	case "Image":
		p.image, p.asked = val, off
	case "Image ID":
		p.imageID, p.off = val, off
	case "Last State":
		p.before = val == "Terminated"
	}
}

// variable reads one variable; a secret is named, or set there.
func (p *describedPod) variable(name, val string, off int) {
	fromSecret := strings.Contains(val, " in secret '")
	onLine(p.d, p.o, off)
	about(p.o, p.who, func() {
		if fromSecret || holdsSecret(name, val) {
			p.o.Hold(name)
		}
		if !fromSecret {
			p.o.TraceExporter(name, val, timeline.Span{})
		}
	})
}

// describedTime reads "Wed, 21 Oct 2026 12:00:05 +0000".
func describedTime(text string) timeline.Span {
	at, err := time.Parse(time.RFC1123Z, text)
	if err != nil {
		return timeline.Span{}
	}
	return timeline.Span{From: at.UnixNano(), To: at.Add(time.Second - 1).UnixNano(), Clock: timeline.Exact, Written: text}
}

// container records the container that was read, as those of the API are.
func (p *describedPod) container() {
	if p.who.ID != "" && p.image != "" {
		onLine(p.d, p.o, p.asked)
		if p.node != "" && p.node != "<none>" {
			p.o.Link(timeline.On, p.who.String(), "host:"+p.node)
		}
		about(p.o, p.who, func() {
			op := p.o.NewOp("kubernetes", "")
			askedSince(p.o, op, p.image, p.created)
			p.had = append(p.had, describedContainer{p.who, timeline.NormalizeImage(p.image), op.Number})
			item, ok := runningImage(p.imageID, p.image)
			if ok {
				onLine(p.d, p.o, p.off)
				e := timeline.Event{Action: timeline.Present, Op: op.Number, Items: []timeline.Item{item}}
				if p.ran {
					e.Action, e.Span = timeline.Run, p.started
				}
				op.Answer()
				p.o.Event(e)
			}
			p.o.Close(op, answered(ok, p.before))
		})
	}
	p.who, p.image, p.imageID, p.group, p.started, p.ran, p.before = timeline.Subject{}, "", "", "", timeline.Span{}, false, false
}

// event reads a row of the events below a pod. What was pulled for the pod came
// after it was made, and in the operation of the one container that asked for it.
//
//	Normal   Pulled     4m21s      kubelet            Successfully pulled image "acme/web:1.4" in 8.255s
func (p *describedPod) event(row string, off int) {
	onLine(p.d, p.o, off)
	e, ok := p.events.read(row, p.o)
	if !ok || e.message == "" {
		return
	}
	e.namespace, e.pod, _ = strings.Cut(p.name, "/")
	if p.node != "" && p.node != "<none>" {
		e.node = p.node
	}
	if p.created != (timeline.Span{}) {
		e.span.From = p.created.From
	}
	var of []describedContainer
	for _, c := range p.had {
		if ref, _ := e.image(); c.image == timeline.NormalizeImage(ref) && (e.container == "" || strings.HasSuffix(c.who.ID, "/"+e.container)) {
			of = append(of, c)
		}
	}
	if len(of) == 1 {
		e.op = of[0].op
		_, e.container = path.Split(of[0].who.ID)
	}
	e.record(p.o)
}
