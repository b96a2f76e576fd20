package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// K8sTemplate is the template of pods that kubectl prints of a workload: describe
// of deployments and others, and one revision of a rollout's history.
// https://kubernetes.io/docs/reference/kubectl/generated/kubectl_rollout/kubectl_rollout_history/
var K8sTemplate = evidence.Format{
	Name:   "k8s-template",
	Shape:  evidence.ToolShape,
	Title:  "kubectl describe deployments and other workloads, kubectl rollout history --revision",
	Proves: "which images the pods of a workload ask for, and names of secrets that they are given",
	Cannot: "that a pod was made of it, and when",
	Doc:    "https://kubernetes.io/docs/reference/kubectl/generated/kubectl_rollout/kubectl_rollout_history/",
	Sample: "written by hand after the documentation",
	Starts: []string{"Pod Template:"},
	Tool:   func() evidence.Parser { return &k8sTemplate{} },
}

type k8sTemplate struct{ open bool }

// Line reads what is indented below the head:
//
//	Pod Template:
//	  Containers:
//	   gw:
//	    Image:	ghcr.io/acme/gw:1.4
//	    Environment:
//	      MASTER_KEY:	<set to the key 'key' in secret 'gw'>	Optional: false
func (k *k8sTemplate) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(l.Text)
	if strings.TrimSpace(text) == "Pod Template:" {
		k.open = true
		o.Seen("")
		return evidence.More
	}
	if !k.open || text == "" || text[0] != ' ' && text[0] != '\t' {
		k.open = false
		return evidence.Miss
	}
	key, rest, _ := strings.Cut(strings.TrimSpace(text), ":")
	rest = strings.TrimSpace(rest)
	switch {
	case key == "Image":
		if name := timeline.NormalizeImage(rest); name != "" {
			o.Emit(timeline.Require, nil, timeline.Item{Artifact: name, Ref: rest})
		}
	case strings.HasPrefix(rest, "<set to the key '") && strings.Contains(rest, "in secret '"):
		o.Hold(key)
	}
	return evidence.More
}

// End has nothing to do: each line stands alone.
func (*k8sTemplate) End(timeline.OpState, *evidence.Out) {}
