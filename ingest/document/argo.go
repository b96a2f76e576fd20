package document

import (
	"cmp"
	"slices"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ArgoWorkflow are workflows of Argo as kubectl and argo print them.
// https://argo-workflows.readthedocs.io/en/latest/fields/
var ArgoWorkflow = evidence.Format{
	Name:   "argo-workflow",
	Shape:  evidence.DocumentShape,
	Title:  "Argo Workflows (YAML, JSON)",
	Proves: "which images a workflow asks for, and which of them ran, when and on which node; names of secrets that a template is given",
	Cannot: "digests of images: its pods say these; what a step printed",
	Doc:    "https://argo-workflows.readthedocs.io/en/latest/fields/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return claimsKind(h, "argoproj.io/", "Workflow", "WorkflowList", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow")
	},
	Read: func(d *evidence.Doc, o *evidence.Out) error { return eachObject(d, o, argoWorkflow) },
}

// argoWorkflow reads the templates, and the nodes of what ran.
//
//	spec: {templates: [{name: main, container: {image: "ghcr.io/acme/gw:1.4", command: [sh, -c]}}]}
//	status:
//	  nodes:
//	    hello-9tql2: {id: hello-9tql2, type: Pod, templateName: main, phase: Succeeded, startedAt: "2026-10-21T12:04:41Z", hostNodeName: node-3}
func argoWorkflow(d *evidence.Doc, o *evidence.Out, v value) {
	images := map[string]value{}
	spec, status := v.get("spec"), v.get("status")
	lists := []value{spec.get("templates"), spec.get("workflowSpec", "templates"), status.get("storedWorkflowTemplateSpec", "templates")}
	for _, list := range lists {
		for t := range list.elements() {
			argoTemplate(d, o, t, images)
		}
	}
	for _, t := range status.get("storedTemplates").fields() {
		argoTemplate(d, o, t, images)
	}
	namespace := cmp.Or(v.get("metadata", "namespace").text(), "default")
	for _, n := range status.get("nodes").fields() {
		argoNode(d, o, namespace, n, images)
	}
}

// argoTemplate reads what a template asks for; a name has one image.
func argoTemplate(d *evidence.Doc, o *evidence.Out, t value, images map[string]value) {
	main := t.get("container")
	if main.kind() != '{' {
		main = t.get("script")
	}
	containers := []value{main}
	for _, list := range []string{"initContainers", "sidecars"} {
		containers = slices.AppendSeq(containers, t.get(list).elements())
	}
	containers = slices.AppendSeq(containers, t.get("containerSet", "containers").elements())
	for _, c := range containers {
		tektonAsks(d, o, nil, c)
	}
	if name := t.get("name").text(); name != "" && images[name].kind() == 0 {
		images[name] = main.get("image")
	}
}

// argoNode reads a node that has a pod and ended well: another may never have got
// its image.
func argoNode(d *evidence.Doc, o *evidence.Out, namespace string, n value, images map[string]value) {
	template := cmp.Or(n.get("templateName").text(), n.get("templateRef", "template").text())
	image := timeline.NormalizeImage(images[template].text())
	id, started := n.get("id").text(), n.get("startedAt")
	if n.get("type").text() != "Pod" || id == "" || image == "" {
		return
	}
	if n.get("phase").text() != "Succeeded" {
		return
	}
	span := evidence.ISOStamp([]byte(started.text()), &o.Times)
	if span.Clock == timeline.Unset {
		return
	}
	who := timeline.Subject{Kind: timeline.Container, ID: "k8s/" + namespace + "/" + id + "/main"}
	if node := n.get("hostNodeName"); node.text() != "" {
		at(d, o, node)
		o.Link(timeline.On, who.String(), "host:"+node.text())
	}
	at(d, o, started)
	about(o, who, func() {
		o.Event(timeline.Event{Action: timeline.Run, Span: span, Items: []timeline.Item{{Artifact: image, Ref: images[template].text()}}})
	})
}
