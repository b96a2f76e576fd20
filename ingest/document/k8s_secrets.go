package document

import (
	"bytes"
	"cmp"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// KubernetesSecrets are secrets as kubectl prints them, YAML or JSON.
// https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/secret-v1/
var KubernetesSecrets = evidence.Format{
	Name:   "k8s-secrets",
	Shape:  evidence.DocumentShape,
	Title:  "Kubernetes secrets and workloads (YAML, JSON)",
	Proves: "names of secrets and of their keys, when each secret was made and changed last; names of the secrets that a workload is given, and the images that it asks for; where traces are sent",
	Cannot: "which pods read them, unless pods say so; whether the old value still works",
	Doc:    "https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/secret-v1/",
	Sample: "written by hand after the documentation",
	Claim:  claimKubernetesSecrets,
	Read:   readKubernetesSecrets,
}

// workloads are the kinds whose pods are described in them; where the template
// stands.
var workloads = map[string][]string{
	"Deployment": {"spec", "template", "spec"}, "StatefulSet": {"spec", "template", "spec"}, "DaemonSet": {"spec", "template", "spec"},
	"ReplicaSet": {"spec", "template", "spec"}, "Job": {"spec", "template", "spec"}, "CronJob": {"spec", "jobTemplate", "spec", "template", "spec"},
	"ReplicationController": {"spec", "template", "spec"}, "DeploymentConfig": {"spec", "template", "spec"}, "Rollout": {"spec", "template", "spec"}, // OpenShift, Argo
	"Task": {"spec"}, "ClusterTask": {"spec"}, // Tekton
	"Revision": {"spec"}, "Service": {"spec", "template", "spec"}, // of Knative and Cloud Run; one of Kubernetes has no template
}

// metadataList is what the API server answers to who wants no values: what it is
// a list of stands in the address alone.
//
//	{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"gateway","namespace":"ai",…}}]}
//
// https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
const metadataList = "PartialObjectMetadataList"

// claimKubernetesSecrets wants a secret or a workload first: pods and events
// are other formats.
func claimKubernetesSecrets(h *evidence.Head) bool {
	kind := ""
	if v, ok := headRecord(h); ok {
		if !v.has("apiVersion") && !v.has("kind") {
			return false
		}
		kind = v.get("kind").text()
		if kind == "List" || kind == "" {
			for item := range v.get("items").elements() {
				kind = item.get("kind").text()
				break
			}
		}
	} else {
		if !topKey(h.Bytes, "apiVersion") {
			return false
		}
		kind = firstKind(h.Bytes)
		if manifests := kindsOf(h.Bytes); kind != "Pod" && len(manifests) > 1 { // what helm template prints begins with accounts and settings
			for _, k := range manifests {
				if k == "Secret" || workloads[k] != nil {
					kind = k
				}
			}
		}
	}
	return kind == metadataList && h.Name == "secrets.json" || kind == "Secret" || kind == "SecretList" || workloads[kind] != nil
}

// kindsOf are the kinds of the documents in YAML text, of which there may be many.
//
//	---
//	# Source: gateway/templates/serviceaccount.yaml
//	apiVersion: v1
//	kind: ServiceAccount
func kindsOf(head []byte) (all []string) {
	for line := range bytes.Lines(head) {
		if kind, ok := bytes.CutPrefix(line, []byte("kind: ")); ok {
			all = append(all, string(bytes.Trim(kind, " \r\n\"'")))
		}
	}
	return all
}

// firstKind is the first kind in YAML text that is not a list.
func firstKind(head []byte) string {
	for line := range bytes.Lines(head) {
		word := strings.TrimLeft(strings.TrimRight(string(line), " \r\n"), " -")
		if kind, ok := strings.CutPrefix(word, "kind: "); ok {
			if kind = strings.Trim(kind, `"' `); kind != "List" {
				return kind
			}
		}
	}
	return ""
}

func readKubernetesSecrets(d *evidence.Doc, o *evidence.Out) error {
	docs, err := yamlDocuments(d)
	if len(docs) > 0 {
		o.Seen("")
	}
	for _, root := range docs {
		kind := scalarText(child(root, "kind"))
		if kind == metadataList {
			kind = "SecretList"
		}
		list := items(child(root, "items"))
		if list == nil {
			kubernetesObject(d, o, root, kind)
		}
		for _, item := range list {
			own := scalarText(child(item, "kind"))
			if own+"List" == metadataList {
				own = ""
			}
			kubernetesObject(d, o, item, cmp.Or(own, strings.TrimSuffix(kind, "List")))
		}
	}
	return err
}

func kubernetesObject(d *evidence.Doc, o *evidence.Out, n *yaml.Node, kind string) {
	switch {
	case kind == "Secret":
		kubernetesSecret(d, o, n)
	case workloads[kind] != nil:
		podTemplate(d, o, child(n, workloads[kind]...))
	}
}

// kubernetesSecret reads names alone: the values stand beside the keys.
//
//	{"apiVersion":"v1","kind":"Secret","metadata":{"name":"gateway","namespace":"ai","creationTimestamp":"2025-03-04T10:00:00Z",…},"data":{"DATABASE_URL":"cG9z…"}}
func kubernetesSecret(d *evidence.Doc, o *evidence.Out, n *yaml.Node) {
	meta := child(n, "metadata")
	name := child(meta, "name")
	if scalarText(name) == "" {
		onNode(d, o, n, "kind: Secret")
		o.Skip("a secret without a name")
		return
	}
	c := timeline.Credential{
		Name: name.Value, Store: "k8s:" + cmp.Or(scalarText(child(meta, "namespace")), "default"), Provider: "kubernetes",
		Class: kubernetesClass(scalarText(child(n, "type"))),
	}
	c.Created, _ = listTime(scalarText(child(meta, "creationTimestamp")))
	for _, m := range items(child(meta, "managedFields")) {
		if t, _ := listTime(scalarText(child(m, "time"))); child(m, "fieldsV1", "f:data") != nil && t > c.Updated {
			c.Updated = t
		}
	}
	onNode(d, o, name, "name: "+name.Value)
	o.Credential(c)
	c.Alias, c.Class = "secret "+name.Value, ""
	keys := map[string]bool{} // who set a key, and which ones, is known without values
	eachField(child(n, "data"), func(key, _ *yaml.Node) { keys[key.Value] = true })
	for _, m := range items(child(meta, "managedFields")) {
		eachField(child(m, "fieldsV1", "f:data"), func(key, _ *yaml.Node) {
			if c.Name, _ = strings.CutPrefix(key.Value, "f:"); c.Name != "." && !keys[c.Name] {
				keys[c.Name] = true
				onNode(d, o, key, "f:"+c.Name)
				o.Credential(c)
			}
		})
	}
	for _, data := range []string{"data", "stringData"} {
		eachField(child(n, data), func(key, _ *yaml.Node) {
			c.Name = key.Value
			onNode(d, o, key, key.Value+": [redacted]")
			o.Credential(c)
		})
	}
}

// kubernetesClass is what the type of a secret tells.
func kubernetesClass(kind string) string {
	switch kind {
	case "kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg":
		return "registry-credential"
	case "kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token":
		return "kubernetes-credential"
	case "kubernetes.io/tls":
		return "tls-key"
	case "kubernetes.io/ssh-auth":
		return "ssh-key"
	}
	return ""
}

// podTemplate reads what the pods of a workload are given.
func podTemplate(d *evidence.Doc, o *evidence.Out, spec *yaml.Node) {
	hold := func(n *yaml.Node, shown string) {
		if n != nil && n.Value != "" {
			onNode(d, o, n, shown+n.Value)
			o.Hold(n.Value)
		}
	}
	for _, volume := range items(child(spec, "volumes")) {
		hold(child(volume, "secret", "secretName"), "secretName: ")
	}
	for _, pull := range items(child(spec, "imagePullSecrets")) {
		hold(child(pull, "name"), "imagePullSecrets: ")
	}
	for _, list := range []string{"initContainers", "containers", "steps", "sidecars"} {
		for _, c := range items(child(spec, list)) {
			if image := child(c, "image"); image != nil {
				if name := timeline.NormalizeImage(image.Value); name != "" {
					onNode(d, o, image, "image: "+image.Value)
					o.Emit(timeline.Require, nil, timeline.Item{Artifact: name, Ref: image.Value})
				}
			}
			for _, env := range items(child(c, "env")) {
				name := child(env, "name")
				if child(env, "valueFrom", "secretKeyRef") != nil || holdsSecret(scalarText(name), scalarText(child(env, "value"))) {
					hold(name, "env: ")
				}
				if name != nil {
					onNode(d, o, name, "env: "+name.Value)
					o.TraceExporter(name.Value, scalarText(child(env, "value")), timeline.Span{})
				}
			}
			for _, from := range items(child(c, "envFrom")) {
				hold(child(from, "secretRef", "name"), "secretRef: ")
			}
		}
	}
}
