package document

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// TektonRun are runs of Tekton's tasks and pipelines as kubectl and tkn print them.
// https://tekton.dev/docs/pipelines/taskruns/#monitoring-execution-status
var TektonRun = evidence.Format{
	Name:   "tekton-run",
	Shape:  evidence.DocumentShape,
	Title:  "Tekton TaskRuns and PipelineRuns (YAML, JSON)",
	Proves: "the image digest that each step ran, and when; what its script was told to fetch; names of secrets that a step is given",
	Cannot: "what a step printed: its log says that; steps of a PipelineRun of Tekton 0.45 and newer, whose TaskRuns are objects of their own",
	Doc:    "https://tekton.dev/docs/pipelines/taskruns/#monitoring-execution-status",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return claimsKind(h, "tekton.dev/", "TaskRun", "PipelineRun", "TaskRunList", "PipelineRunList")
	},
	Read: func(d *evidence.Doc, o *evidence.Out) error { return eachObject(d, o, tektonRun) },
}

// claimsKind wants an object, or a list whose first item is one, of an API and one
// of its kinds.
//
//	apiVersion: tekton.dev/v1
//	kind: TaskRun
func claimsKind(h *evidence.Head, api string, kinds ...string) bool {
	v, isJSON := headRecord(h)
	if isJSON {
		for item := range v.get("items").elements() {
			v = item
			break
		}
		if !strings.HasPrefix(v.get("apiVersion").text(), api) {
			return false
		}
	} else if !bytes.Contains(h.Bytes, []byte("apiVersion: "+api)) || !topKey(h.Bytes, "apiVersion") {
		return false
	}
	first := v.get("kind").text()
	if !isJSON {
		first = firstKind(h.Bytes)
	}
	return slices.Contains(kinds, first)
}

// eachObject gives each object of a document of Kubernetes to f: of lists, and of
// YAML documents one after the other.
func eachObject(d *evidence.Doc, o *evidence.Out, f func(d *evidence.Doc, o *evidence.Out, v value)) error {
	if text := bytes.TrimLeft(d.Data, " \t\r\n"); len(text) > 0 && text[0] != '{' && text[0] != '[' {
		respelled, err := jsonOfYAML(d)
		if err != nil {
			return err
		}
		d = respelled
	}
	all, err := records(d)
	for _, v := range all {
		if v.get("items").kind() != '[' {
			f(d, o, v)
			continue
		}
		for item := range v.get("items").elements() {
			f(d, o, item)
		}
	}
	o.Seen("")
	return err
}

// tektonRun reads a TaskRun, or those that an older PipelineRun holds.
//
//	status:
//	  podName: build-abc-pod
//	  steps:
//	  - container: step-build
//	    imageID: docker.io/library/python@sha256:3b1e…
//	    name: build
//	    terminated: {exitCode: 0, startedAt: "2026-10-21T12:04:50Z", finishedAt: "2026-10-21T12:05:30Z"}
//	  taskSpec: {steps: [{name: build, image: "python:3.12", script: "pip install litellm\n"}]}
func tektonRun(d *evidence.Doc, o *evidence.Out, v value) {
	namespace := cmp.Or(v.get("metadata", "namespace").text(), "default")
	tektonSteps(d, o, namespace, v.get("status"), v.get("spec", "taskSpec"))
	for _, run := range v.get("status", "taskRuns").fields() {
		tektonSteps(d, o, namespace, run.get("status"), value{})
	}
}

func tektonSteps(d *evidence.Doc, o *evidence.Out, namespace string, status, spec value) {
	pod := status.get("podName").text()
	if resolved := status.get("taskSpec"); resolved.kind() == '{' {
		spec = resolved
	}
	asked := map[string]value{}
	for _, list := range []string{"steps", "sidecars"} {
		for s := range spec.get(list).elements() {
			asked[s.get("name").text()] = s
		}
	}
	for _, list := range []string{"steps", "sidecars"} {
		for s := range status.get(list).elements() {
			container := s.get("container").text()
			if pod == "" || container == "" {
				at(d, o, s)
				o.Skip("a step without pod or container")
				continue
			}
			who := timeline.Subject{Kind: timeline.Container, ID: "k8s/" + namespace + "/" + pod + "/" + container}
			about(o, who, func() { tektonStep(d, o, who, s, asked[s.get("name").text()]) })
		}
	}
	if pod != "" {
		return
	}
	for _, list := range []string{"steps", "sidecars"} { // not started: what it asks for
		for s := range spec.get(list).elements() {
			tektonAsks(d, o, nil, s)
		}
	}
}

// tektonStep reads what a step ran, and what its script was told.
func tektonStep(d *evidence.Doc, o *evidence.Out, who timeline.Subject, status, spec value) {
	started, ended := value{}, value{}
	for _, state := range []string{"terminated", "running"} {
		if s := status.get(state, "startedAt"); s.text() != "" {
			started, ended = s, status.get(state, "finishedAt")
			break
		}
	}
	op := o.NewOp("kubernetes", "")
	tektonAsks(d, o, op, spec)
	if _, id, ok := strings.Cut(status.get("terminated", "containerID").text(), "://"); ok && timeline.SHA256(id) != "" {
		at(d, o, status.get("terminated", "containerID"))
		o.Link(timeline.Is, who.String(), "container:"+id[:12])
	}
	item, ok := runningImage(status.get("imageID").text(), spec.get("image").text())
	if !ok {
		o.Close(op, timeline.OpOpen)
		return
	}
	op.Answer()
	e := timeline.Event{Action: timeline.Present, Op: op.Number, Items: []timeline.Item{item}}
	at(d, o, status.get("imageID"))
	if span := evidence.ISOStamp([]byte(started.text()), &o.Times); started.text() != "" && span.Clock != timeline.Unset {
		tektonScript(d, o, who, spec.get("script"), span, ended.text())
		at(d, o, started)
		e.Action, e.Span = timeline.Run, span
	}
	o.Event(e)
	o.Close(op, timeline.OpDone)
}

// tektonScript reads the commands of a step, which ran at some time before it
// ended.
func tektonScript(d *evidence.Doc, o *evidence.Out, who timeline.Subject, script value, started timeline.Span, ended string) {
	if script.text() == "" || !ofShell(script.text()) {
		return
	}
	started.To, started.Clock = timeline.Forever, timeline.Section
	if end := evidence.ISOStamp([]byte(ended), &o.Times); ended != "" && end.Clock != timeline.Unset {
		started.To = end.To
	}
	at(d, o, script)
	o.Ran(who, evidence.Stamp{Text: []byte(ended), Read: func([]byte, *evidence.Times) timeline.Span { return started }}, []byte(script.text()))
}

// ofShell reports whether a script is one of a shell, as it is where it does not
// say whose.
func ofShell(script string) bool {
	first, _, _ := strings.Cut(script, "\n")
	interpreter, marked := strings.CutPrefix(first, "#!")
	if !marked {
		return true
	}
	for _, w := range strings.Fields(interpreter) {
		if name := w[strings.LastIndexByte(w, '/')+1:]; name != "env" && w[0] != '-' {
			return strings.HasSuffix(name, "sh")
		}
	}
	return true
}

// tektonAsks reads what a container asks for and is given.
func tektonAsks(d *evidence.Doc, o *evidence.Out, op *evidence.Op, spec value) {
	if image := spec.get("image"); timeline.NormalizeImage(image.text()) != "" {
		at(d, o, image)
		o.Emit(timeline.Require, op, timeline.Item{Artifact: timeline.NormalizeImage(image.text()), Ref: image.text()})
	}
	pod{}.secrets(d, o, spec, timeline.Span{})
}
