package services

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
)

// Kubernetes is a stand-in for the API server of a cluster. Its secrets have
// values, also in the annotation that 'kubectl apply' leaves.
type Kubernetes struct {
	API     *httptest.Server
	Token   string      // "" for a cluster that takes certificates
	TLS     *tls.Config // nil: http
	PerPage int         // at most

	Objects map[string][]map[string]any // by resource, in order
	Denied  map[string]bool             // resource, or namespace/resource
	Gone    map[string]int              // so many pages behind the first are forgotten
	Busy    int                         // so many requests are told to come again
	Whole   bool                        // it does not know what metadata alone is

	mu   sync.Mutex
	seen []Seen
}

// KubernetesSecret is the value that stands in its secrets.
const KubernetesSecret = "c2VjcmV0LXZhbHVlLW9mLWEtc2VjcmV0"

// Object is an object of a resource.
func (k *Kubernetes) Object(resource, namespace, name string, rest map[string]any) {
	if k.Objects == nil {
		k.Objects = map[string][]map[string]any{}
	}
	meta := map[string]any{"name": name, "uid": fmt.Sprintf("uid-%s-%s-%s", resource, namespace, name), "creationTimestamp": "2026-10-20T08:00:00Z", "resourceVersion": "7"}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	o := map[string]any{"metadata": meta}
	for key, value := range rest {
		o[key] = value
	}
	k.Objects[resource] = append(k.Objects[resource], o)
}

// Secret is a secret with one key, as 'kubectl apply' makes it.
func (k *Kubernetes) Secret(namespace, name, key string) {
	k.Object("secrets", namespace, name, map[string]any{"type": "Opaque", "data": map[string]any{key: KubernetesSecret}})
	all := k.Objects["secrets"]
	meta := all[len(all)-1]["metadata"].(map[string]any)
	meta["annotations"] = map[string]any{"kubectl.kubernetes.io/last-applied-configuration": fmt.Sprintf(`{"data":{%q:%q}}`, key, KubernetesSecret)}
	meta["managedFields"] = []any{map[string]any{
		"manager": "kubectl", "operation": "Update", "time": "2026-10-21T09:00:00Z", "fieldsType": "FieldsV1",
		"fieldsV1": map[string]any{"f:data": map[string]any{".": map[string]any{}, "f:" + key: map[string]any{}}, "f:type": map[string]any{}},
	}}
}

// Start starts the server.
func (k *Kubernetes) Start() {
	k.API = httptest.NewUnstartedServer(http.HandlerFunc(k.api))
	if k.TLS != nil {
		k.API.TLS = k.TLS
		k.API.StartTLS()
		return
	}
	k.API.Start()
}

// Requests returns what it saw since the last time.
func (k *Kubernetes) Requests() []Seen {
	k.mu.Lock()
	defer k.mu.Unlock()
	seen := k.seen
	k.seen = nil
	return seen
}

func (k *Kubernetes) refuse(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason, "code": status})
}

func (k *Kubernetes) api(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	k.seen = append(k.seen, Seen{"api", r.Method, r.URL.String(), r.Header.Clone()})
	k.Busy--
	busy := k.Busy >= 0
	k.mu.Unlock()
	words := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/"), "/")
	namespace, resource := "", words[0]
	if len(words) == 3 && words[0] == "namespaces" {
		namespace, resource = words[1], words[2]
	}
	at := strings.TrimPrefix(namespace+"/"+resource, "/")
	switch {
	case k.Token != "" && r.Header.Get("Authorization") != "Bearer "+k.Token:
		k.refuse(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized")
	case busy:
		k.refuse(w, http.StatusTooManyRequests, "TooManyRequests", "the server has received too many requests")
	case k.Denied[at]:
		k.refuse(w, http.StatusForbidden, "Forbidden", resource+` is forbidden: User "robot" cannot list resource "`+resource+`"`)
	default:
		k.list(w, r, resource, namespace)
	}
}

var kubernetesKinds = map[string]string{"pods": "PodList", "nodes": "NodeList", "events": "EventList", "secrets": "SecretList", "configmaps": "ConfigMapList", "namespaces": "NamespaceList"}

func (k *Kubernetes) list(w http.ResponseWriter, r *http.Request, resource, namespace string) {
	from, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("continue"), "after-"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	if k.PerPage > 0 {
		limit = min(limit, k.PerPage)
	}
	k.mu.Lock()
	gone := from > 0 && k.Gone[resource] > 0
	if gone {
		k.Gone[resource]--
	}
	k.mu.Unlock()
	if gone {
		k.refuse(w, http.StatusGone, "Expired", "The provided continue parameter is too old")
		return
	}
	var all []map[string]any
	for _, o := range k.Objects[resource] {
		if meta := o["metadata"].(map[string]any); namespace == "" || meta["namespace"] == namespace {
			all = append(all, o)
		}
	}
	meta := map[string]any{"resourceVersion": "7"}
	page := all[min(from, len(all)):]
	if limit > 0 && len(page) > limit {
		meta["continue"], meta["remainingItemCount"] = fmt.Sprintf("after-%d", from+limit), len(page)-limit
		page = page[:limit]
	}
	out := map[string]any{"kind": kubernetesKinds[resource], "apiVersion": "v1", "metadata": meta, "items": page}
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") && !k.Whole {
		bare := []map[string]any{}
		for _, o := range page {
			bare = append(bare, map[string]any{"metadata": o["metadata"]})
		}
		out["kind"], out["apiVersion"], out["items"] = "PartialObjectMetadataList", "meta.k8s.io/v1", bare
	} else if page == nil {
		out["items"] = []any{}
	}
	reply(w, out)
}
