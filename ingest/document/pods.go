package document

import (
	"bytes"
	"cmp"
	"errors"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Pods is what 'kubectl get pods -o json' and '-o yaml' print: a list of pods, or one.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
var Pods = evidence.Format{
	Name:   "k8s-pods",
	Shape:  evidence.DocumentShape,
	Title:  "Kubernetes pods (JSON, YAML)",
	Proves: "the image digest that each container runs, since when and on which node; names of secrets in its environment; where traces are sent",
	Cannot: "when the image was pulled; what ran before a pod was replaced",
	Doc:    "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/",
	Sample: "written by hand after the documentation",
	Claim:  claimPods,
	Read:   readPods,
}

// claimPods wants a pod, or a list whose first item is one: items of a PodList
// carry no kind of their own.
//
//	{"kind": "PodList", "apiVersion": "v1", "items": [
//	{"apiVersion": "v1", "items": [{"apiVersion": "v1", "kind": "Pod",
func claimPods(h *evidence.Head) bool {
	if text := bytes.TrimLeft(h.Bytes, " \t\r\n"); len(text) > 0 && text[0] != '{' && text[0] != '[' {
		return claimYAML(text, "Pod")
	}
	v, ok := headRecord(h)
	if !ok || v.get("apiVersion").text() != "v1" {
		return false
	}
	switch v.get("kind").text() {
	case "Pod", "PodList":
		return true
	case "List", "": // the kind stands behind the items, perhaps far away
		for item := range v.get("items").elements() {
			return item.get("kind").text() == "Pod"
		}
	}
	return false
}

// claimYAML wants the kind of an object, of a list or of an item in one.
//
//	apiVersion: v1
//	items:
//	- apiVersion: v1
//	  kind: Pod
func claimYAML(text []byte, kind string) bool {
	return bytes.HasPrefix(text, []byte("apiVersion: v1\n")) && (bytes.Contains(text, []byte("\nkind: "+kind+"\n")) ||
		bytes.Contains(text, []byte("\nkind: "+kind+"List\n")) || bytes.Contains(text, []byte("\n- apiVersion: v1\n  kind: "+kind+"\n")))
}

// cutList reports whether a list lacks what kubectl writes behind its items.
func cutList(all []value) bool {
	for _, v := range all {
		if v.get("items").kind() == '[' && v.get("kind").text() == "" {
			return true
		}
	}
	return false
}

func readPods(d *evidence.Doc, o *evidence.Out) error { return readCluster(d, o, "Pod") }

// readCluster reads the pods and the nodes of a list: kubectl puts what was asked
// for together into one. What has no kind of its own is of the kind that the list
// has.
func readCluster(d *evidence.Doc, o *evidence.Out, kind string) error {
	if text := bytes.TrimLeft(d.Data, " \t\r\n"); len(text) > 0 && text[0] != '{' && text[0] != '[' {
		respelled, err := jsonOfYAML(d)
		if err != nil {
			return err
		}
		d = respelled
	}
	all, err := records(d)
	if d.Written != nil && err == nil && cutList(all) {
		err = errors.New("a list without its kind, which stands behind the items: it was cut off")
	}
	for _, v := range all {
		if v.get("items").kind() != '[' {
			readClusterObject(d, o, v, kind) // a file may hold other objects too
			continue
		}
		for item := range v.get("items").elements() {
			readClusterObject(d, o, item, kind)
		}
	}
	// An empty list is understood.
	o.Seen("")
	return err
}

func readClusterObject(d *evidence.Doc, o *evidence.Out, v value, kind string) {
	switch cmp.Or(v.get("kind").text(), kind) {
	case "Pod":
		readPod(d, o, v)
	case "Node":
		readNode(d, o, v)
	}
}

// pod is what its containers share.
type pod struct {
	name    string // namespace/name
	node    string
	created timeline.Span
	volumes map[string]string // volume → name of the secret in it

	hostPID   value
	hostPaths map[string]string // volume → folder or file of the node
}

func readPod(d *evidence.Doc, o *evidence.Out, v value) {
	meta, spec, status := v.get("metadata"), v.get("spec"), v.get("status")
	at(d, o, v)
	if meta.get("name").text() == "" || spec.get("containers").kind() != '[' {
		o.Skip("a pod without name or containers")
		return
	}
	p := pod{
		name:    cmp.Or(meta.get("namespace").text(), "default") + "/" + meta.get("name").text(),
		node:    spec.get("nodeName").text(),
		created: evidence.ISOStamp([]byte(meta.get("creationTimestamp").text()), &o.Times),
		volumes: map[string]string{},

		hostPID: spec.get("hostPID"), hostPaths: map[string]string{},
	}
	for vol := range spec.get("volumes").elements() {
		if secret := vol.get("secret", "secretName").text(); secret != "" {
			p.volumes[vol.get("name").text()] = secret
		}
		if path := vol.get("hostPath", "path").text(); path != "" {
			p.hostPaths[vol.get("name").text()] = path
		}
	}
	for _, kind := range [][2]string{
		{"initContainers", "initContainerStatuses"},
		{"containers", "containerStatuses"},
		{"ephemeralContainers", "ephemeralContainerStatuses"},
	} {
		states := map[string]value{}
		for s := range status.get(kind[1]).elements() {
			states[s.get("name").text()] = s
		}
		for c := range spec.get(kind[0]).elements() {
			if name := c.get("name").text(); name != "" {
				p.container(d, o, c, states[name])
			}
		}
	}
}

// container records one container: what the spec asks for and what its status
// says that it runs. They may name different tags of one digest.
func (p pod) container(d *evidence.Doc, o *evidence.Out, spec, status value) {
	who := timeline.Subject{Kind: timeline.Container, ID: "k8s/" + p.name + "/" + spec.get("name").text()}
	at(d, o, spec.get("name"))
	if p.node != "" {
		o.Link(timeline.On, who.String(), "host:"+p.node)
	}
	about(o, who, func() {
		op := o.NewOp("kubernetes", "")
		p.ask(d, o, spec.get("image"), op)
		o.Close(op, answered(p.answer(d, o, who, status, op), status.get("lastState").has("terminated")))
		at(d, o, spec.get("args"))
		started := evidence.ISOStamp([]byte(status.get("state", "running", "startedAt").text()), &o.Times)
		o.EngineCommand(append(spec.get("command").texts(), spec.get("args").texts()...), started)
		p.secrets(d, o, spec, started)
	})
	p.podReach(d, o, who, spec)
}

// ask records the image of the spec, asked for since the pod was made.
func (p pod) ask(d *evidence.Doc, o *evidence.Out, image value, op *evidence.Op) {
	at(d, o, image)
	askedSince(o, op, image.text(), p.created)
}

// askedSince records that an image was asked for at some time since a pod was made.
func askedSince(o *evidence.Out, op *evidence.Op, image string, created timeline.Span) {
	name := timeline.NormalizeImage(image)
	if name == "" {
		return
	}
	if created.Clock == timeline.Exact {
		created.To, created.Clock = timeline.Forever, timeline.Section
	}
	o.Event(timeline.Event{Action: timeline.Require, Op: op.Number, Span: created, Items: []timeline.Item{{Artifact: name, Ref: image}}})
}

// answered tells how the ask of a container ends: an earlier start may have got
// another image by the same tag.
func answered(got, restarted bool) timeline.OpState {
	if got && !restarted {
		return timeline.OpDone
	}
	return timeline.OpOpen
}

// answer records what the status proves: run at the last start, present when
// the container waits for another one. It reports whether there is a status.
func (p pod) answer(d *evidence.Doc, o *evidence.Out, who timeline.Subject, status value, op *evidence.Op) bool {
	item, ok := runningImage(status.get("imageID").text(), status.get("image").text())
	if !ok {
		return false
	}
	if _, id, ok := strings.Cut(status.get("containerID").text(), "://"); ok && timeline.SHA256(id) != "" {
		at(d, o, status.get("containerID"))
		o.Link(timeline.Is, who.String(), "container:"+joinNonEmpty(p.node, id[:12]))
	}
	e := timeline.Event{Action: timeline.Present, Op: op.Number, Items: []timeline.Item{item}}
	at(d, o, status.get("imageID"))
	for _, state := range []value{
		status.get("state", "running"), status.get("state", "terminated"), status.get("lastState", "terminated"),
	} {
		started := state.get("startedAt")
		if span := evidence.ISOStamp([]byte(started.text()), &o.Times); span.Clock != timeline.Unset {
			at(d, o, started)
			e.Action, e.Span = timeline.Run, span
			break
		}
	}
	op.Answer()
	o.Event(e)
	return true
}

func joinNonEmpty(a, b string) string {
	if a == "" {
		return b
	}
	return a + "/" + b
}

// runningImage says which image a container has. The digest counts; the name is
// one of those that the node knows it by.
//
//	"imageID": "docker-pullable://registry.acme.example/gw@sha256:65e4…"   Docker: a repository digest
//	"imageID": "docker://sha256:577149231a20…"                            Docker: an image ID
//	"imageID": "ghcr.io/acme/gw@sha256:8f45…", "sha256:9a9f…", "9a9f…"     containerd, CRI-O
func runningImage(text, name string) (item timeline.Item, ok bool) {
	if text == "" {
		return item, false
	}
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	if strings.HasPrefix(name, "sha256:") {
		name = ""
	}
	image, named := timeline.ParseImage(name)
	if digest := timeline.SHA256(text); digest != "" {
		item.Digests = []timeline.Digest{{Value: digest}}
	} else if ref, ok := timeline.ParseImage(text); ok && ref.Digest != "" {
		item.Digests = []timeline.Digest{{Value: ref.Digest}}
		switch {
		case !named:
			image, named = ref, true
		case image.Name == ref.Name:
			image.Digest = ref.Digest
		}
	}
	if named {
		item.Artifact = image.String()
	}
	return item, named || len(item.Digests) > 0
}

// secrets records the names of the secrets that the container is given, and what
// has it send traces.
func (p pod) secrets(d *evidence.Doc, o *evidence.Out, spec value, started timeline.Span) {
	for env := range spec.get("env").elements() {
		name := env.get("name")
		fromSecret := env.get("valueFrom", "secretKeyRef").kind() == '{'
		if name.text() != "" && (fromSecret || holdsSecret(name.text(), env.get("value").text())) {
			at(d, o, name)
			o.Hold(name.text())
		}
		at(d, o, name)
		o.TraceExporter(name.text(), env.get("value").text(), started)
	}
	for from := range spec.get("envFrom").elements() {
		if name := from.get("secretRef", "name"); name.text() != "" {
			at(d, o, name)
			o.Hold(name.text())
		}
	}
	for mount := range spec.get("volumeMounts").elements() {
		if secret := p.volumes[mount.get("name").text()]; secret != "" {
			at(d, o, mount.get("name"))
			o.Hold(secret)
		}
	}
}
